"""The measurements file: what another tool reads back, and what is never overwritten."""

from __future__ import annotations

import csv
import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lint_dataset.report import measurements
from lint_dataset.usage import UsageError

ROWS = [
    {
        "path": "a,b.jsonl",
        "line": 1,
        "tokens": 310,
        "seconds": 1.5,
        "trained": True,
        "answers": [{"start": 5, "end": 9}],
        "codes": ["O001", "T002"],
    },
    {"path": 'q"\n训练', "line": 2, "tokens": None, "seconds": None, "trained": None, "answers": [], "codes": []},
]


def table(copies: int = 1) -> pa.Table:
    return pa.Table.from_pylist(ROWS * copies)


def test_parquet_keeps_the_table(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    measurements.write(table(), str(path))
    assert pq.read_table(path).equals(table())


def test_jsonl_has_one_object_a_row(tmp_path: Path) -> None:
    path = tmp_path / "m.JSONL"
    measurements.write(table(3000), str(path))
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == ROWS * 3000


def test_csv_holds_nested_columns_as_json(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    measurements.write(table(), str(path))
    with open(path, encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == list(ROWS[0])
    assert (first["path"], first["line"], first["tokens"], first["trained"]) == ("a,b.jsonl", "1", "310", "true")
    assert json.loads(first["answers"]) == [{"start": 5, "end": 9}]
    assert json.loads(first["codes"]) == ["O001", "T002"]
    assert (second["path"], second["tokens"], second["seconds"]) == ('q"\n训练', "", "")


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_an_empty_table_is_a_file_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"m{suffix}"
    measurements.write(table().slice(0, 0), str(path))
    assert path.exists()


@pytest.mark.parametrize("name", ["m.xlsx", "m", "m.jsonl.gz", ".csv"])
def test_another_suffix_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.parquet, \.jsonl, \.csv") as refused:
        measurements.write(table(), str(tmp_path / name))
    assert "\n" not in str(refused.value)
    assert os.listdir(tmp_path) == []


def test_a_dataset_is_never_overwritten_whatever_it_is_called(tmp_path: Path) -> None:
    data = tmp_path / "train.jsonl"
    data.write_text("precious\n")
    (tmp_path / "soft.jsonl").symlink_to(data)
    os.link(data, tmp_path / "hard.jsonl")
    for name in ("train.jsonl", "./train.jsonl", "soft.jsonl", "hard.jsonl"):
        with pytest.raises(UsageError, match="one of the files to check"):
            measurements.write(table(), f"{tmp_path}/{name}", [str(tmp_path / "gone.jsonl"), str(data)])
    assert data.read_text() == "precious\n"


def test_a_file_is_replaced_whole_and_keeps_its_place_and_mode(tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "m.csv"
    link.symlink_to(real)
    measurements.write(table(), str(link))
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8").startswith("path,line,")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["m.csv", "real.csv"]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    measurements.write(table(), str(tmp_path / "m.csv"))
    assert (tmp_path / "m.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_failure_half_way_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text("old")

    def full(value: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(measurements, "dumps", full)
    with pytest.raises(UsageError, match="cannot be written: No space left on device"):
        measurements.write(table(), str(path))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["m.jsonl"]


def test_a_place_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for path in ("no/such/m.csv", "folder.csv"):
        with pytest.raises(UsageError, match=path):
            measurements.write(table(), str(tmp_path / path))
