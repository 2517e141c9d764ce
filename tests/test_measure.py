"""Measure: order, faults of the files, the cache, and what is not loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
import wave
from pathlib import Path

import pytest

from lint_dataset import measure as module
from lint_dataset import sources
from lint_dataset.cache import Cache
from lint_dataset.faults import Fault
from lint_dataset.measure import measure
from lint_dataset.measurements import SCHEMA, unpack
from lint_dataset.processors import locate
from lint_dataset.sources import RawExample
from tests import coaching
from tests.processors.exact import chat

REPOSITORY = Path(__file__).parent.parent


def example(row: object, line: int = 1, path: str = "train.jsonl", faults: tuple[Fault, ...] = ()) -> RawExample:
    raw = row if isinstance(row, bytes) else json.dumps(row).encode()
    return RawExample(path, line, raw, faults)


def clip(path: Path, seconds: float) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"\0\0" * round(16000 * seconds))


@pytest.fixture
def place(gemma3n_folder: Path, tmp_path: Path):
    return locate(None, str(gemma3n_folder), str(tmp_path / "cache"))


@pytest.fixture
def no_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "load", lambda _: pytest.fail("a processor was loaded"))


@pytest.fixture
def counting(gemma3n, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call measured, with the processor that is loaded already."""
    rows: list[int] = []
    measure_batch = module.measure_batch

    def counted(batch, processor, reading, library):
        rows.append(batch.num_rows)
        return measure_batch(batch, processor, reading, library)

    monkeypatch.setattr(module, "load", lambda _: gemma3n)
    monkeypatch.setattr(module, "measure_batch", counted)
    return rows


def test_rows_come_in_order_with_their_places(place, counting: list[int]) -> None:
    rows = [example({"messages": chat("hi", f"{i % 7}")}, i + 1, f"{i % 3}.jsonl") for i in range(2500)]
    said: list[int] = []
    table = measure(rows, place, None, said.append)
    assert table.schema.equals(SCHEMA)
    assert table.column("line").to_pylist() == list(range(1, 2501))
    assert table.column("path").to_pylist() == [f"{i % 3}.jsonl" for i in range(2500)]
    assert said == [1000, 1000, 500]
    # Seven different rows in one folder, in each batch.
    assert counting == [7, 7, 7]


def test_faults_of_the_file_come_first_and_are_not_remembered(place, counting: list[int], tmp_path: Path) -> None:
    row = {"messages": chat("what is <end_of_turn>?", "it")}
    early = Fault("J007", {"seen": 3})
    with Cache(tmp_path / "cache") as cache:
        for faults, codes in [((early,), ["J007", "M108"]), ((), ["M108"])]:
            table = measure([example(row, faults=faults)], place, cache)
            assert [fault.code for fault in unpack(table.column("faults").to_pylist()[0])] == codes
    assert counting == [1]


def test_a_row_about_the_file_passes_through(place, no_loading: None) -> None:
    about = RawExample("empty.jsonl", 1, None, (Fault("J001", {"why": "empty"}),))
    (row,) = measure([about], place).to_pylist()
    assert row["hash"] is row["family"] is row["tokens"] is None
    assert row["faults"] == [{"code": "J001", "data": '{"why": "empty"}'}]
    assert row["turns"] == row["answers"] == row["media"] == []


def test_without_a_processor_rows_are_read(no_loading: None) -> None:
    table = measure([example({"messages": chat("hi", "a")}), example(b"{", 2), example({"messages": 1}, 3)], None)
    first, second, third = table.to_pylist()
    assert (first["family"], first["tokens"], first["faults"]) == ("messages", None, [])
    assert second["faults"]
    assert third["faults"]


def test_nothing_at_all(place, no_loading: None) -> None:
    table = measure([], place)
    assert table.num_rows == 0
    assert table.schema.equals(SCHEMA)


def test_remembered_rows_are_the_same_rows(place, counting: list[int], tmp_path: Path) -> None:
    coaching.make(tmp_path / "data")
    file = str(tmp_path / "data" / "train.jsonl")
    with Cache(tmp_path / "cache") as cache:
        first = measure(sources.read(file), place, cache)
        assert counting == [200]
        assert measure(sources.read(file), place, cache).equals(first)
        assert counting == [200]
    assert measure(sources.read(file), place, None).equals(first)


def test_the_planted_rows_that_measuring_can_find(place, counting: list[int], tmp_path: Path) -> None:
    planted = coaching.make(tmp_path)
    table = measure(sources.read(str(tmp_path / "train.jsonl")), place)
    codes = {row["line"]: [fault["code"] for fault in row["faults"]] for row in table.to_pylist()}
    # M116 says of every row that Gemma's template has no system role.
    own = {line: [code for code in said if code != "M116"] for line, said in codes.items()}
    found = {line: said[0] for line, said in own.items() if said}
    assert found == {line: code for line, code in planted.items() if not code.startswith("T")}
    tokens = dict(zip(table.column("line").to_pylist(), table.column("tokens").to_pylist(), strict=True))
    longer = {line for line, count in tokens.items() if count is not None and count > 2048}
    assert longer == set(coaching.LONG)


def test_a_changed_clip_is_measured_again(place, counting: list[int], tmp_path: Path) -> None:
    content = [{"type": "audio", "audio": "a.wav"}, {"type": "text", "text": "?"}]
    row = {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": "!"}]}
    path = str(tmp_path / "train.jsonl")
    seconds = []
    with Cache(tmp_path / "cache") as cache:
        for length in (1, 1, 2):
            if len(seconds) != 1:
                clip(tmp_path / "a.wav", length)
            table = measure([example(row, path=path)], place, cache)
            seconds.append(table.column("media").to_pylist()[0][0]["seconds"])
        (tmp_path / "a.wav").unlink()
        table = measure([example(row, path=path)], place, cache)
        assert table.column("media").to_pylist()[0][0]["seconds"] is None
    assert seconds == [1, 1, 2]
    assert counting == [1, 1, 1]


def test_the_same_row_in_two_folders_has_its_own_clips(place, counting: list[int], tmp_path: Path) -> None:
    content = [{"type": "audio", "audio": "a.wav"}, {"type": "text", "text": "?"}]
    row = {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": "!"}]}
    examples = []
    for name, length in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        clip(tmp_path / name / "a.wav", length)
        examples.append(example(row, path=str(tmp_path / name / "train.jsonl")))
    with Cache(tmp_path / "cache") as cache:
        for _ in range(2):
            table = measure([*examples, *examples], place, cache)
            assert [media[0]["seconds"] for media in table.column("media").to_pylist()] == [1, 2, 1, 2]
    assert counting == [2]


def test_another_template_is_another_measurement(gemma3n_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in gemma3n_folder.iterdir():
        (copy / file.name).symlink_to(file)
    first = locate(None, str(copy), str(tmp_path / "cache")).fingerprint
    assert first == locate(None, str(gemma3n_folder), str(tmp_path / "cache")).fingerprint
    (copy / "chat_template.jinja").unlink()
    (copy / "chat_template.jinja").write_text("{{ messages }}")
    assert locate(None, str(copy), str(tmp_path / "cache")).fingerprint != first


def test_the_cache_holds_no_text(place, counting: list[int], tmp_path: Path) -> None:
    with Cache(tmp_path / "cache") as cache:
        measure([example({"messages": chat("my secret question", "a private answer")})], place, cache)
        path = cache.path
    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"secret" not in content
    assert b"private" not in content


def test_an_unchanged_file_needs_no_transformers(gemma3n_folder: Path, counting: list[int], tmp_path: Path) -> None:
    """In a process of its own: whatever is imported there, only the second run itself imported."""
    coaching.make(tmp_path / "data")
    file, cache = str(tmp_path / "data" / "train.jsonl"), str(tmp_path / "cache")
    with Cache(cache) as opened:
        measure(sources.read(file), locate(None, str(gemma3n_folder), cache), opened)
    program = f"""
        import sys
        from lint_dataset import sources
        from lint_dataset.cache import Cache
        from lint_dataset.measure import measure
        from lint_dataset.processors import locate
        place = locate(None, {str(gemma3n_folder)!r}, {cache!r})
        with Cache({cache!r}) as opened:
            table = measure(sources.read({file!r}), place, opened)
        heavy = {{"transformers", "tokenizers", "torch", "huggingface_hub", "soundfile", "jinja2", "PIL"}}
        print(table.num_rows, sorted(heavy & set(sys.modules)))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, env=os.environ, timeout=120)
    assert run.stdout == "200 []\n", run.stderr


def test_remembered_rows_are_quick(place, counting: list[int], tmp_path: Path) -> None:
    rows = [example({"messages": chat(f"question {i}", "an answer " * 9)}, i + 1) for i in range(20_000)]
    with Cache(tmp_path / "cache") as cache:
        # Measuring as many for real would be the slowest test of all: a few are, and stand in for the others.
        few = measure(rows[:100], place, cache)
        measured = json.dumps({name: few.to_pylist()[0][name] for name in SCHEMA.names if name not in module._GIVEN})
        keys = [module.key_of(module.hash_of(row.raw) or "", place.fingerprint) for row in rows]
        cache.put((key, module.Entry("", measured)) for key in keys)
        start = time.perf_counter()
        table = measure(rows, place, cache)
        seconds = time.perf_counter() - start
    assert table.num_rows == 20_000
    assert sum(counting) == 100
    # Far above what it takes (about 0.3 s), far below what measuring takes.
    assert seconds < 2
    print(f"20,000 remembered rows in {seconds:.2f} s")
