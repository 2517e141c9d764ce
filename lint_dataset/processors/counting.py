"""From a rendered example and its encoding to the counts and spans of its measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lint_dataset.conversations.faults import collapse
from lint_dataset.faults import Fault
from lint_dataset.processors.prompts import shared
from lint_dataset.processors.spans import Ruler

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor
    from lint_dataset.processors.rendering import Rendered


def count(
    rendered: Rendered, encoding: Any, processor: Processor, prompt: Any | None = None
) -> tuple[dict[str, Any], list[Fault]]:
    """The columns ``tokens``, ``turns``, ``answers``, ``completion`` and ``media`` of a measurement, and the faults.

    ``prompt`` is the encoding of the prompt by itself, where the row has one. The faults are what only the tokens show:
    control tokens in what somebody wrote, a sequence that begins twice, a prompt that is not how the row begins.
    """
    ruler = Ruler(encoding)
    turns = []
    last = 0
    for turn in rendered.turns:
        start, end = ruler.span(turn.start, turn.end)
        if start == end:
            # A turn of which nothing was rendered may stand inside the last token of the one before it.
            start = end = max(start, last)
        last = max(end, ruler.span(turn.start, turn.marker_end)[1])
        turns.append({"role": turn.role, "start": start, "end": end, "marker_end": last, "trained": turn.trained})
    whole = len(rendered.turns) == 1 and rendered.turns[0].role == "text"
    if whole or (rendered.turns and rendered.turns[-1].role == "completion"):
        # Tokens that the tokenizer itself adds at the end of a text belong to it.
        turns[-1]["marker_end"] = ruler.tokens
    if whole:
        turns[0]["start"] = 0
    answers = [{"start": turns[i]["start"], "end": turns[i]["marker_end"]} for i in rendered.answers]
    media = []
    for medium in rendered.media:
        start, end = ruler.span(medium.start, medium.end)
        media.append({"kind": medium.kind, "start": start, "end": end, "seconds": medium.seconds})
    completion, differing = _completion(rendered, encoding.ids, ruler, prompt)
    measured = {
        "tokens": ruler.tokens,
        "turns": turns,
        "answers": answers,
        "completion": completion,
        "media": media,
    }
    return measured, [
        *_control_tokens(rendered, encoding.ids, ruler, processor),
        *_double_begin(encoding.ids, processor),
        *differing,
    ]


def _completion(rendered: Rendered, ids: list[int], ruler: Ruler, prompt: Any | None) -> tuple[int | None, list[Fault]]:
    """Where the completion starts, and a fault where tokens of the prompt are not in the row.

    As TRL 1.16 has it: where the tokens of the row part from those of the prompt by itself.
    """
    if prompt is None:
        place = rendered.completion
        return (None if place is None else ruler.span(place, place)[0]), []
    start = shared(prompt.ids, ids)
    lost = len(prompt.ids) - start
    text = rendered.prompt if rendered.turns[-1].role == "completion" else None
    data = {"tokens": lost, "start": start, "strings": text is not None, "space": bool(text and text[-1].isspace())}
    return start, [Fault("M114", data)] if lost else []


def _control_tokens(rendered: Rendered, ids: list[int], ruler: Ruler, processor: Processor) -> list[Fault]:
    """Control tokens in what somebody wrote: the model takes them for the end of a turn, or the begin of one."""
    faults = []
    for message, start, end in rendered.said:
        first, last = ruler.span(start, end)
        inside = processor.special_ids.intersection(ids[first:last])
        if inside:
            names = sorted(str(processor.tokenizer.convert_ids_to_tokens(id_)) for id_ in inside)
            faults.append(Fault("M108", {"message": message, "tokens": names[:5]}))
    return collapse(faults)


def _double_begin(ids: list[int], processor: Processor) -> list[Fault]:
    begin = processor.tokenizer.bos_token_id
    return [Fault("M109", {"token": processor.bos})] if begin is not None and ids[:2] == [begin, begin] else []
