"""What the program wrote into a folder is not taken for data when the folder is checked again."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from lint_dataset import Plan, baseline, kept, lint
from lint_dataset.report import json as as_json
from lint_dataset.report import jsonl as as_lines
from lint_dataset.report import measurements
from tests.loading.kinds import chat, jsonl


def test_own_files_in_a_folder_are_passed_over_and_said(tmp_path: Path) -> None:
    data = tmp_path / "train.jsonl"
    data.write_bytes(jsonl([chat("one"), chat("two")]) + b"{bad\n")
    result = lint([str(data)], Plan())
    for name, write in (("r.jsonl", as_lines.write), ("r.json.jsonl", lambda r, out: as_json.write(r, "x", out))):
        page = StringIO()
        write(result, page)
        (tmp_path / name).write_text(page.getvalue())
    for name in ("rows.jsonl", "rows.parquet"):
        measurements.write(result.rows, str(tmp_path / name))
    baseline.write(result, str(tmp_path / "accepted.jsonl"))
    kept.write(result, [str(data)], None, str(tmp_path / "bad.txt"))
    again = lint([str(tmp_path)], Plan())
    own = [Path(found.path).name for found in again.diagnostics if found.code == "J025"]
    assert own == ["accepted.jsonl", "bad.txt.codes.jsonl", "r.json.jsonl", "r.jsonl", "rows.jsonl", "rows.parquet"]
    assert again.summary.examples == result.summary.examples
    assert {found.severity for found in again.diagnostics if found.code == "J025"} == {"note"}
    assert [found.code for found in again.diagnostics if found.code != "J025"] == ["J010"]
