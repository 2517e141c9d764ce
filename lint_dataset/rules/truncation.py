"""T: what a max_length cuts. All are judged on what the plan's trainer lets through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lint_dataset.reach import answers_in_loss, spans_of
from lint_dataset.rows import Ints, Spans
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


def _then(judged: Judged, row: int) -> tuple[str, str]:
    """What the trainer does with a row that lost answers: the end of the sentence, and one word for it."""
    reach, release = judged.reach, judged.plan.preset.release
    supervised = int(reach.supervised[row])
    if reach.dropped[row]:
        return f"; {release} drops the row without naming it", "dropped"
    if reach.unmasked[row]:
        return f"; {release} then puts the loss on all {judged.figure(supervised)} tokens of the prompt", "prompt-alone"
    if not supervised and judged.plan.trainer == "mlx-lm":
        return "; nothing is left to train on, and a batch of such rows has the loss NaN, which is not guarded", "nan"
    if not supervised:
        return "; no token of the row is left to train on (loss 0 or NaN)", "no-loss"
    answers = judged.rows.answers
    if not answers.within(reach.kept)[answers.row == row].any():
        return f"; the model is trained on {judged.figure(supervised)} tokens of prompt alone", "prompt-alone"
    if judged.plan.trainer == "llama-factory":
        return "; each question and answer gets a share of it", "cut"
    return "", "cut"


def _remedy(judged: Judged, needs: int) -> str:
    """The least max_length that is enough, where the step would then fit the budget."""
    side = "" if judged.plan.truncation_side == "right" else " (or cut at the right)"
    if judged.memory is not None and judged.plan.budget is not None:
        fits = judged.memory.longest_that_fits
        if fits is None or fits < needs:
            longest = "no length fits the budget" if fits is None else f"the longest step that fits has {fits:,} tokens"
            for options, most in judged.memory.longest_with.items():
                if most >= needs:
                    return (
                        f"Train with {options}, under which {most:,} tokens fit, and a max_length of "
                        f"{judged.figure(needs)}{side}: now {longest}. Or shorten or split the example."
                    )
            return (
                f"No max_length helps: it would have to be {judged.figure(needs)}, and {longest}. Shorten or split the "
                f"example{side and ', cut at the right'}, or drop it knowingly."
            )
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
    answers, losses = judged.rows.answers, judged.losses
    for row in np.unique(answers.row[losses.gone]).tolist():
        mine = np.flatnonzero(losses.gone & (answers.row == row))
        turns, of = answers.turn[mine].tolist(), int((answers.row == row).sum())
        lost, first = int((answers.end - answers.start)[mine].sum()), int(answers.start[mine[0]])
        tokens, needs = int(judged.rows.tokens[row]), _needs(judged, row, mine)
        end, outcome = _then(judged, row)
        message = (
            f"{_named(judged, row, turns, of)} {'is' if len(turns) == 1 else 'are'} never seen: max_length "
            f"{judged.plan.max_length:,} keeps {_kept(judged, row)} of {judged.figure(tokens)} tokens, "
            f"and {'the answer' if len(turns) == 1 else 'the first of them'} starts at token {judged.figure(first + 1)}"
            f"{end}"
        )
        yield Finding(
            row,
            message,
            _remedy(judged, needs),
            {
                "answers": [t + 1 for t in turns],
                "of": of,
                "lost": lost,
                "tokens": tokens,
                "needs": needs,
                "outcome": outcome,
            },
        )


def _kept(judged: Judged, row: int) -> str:
    """What is kept of a row: ``the first 2,048``."""
    kept = judged.reach.kept
    mine = np.flatnonzero((kept.row == row) & (kept.end > kept.start))
    tokens = int((kept.end - kept.start)[mine].sum())
    if len(mine) != 1:
        return f"{tokens:,}"
    return f"the {'last' if kept.start[mine[0]] else 'first'} {tokens:,}"


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
    answers, losses = judged.rows.answers, judged.losses
    for i in np.flatnonzero(losses.cut).tolist():
        row = int(answers.row[i])
        of = int((answers.row == row).sum())
        text, kept = int(answers.text_end[i] - answers.start[i]), int(losses.kept[i])
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
        end, outcome = _then(judged, row)
        if judged.reach.sealed[row]:
            end = f"; {judged.plan.preset.release} puts the end of the sequence in place of the last token kept"
            end, outcome = f"{end}, so that the answer looks finished", "sealed"
        data: dict[str, Any] = {
            "answer": int(answers.turn[i]) + 1,
            "of": of,
            "lost": lost,
            "text": text,
            "end_of_turn_lost": marker > 0,
            "tokens": tokens,
            "needs": needs,
            "outcome": outcome,
        }
        yield Finding(row, message + end, _remedy(judged, needs), data)


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
    pieces = spans_of(judged.rows, 0, 1).within(reach.kept)
    left = judged.rows.measured & (pieces == 0) & ~reach.dropped
    kept = (judged.losses.kept > 0) & left[answers.row]
    for row in np.unique(answers.row[kept]).tolist():
        lost, tokens = int(reach.kept.start[reach.kept.row == row].min()), int(judged.rows.tokens[row])
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
    what="max_length cuts inside the tokens that stand for audio clips or images. Said once a row.",
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
    kept = media.within(reach.kept)
    hit = np.flatnonzero((kept < length) & ~(reach.dropped | reach.stops)[media.row])
    for row, own in _by_row(media.row, hit):
        i, needs = own[0], max(_needs_media(judged, i) for i in own)
        kind = "audio clip" if media.audio[i] else "image"
        first, last = judged.figure(int(media.start[i]) + 1), judged.figure(int(media.end[i]))
        more = f", and not all of {len(own) - 1:,} more clips or images" if len(own) > 1 else ""
        yield Finding(
            row,
            f"max_length {judged.plan.max_length:,} keeps {judged.figure(int(kept[i]))} of the {int(length[i]):,} "
            f"tokens of the {kind} at tokens {first} to {last}{more}: the training step fails",
            f"A max_length of {judged.figure(needs)} keeps {'them' if more else 'it'} whole; or drop the example.",
            {"kind": kind, "kept": int(kept[i]), "of": int(length[i]), "needs": needs, "times": len(own)},
        )


def _by_row(row_of: Ints, hit: Ints) -> Iterator[tuple[int, list[int]]]:
    """The elements of ``hit`` by the row that ``row_of`` says, which is sorted."""
    for row in np.unique(row_of[hit]).tolist():
        yield row, hit[row_of[hit] == row].tolist()


@rule(
    "T005",
    "prompt-loses-its-end",
    "error",
    what="The end of a question is cut, and with it the header that opens the answer, while the answer is kept.",
    why="LLaMA-Factory shortens question and answer from their ends: the model sees an answer to half a question, "
    "without the header (<start_of_turn>model) that it is prompted with later.",
    remedy="Raise max_length, or shorten the question or what comes before it.",
    example='{"messages": [{"role": "user", "content": "… 3,000 tokens …"}, {"role": "assistant", "content": "…"}]}',
)
def prompt_loses_its_end(judged: Judged) -> Iterator[Finding]:
    """Answers that are kept behind a question of which the head is kept and the last token is not."""
    if not _cut(judged):
        return
    kept, answers = judged.reach.kept, judged.rows.answers
    before = np.zeros(len(answers.row), np.int64)
    follows = ~np.diff(answers.row, prepend=-1).astype(bool)
    before[follows] = answers.end[np.flatnonzero(follows) - 1]
    asked = Spans(answers.row, before, answers.start)
    head = asked.within(kept)
    last = Spans(answers.row, answers.start - 1, answers.start).within(kept) > 0
    hit = (judged.losses.kept > 0) & (head > 0) & ~last & answers_in_loss(answers, judged.plan)
    hit &= ~judged.reach.dropped[answers.row]
    for i in np.flatnonzero(hit).tolist():
        row, of = int(answers.row[i]), int((answers.row == answers.row[i]).sum())
        tokens, needs = int(answers.start[i] - before[i]), _needs(judged, row, np.array([i]))
        lost = tokens - int(head[i])
        whose = f" before answer {int(answers.turn[i]) + 1} of {of}" if of > 1 else ""
        yield Finding(
            row,
            f"the prompt{whose} loses its last {judged.figure(lost)} of {judged.figure(tokens)} tokens, and with them "
            f"the header that opens the answer: max_length {judged.plan.max_length:,} is shared by question and answer",
            _remedy(judged, needs),
            {"answer": int(answers.turn[i]) + 1, "of": of, "lost": lost, "tokens": tokens, "needs": needs},
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
