"""Messages made from rows that are no chat messages, in the form in which chat templates take them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from lint_dataset.conversations.shape import Message, Part

#: What media types say a medium is, by their first half.
_BY_MIME = ("audio", "image", "video")


def build(
    role: str,
    said: str | Iterable[Part],
    *,
    calls: Sequence[dict[str, Any]] = (),
    reasoning: str = "",
    trained: bool | None = None,
    switch: str | None = None,
    **fields: Any,
) -> Message:
    """A message that says ``said``. ``fields`` are other fields of it that templates know, such as ``tool_call_id``."""
    parts = ((Part("text", said),) if said else ()) if isinstance(said, str) else tuple(said)
    template: dict[str, Any] = {"role": role, "content": content_of(parts), **fields}
    if reasoning:
        template["reasoning_content"] = reasoning
    if calls:
        template["tool_calls"] = list(calls)
    return Message(role, parts, template, bool(calls), trained, switch)


def content_of(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    """What a template takes as the content: a string where all is text, else a list of parts."""
    if all(part.kind == "text" for part in parts):
        return "".join(part.text for part in parts)
    return [item_of(part) for part in parts]


def item_of(part: Part) -> dict[str, Any]:
    """A part as chat templates take it in a list."""
    if part.kind == "text":
        return {"type": "text", "text": part.text}
    return {"type": part.kind, part.kind: part.source}


def call_of(name: str, arguments: Any, call_id: Any = None) -> dict[str, Any]:
    """A tool call as chat templates take it. Arguments that are the JSON text of an object become the object."""
    if isinstance(arguments, str):
        try:
            decoded = json.loads(arguments)
        except (ValueError, RecursionError):
            decoded = None
        arguments = decoded if isinstance(decoded, dict) else arguments
    call: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments or {}}}
    return {"id": call_id, **call} if isinstance(call_id, str) else call


def tool_of(name: Any, description: Any, parameters: Any) -> dict[str, Any]:
    """A tool as chat templates take it."""
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": {key: value for key, value in function.items() if value is not None}}


def as_text(value: Any) -> str:
    """What a tool answered, as the text that a template prints: JSON where it is no text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def by_mime(mime: Any, source: Any) -> Part:
    """The part for a medium of this media type (``audio/wav``)."""
    kind = str(mime).partition("/")[0].lower()
    for known in _BY_MIME:
        if kind == known:
            return Part(known, "", source, known)  # type: ignore[arg-type]
    return Part("other", "", source, kind[:40])


def merged(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Messages in which nobody speaks twice in a row: what one says in several messages is said in one."""
    result: list[Message] = []
    for message in messages:
        if result and result[-1].role == message.role:
            parts = (*result.pop().parts, *message.parts)
            result.append(build(message.role, parts, trained=message.trained, switch=message.switch))
        else:
            result.append(message)
    return tuple(result)
