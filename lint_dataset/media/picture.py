"""How large an image is, from its header alone, and whether its file is whole."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any, BinaryIO, NamedTuple

from lint_dataset.faults import Fault
from lint_dataset.media.finding import find

#: EXIF orientations that lay the image on its side: loaders turn it upright first.
_SIDEWAYS = (5, 6, 7, 8)
_ORIENTATION = 0x0112
_TAIL = 65_536
_ENDS = {"PNG": b"IEND", "JPEG": b"\xff\xd9", "GIF": b"\x3b"}


class Picture(NamedTuple):
    """An image: height and width in pixels as a loader sees it, None where not known."""

    size: tuple[int, int] | None
    faults: tuple[Fault, ...] = ()


def look(source: Any, folder: str, place: dict[str, Any]) -> Picture:
    """Measure an image without decoding it. ``place`` says which one it is, for its faults. Never raises."""
    medium = find(source, folder)
    if medium.problem == "address":
        return Picture(None, (Fault("A007", place),))
    if medium.problem:
        return Picture(None, (Fault("A006", {**place, "reason": "there is no such file"}),))
    try:
        content = medium.content if medium.path is None else None
        with (
            io.BytesIO(content or b"")
            if content is not None or medium.path is None
            else open(medium.path, "rb") as file
        ):
            return Picture(_size(file))
    except Exception as error:  # Pillow and the file system name their reasons, and there are many
        reason = str(error) if isinstance(error, _Cut) else type(error).__name__
        return Picture(None, (Fault("A006", {**place, "reason": reason}),))


class _Cut(ValueError):
    """An image whose file ends too early."""


def _size(file: BinaryIO) -> tuple[int, int]:
    from PIL import Image

    with warnings.catch_warnings():
        # Past 179 million pixels Pillow refuses an image, as it will in training; half of that is only a warning.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(file) as image:
            turned = image.getexif().get(_ORIENTATION) in _SIDEWAYS
            size = (image.width, image.height) if turned else (image.height, image.width)
            end = _ENDS.get(image.format or "")
    if end is not None:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        if end not in file.read(_TAIL):
            raise _Cut("the file is cut off")
    return size
