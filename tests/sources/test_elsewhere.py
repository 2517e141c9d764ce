"""Addresses, datasets of the Hub, folders: what is read, and what is said where it is not."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from lint_dataset import sources
from lint_dataset.diagnostics import Diagnostic
from lint_dataset.sources.places import address, hub
from tests.finding import find_in

ROW = b'{"text": "one"}\n'


def only(path: str) -> Diagnostic:
    (finding,) = find_in(path)
    assert (finding.code, finding.severity, finding.line) == ("J001", "error", 1)
    return finding


@pytest.mark.parametrize(
    "path", ["s3://b/train.jsonl", "gs://b/t.parquet", "https://h/train.json", "hf://datasets/a/b"]
)
def test_no_address_is_opened_unasked(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsspec.filesystem", lambda _: pytest.fail("opened"))
    assert "--fetch" in only(path).remedy
    assert sources.expand([path]) == [path]


def fetched(path: str) -> list[sources.RawExample]:
    return list(sources.read(path, fetch=True))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    (row,) = fetched("s3://bucket/train.jsonl")
    assert row.faults[0].data == {"problem": "no_package", "package": "s3fs", "protocol": "s3"}


def test_other_protocols_are_not_opened() -> None:
    (row,) = fetched("file:///etc/passwd")
    assert row.faults[0].data["problem"] == "no_protocol"
    assert "s3://" in only("ssh://host/train.jsonl").remedy


def test_what_gives_access_is_not_repeated() -> None:
    row = next(sources.read("https://me:secret@host/a/train.jsonl?X-Amz-Signature=secret#secret"))
    assert row.path == "https://host/a/train.jsonl"


def test_what_an_address_does_not_give_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(address.PACKAGES, "memory", "fsspec")
    (row,) = fetched("memory://bucket/absent.jsonl")
    assert row.faults[0].data == {"problem": "not_found"}

    def refused(_: str) -> None:
        raise PermissionError(13, "no credentials\nfor this bucket")

    monkeypatch.setattr("fsspec.filesystem", refused)
    (row,) = fetched("memory://bucket/train.jsonl")
    assert row.faults[0].data["problem"] == "unreadable"
    assert "\n" not in row.faults[0].data["reason"]


def test_a_dataset_that_is_not_here_is_one_line_offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    for name in ("hf:nobody/no-such-dataset", "hf:nobody/no-such-dataset:default:train"):
        finding = only(name)
        assert "nobody/no-such-dataset" in finding.message
        assert "offline" in finding.remedy


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the datasets library loads by the name team/set: splits train and test."""
    folder = tmp_path / "team" / "set"
    folder.mkdir(parents=True)
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_bytes(ROW * 3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return folder


def test_a_split_that_is_not_there_is_said_with_those_that_are(local: Path) -> None:
    for name in ("hf:team/set:tset", "hf:team/set:default:tset"):
        assert "train, test" in only(name).remedy
    assert len(list(sources.read("hf:team/set:test"))) == 3
    (local / "train.jsonl").rename(local / "validation.jsonl")
    assert "validation, test" in only("hf:team/set").remedy


def test_a_configuration_that_is_not_there_is_said(local: Path) -> None:
    assert "default" in only("hf:team/set:nope:train").remedy


def test_code_of_a_dataset_is_never_run(local: Path) -> None:
    for file in local.iterdir():
        file.unlink()
    (local / "set.py").write_text("raise SystemExit('ran')")
    assert only("hf:team/set").data["problem"] in ("hub_script", "hub_failed")


def test_a_dataset_that_does_not_load_is_said(local: Path) -> None:
    (local / "train.jsonl").write_bytes(b"{broken\n")
    finding = only("hf:team/set")
    assert finding.data["problem"] == "hub_failed"
    assert "\n" not in finding.message


@pytest.mark.parametrize("name", ["hf:", "hf:a/b/c", "hf:../up", "hf:a/b:c:d:e", "hf:/etc"])
def test_what_names_no_dataset_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "load", lambda *_: pytest.fail("loaded"))
    assert "hf:user/name" in only(name).remedy


def test_gated_and_missing_datasets_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets.exceptions import DatasetNotFoundError

    said = {
        "Dataset 'a/b' is a gated dataset on the Hub. You must be authenticated to access it.": "Ask for access",
        "Dataset 'a/b' doesn't exist on the Hub or cannot be accessed.": "Check the name",
    }
    for text, remedy in said.items():

        def fail(*_: object, text: str = text) -> None:
            raise DatasetNotFoundError(text)

        monkeypatch.setattr(hub, "load", fail)
        assert remedy in only("hf:a/b").remedy


def test_standard_input_that_is_closed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    (row,) = sources.read("-")
    assert row.path == "<stdin>"
    assert "closed" in only("-").message


def test_standard_input_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # As it is where the processor turns out not to load: half read, then from the beginning.
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROW * 200_000)))
    assert next(sources.read("-")).line == 1
    for _ in range(2):
        assert sum(row.raw == ROW.rstrip() for row in sources.read("-")) == 200_000


def test_standard_input_is_not_a_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_bytes(ROW * 2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROW)))
    assert sources.expand(["-", "./-"]) == ["-", os.path.join(".", "-")]
    assert [len(list(sources.read(path))) for path in sources.expand(["-", "./-"])] == [1, 2]


def test_a_folder_gives_what_holds_rows(tmp_path: Path) -> None:
    held = {
        "a.jsonl.gz": b"",
        "b.NDJSON.ZST": b"",
        "c.parquet": b"",
        "d.arrow": b"",
        "damaged.json.gz": b"rubbish",
        "empty.json": b"",
        "array.json": b'[\n {"text": "a"}]',
        "lines.json": ROW * 2,
    }
    others = {
        "package.json": b'{\n "name": "x"\n}',
        "one.json": ROW,
        "words.json": b'["a", "b"]',
        "notes.txt": b"",
        "c.parquet.gz": b"",
        "model.json.bak": b"",
    }
    for name, content in (held | others).items():
        (tmp_path / name).write_bytes(content)
    assert sources.expand([str(tmp_path)]) == sorted(str(tmp_path / name) for name in held)
    # What is named is read.
    assert sources.expand([str(tmp_path / "*.json")]) == sorted(
        str(path) for path in tmp_path.iterdir() if path.suffix == ".json"
    )
