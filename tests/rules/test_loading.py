"""What loaders do with types: the findings that a person gets, with their numbers. The facts are test_forecast's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lint_dataset.diagnostics import Diagnostic
from lint_dataset.loading import blocks
from tests.finding import find
from tests.loading.kinds import PARTS, call, chat, jsonl, said, tool


def only(found: list[Diagnostic], prefix: str = "J") -> Diagnostic:
    (finding,) = [finding for finding in found if finding.code.startswith(prefix)]
    return finding


def test_two_types_of_content_name_both_with_counts_and_first_lines(tmp_path: Path) -> None:
    content = jsonl([chat("one"), chat("two"), chat(PARTS), chat("four")])
    finding = only(find(tmp_path, content))
    assert (finding.code, finding.line) == ("J019", 3)
    assert "a string in 4 rows (first in line 1) and a list in 1 row (first in line 3)" in finding.message
    assert finding.data["place"] == "messages[].content"
    severities = {trainer: only(find(tmp_path, content, trainer)).severity for trainer in ("trl", "hf", "none")}
    assert severities == {"trl": "warning", "hf": "error", "none": "warning"}


def test_text_that_spells_another_value_is_said(tmp_path: Path) -> None:
    finding = only(find(tmp_path, jsonl([chat("a"), chat("42"), chat(PARTS)])))
    assert "text that is JSON itself (1 row, first in line 2)" in finding.message
    assert finding.data["new"] == "changed"


def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Any, after: Any, trainer: str = "trl") -> Diagnostic:
    """The finding in a file whose first block, of 10 rows, has one row, and whose second has another in its middle."""
    size = len(jsonl([first]))
    monkeypatch.setattr(blocks, "BLOCK", 9 * size + 1)
    rows = [first] * 13 + [after] + [first] * 3
    return only(find(tmp_path, jsonl(rows), trainer))


def test_a_list_after_the_first_block_quotes_the_rows_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = later(tmp_path, monkeypatch, chat("text"), chat(PARTS))
    assert (finding.code, finding.severity, finding.line) == ("J020", "error", 14)
    assert "every text there in lines 11 to 17 (7 rows) into quoted JSON" in finding.message
    assert later(tmp_path, monkeypatch, chat("text"), chat(PARTS), "none").severity == "warning"


@pytest.mark.parametrize(
    ("first", "after", "place"),
    [
        (chat(note=None), chat(note="a"), "note"),
        (chat(tools=[]), chat(tools=[tool(x="a")]), "tools[]"),
        (chat(), chat(id=1), "id"),
        (chat(), call({"x": 1}), "messages[].tool_calls"),
    ],
)
def test_what_is_filled_only_after_the_first_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Any, after: Any, place: str
) -> None:
    finding = later(tmp_path, monkeypatch, first, after)
    assert (finding.code, finding.severity, finding.line) == ("J021", "error", 14)
    assert finding.data["place"] == place
    assert "fails to load the file" in finding.message


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([call({"x": 1}), call({"y": "s"})], "messages[].tool_calls[].function.arguments"),
        ([said(PARTS, PARTS), said([*PARTS, {"type": "audio", "audio": "a.wav"}], PARTS)], "messages[].content[]"),
        ([chat(tools=[tool(x="a")]), chat(tools=[tool(y="b")])], "tools[].parameters.properties"),
    ],
)
def test_objects_that_the_model_sees_with_other_keys_are_padded(tmp_path: Path, rows: list[Any], place: str) -> None:
    finding = only(find(tmp_path, jsonl(rows)), "J022")
    severity = "note" if place.endswith("content[]") else "warning"
    assert (finding.severity, finding.line, finding.data["place"]) == (severity, 2, place)
    assert "2 different sets of keys" in finding.message


def test_a_key_that_only_some_messages_or_rows_have_is_nothing(tmp_path: Path) -> None:
    named = {"messages": [{"role": "user", "content": "a", "name": "b"}, {"role": "assistant", "content": "c"}]}
    assert find(tmp_path, jsonl([chat(), named, chat(split="train")])) == []


def test_answers_that_are_all_dates_become_timestamps(tmp_path: Path) -> None:
    rows = [{"prompt": f"When was {what}?", "completion": "1969-07-20", "day": "2024-01-01"} for what in "abc"]
    finding = only(find(tmp_path, jsonl(rows)))
    assert (finding.code, finding.line, finding.data["place"]) == ("J023", 1, "completion")
    rows[2]["completion"] = "long ago"
    assert find(tmp_path, jsonl(rows)) == []


def test_the_only_row_of_a_file_is_split(tmp_path: Path) -> None:
    twice = json.dumps(chat()).replace('"content": "hi"', '"content": "a", "content": "b"').encode() + b"\n"
    codes = [(finding.code, finding.line) for finding in find(tmp_path, twice)]
    assert codes == [("J012", 1), ("J024", 1)]
    assert [finding.code for finding in find(tmp_path, twice + jsonl([chat()]))] == ["J012"]


def test_many_places_are_told_ten_at_a_time(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "tags": {f"k{n}": "s" for n in range(30)}},
        {"text": "b", "tags": {f"k{n}": 1 for n in range(30)}},
    ]
    found = find(tmp_path, jsonl(rows))
    assert len(found) == 10
    assert "the same at 20 more places" in found[-1].message
