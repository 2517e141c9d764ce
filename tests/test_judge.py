"""Many findings: all are counted, and only so many are listed."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from lint_dataset import Plan, judge, lint
from lint_dataset.report import json as report
from lint_dataset.report import text
from lint_dataset.run import exit_status
from tests.loading.kinds import chat, jsonl


def test_bad_lines_beyond_the_listed_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "LISTED", 20)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b"{bad\n" * 30 + b"\n" * 5 + jsonl([chat(name)]))
    result = lint([str(tmp_path)], Plan(trainer="trl"))
    assert result.summary.counts == {"J008": 10, "J010": 60}
    assert sum(diagnostic.code == "J010" for diagnostic in result.diagnostics) == 40
    assert {found: len(places) for found, places in result.unlisted.items()} == {("J010", "error"): 20}
    assert result.unlisted["J010", "error"][0] == (str(tmp_path / "a.jsonl"), 21)
    assert any("20 of J010" in note for note in result.notes)
    assert [row["codes"] for row in result.rows.to_pylist()].count(["J010"]) == 60
    page = StringIO()
    text.write(
        result, {"J010": ("json-syntax", "error"), "J008": ("blank-line", "warning")}, page, color=False, width=None
    )
    assert "... 50 J010 more" in page.getvalue()
    assert "Found 60 errors and 10 warnings." in page.getvalue()
    page = StringIO()
    report.write(result, "x", page)
    assert '"J010": 20' in page.getvalue()


def test_findings_that_are_only_counted_fail_the_run_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "LISTED", 0)
    (tmp_path / "a.jsonl").write_bytes(b"{bad\n")
    result = lint([str(tmp_path)], Plan())
    assert result.diagnostics == ()
    assert exit_status(result, "error") == 1
    assert exit_status(result, "never") == 0
