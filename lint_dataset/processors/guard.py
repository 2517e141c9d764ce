"""What a template leaves out without a word: media, tools, tool calls; and what it prints that nobody wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lint_dataset.conversations import Conversation, Part
from lint_dataset.conversations.faults import name_of
from lint_dataset.faults import Fault
from lint_dataset.media import parts_of

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor
    from lint_dataset.processors.texts import Texts

_LONGEST_MESSAGE = 160


def check(
    conversation: Conversation, messages: list[dict[str, Any]], plain: str, texts: Texts, processor: Processor
) -> list[Fault]:
    """The faults of a render, found by rendering again without the thing in question. Most rows need no such render.

    Fills ``texts.lost_media``.
    """
    faults = []
    if conversation.tools and _same(processor, messages, replace(conversation, tools=None), plain):
        faults.append(Fault("M106", {"tools": len(conversation.tools)}))
    callers = [index for index, message in enumerate(conversation.messages) if message.has_tool_calls]
    for index in callers:
        without = {key: value for key, value in messages[index].items() if key not in ("tool_calls", "function_call")}
        if _same(processor, [*messages[:index], without, *messages[index + 1 :]], conversation, plain):
            faults.append(Fault("M107", place(conversation, index)))
    faults += _media_lost(conversation, messages, plain, texts, processor)
    for index, message in enumerate(messages):
        if message.get("content") is None and "None" in _outside(plain, texts):
            filled = [*messages[:index], {**message, "content": ""}, *messages[index + 1 :]]
            if _count(processor, filled, conversation) < plain.count("None"):
                faults.append(Fault("M105", place(conversation, index)))
    return faults


def occurrences(text: str, placeholders: dict[str, str]) -> list[tuple[int, int, str]]:
    """Where placeholders stand in a text: (start, end, kind), in order."""
    if not placeholders or not any(name in text for name in placeholders):
        return []
    pattern = "|".join(re.escape(name) for name in sorted(placeholders, key=len, reverse=True))
    return [(match.start(), match.end(), placeholders[match.group()]) for match in re.finditer(pattern, text)]


def placeholder_faults(said: list[tuple[int, int, int]], found: list[tuple[int, int, str]]) -> list[Fault]:
    """Placeholders that stand in what somebody wrote: the processor takes them for media that are not there."""
    faults = []
    for number, start, end in said:
        kinds = {kind for at, _, kind in found if start <= at < end}
        faults += [Fault("M111", {"message": number, "kind": kind}) for kind in sorted(kinds)]
    return faults


def uncounted(kind: str, media: int, printed: int, slots: Mapping[str, Any]) -> dict[str, Any]:
    """Why the media of a kind cannot be matched with what the template printed."""
    if kind not in slots:
        why = f"how this processor counts {kind} is not known"
    else:
        why = f"the template prints {printed} placeholders for {media}"
    return {"kind": kind, "media": media, "printed": printed, "why": why}


def first_line(error: Exception) -> str:
    """What an exception says, in one line of limited length."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines[0]) <= _LONGEST_MESSAGE else lines[0][: _LONGEST_MESSAGE - 1] + "…"


def _media_lost(
    conversation: Conversation, messages: list[dict[str, Any]], plain: str, texts: Texts, processor: Processor
) -> list[Fault]:
    parts = list(parts_of(conversation))
    slots = processor.expansion.slots
    faults = []
    for kind in dict.fromkeys(part.kind for _, part in parts):
        own = [(number, part) for number, part in parts if part.kind == kind]
        if kind in slots and plain.count(slots[kind].placeholder) == len(own):
            continue
        for number, part in own:
            if _is_lost(conversation, messages, plain, processor, number, part):
                texts.lost_media.append((number, part))
                known = {"kind": kind, "type": part.type, "supported": kind in slots}
                faults.append(Fault("M103", {**place(conversation, number - 1), **known}))
    return faults


def _is_lost(
    conversation: Conversation,
    messages: list[dict[str, Any]],
    plain: str,
    processor: Processor,
    number: int,
    part: Part,
) -> bool:
    """Whether the render stays the same without a medium."""
    message, template = conversation.messages[number - 1], messages[number - 1]
    content = template.get("content")
    if not isinstance(content, list) or len(content) != len(message.parts):
        return part.kind not in processor.expansion.slots
    at = next(i for i, other in enumerate(message.parts) if other is part)
    without = {**template, "content": [*content[:at], *content[at + 1 :]]}
    return _same(processor, [*messages[: number - 1], without, *messages[number:]], conversation, plain)


def _same(processor: Processor, messages: list[dict[str, Any]], conversation: Conversation, plain: str) -> bool:
    try:
        return processor.render(messages, conversation.tools, conversation.variables) == plain
    except Exception:  # the template asks for it: then it is not ignored
        return False


def _count(processor: Processor, messages: list[dict[str, Any]], conversation: Conversation) -> float:
    try:
        return processor.render(messages, conversation.tools, conversation.variables).count("None")
    except Exception:
        return float("inf")


def _outside(plain: str, texts: Texts) -> str:
    """What of a render nobody wrote."""
    pieces, last = [], 0
    for _, start, end in sorted(texts.said, key=lambda said: said[1]):
        pieces.append(plain[last:start])
        last = max(last, end)
    return "\0".join([*pieces, plain[last:]])


def place(conversation: Conversation, index: int) -> dict[str, Any]:
    """Which message, as a fault says it: its number from 1, and its role."""
    return {"message": index + 1, "role": name_of(conversation.messages[index].role)}
