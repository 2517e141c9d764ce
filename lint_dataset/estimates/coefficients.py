"""What is shipped of one family of tokenizers: a sketch of its tokens, and how far counts by it are off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lint_dataset.estimates.sketch import Sketch

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coefficients:
    """What a tokenizer of the family makes of text.

    ``whole``: its tokens may reach from words into signs (SentencePiece); else text is cut into pieces first.
    ``composed``: letters and their accents are made one before (NFC). ``scale`` [column]: tokens for each of the
    fewest (``pieces.COLUMNS``). ``spread`` [2, column]: the variance of a row's tokens, relative to their square, is
    the mean over its columns of ``spread[0] / tokens + spread[1]``. ``ends`` [2, group]: how many standard deviations
    below and above hold 95 of 100 rows, and more, by the group of the row (``interval.GROUPS``).
    """

    sketch: Sketch
    whole: bool
    composed: bool
    scale: Floats
    spread: Floats
    ends: Floats


def pack(coefficients: Coefficients) -> dict[str, Any]:
    """The coefficients as the arrays that a file holds: fingerprints as the distances between them."""
    steps = np.diff(coefficients.sketch.marks, prepend=np.uint32(0)).astype("<u4")
    # Bytes of one rank together: the higher ones are nearly constant, and compress.
    planes = steps.view(np.uint8).reshape(-1, 4).T
    arrays: dict[str, Any] = {f"marks{rank}": plane for rank, plane in enumerate(planes)}
    arrays["odd"] = coefficients.sketch.odd
    arrays |= {name: getattr(coefficients, name).astype(np.float32) for name in _FIGURES}
    return arrays | {"whole": np.bool_(coefficients.whole), "composed": np.bool_(coefficients.composed)}


def unpack(arrays: Any) -> Coefficients:
    """The coefficients from the arrays of a file."""
    planes = np.ascontiguousarray(np.stack([arrays[f"marks{rank}"] for rank in range(4)], axis=1))
    marks = np.cumsum(planes.view("<u4").ravel(), dtype=np.uint32)
    scale, spread, ends = (arrays[name].astype(np.float64) for name in _FIGURES)
    return Coefficients(
        Sketch(marks, arrays["odd"]), bool(arrays["whole"]), bool(arrays["composed"]), scale, spread, ends
    )


@cache
def load(family: str) -> Coefficients:
    """The coefficients that are shipped for a family of tokenizers."""
    with resources.files(__package__).joinpath("data").joinpath(f"{family}.npz").open("rb") as file:
        return unpack(np.load(file, allow_pickle=False))


_FIGURES = ("scale", "spread", "ends")
