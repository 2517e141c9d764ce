"""Images that are cut into tiles or rows: Llama 4, Pixtral and Mistral 3, SmolVLM.

Source: transformers 5.24, ``get_best_fit`` and ``Llama4Processor._prompt_split_image``;
``PixtralProcessor.replace_image_token``; ``SmolVLMImageProcessor`` and ``SmolVLMProcessor``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lint_dataset.processors.formulas import Token, formula
from lint_dataset.processors.settings import Settings, whole
from lint_dataset.processors.slots import Ear, Expansion, Slot

_DEAF = Ear(16000, None)
#: SmolVLM's image processor makes no image larger than this, in pixels a side.
_SMOLVLM_LARGEST = 4096


def _size(settings: Settings, key: str = "size") -> Mapping[str, Any]:
    found = settings.image.get(key)
    return found if isinstance(found, dict) else {}


def llama4_grid(size: tuple[int, int], tile: int, most: int, largest: bool = False) -> tuple[int, int]:
    """Rows and columns of the canvas that an image is laid on: as little enlarged as may be, else as little reduced.

    Of several that do equally, the one with the smallest area; ``largest`` asks for the most enlarged. Single
    precision, as the image processor reckons: in double, canvases that tie there would not.
    """
    grids = [(n // columns, columns) for n in range(1, most + 1) for columns in range(1, n + 1) if n % columns == 0]
    sides = np.array(grids, np.float32) * np.float32(tile)
    scales = (sides / np.array(size, np.float32)).min(axis=1)
    enlarging = scales[scales >= 1]
    best = scales.max() if largest or not len(enlarging) else enlarging.min()
    # Grids are in the order of their areas: the first is the smallest.
    rows, columns = grids[int(np.flatnonzero(scales == best)[0])]
    return rows, columns


@formula("Llama4Processor")
def llama4(settings: Settings, token: Token) -> Expansion:
    """Tiles of 144 soft tokens, and the whole image once more where there are several."""
    tile, most = whole(_size(settings), "height", 336), whole(settings.image, "max_patches", 16)
    largest = settings.image.get("resize_to_max_canvas") is True
    ratio = settings.own.get("pixel_shuffle_ratio")
    shrink = round(1 / (float(ratio) if isinstance(ratio, (int, float)) else 0.5) ** 2)
    run = "<|patch|>" * ((tile // whole(settings.own, "patch_size", 14)) ** 2 // shrink)

    def measured(size: tuple[int, int], _: Any) -> str:
        rows, columns = llama4_grid(size, tile, most, largest)
        row = "<|tile_x_separator|>".join([run] * columns) + "<|tile_y_separator|>"
        tiles = row * rows if rows * columns > 1 else ""
        return f"<|image_start|>{tiles}<|image|>{run}<|image_end|>"

    return Expansion({"image": Slot("<|image|>", "<|patch|>", None, measured)}, _DEAF)


@formula("PixtralProcessor")
def pixtral(settings: Settings, token: Token) -> Expansion:
    """Rows of patches, each ended by a token of its own. The longer side is at most ``longest_edge`` pixels.

    An image so thin that nothing is left of it then is refused.
    """
    given = settings.image.get("patch_size")
    patch = whole(given, "height", 16) if isinstance(given, dict) else whole(settings.image, "patch_size", 16)
    side = whole(settings.own, "patch_size", 16) * whole(settings.own, "spatial_merge_size", 1)
    longest = whole(_size(settings), "longest_edge", 1024)
    names = (("image_token", "[IMG]"), ("image_break_token", "[IMG_BREAK]"), ("image_end_token", "[IMG_END]"))
    soft, stop, end = (str(settings.own.get(name) or default) for name, default in names)

    def measured(size: tuple[int, int], _: Any) -> str:
        height, width = size
        ratio = max(height / longest, width / longest)
        if ratio > 1:
            height, width = math.floor(height / ratio), math.floor(width / ratio)
        step = max(patch, side) if side % patch == 0 else patch
        rows, columns = (math.ceil(edge / step) * step // side for edge in (height, width))
        if not rows or not columns:
            raise ValueError("the image would be resized to nothing")
        return stop.join([soft * columns] * rows) + end

    return Expansion({"image": Slot(soft, soft, None, measured)}, _DEAF)


def smolvlm_grid(size: tuple[int, int], longest: int, tile: int) -> tuple[int, int]:
    """Rows and columns that an image is cut into, (0, 0) for one that stays whole.

    Its longer side is made ``longest`` pixels, then both become multiples of a ``tile``.
    """
    longest = min(longest, _SMOLVLM_LARGEST)
    long, short = max(size), min(size)
    aspect = long / short
    short = int(longest / aspect)
    short = max(short + short % 2, 1)
    # The longer side first, then the shorter from it: as the image is resized.
    cut_long = math.ceil(longest / tile)
    cut_short = math.ceil(int(cut_long * tile / (longest / short)) / tile)
    rows, columns = (cut_short, cut_long) if size[1] >= size[0] else (cut_long, cut_short)
    return (rows, columns) if rows > 1 or columns > 1 else (0, 0)


@formula("SmolVLMProcessor")
def smolvlm(settings: Settings, token: Token) -> Expansion:
    """Tiles named by row and column, and the whole image behind them."""
    longest = whole(_size(settings), "longest_edge", 1456)
    tile = whole(_size(settings, "max_image_size"), "longest_edge", 364)
    split = settings.image.get("do_image_splitting") is not False
    soft = token("image_token", "<image>")
    run = soft * whole(settings.own, "image_seq_len", 169)
    fake = token("fake_image_token", "<fake_token_around_image>")
    whole_image = f"{fake}{token('global_image_token', '<global-img>')}{run}{fake}"

    def measured(size: tuple[int, int], _: Any) -> str:
        rows, columns = smolvlm_grid(size, longest, tile) if split else (0, 0)
        if not rows:
            return whole_image
        cells = ["".join(f"{fake}<row_{y}_col_{x}>{run}" for x in range(1, columns + 1)) for y in range(1, rows + 1)]
        return "\n".join(cells) + f"\n\n{whole_image}"

    return Expansion({"image": Slot(soft, soft, None, measured)}, _DEAF)
