"""The T rules against a slow direct check: cut the list of tokens and look what is left."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_dataset.judge import judge, look
from lint_dataset.measurements import schema
from lint_dataset.plan import Plan


def row(tokens: int | None, answers: list[tuple[int, int, int]] | None = None, **more: Any) -> dict[str, Any]:
    """A measured row; an answer is (start, end of its text, end of its marker)."""
    answers = answers or []
    return {
        "path": "train.jsonl",
        "line": 1,
        "hash": "x",
        "family": "messages",
        "tokens": tokens,
        "turns": [{"role": "assistant", "start": s, "end": e, "marker_end": m, "trained": None} for s, e, m in answers],
        "answers": [{"start": s, "end": m} for s, _, m in answers],
        "completion": None,
        "media": [],
        "faults": [],
    } | more


def found(rows: list[dict[str, Any]], plan: Plan, *codes: str) -> list[tuple[str, int, dict[str, Any]]]:
    rows = [{**r, "line": i + 1} for i, r in enumerate(rows)]
    judged = look(pa.Table.from_pylist(rows, schema()), plan, None)
    return [(d.code, d.line, dict(d.data)) for d in judge(judged, codes or ("T001", "T002", "T003", "T004"))]


@st.composite
def rows_of_answers(draw: st.DrawFn) -> dict[str, Any]:
    at, answers = 0, []
    for _ in range(draw(st.integers(1, 4))):
        start = at + draw(st.integers(0, 6))
        text_end = start + draw(st.integers(1, 6))
        at = text_end + draw(st.integers(0, 2))
        answers.append((start, text_end, at))
    return row(at + draw(st.integers(0, 3)), answers)


@given(st.lists(rows_of_answers(), min_size=1, max_size=4), st.integers(1, 40), st.sampled_from(["right", "left"]))
def test_verdicts_equal_a_cut_list_of_tokens(rows: list[dict[str, Any]], limit: int, side: str) -> None:
    expected = []
    for line, example in enumerate(rows, 1):
        whole = list(range(example["tokens"]))
        kept = set(whole[:limit] if side == "right" else whole[-limit:])
        never, ends, seen = [], [], False
        for number, turn in enumerate(example["turns"], 1):
            mine = range(turn["start"], turn["marker_end"])
            if not kept & set(mine):
                never.append(number)
            else:
                seen = True
                if max(mine) not in kept:
                    lost = sum(token not in kept for token in range(turn["start"], turn["end"]))
                    ends.append((number, lost, turn["marker_end"] > turn["end"]))
        if never:
            expected.append(("T001", line, tuple(never)))
        expected += [("T002", line, end) for end in ends]
        if side == "left" and seen and len(kept) < len(whole):
            expected.append(("T003", line, len(whole) - len(kept)))
    got: list[tuple[str, int, object]] = []
    for code, line, data in found(rows, Plan(max_length=limit, truncation_side=side, trainer="none")):
        said = {"T001": ("answers",), "T002": ("answer", "lost", "end_of_turn_lost"), "T003": ("lost",)}[code]
        numbers = tuple(tuple(data[key]) if key == "answers" else data[key] for key in said)
        got.append((code, line, numbers[0] if len(numbers) == 1 else numbers))
    assert sorted(got, key=repr) == sorted(expected, key=repr)


@given(rows_of_answers(), st.integers(1, 40))
def test_the_max_length_that_a_remedy_names_is_enough_and_the_least(example: dict[str, Any], limit: int) -> None:
    findings = found([example], Plan(max_length=limit, trainer="none"), "T001", "T002")
    needs = max((data["needs"] for _, _, data in findings), default=0)
    if needs:
        assert not found([example], Plan(max_length=needs, trainer="none"))
        assert found([example], Plan(max_length=needs - 1, trainer="none"))


def test_nothing_is_cut_without_a_max_length() -> None:
    assert found([row(10**6, [(10, 999_990, 999_991)])], Plan()) == []


def test_a_row_that_trl_leaves_without_labels_is_said_to_be_dropped() -> None:
    rows = [row(50, [(40, 48, 49)])]
    judged = look(pa.Table.from_pylist(rows, schema()), Plan(max_length=30, loss_on="assistant"), None)
    assert judged.reach.dropped.tolist() == [True]
    assert judged.reach.tokens.tolist() == [0]
    (finding,) = judge(judged, ["T001"])
    assert "TRL 1.16 drops the row" in finding.message
    whole = look(pa.Table.from_pylist(rows, schema()), Plan(max_length=30, loss_on="all"), None)
    assert whole.reach.dropped.tolist() == [False]
    (finding,) = judge(whole, ["T001"])
    assert "trained on 30 tokens of prompt alone" in finding.message


def test_the_loss_on_the_completion_counts_from_its_first_token() -> None:
    rows = [row(50, [(40, 48, 49)], completion=40), row(50, [(40, 48, 49)])]
    judged = look(pa.Table.from_pylist(rows, schema()), Plan(max_length=45), None)
    assert judged.reach.supervised.tolist() == [5, 45]


def test_an_answer_that_the_data_switches_off_is_not_missed() -> None:
    off = row(50, [(40, 48, 49)])
    off["turns"][0]["trained"] = False
    assert found([off], Plan(max_length=30, loss_on="assistant", trainer="none")) == []
    assert found([off], Plan(max_length=30, loss_on="all", trainer="none")) != []


@pytest.mark.parametrize(("limit", "kept"), [(99, 0), (100, 0), (101, 1), (287, 187), (288, None), (300, None)])
def test_a_cut_that_takes_tokens_of_a_clip_is_a_step_that_fails(limit: int, kept: int | None) -> None:
    clip = {"kind": "audio", "start": 100, "end": 288, "seconds": 5.0}
    got = found([row(300, media=[clip])], Plan(max_length=limit, trainer="hf"), "T004")
    assert [data["kept"] for _, _, data in got] == ([] if kept is None else [kept])
    assert all(data["needs"] == 288 for _, _, data in got)


@pytest.mark.parametrize(("side", "kept", "needs", "times"), [("right", 90, 740, 3), ("left", 0, 790, 3)])
def test_a_row_that_loses_several_clips_is_found_once(side: str, kept: int, needs: int, times: int) -> None:
    """Of 800 tokens the first 300 are kept, or the last 300: the clip at 552 is whole then."""
    clips = [{"kind": "audio", "start": s, "end": s + 188, "seconds": 5.0} for s in (10, 210, 364, 552)]
    rows = [row(800, media=clips), row(300, media=clips[:1]), row(800, media=clips)]
    plan = Plan(max_length=300, trainer="hf", truncation_side=side)
    got = found(rows, plan, "T004")
    assert [line for _, line, _ in got] == [1, 3]
    assert all((data["kept"], data["needs"], data["times"]) == (kept, needs, times) for _, _, data in got)


def test_rows_without_tokens_are_left_alone() -> None:
    assert found([row(None)], Plan(max_length=5)) == []
