"""LLaMA-Factory 0.9.5: ``cutoff_len`` is shared out turn by turn, between each question and its answer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lint_dataset.plan import Plan
from lint_dataset.reach import Reach, reached, supervised_tokens, too_long, whole
from lint_dataset.reach.order import out_of_turn
from lint_dataset.rows import Bools, Ints, Rows, Spans

#: Columns of a prompt and a completion are read as a question and its answer (the alpaca format, by their names).
_ROLES = {"prompt": "user", "completion": "assistant"}


class Turn(NamedTuple):
    """A question and its answer: ``[start, answer)`` is all up to the answer's first token, ``[answer, end)`` it."""

    start: int
    answer: int
    end: int


def share(question: int, answer: int, budget: int) -> tuple[int, int]:
    """How many tokens are kept of a question and of its answer, from the head of each.

    An answer of less than half the budget stays whole; so does a question of less than half; else both shrink alike.
    ``infer_seqlen`` in LLaMA-Factory's ``data/processor/processor_utils.py``.
    """
    if 2 * answer < budget:
        most = budget
    elif 2 * question < budget:
        most = budget - question
    else:
        # In floating point, as there: a product that is whole can come out one less.
        most = int(budget * (answer / (question + answer)))
    answer = min(most, answer)
    return min(max(budget - answer, 0), question), answer


def reach(rows: Rows, plan: Plan) -> Reach:
    """What is kept of each turn; turns that begin after ``cutoff_len`` is used up are left out.

    With ``mask_history`` (a loss on the last answer) the last turn is served first. Rows that are no pairs of a
    question and an answer are dropped, and so are plain texts, unless the loss is on all (``stage: pt``).
    """
    said = rows.table.column("turns").to_pylist()
    families = rows.table.column("family").to_pylist()
    turns = [
        _turns(each or [], tokens, family == "messages")
        for each, tokens, family in zip(said, rows.tokens.tolist(), families, strict=True)
    ]
    text = np.array([family == "text" for family in families], np.bool_)
    dropped = rows.measured & ~text & np.array([not each for each in turns], np.bool_)
    if plan.loss_on != "all":
        dropped |= rows.measured & text
    kept = _kept(rows, plan, turns, text, dropped)
    trained = supervised_tokens(rows, plan, kept) if plan.loss_on == "all" else _supervised(rows, plan, turns, kept)
    return reached(rows, plan, kept, trained, dropped=dropped)


def _turns(turns: list[dict[str, Any]], tokens: int, merge_tools: bool) -> list[Turn]:
    """The turns of a row of so many tokens; none where it does not alternate, or does not end with an answer."""
    roles = [_ROLES.get(turn["role"], turn["role"]) for turn in turns]
    if not turns or roles[-1] != "assistant" or out_of_turn(roles, merge_tools) is not None:
        return []
    # What a template renders behind the last answer (a line break) belongs to every answer.
    tail = max(0, tokens - turns[-1]["marker_end"])
    found, at = [], 0
    for turn, role in zip(turns, roles, strict=True):
        if role == "assistant":
            end = min(turn["marker_end"] + tail, tokens)
            found.append(Turn(at, turn["start"], end))
            at = end
    return found


def _kept(rows: Rows, plan: Plan, turns: list[list[Turn]], text: Bools, dropped: Bools) -> Spans:
    everything = whole(rows)
    # A row that is dropped for what it is loses nothing to the cut, and no longer one would save it.
    long = too_long(rows, plan) & ~dropped
    row, start, end = [], [], []
    for index in range(len(rows)):
        pieces = [(0, int(everything.end[index]))]
        if long[index] and plan.max_length is not None:
            pieces = [(0, plan.max_length)] if text[index] else _shared(turns[index], plan)
        for first, last in pieces:
            row.append(index)
            start.append(first)
            end.append(last)
    return Spans(np.array(row, np.int64), np.array(start, np.int64), np.array(end, np.int64))


def _shared(turns: list[Turn], plan: Plan) -> list[tuple[int, int]]:
    """The pieces that are kept of a row's turns, in the order of its tokens."""
    left, pieces = plan.max_length or 0, []
    for turn in reversed(turns) if plan.loss_on == "last" else turns:
        if left <= 0:
            break
        question, answer = share(turn.answer - turn.start, turn.end - turn.answer, left)
        left -= question + answer
        pieces += [(turn.start, turn.start + question), (turn.answer, turn.answer + answer)]
    return sorted(piece for piece in pieces if piece[1] > piece[0])


def _supervised(rows: Rows, plan: Plan, turns: list[list[Turn]], kept: Spans) -> Ints:
    """The kept tokens of the answers, each with what is rendered behind it; of the last answer alone where asked."""
    counted = [
        (row, turn.answer, turn.end)
        for row, each in enumerate(turns)
        for turn in (each[-1:] if plan.loss_on == "last" else each)
    ]
    row, start, end = (np.array(column, np.int64) for column in (zip(*counted, strict=True) if counted else ([],) * 3))
    answers = Spans(row, start, end)
    return answers.sum_by_row(answers.within(kept), len(rows))
