"""Images of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and the Omni models: as many soft tokens as the image has patches, by four.

Source: transformers 5.24, ``smart_resize`` and ``Qwen2VLImageProcessor`` (``size``, formerly ``min_pixels`` and
``max_pixels``). An image more than 200 times as long as it is wide is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lint_dataset.processors.formulas import Token, formula
from lint_dataset.processors.settings import Settings, whole
from lint_dataset.processors.slots import Ear, Expansion, Slot, run


def image_tokens(size: tuple[int, int], patch: int, merge: int, least: int, most: int) -> int:
    """Soft tokens of an image of (height, width) that is resized to between ``least`` and ``most`` pixels.

    Both sides become multiples of ``patch * merge``. Raises ``ValueError`` for one that is too long and thin.
    """
    height, width = size
    if max(size) > 200 * min(size):
        raise ValueError("the image is more than 200 times as long as it is wide")
    side = patch * merge
    rows, columns = round(height / side), round(width / side)
    if rows * columns * side**2 > most:
        shrink = math.sqrt(height * width / most)
        rows = max(1, math.floor(height / shrink / side))
        columns = max(1, math.floor(width / shrink / side))
    elif rows * columns * side**2 < least:
        grow = math.sqrt(least / (height * width))
        rows, columns = math.ceil(height * grow / side), math.ceil(width * grow / side)
    return rows * columns


def image_slot(settings: Settings, soft: str) -> Slot:
    """The slot of an image processor of Qwen2-VL's kind."""
    image = settings.image
    given = image.get("size")
    size: Mapping[str, Any] = given if isinstance(given, dict) else {}
    least = whole(size, "shortest_edge", whole(image, "min_pixels", 56 * 56))
    most = whole(size, "longest_edge", whole(image, "max_pixels", 28 * 28 * 1280))
    patch, merge = whole(image, "patch_size", 14), whole(image, "merge_size", 2)
    return run(soft, soft, lambda size: image_tokens(size, patch, merge, least, most))


@formula("Qwen2VLProcessor", "Qwen2_5_VLProcessor", "Qwen3VLProcessor")
def qwen_vl(settings: Settings, token: Token) -> Expansion:
    """Images alone: video is not read."""
    return Expansion({"image": image_slot(settings, token("image_token", "<|image_pad|>"))}, Ear(16000, None))
