"""The coefficients of one family: small tables, made from the family's real tokenizer and shipped as one file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lint_dataset.estimates.pieces import SIZES, Pieces

Floats = NDArray[np.float64]

#: No piece of text is free.
_LEAST = 0.3


@dataclass(frozen=True)
class Coefficients:
    """What a tokenizer of the family makes of text.

    ``tables``: per feature of ``Pieces.features``, tokens that begin at a character, to be added up.
    ``scale`` [kind]: the factor that makes the sums right on text that the tables were not fitted to.
    ``spread`` [2, kind]: the variance of a row's tokens, relative to their square, is the mean over its kinds of
    ``spread[0] / tokens + spread[1]``. ``ends`` [2, group]: how many standard deviations below and above hold 95 of
    100 rows, and more, by the group of the row (``interval.GROUPS``).
    """

    tables: tuple[Floats, ...]
    scale: Floats
    spread: Floats
    ends: Floats

    def costs(self, pieces: Pieces, foreign: bool) -> Floats:
        """The tokens of each piece, in a row that is ``foreign`` or not."""
        features = pieces.features(np.full(len(pieces.lengths), foreign))
        tokens = np.zeros(len(pieces.codes))
        for table, index in zip(self.tables, features, strict=True):
            tokens += table[index]
        costs: Floats = np.maximum(np.add.reduceat(tokens, pieces.starts[:-1]), _LEAST)
        return costs


def pack(coefficients: Coefficients) -> dict[str, Any]:
    """The coefficients as the arrays that a file holds: tables in steps of 1/127 of their largest value."""
    arrays: dict[str, Any] = {name: getattr(coefficients, name).astype(np.float32) for name in _SMALL}
    for number, table in enumerate(coefficients.tables):
        step = max(float(np.abs(table).max()), 1e-9) / 127
        arrays[f"table{number}"] = np.round(table / step).astype(np.int8)
        arrays[f"step{number}"] = np.float32(step)
    return arrays


def unpack(arrays: Any) -> Coefficients:
    """The coefficients from the arrays of a file."""
    tables = tuple(arrays[f"table{i}"].astype(np.float64) * float(arrays[f"step{i}"]) for i in range(len(SIZES)))
    return Coefficients(tables, *(arrays[name].astype(np.float64) for name in _SMALL))


@cache
def load(family: str) -> Coefficients:
    """The coefficients that are shipped for a family of tokenizers."""
    with resources.files(__package__).joinpath("data").joinpath(f"{family}.npz").open("rb") as file:
        return unpack(np.load(file, allow_pickle=False))


_SMALL = ("scale", "spread", "ends")
