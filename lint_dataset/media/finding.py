"""Where a medium is: a file beside the dataset, bytes or samples inside the row, or an address."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from lint_dataset.conversations import Conversation, Part

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DATA = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
#: A text that can only be base64: nobody has a path this long without a dot or a separator of Windows.
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{200,}={0,2}\s*")
#: Where the medium stands in an object, in the order that loaders look.
_KEYS = (
    "bytes", "path", "url", "file", "data", "base64", "fileUri", "file_uri", "audio", "image", "audio_filepath",
    "inlineData", "inline_data", "fileData", "file_data",
)  # fmt: skip
_DEEPEST = 4
#: Hz: what is sampled faster is no sound.
_FASTEST = 10_000_000


class Medium(NamedTuple):
    """A medium: a file, its bytes, or samples with their rate (``samples``, ``rate``, ``channels``).

    None of them where ``problem`` says why: ``"none"``, ``"missing"``, or ``"address"`` with the ``address``.
    ``outside`` says of a file that it is in neither the dataset's folder nor the working directory.
    """

    path: Path | None = None
    content: bytes | None = None
    problem: str = ""
    address: str | None = None
    samples: int | None = None
    rate: int | None = None
    channels: int = 1
    outside: bool = False


def find(source: Any, folder: str) -> Medium:
    """The medium of a part. A relative path is looked up in ``folder`` (the dataset's), then in the working directory.

    Reads no file: a medium with a path is there, and may still be unreadable.
    """
    for _ in range(_DEEPEST):
        if not isinstance(source, dict):
            break
        if isinstance(source.get("array"), list):
            return _samples(source["array"], source.get("sampling_rate"))
        source = next((source[key] for key in _KEYS if source.get(key) not in (None, "")), None)
    if isinstance(source, (bytes, bytearray)):
        return Medium(content=bytes(source))
    if isinstance(source, list) and source and all(isinstance(value, (int, float)) for value in source[:9]):
        return _samples(source, None)
    if not isinstance(source, str) or not source.strip():
        return Medium(problem="none")
    match = _DATA.match(source)
    if match:
        return _decoded(source[match.end() :])
    if source.startswith("file://"):
        source = unquote(urlsplit(source).path)
    elif _ADDRESS.match(source):
        return Medium(problem="address", address=source)
    try:
        for place in (Path(folder) / source, Path(source)):
            if os.path.isfile(place):
                return Medium(path=place, outside=_outside(source, place, folder))
    except ValueError:  # a NUL in the path
        return Medium(problem="missing")
    return _decoded(source) if _BASE64.fullmatch(source) else Medium(problem="missing")


def parts_of(conversation: Conversation) -> Iterable[tuple[int, Part]]:
    """The media of a conversation in order, each with the number of its message (from 1)."""
    for number, message in enumerate(conversation.messages, start=1):
        for part in message.parts:
            if part.kind not in ("text", "other"):
                yield number, part


def _samples(array: list[Any], rate: Any) -> Medium:
    """Samples as they are; of several channels the longer side is time."""
    known = int(rate) if isinstance(rate, (int, float)) and 1 <= rate <= _FASTEST else None
    if array and isinstance(array[0], list) and array[0]:
        inner = max(len(row) if isinstance(row, list) else 0 for row in array)
        return Medium(samples=max(len(array), inner), rate=known, channels=min(len(array), inner))
    return Medium(samples=len(array), rate=known)


def _outside(source: str, place: Path, folder: str) -> bool:
    """Whether a file is neither in the folder of the dataset nor in the working directory."""
    if not os.path.isabs(source) and ".." not in source:
        return False
    where = os.path.normpath(os.path.abspath(place))
    return not any(where.startswith(os.path.abspath(home) + os.sep) for home in (folder or ".", "."))


def _decoded(text: str) -> Medium:
    try:
        return Medium(content=base64.b64decode(text, validate=False))
    except (binascii.Error, ValueError):
        return Medium(problem="missing")
