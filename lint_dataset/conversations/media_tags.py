"""Media named in the text: ``<img>1.jpg</img>`` (ms-swift), ``<|startofspeech|>!1.wav<|endofspeech|>`` (FunASR)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lint_dataset.conversations.media_columns import with_parts
from lint_dataset.conversations.shape import Message, Part, PartKind

_TAGS: tuple[tuple[PartKind, re.Pattern[str]], ...] = (
    ("image", re.compile(r"<img>([^<>\n]{1,4096})</img>")),
    ("audio", re.compile(r"<audio>([^<>\n]{1,4096})</audio>")),
    ("video", re.compile(r"<video>([^<>\n]{1,4096})</video>")),
)
#: FunASR's markers: the ``!`` says that an address or a path follows.
SPEECH = re.compile(r"<\|startofspeech\|>!([^<>\n]{1,4096})<\|endofspeech\|>")


def place_tags(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages with the media that their texts name in ms-swift's tags as parts."""
    placed = tuple(messages)
    for kind, tag in _TAGS:
        placed = tuple(with_parts(message, split_tags(message.parts, kind, tag)) for message in placed)
    return placed


def split_tags(parts: Iterable[Part], kind: PartKind, tag: re.Pattern[str]) -> tuple[Part, ...]:
    """Parts with a medium in the place of each tag in their text; the tag's group is the path."""
    result: list[Part] = []
    for part in parts:
        last = 0
        for match in tag.finditer(part.text):
            if match.start() > last:
                result.append(part._replace(text=part.text[last : match.start()]))
            result.append(Part(kind, "", match.group(1), kind))
            last = match.end()
        if part.kind != "text" or last < len(part.text):
            result.append(part._replace(text=part.text[last:]))
    return tuple(result)
