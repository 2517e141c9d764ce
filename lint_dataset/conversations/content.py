"""What a message says: a string, or a list of parts in every spelling that public data has."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.faults import name_of, type_name
from lint_dataset.conversations.shape import Part, PartKind
from lint_dataset.faults import Fault

_KINDS: dict[str, PartKind] = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "audio": "audio",
    "input_audio": "audio",
    "audio_url": "audio",
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "video": "video",
    "video_url": "video",
    "input_video": "video",
}
#: Where a medium may stand inside its part, besides the key named like the part's type or its kind.
_SOURCE_KEYS = ("url", "path", "file", "base64", "bytes", "data", "array", "source", "value")


def parts_of(content: str | list[Any], message: int) -> tuple[tuple[Part, ...] | None, list[Fault]]:
    """The parts of a content; None where one of them cannot be read. ``message`` counts from 1."""
    if isinstance(content, str):
        return (Part("text", content),) if content else (), []
    parts: list[Part] = []
    faults: list[Fault] = []
    broken = False
    for number, item in enumerate(content, start=1):
        part, problem = _part(item)
        if problem:
            faults.append(Fault("M010", {"message": message, "part": number, **problem}))
        if part is None:
            broken = True
        else:
            parts.append(part)
    return (None if broken else tuple(parts)), faults


def _part(item: Any) -> tuple[Part | None, dict[str, Any] | None]:
    if not isinstance(item, dict):
        return None, {"problem": "not_object", "got": type_name(item)}
    spelling = item.get("type")
    if not isinstance(spelling, str):
        return None, {"problem": "no_type"}
    kind = _KINDS.get(spelling, "other")
    if kind in ("text", "other") and item.get("text") is None and isinstance(item.get("value"), str):
        return None, {"problem": "value_key"}
    if kind == "other":
        return Part("other", "", None, spelling), {"problem": "unknown_type", "type": name_of(spelling)}
    if kind != "text":
        return Part(kind, "", _source(item, spelling, kind), spelling), None
    text = item.get("text")
    if isinstance(text, str):
        return Part("text", text, None, spelling), None
    return None, {"problem": "no_text"}


def _source(item: dict[str, Any], spelling: str, kind: str) -> Any:
    for key in (spelling, kind, *_SOURCE_KEYS):
        source = item.get(key)
        if source is None:
            continue
        # {"image_url": {"url": …}}: the address is what matters; other objects hold bytes or samples and stay whole.
        if isinstance(source, dict) and isinstance(source.get("url"), str):
            return source["url"]
        return source
    return None
