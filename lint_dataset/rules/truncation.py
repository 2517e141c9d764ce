"""T: what a max_length cuts. All are judged on what the plan's trainer lets through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lint_dataset.reach import answers_in_loss
from lint_dataset.rows import Ints
from lint_dataset.rules import Finding, Judged, rule

_EXAMPLE = '{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}'


def _named(judged: Judged, row: int, turns: list[int], of: int) -> str:
    """The answers of a row by their numbers: ``answer 2 of 3``, ``answers 2 to 4 of 4``, ``the text``."""
    if judged.rows.table.column("family")[row].as_py() == "text":
        return "the text"
    if judged.rows.completion[row] >= 0 and of == 1:
        return "the completion"
    if len(turns) == 1:
        return f"answer {turns[0] + 1} of {of}" if of > 1 else "the answer"
    if turns == list(range(turns[0], turns[-1] + 1)):
        return f"answers {turns[0] + 1} to {turns[-1] + 1} of {of}"
    return f"answers {', '.join(str(turn + 1) for turn in turns)} of {of}"


def _then(judged: Judged, row: int) -> str:
    """What the trainer does with a row that lost answers."""
    reach = judged.reach
    if reach.dropped[row]:
        return f"; {judged.plan.preset.release} drops the row without a word"
    answers = judged.rows.answers
    mine = np.flatnonzero(answers.row == row)
    kept = np.minimum(answers.end[mine], reach.stop[row]) > np.maximum(answers.start[mine], reach.start[row])
    if not kept.any() and reach.supervised[row]:
        return f"; the model is trained on {judged.figure(int(reach.supervised[row]))} tokens of prompt alone"
    if not reach.supervised[row]:
        return "; no token of the row is left to train on (loss 0 or NaN)"
    return ""


def _remedy(judged: Judged, needs: int) -> str:
    side = "" if judged.plan.truncation_side == "right" else " (or cut at the right)"
    keeps = f"A max_length of {judged.figure(needs)} keeps it whole{side}"
    return f"{keeps}; or shorten or split the example, or drop it knowingly."


def _cut(judged: Judged) -> bool:
    return judged.plan.max_length is not None


@rule(
    "T001",
    "answer-never-seen",
    "error",
    what="max_length leaves no token of an answer.",
    why="The model never sees what the row was meant to teach: the row is dropped, or trained on its prompt alone.",
    remedy="Raise max_length, shorten the prompt, or split the conversation so that each answer comes early enough.",
    example=_EXAMPLE,
)
def never_seen(judged: Judged) -> Iterator[Finding]:
    """Answers of which nothing is kept, one finding a row."""
    if not _cut(judged):
        return
    reach, answers = judged.reach, judged.rows.answers
    gone = (answers.end > answers.start) & (answers.overlap(reach.start, reach.stop) == 0)
    gone &= answers_in_loss(answers, judged.plan)
    for row in np.unique(answers.row[gone]).tolist():
        mine = np.flatnonzero(gone & (answers.row == row))
        turns, of = answers.turn[mine].tolist(), int((answers.row == row).sum())
        lost, first = int((answers.end - answers.start)[mine].sum()), int(answers.start[mine[0]])
        tokens, needs = int(judged.rows.tokens[row]), _needs(judged, row, mine)
        kept = "first" if judged.plan.truncation_side == "right" else "last"
        kept += f" {int(reach.stop[row] - reach.start[row]):,} of {judged.figure(tokens)} tokens"
        message = (
            f"{_named(judged, row, turns, of)} {'is' if len(turns) == 1 else 'are'} never seen: max_length "
            f"{judged.plan.max_length:,} keeps the {kept}, "
            f"and {'the answer' if len(turns) == 1 else 'the first of them'} starts at token {judged.figure(first + 1)}"
            f"{_then(judged, row)}"
        )
        yield Finding(
            row,
            message,
            _remedy(judged, needs),
            {"answers": [t + 1 for t in turns], "of": of, "lost": lost, "tokens": tokens, "needs": needs},
        )


@rule(
    "T002",
    "answer-loses-its-end",
    "error",
    what="max_length cuts inside an answer: its beginning is kept, its end is not.",
    why="The model learns to stop in the middle, or never to stop: without the end-of-turn marker it is not taught to "
    "finish.",
    remedy="Raise max_length to what the message names, shorten the example, or split it.",
    example=_EXAMPLE,
)
def loses_end(judged: Judged) -> Iterator[Finding]:
    """Answers whose last tokens are not kept while their first are."""
    if not _cut(judged):
        return
    reach, answers = judged.reach, judged.rows.answers
    stop = reach.stop[answers.row]
    cut = (answers.overlap(reach.start, reach.stop) > 0) & (answers.end > stop) & answers_in_loss(answers, judged.plan)
    for i in np.flatnonzero(cut).tolist():
        row = int(answers.row[i])
        of = int((answers.row == row).sum())
        text, kept = int(answers.text_end[i] - answers.start[i]), int(stop[i] - answers.start[i])
        marker = int(answers.end[i] - answers.text_end[i])
        lost = max(0, text - kept)
        name = _named(judged, row, [int(answers.turn[i])], of)
        if lost:
            also = " and its end-of-turn marker" if marker else ""
            what = f"{name} loses its last {judged.figure(lost)} of {judged.figure(text)} tokens{also}"
        else:
            what = f"{name} keeps its text and loses its end-of-turn marker"
        needs = _needs(judged, row, np.array([i]))
        tokens = int(judged.rows.tokens[row])
        message = f"{what}: max_length {judged.plan.max_length:,} cuts a row of {judged.figure(tokens)} tokens"
        data: dict[str, Any] = {
            "answer": int(answers.turn[i]) + 1,
            "of": of,
            "lost": lost,
            "text": text,
            "end_of_turn_lost": marker > 0,
            "tokens": tokens,
            "needs": needs,
        }
        yield Finding(row, message + _then(judged, row), _remedy(judged, needs), data)


@rule(
    "T003",
    "prompt-is-cut",
    "warning",
    what="A cut on the left takes the beginning of the prompt (or of an answer) while an answer is kept.",
    why="The model is taught to answer a question that it was not shown: system prompt and first turns are gone.",
    remedy="Raise max_length, shorten the history, or cut on the right.",
    example=_EXAMPLE,
)
def prompt_cut(judged: Judged) -> Iterator[Finding]:
    """Rows that keep an answer and lose their first tokens."""
    if not _cut(judged):
        return
    reach, answers = judged.reach, judged.rows.answers
    left = (reach.start > 0) & ~reach.dropped
    kept = (answers.overlap(reach.start, reach.stop) > 0) & left[answers.row]
    for row in np.unique(answers.row[kept]).tolist():
        lost, tokens = int(reach.start[row]), int(judged.rows.tokens[row])
        yield Finding(
            row,
            f"the first {judged.figure(lost)} of {judged.figure(tokens)} tokens are cut at max_length "
            f"{judged.plan.max_length:,}: the prompt loses its beginning",
            _remedy(judged, tokens),
            {"lost": lost, "tokens": tokens, "needs": tokens},
        )


@rule(
    "T004",
    "media-is-cut",
    "error",
    what="max_length cuts inside the tokens that stand for an audio clip or an image.",
    why="The number of placeholders no longer matches what the encoder gives: the training step raises an error.",
    remedy="Raise max_length so that the media's tokens are kept whole, or drop the example.",
    example='{"messages": [{"role": "user", "content": [{"type": "audio", "audio": "clip.wav"}]}, …]}',
)
def media_cut(judged: Judged) -> Iterator[Finding]:
    """Clips and images of which some tokens are kept and some are not, or that are cut off whole."""
    if not _cut(judged):
        return
    reach, media = judged.reach, judged.rows.media
    length = media.end - media.start
    kept = media.overlap(reach.start, reach.stop)
    for i in np.flatnonzero((kept < length) & ~reach.dropped[media.row]).tolist():
        row, kind = int(media.row[i]), "audio clip" if media.audio[i] else "image"
        needs = _needs_media(judged, i)
        first, last = judged.figure(int(media.start[i]) + 1), judged.figure(int(media.end[i]))
        yield Finding(
            row,
            f"max_length {judged.plan.max_length:,} keeps {judged.figure(int(kept[i]))} of the {int(length[i]):,} "
            f"tokens of the {kind} at tokens {first} to {last}: the training step fails",
            f"A max_length of {judged.figure(needs)} keeps it whole; or drop the example.",
            {"kind": kind, "kept": int(kept[i]), "of": int(length[i]), "needs": needs},
        )


def _needs(judged: Judged, row: int, spans: Ints) -> int:
    """The least max_length that keeps these answers of a row whole."""
    answers = judged.rows.answers
    if judged.plan.truncation_side == "left":
        return int(judged.rows.tokens[row] - answers.start[spans].min())
    return int(answers.end[spans].max())


def _needs_media(judged: Judged, i: int) -> int:
    """The least max_length that keeps this clip or image whole."""
    media = judged.rows.media
    if judged.plan.truncation_side == "left":
        return int(judged.rows.tokens[media.row[i]] - media.start[i])
    return int(media.end[i])
