"""Where the media of a row are: files beside the dataset, or bytes inside the row. Nothing is ever fetched."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from lint_dataset.cache import identity
from lint_dataset.conversations import Conversation, Part

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DATA = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
#: A text that can only be base64: nobody has a path this long without a dot or a separator of Windows.
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{200,}={0,2}\s*")
#: Where the medium stands in an object, in the order that loaders look.
_KEYS = ("bytes", "path", "url", "file", "data", "base64", "audio", "image")


class Medium(NamedTuple):
    """A medium: a file or its bytes. Neither, where ``problem`` says why: ``"none"``, ``"missing"``, ``"address"``."""

    path: Path | None = None
    content: bytes | None = None
    problem: str = ""


def find(source: Any, folder: str) -> Medium:
    """The medium of a part. A relative path is looked up in ``folder`` (the dataset's), then in the working directory.

    Reads no file: a medium with a path is there, and may still be unreadable.
    """
    if isinstance(source, dict):
        source = next((source[key] for key in _KEYS if source.get(key) not in (None, "")), None)
    if isinstance(source, (bytes, bytearray)):
        return Medium(content=bytes(source))
    if not isinstance(source, str) or not source.strip():
        return Medium(problem="none")
    match = _DATA.match(source)
    if match:
        return _decoded(source[match.end() :])
    if source.startswith("file://"):
        source = unquote(urlsplit(source).path)
    elif _ADDRESS.match(source):
        return Medium(problem="address")
    try:
        for place in (Path(folder) / source, Path(source)):
            if os.path.isfile(place):
                return Medium(path=place)
    except ValueError:  # a NUL in the path
        return Medium(problem="missing")
    return _decoded(source) if _BASE64.fullmatch(source) else Medium(problem="missing")


def parts_of(conversation: Conversation) -> Iterable[tuple[int, Part]]:
    """The media of a conversation in order, each with the number of its message (from 1)."""
    for number, message in enumerate(conversation.messages, start=1):
        for part in message.parts:
            if part.kind not in ("text", "other"):
                yield number, part


def identities(conversation: Conversation, folder: str) -> str:
    """What the media of a row are, for the cache: empty without media, another text when a file changes or moves."""
    found = []
    for _, part in parts_of(conversation):
        medium = find(part.source, folder)
        where = "" if medium.path is None else str(medium.path.absolute())
        found.append(f"{medium.problem} {where} {identity(medium.path) if medium.path is not None else ''}")
    return "\n".join(found)


def _decoded(text: str) -> Medium:
    try:
        return Medium(content=base64.b64decode(text, validate=False))
    except (binascii.Error, ValueError):
        return Medium(problem="missing")
