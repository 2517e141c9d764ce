"""Datasets and addresses from services that answer: a Hub of our own, a web server, and fsspec's files in memory."""

from __future__ import annotations

import gzip
import io
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lint_dataset import sources
from lint_dataset.sources.places import address
from tests.models.hub import COMMIT, Hub, Repository, serving

ROWS: list[dict[str, Any]] = [{"text": "one"}, {"text": "two"}, {"text": ""}]


def lines() -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), file)
    return file.getvalue()


FILES = {"train.jsonl": lines(), "train.jsonl.gz": gzip.compress(lines()), "train.parquet": parquet()}


def texts(path: str) -> list[str]:
    rows = list(sources.read(path, fetch=True))
    assert not any(row.faults for row in rows)
    assert [row.line for row in rows] == [1, 2, 3]
    return [json.loads(row.raw or b"")["text"] for row in rows]


@pytest.fixture
def hub() -> Iterator[Hub]:
    repositories = {
        "datasets/own/rows": Repository({COMMIT: {"train.jsonl": lines(), "test.jsonl": b'{"text": "test"}\n'}}),
        "datasets/own/table": Repository({COMMIT: {"data/train-00000-of-00001.parquet": parquet()}}),
        "datasets/own/gated": Repository({COMMIT: {"train.jsonl": lines()}}, token="hf_right"),
    }
    with serving(repositories) as served:
        yield served


def report(hub: Hub, home: Path, *arguments: str, **environment: str) -> dict[str, Any]:
    run = hub.run(home, *arguments, "--output-format", "json", **environment)
    # Offline the datasets library says there that it takes what it has.
    assert run.stderr == "" or "--offline" in arguments
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_datasets_of_the_hub_are_read_and_then_need_no_network(hub: Hub, tmp_path: Path) -> None:
    for name, examples in (("hf:own/rows", 3), ("hf:own/rows:test", 1), ("hf:own/table", 3)):
        found = report(hub, tmp_path, name)
        assert found["summary"]["examples"] == examples
        # The empty text is found in its row, whatever the rows are stored as.
        assert [(one["code"], one["line"]) for one in found["diagnostics"]] == ([("M009", 3)] if examples == 3 else [])
    hub.asked.clear()
    assert report(hub, tmp_path, "hf:own/rows", "--offline")["summary"]["examples"] == 3
    assert hub.asked == []


def test_what_the_hub_does_not_give_is_said(hub: Hub, tmp_path: Path) -> None:
    for name, remedy in (("hf:own/none", "Check the name"), ("hf:own/gated", "Ask for access")):
        (one,) = report(hub, tmp_path, name)["diagnostics"]
        assert one["code"] == "J001"
        assert one["remedy"].startswith(remedy)
    assert report(hub, tmp_path, "hf:own/gated", HF_TOKEN="hf_right")["summary"]["examples"] == 3


def test_a_file_in_a_repository_is_opened_when_asked(hub: Hub, tmp_path: Path) -> None:
    file = "hf://datasets/own/table/data/train-00000-of-00001.parquet"
    assert report(hub, tmp_path, file, "--fetch")["summary"]["examples"] == 3
    hub.asked.clear()
    (one,) = report(hub, tmp_path, file)["diagnostics"]
    assert "--fetch" in one["remedy"]
    assert hub.asked == []


@pytest.mark.parametrize("name", FILES)
def test_files_in_memory_are_read_as_files_here(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    monkeypatch.setitem(address.PACKAGES, "memory", "fsspec")
    with fsspec.open(f"memory://bucket/{name}", "wb") as file:
        file.write(FILES[name])
    assert texts(f"memory://bucket/{name}") == ["one", "two", ""]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The address of a web server that has the files."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", FILES)
def test_files_of_a_web_server_are_read_as_files_here(name: str, web: str) -> None:
    pytest.importorskip("aiohttp", reason="what fsspec opens addresses of the web with (lint-dataset[fetch])")
    assert texts(f"{web}/{name}") == ["one", "two", ""]


def test_what_a_web_server_does_not_have_is_said(web: str) -> None:
    pytest.importorskip("aiohttp", reason="what fsspec opens addresses of the web with (lint-dataset[fetch])")
    (row,) = sources.read(f"{web}/absent.jsonl", fetch=True)
    assert row.faults[0].data == {"problem": "not_found"}
