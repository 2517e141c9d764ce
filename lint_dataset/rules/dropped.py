"""T: rows that the plan's trainer leaves out, splits or stops at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lint_dataset.reach import too_long
from lint_dataset.reach.order import out_of_turn, refused
from lint_dataset.rules import Finding, Judged, rule

_EXAMPLE = '{"messages": [{"role": "user", "content": "… 9,000 tokens …"}, {"role": "assistant", "content": "…"}]}'


def _remedy(judged: Judged, needs: int) -> str:
    """A max_length that is enough, where the step would then fit the budget."""
    if judged.memory is not None and judged.plan.budget is not None:
        fits = judged.memory.longest_that_fits
        if fits is None or fits < needs:
            longest = "no length fits" if fits is None else f"no step of more than {fits:,} tokens fits"
            for options, most in judged.memory.longest_with.items():
                if most >= needs:
                    return (
                        f"Train with {options}, under which {most:,} tokens fit, and a max_length of "
                        f"{judged.figure(needs)}: now {longest}. Or split or shorten the example."
                    )
            return (
                f"Split or shorten the example: a max_length of {judged.figure(needs)} is out of reach, as {longest}."
            )
    return f"Raise max_length to {judged.figure(needs)} or more, split or shorten the example, or drop it knowingly."


def _roles(judged: Judged, row: int) -> list[str]:
    return [turn["role"] for turn in judged.rows.table.column("turns")[row].as_py() or []]


def _no_pairs(judged: Judged, row: int) -> str:
    """Why a row is no pairs of a question and an answer."""
    roles = _roles(judged, row)
    merged = judged.rows.table.column("family")[row].as_py() == "messages"
    wrong = out_of_turn(roles, merged)
    if wrong is None or "text" in roles:
        return "it does not end with an answer to a question"
    before = f"after message {wrong} ({roles[wrong - 1]})" if wrong else "at the beginning"
    return f"questions and answers have to alternate, and message {wrong + 1} ({roles[wrong]}) stands {before}"


@rule(
    "T006",
    "row-is-dropped",
    "warning",
    what="The trainer leaves the row out: it is longer than max_length, too short, or no question and answer.",
    why="The row is not trained on, and the trainer says at most how many such rows there were, not which.",
    remedy="Raise max_length or shorten the row; give a row of another kind a question and an answer.",
    example=_EXAMPLE,
)
def row_is_dropped(judged: Judged) -> Iterator[Finding]:
    """Rows that are left out for their length or their kind; those that lost every answer to a cut are T001's."""
    rows, release = judged.rows, judged.plan.preset.release
    lost = np.zeros(len(rows), np.bool_)
    lost[rows.answers.row[judged.losses.gone]] = True
    long = too_long(rows, judged.plan)
    for row in np.flatnonzero(judged.reach.dropped & ~lost).tolist():
        tokens = int(rows.tokens[row])
        data = {"tokens": tokens, "max_length": judged.plan.max_length}
        if long[row] and judged.plan.overlong == "drop":
            yield Finding(
                row,
                f"{release} drops the row: {judged.figure(tokens)} tokens are more than max_length "
                f"{judged.plan.max_length:,}",
                _remedy(judged, tokens),
                {**data, "why": "too-long"},
            )
        elif judged.plan.trainer == "llama-factory":
            yield Finding(
                row,
                f"{release} drops the row: {_no_pairs(judged, row)}",
                "Correct the role of the message, merge it with its neighbour, or write the one that is missing; plain "
                "texts are for stage: pt (here --loss-on all).",
                {**data, "why": "no-answer"},
            )
        elif tokens < 2:
            yield Finding(
                row,
                f"{release} drops the row: {judged.figure(tokens)} tokens are fewer than it takes",
                "Leave the row out.",
                {**data, "why": "too-short"},
            )
        else:
            yield Finding(
                row,
                f"{release} drops the row: it has no token to train on",
                "Give it an answer that is trained on, or leave it out.",
                {**data, "why": "no-labels"},
            )


@rule(
    "T007",
    "run-stops",
    "error",
    what="The trainer stops with an error at this row, before the first step.",
    why="One such row ends the whole run: axolotl's excess_length_strategy raise, TRL's assistant-only loss where the "
    "assistant says nothing, torchtune's check that the roles come in order.",
    remedy="Shorten the row or give it an answer; or let the trainer drop or cut such rows.",
    example=_EXAMPLE,
)
def run_stops(judged: Judged) -> Iterator[Finding]:
    """Rows at which the trainer raises."""
    long = too_long(judged.rows, judged.plan)
    for row in np.flatnonzero(judged.reach.stops).tolist():
        tokens, release = int(judged.rows.tokens[row]), judged.plan.preset.release
        data = {"tokens": tokens, "max_length": judged.plan.max_length}
        if long[row] and judged.plan.overlong == "raise":
            message = (
                f"{release} stops the run here: {judged.figure(tokens)} tokens are more than max_length "
                f"{judged.plan.max_length:,}"
            )
            yield Finding(row, message, _remedy(judged, tokens), data)
        elif judged.plan.trainer == "mlx-lm":
            message = f"{release} stops the run here: --mask-prompt needs a message before the last"
            yield Finding(row, message, "Put the question before the answer, or train without --mask-prompt.", data)
        elif judged.plan.trainer == "torchtune":
            message = f"{release} stops the run here: {refused(_roles(judged, row))}"
            yield Finding(row, message, "Correct the role, merge the messages, or leave the row out.", data)
        else:
            message = f"{release} stops the run here: with a loss on the assistant alone, a row has no token of it"
            yield Finding(row, message, "Add the assistant's answer, or leave the row out.", data)


@rule(
    "T008",
    "nothing-left-to-train",
    "error",
    what="No row of the data set is left to train on: the trainer drops every one, or masks every token.",
    why="The run fails for want of data, or ends without having learned anything, with a loss of 0 or NaN.",
    remedy="Raise max_length, or check that the data has answers where the loss looks for them.",
    example=_EXAMPLE,
)
def nothing_left(judged: Judged) -> Iterator[Finding]:
    """Once, at the first row, where the trainer gets nothing from any."""
    rows, reach = judged.rows, judged.reach
    trained = rows.measured & ~reach.dropped & ~reach.stops & (reach.supervised > 0)
    if reach.stops.any() or trained.any() or not rows.measured.any():
        return
    dropped = int(reach.dropped.sum())
    what = "drops every row" if dropped == int(rows.measured.sum()) else "finds no token to train on in any row"
    yield Finding(
        int(np.flatnonzero(rows.measured)[0]),
        f"nothing is left to train on: {judged.plan.preset.release} {what} (examples: {int(rows.measured.sum()):,})",
        "Raise max_length, or check that the rows have answers where the loss looks for them (--loss-on).",
        {"examples": int(rows.measured.sum()), "dropped": dropped},
    )


@rule(
    "T009",
    "row-is-split",
    "warning",
    what="The row is longer than max_length and is trained on in pieces.",
    why="From the second piece on the model sees an answer without its question, and pieces that end in the middle.",
    remedy="Raise max_length, split the conversation where it can be split, or let the trainer cut or drop such rows.",
    example=_EXAMPLE,
)
def row_is_split(judged: Judged) -> Iterator[Finding]:
    """Rows beyond max_length of a trainer that splits."""
    limit = judged.plan.max_length
    if limit is None or not (judged.plan.overlong == "split" or judged.plan.packing in ("bfd_split", "wrapped")):
        return
    split = judged.reach.tokens > limit
    how = judged.plan.packing if judged.plan.packing != "none" else "split"
    for row in np.flatnonzero(split).tolist():
        tokens = int(judged.rows.tokens[row])
        pieces = -(-tokens // limit)
        yield Finding(
            row,
            f"{judged.figure(tokens)} tokens are trained on in {judged.figure(pieces)} pieces ({how} at {limit:,}): "
            "all but the first lack the question",
            _remedy(judged, tokens),
            {"tokens": tokens, "max_length": limit, "pieces": pieces},
        )
