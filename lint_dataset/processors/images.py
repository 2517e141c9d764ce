"""How large an image is, from its header alone."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from lint_dataset.faults import Fault
from lint_dataset.processors.media import find


class Picture(NamedTuple):
    """An image: height and width in pixels, None where not known."""

    size: tuple[int, int] | None
    faults: tuple[Fault, ...] = ()


def look(source: Any, folder: str, place: dict[str, Any]) -> Picture:
    """Measure an image without decoding it. ``place`` says which one it is, for its faults. Never raises."""
    from PIL import Image

    medium = find(source, folder)
    if medium.problem == "address":
        return Picture(None, (Fault("A007", place),))
    if medium.problem:
        return Picture(None, (Fault("A006", {**place, "reason": "there is no such file"}),))
    try:
        with Image.open(medium.path if medium.path is not None else io.BytesIO(medium.content or b"")) as image:
            return Picture((image.height, image.width))
    except Exception as error:  # Pillow and the file system name their reasons, and there are many
        return Picture(None, (Fault("A006", {**place, "reason": type(error).__name__}),))
