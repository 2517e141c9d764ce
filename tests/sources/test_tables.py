"""Rows of tables: what a column of any type becomes, where clips are, and what is damaged."""

from __future__ import annotations

import datetime
import decimal
import hashlib
import io
import json
import tracemalloc
import wave
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lint_dataset import Plan, lint, sources
from lint_dataset.conversations import parse
from tests.finding import find_in


def write(path: Path, table: pa.Table) -> str:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    return str(path)


def texts(path: str) -> list[Any]:
    return [json.loads(row.raw or b"null") for row in sources.read(path)]


KINDS = (".parquet", ".arrow")


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_of_column_is_plain_json(tmp_path: Path, kind: str) -> None:
    columns = {
        "text": pa.array(["é\n", None], pa.large_string()),
        "whole": pa.array([2**63 - 1, -1], pa.int64()),
        "hash": pa.array([2**64 - 1, 1], pa.uint64()),
        "score": pa.array([float("nan"), 0.5], pa.float32()),
        "scores": pa.array([[float("inf"), None], None], pa.list_(pa.float64())),
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "price": pa.array([decimal.Decimal("1.20"), None], pa.decimal128(5, 2)),
        "day": pa.array([datetime.date(2024, 2, 29), None]),
        "at": pa.array([datetime.datetime(2024, 2, 29, 1, 2, 3), None], pa.timestamp("us")),
        "nothing": pa.nulls(2),
        "inner": pa.array([{"x": float("nan"), "y": "z"}, None], pa.struct([("x", pa.float64()), ("y", pa.string())])),
    }
    first, second = texts(write(tmp_path / f"t{kind}", pa.table(columns)))
    assert list(first) == list(columns)
    assert first == {
        "text": "é\n",
        "whole": 2**63 - 1,
        "hash": str(2**64 - 1),
        "score": None,
        "scores": [None, None],
        "kind": "a",
        "price": "1.20",
        "day": "2024-02-29",
        "at": "2024-02-29T01:02:03",
        "nothing": None,
        "inner": {"x": None, "y": "z"},
    }
    assert (second["hash"], second["score"], second["text"], second["inner"]) == (1, 0.5, None, None)


@pytest.mark.parametrize("kind", KINDS)
def test_null_keys_stay_as_the_trainer_gets_them(tmp_path: Path, kind: str) -> None:
    rows = [
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "tool_calls": None}]},
        {"messages": [{"role": "assistant", "content": "b", "tool_calls": [{"name": "f"}]}]},
    ]
    from datasets import Dataset

    dataset = Dataset.from_list(rows)
    path = write(tmp_path / f"t{kind}", dataset.data.table)
    assert texts(path) == list(dataset)
    assert texts(path)[0]["messages"][0] == {"role": "user", "content": "a", "tool_calls": None}


def test_columns_of_json_are_what_the_datasets_library_makes_of_them(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", "4.7", reason="older versions have no columns of JSON")
    features = datasets.Features({"rows": datasets.List(datasets.Json()), "text": datasets.Value("string")})
    dataset = datasets.Dataset.from_dict({"rows": [[{"b": 0}, {"c": [1, "x"]}]], "text": ["t"]}, features=features)
    dataset.to_parquet(str(tmp_path / "t.parquet"))
    dataset.save_to_disk(str(tmp_path / "saved"))
    assert texts(str(tmp_path / "t.parquet")) == texts(str(tmp_path / "saved")) == list(dataset)


@pytest.mark.parametrize("kind", KINDS)
def test_text_that_is_no_utf_8_is_a_finding_of_its_row(tmp_path: Path, kind: str) -> None:
    names = pa.array([b"one", b"caf\xe9", b"three"]).view(pa.string())
    path = write(tmp_path / f"t{kind}", pa.table({"text": names, "more": ["a", "b", "c"]}))
    (finding,) = [f for f in find_in(path) if f.code != "S001"]
    assert (finding.line, finding.code) == (2, "J009")
    assert "byte 4 (0xE9)" in finding.message


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_python_cannot_hold_spoils_no_row(tmp_path: Path, kind: str) -> None:
    far = pa.array([2**50, 0], pa.timestamp("s"))
    rows = texts(write(tmp_path / f"t{kind}", pa.table({"text": ["a", "b"], "at": far})))
    assert [row["text"] for row in rows] == ["a", "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_stay_beside_the_text_and_name_it(tmp_path: Path, kind: str) -> None:
    column = pa.array([{"bytes": b"\0\xff", "path": "a.wav"}, {"bytes": b"\1", "path": "a.wav"}])
    rows = list(sources.read(write(tmp_path / f"t{kind}", pa.table({"audio": column}))))
    for row, content in zip(rows, (b"\0\xff", b"\1"), strict=True):
        assert dict(row.blobs) == {hashlib.sha256(content).hexdigest(): content}
        assert content not in (row.raw or b"")
        value, faults = parse(row.raw or b"")
        assert faults == []
        assert sources.restore(value, row.blobs) == {"audio": {"bytes": content, "path": "a.wav"}}
    assert rows[0].raw != rows[1].raw


@pytest.mark.parametrize("kind", KINDS)
def test_text_in_a_column_of_bytes_is_said(tmp_path: Path, kind: str) -> None:
    findings = find_in(write(tmp_path / f"t{kind}", pa.table({"text": pa.array([b"one"])})))
    assert [finding.severity for finding in findings] == ["error"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_without_rows_is_said(tmp_path: Path, kind: str) -> None:
    (finding,) = find_in(write(tmp_path / f"t{kind}", pa.table({"text": pa.array([], pa.string())})))
    assert (finding.line, finding.code) == (1, "J002")


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_twice_is_said(tmp_path: Path, kind: str) -> None:
    table = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    assert [finding.code for finding in find_in(write(tmp_path / f"t{kind}", table))] == ["J012"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_that_was_cut_off_is_said(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / f"t{kind}", pa.table({"text": ["one"] * 5000}))
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[: len(content) // 2])
    assert [finding.code for finding in find_in(path)] == ["J018"]


def test_batches_before_the_damage_are_judged(tmp_path: Path) -> None:
    table = pa.table({"text": [f"row {n}" for n in range(1000)]})
    path = tmp_path / "t.arrow"
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    path.write_bytes(path.read_bytes()[:-2000])
    rows = list(sources.read(str(path)))
    judged = [row.line for row in rows if row.raw is not None]
    assert judged == list(range(1, len(judged) + 1))
    assert len(judged) >= 500
    assert (rows[-1].line, rows[-1].faults[0].code) == (len(judged) + 1, "J018")


def test_a_row_is_numbered_through_the_files_of_a_saved_dataset(tmp_path: Path) -> None:
    from datasets import Dataset, DatasetDict

    part = Dataset.from_dict({"text": [str(n) for n in range(7)]})
    DatasetDict({"train": part, "test": part.select(range(2))}).save_to_disk(str(tmp_path / "all"))
    part.save_to_disk(str(tmp_path / "one"), num_shards=3)
    found = list(sources.read(str(tmp_path / "one")))
    assert [(row.line, row.path) for row in found] == [(n, str(tmp_path / "one")) for n in range(1, 8)]
    assert texts(str(tmp_path / "one")) == list(part)
    every = [str(tmp_path / name) for name in ("all/test", "all/train", "one")]
    assert sources.expand([str(tmp_path)]) == sources.expand([str(tmp_path / "*")]) == every
    assert sources.expand([every[0] + "/"]) == every[:1]


def test_a_saved_dataset_that_lacks_a_file_is_said(tmp_path: Path) -> None:
    from datasets import Dataset

    Dataset.from_dict({"text": ["a"]}).save_to_disk(str(tmp_path / "one"))
    next((tmp_path / "one").glob("*.arrow")).unlink()
    (finding,) = find_in(str(tmp_path / "one"))
    assert finding.code == "J018"


@pytest.mark.parametrize("kind", KINDS)
def test_memory_stays_flat(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"t{kind}"
    batch = pa.record_batch({"audio": [{"bytes": bytes([n]) * 1_000_000} for n in range(20)]})
    writer = pq.ParquetWriter(path, batch.schema, compression="none") if kind == ".parquet" else None
    with writer or pa.ipc.new_stream(path, batch.schema) as sink:
        for _ in range(5):
            sink.write_batch(batch)
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    most = 0
    for _ in sources.read(str(path)):
        most = max(most, pa.total_allocated_bytes() - before)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000
    assert most < 50_000_000


def clip(seconds: float) -> bytes:
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"\0\0" * round(16000 * seconds))
    return content.getvalue()


def spoken(audio: Any) -> dict[str, Any]:
    parts = [
        {"type": "audio", "audio": audio, "text": None},
        {"type": "text", "audio": None, "text": "How do I sound?"},
    ]
    return {"messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": [parts[1]]}]}


@pytest.mark.parametrize("kind", [*KINDS, ".saved"])
def test_clips_in_a_table_are_measured_from_memory(
    tmp_path: Path, gemma3n_folder: Path, gemma3n: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("lint_dataset.measure.load", lambda _: gemma3n)
    clips = [clip(2), clip(45), b"no audio", None]
    for number, content in enumerate(clips[:3]):
        (tmp_path / f"{number}.wav").write_bytes(content or b"")
    named = [spoken(f"{number}.wav") for number in range(4)]
    (tmp_path / "named.jsonl").write_text("".join(json.dumps(row) + "\n" for row in named))
    # The name that the datasets library keeps beside the bytes is no file here.
    rows = [spoken({"bytes": content, "path": f"{number}.mp3"}) for number, content in enumerate(clips)]
    table = pa.Table.from_pylist(rows)
    if kind == ".saved":
        from datasets import Dataset

        Dataset(table).save_to_disk(str(tmp_path / "t.saved"))
    else:
        write(tmp_path / f"t{kind}", table)
    plan = Plan(tokenizer=str(gemma3n_folder), trainer="hf")
    results = [
        lint([str(tmp_path / name)], plan, cache_dir=str(tmp_path / "cache"))
        for name in ("named.jsonl", f"t{kind}", f"t{kind}")
    ]
    named_result, result, again = results
    assert result.rows.column("media").to_pylist()[0][0]["seconds"] == 2
    assert {(d.line, d.code) for d in result.diagnostics} >= {(2, "A001"), (3, "A003"), (4, "A002")}
    assert [(d.line, d.code, d.message) for d in result.diagnostics] == [
        (d.line, d.code, d.message) for d in named_result.diagnostics
    ]
    assert result.rows.column("tokens").to_pylist() == named_result.rows.column("tokens").to_pylist()
    assert again.rows.equals(result.rows)
