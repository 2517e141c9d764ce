"""A baseline accepts what was found by what the rows hold, wherever they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_dataset import Plan, baseline, judge, lint
from lint_dataset.result import Result
from lint_dataset.usage import UsageError
from tests.loading.kinds import chat, jsonl, said

GOOD = jsonl([chat()])
BAD = [b"{bad\n", jsonl([said("hi", "")]), b"[1]\n"]


def found(result: Result) -> list[tuple[int, str]]:
    return [(diagnostic.line, diagnostic.code) for diagnostic in result.diagnostics]


def linted(folder: Path, content: bytes) -> Result:
    (folder / "train.jsonl").write_bytes(content)
    return lint([str(folder / "train.jsonl")], Plan())


def test_old_findings_are_accepted_in_any_order_and_new_ones_are_not(tmp_path: Path) -> None:
    path = str(tmp_path / "accepted.json")
    assert baseline.write(linted(tmp_path, GOOD + b"".join(BAD) + b"\n"), path) == 4
    accepted = baseline.read(path)
    again = linted(tmp_path, b"".join(reversed(BAD)) + b"{new\n" + GOOD + b"\n")
    rest = baseline.without(again, accepted, path)
    assert found(rest) == [(4, "J010")]
    assert rest.summary.counts == {"J010": 1}
    assert rest.baseline is not None
    assert (rest.baseline.findings, rest.baseline.stale) == (4, 0)
    assert "4 findings were accepted" in rest.notes[-1]


def test_as_many_of_equal_findings_are_accepted_as_there_were(tmp_path: Path) -> None:
    path = str(tmp_path / "accepted.json")
    baseline.write(linted(tmp_path, GOOD + b"{bad\n" * 2 + b"\n"), path)
    rest = baseline.without(linted(tmp_path, b"{bad\n" * 3 + b"\n\n"), baseline.read(path), path)
    assert found(rest) == [(3, "J010"), (5, "J008")]


def test_entries_that_are_mended_are_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "accepted.json")
    baseline.write(linted(tmp_path, GOOD + b"".join(BAD)), path)
    rest = baseline.without(linted(tmp_path, GOOD + BAD[0]), baseline.read(path), path)
    assert rest.diagnostics == ()
    assert rest.baseline is not None
    assert rest.baseline.stale == 2
    assert "2 of its entries" in rest.notes[-1]


def test_findings_that_are_only_counted_are_accepted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "LISTED", 1)
    path = str(tmp_path / "accepted.json")
    result = linted(tmp_path, b"{a\n{b\n{c\n")
    assert baseline.write(result, path) == 3
    rest = baseline.without(linted(tmp_path, b"{a\n{b\n{c\n{d\n"), baseline.read(path), path)
    assert rest.diagnostics == ()
    assert {key: list(places) for key, places in rest.unlisted.items()} == {
        ("J010", "error"): [(str(tmp_path / "train.jsonl"), 4)]
    }


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"version": 1}', b'{"kind": "lint-dataset baseline", "accepted": {}}']
)
def test_what_is_no_baseline_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b.json").write_bytes(content)
    with pytest.raises(UsageError, match="baseline"):
        baseline.read(str(tmp_path / "b.json"))
