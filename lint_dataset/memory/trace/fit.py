"""Sizes as polynomials: from traces at a few points to the bytes of every storage at any point.

Within one class of steps the same storages are born in the same order, and each size is a short sum of products of the
step's variables with whole-number coefficients. The traced points are unlike each other in every variable, so the
shortest sum that gives every traced size exactly is the size's polynomial: with fewer terms than points it has been
checked by at least one trace that did not determine it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from lint_dataset.memory.program import VARIABLES

Powers = tuple[int, ...]
#: A polynomial as coefficients by powers of ``VARIABLES``.
Polynomial = Mapping[Powers, int]

#: The most terms of one size: (tokens - 1) x (vocabulary + 1) has two, a padded bias three with its alignment.
MOST_TERMS = 3


def monomials(varying: Iterable[str]) -> list[Powers]:
    """Products that a size may be made of, where only some variables vary.

    A sequence has its batch, tokens (twice in a mask) and perhaps rank; what is chosen from it has supervised tokens;
    audio has clips and frames.
    """
    names = set(varying)
    axes = {name: VARIABLES.index(name) for name in VARIABLES}
    found: set[Powers] = set()

    def add(**powers: int) -> None:
        if all(name in names for name, power in powers.items() if power):
            row = [0] * len(VARIABLES)
            for name, power in powers.items():
                row[axes[name]] = power
            found.add(tuple(row))

    for batch, tokens, rank in product((0, 1), (0, 1, 2), (0, 1)):
        add(batch=batch, tokens=tokens, rank=rank)
    for rank in (0, 1):
        add(supervised=1, rank=rank)
        for clips, frames in product((0, 1), (0, 1, 2)):
            add(clips=clips, frames=frames, rank=rank)
    return sorted(found, key=lambda row: (sum(row), row))


def values(powers: Sequence[Powers], points: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """The monomials at the points, shape (points, monomials)."""
    exponents = np.array(powers, np.int64)
    table: NDArray[np.int64] = np.prod(np.array(points, np.int64)[:, None, :] ** exponents[None], axis=2)
    return table


def solve(
    sizes: NDArray[np.int64], powers: Sequence[Powers], points: Sequence[Sequence[int]]
) -> list[Polynomial | None]:
    """The polynomial that gives each column of ``sizes`` (points, kinds) exactly, None where more points are needed.

    A sum of as many terms as there are points is refused: no point would be left to check it.
    """
    table = values(powers, points)
    count, kinds = sizes.shape
    answers: list[Polynomial | None] = [None] * kinds
    for terms in range(1, min(MOST_TERMS, count - 1) + 1):
        open_kinds = np.array([k for k in range(kinds) if answers[k] is None], int)
        if not len(open_kinds):
            break
        wanted = sizes[:, open_kinds]
        for chosen in combinations(range(len(powers)), terms):
            columns = table[:, chosen].astype(float)
            # Scaled so that the system is as well-conditioned as it can be; exactness is checked in integers below.
            scale = columns.max(axis=0)
            solved, *_ = np.linalg.lstsq(columns / scale, wanted.astype(float), rcond=None)
            rounded = np.rint(solved / scale[:, None]).astype(np.int64)
            exact = (table[:, chosen] @ rounded == wanted).all(axis=0) & (rounded != 0).all(axis=0)
            for column in np.flatnonzero(exact):
                kind = int(open_kinds[column])
                if answers[kind] is None:
                    answers[kind] = {powers[m]: int(c) for m, c in zip(chosen, rounded[:, column], strict=True)}
    return answers


def evaluate(polynomial: Polynomial, point: Sequence[int]) -> int:
    """The bytes at a point (values in the order of ``VARIABLES``)."""
    total = 0
    for powers, coefficient in polynomial.items():
        term = coefficient
        for value, power in zip(point, powers, strict=True):
            term *= value**power
        total += term
    return total
