"""The same rows give the same findings and the same counts, whatever holds them."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lint_dataset import Plan, lint, sources
from tests.sources.containers import CONTAINERS, Rows, lines


def chat(*turns: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]}


ROWS: Rows = [
    chat("Bonjour, ça va ? 你好", "Oui, et toi ?\nمرحبا"),
    chat("no answer"),
    chat("a", "b", "c", ""),
    chat("tell me a story", "once upon a time " * 40),
    chat("half", "answered", "not"),
    chat("  ", "\u2028 is no line end"),
    chat("x" * 500, "y"),
]


def judged(path: str, folder: Path, **options: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The findings and the counts of one source."""
    result = lint([path], Plan(tokenizer=str(folder), max_length=64), use_cache=False, **options)
    assert not result.unjudged
    findings = [(d.line, d.code, d.severity, d.message, d.remedy) for d in result.diagnostics]
    rows = result.rows.select(["line", "family", "tokens", "turns", "answers", "reach_tokens"]).to_pylist()
    return findings, [tuple(map(repr, row.values())) for row in rows]


@pytest.fixture(scope="module", autouse=True)
def _loaded_once(loaded: Callable[[str], Any]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lint_dataset.measure.load", lambda _: loaded("qwen3"))
        yield


@pytest.fixture(scope="module")
def expected(fetched: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("lines") / "train.jsonl"
    path.write_bytes(lines(ROWS))
    findings, counts = judged(str(path), fetched("qwen3"))
    assert {code for _, code, *_ in findings} >= {"M007", "M008", "M009", "T002"}
    return findings, counts


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_says_the_same(
    name: str, expected: Any, fetched: Callable[[str], Path], tmp_path: Path
) -> None:
    path = tmp_path / name
    CONTAINERS[name](ROWS, path)
    assert judged(str(path), fetched("qwen3")) == expected
    assert sources.expand([str(tmp_path)]) == [str(path)]


def test_a_dataset_of_the_hub_says_the_same(
    expected: Any, fetched: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the Hub a dataset called team/chats is the folder of that name.
    (tmp_path / "team" / "chats").mkdir(parents=True)
    (tmp_path / "team" / "chats" / "train.jsonl").write_bytes(lines(ROWS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    for path in ("hf:team/chats", "hf:team/chats:train", "hf:team/chats:default", "hf:team/chats:default:train"):
        assert judged(path, fetched("qwen3")) == expected


def test_standard_input_says_the_same(
    expected: Any, fetched: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(ROWS))))
    assert judged("-", fetched("qwen3")) == expected


def test_an_address_says_the_same(
    expected: Any, fetched: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    from lint_dataset.sources.places import address

    monkeypatch.setitem(address.PACKAGES, "memory", "fsspec")
    memory = fsspec.filesystem("memory")
    for name in ("train.jsonl.zst", "train.json", "train.parquet", "file.arrow"):
        CONTAINERS[name](ROWS, tmp_path / name)
        memory.pipe(f"/bucket/{name}", (tmp_path / name).read_bytes())
        assert judged(f"memory://bucket/{name}", fetched("qwen3"), fetch=True) == expected


def test_the_cache_knows_the_rows_of_a_table(fetched: Callable[[str], Path], tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    CONTAINERS["train.parquet"](ROWS, path)
    plan = Plan(tokenizer=str(fetched("qwen3")), max_length=64)
    runs = [lint([str(path)], plan, cache_dir=str(tmp_path / "cache")) for _ in range(2)]
    assert runs[0].rows.equals(runs[1].rows)
    assert runs[0].diagnostics == runs[1].diagnostics


def test_the_command_reads_a_pipe() -> None:
    command = [sys.executable, "-m", "lint_dataset", "-"]
    run = subprocess.run(command, input=b'{"text": "a"}\n{"text": "b",}\n', capture_output=True, check=False)
    assert run.returncode == 1, run
    assert b"\n<stdin>:2: J010" in run.stdout
