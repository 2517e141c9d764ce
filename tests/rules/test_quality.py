"""Duplicates, answers that repeat, and rows far longer than the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from lint_dataset import Plan, lint
from lint_dataset.diagnostics import Diagnostic
from lint_dataset.judge import judge, look
from lint_dataset.measurements import schema
from tests import finding


def find(folder: Path, content: bytes, trainer: str = "trl") -> list[Diagnostic]:
    return finding.find(folder, content, trainer, ignore=())


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def qa(question: str, answer: str, **more: Any) -> dict[str, Any]:
    return {**more, "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}


def test_a_row_that_stands_above_is_named_by_its_line(tmp_path: Path) -> None:
    content = lines(qa("a", "b", id=1), qa("c", "d"), qa("a", "b", id=2), qa("a", "B"), qa("a", "b"))
    found = find(tmp_path, content)
    assert [(f.code, f.severity, f.line, f.data["first"]) for f in found] == [
        ("J030", "warning", 3, 1),
        ("J030", "warning", 5, 1),
    ]


def test_the_same_conversation_in_another_schema_is_the_same(tmp_path: Path) -> None:
    turns = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
    found = find(tmp_path, lines(qa("a", "b"), {"conversations": turns}), "hf")
    assert "J030" in [f.code for f in found]


def test_tools_and_the_rest_of_a_conversation_make_a_difference(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    found = find(tmp_path, lines(qa("a", "b"), qa("a", "b", tools=[tool]), {"prompt": "a", "completion": "b"}))
    assert not [f for f in found if f.code == "J030"]


def test_rows_of_two_files_are_named_by_both(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(qa("1", "x"), qa("2", "y")))
    (tmp_path / "b.jsonl").write_bytes(lines(qa("3", "x"), qa("2", "y"), qa("2", "y")))
    found = lint([str(tmp_path)], Plan(), select=["J03"]).diagnostics
    assert [(f.code, f.path, f.line) for f in found] == [
        ("J031", str(tmp_path / "b.jsonl"), 2),
        ("J030", str(tmp_path / "b.jsonl"), 3),
    ]
    assert f"{tmp_path / 'a.jsonl'}:2" in found[0].message


def test_the_same_name_of_a_clip_beside_another_file_is_another_clip(tmp_path: Path) -> None:
    row = qa("", "hello")
    row["messages"][0]["content"] = [{"type": "audio", "audio": "1.wav"}]
    for name in ("train", "eval"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.jsonl").write_bytes(lines(row))
    (tmp_path / "eval" / "more.jsonl").write_bytes(lines(row))
    found = lint([str(tmp_path)], Plan(), select=["J03"]).diagnostics
    assert [(f.code, f.path) for f in found] == [("J031", str(tmp_path / "eval" / "rows.jsonl"))]


def test_an_answer_to_everything_is_noted_and_labels_are_not(tmp_path: Path) -> None:
    refusals = [qa(f"question {n}", "I cannot help with that.") for n in range(25)]
    others = [qa(f"other {n}", f"answer {n}") for n in range(300)]
    (found,) = find(tmp_path, lines(*others, *refusals))
    assert (found.code, found.severity, found.line) == ("J032", "note", 301)
    assert "25 of 325 rows (8%)" in found.message
    assert find(tmp_path, lines(*others, *refusals[:15])) == []
    labels = [qa(f"text {n}", "good" if n % 3 else "bad") for n in range(300)]
    assert find(tmp_path, lines(*labels)) == []


def test_twenty_times_the_median_is_noted() -> None:
    rows = [
        {
            "path": "t.jsonl",
            "line": n + 1,
            "hash": str(n),
            "tokens": tokens,
            "turns": [],
            "answers": [],
            "media": [],
            "faults": [],
        }
        for n, tokens in enumerate([100] * 30 + [2001, 2000])
    ]
    judged = look(pa.Table.from_pylist(rows, schema()), Plan(), None)
    (found,) = judge(judged, ["J033"])
    assert (found.line, found.data) == (31, {"tokens": 2001, "median": 100})
    assert "2,001 tokens, 20 times the median of the file (100)" in found.message
