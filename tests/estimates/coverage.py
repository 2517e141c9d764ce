"""Measure the estimates on text that they were not fitted to: how many rows lie inside, and how wide that is.

python -m tests.estimates.coverage [FAMILY ...]    # the table of docs/estimates.md
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lint_dataset.estimates.coefficients import Floats, load
from lint_dataset.estimates.interval import Interval, interval
from lint_dataset.estimates.tally import Tally
from tests.estimates import corpora
from tests.estimates.corpora import Document
from tests.estimates.vocabularies import FAMILIES, tokenizer


class Measured(NamedTuple):
    """Rows, their real tokens, and what was estimated. ``seconds`` is what estimating took."""

    family: str
    rows: list[Document]
    true: Floats
    found: Interval
    seconds: float

    def by_kind(self, kind: str) -> tuple[int, float, float, float]:
        """Rows of a kind, the share inside, and the means of width and of error, relative to the real tokens."""
        own = np.array([row.kind == kind for row in self.rows])
        true, low, likely, high = (values[own] for values in (self.true, *self.found))
        inside = (low <= true) & (true <= high)
        return (
            int(own.sum()),
            float(inside.mean()),
            float(((high - low) / true).mean()),
            float((likely / true).mean() - 1),
        )


def measure(family: str, documents: Sequence[Document], least: int = 80, most: int = 8000) -> Measured:
    """Estimate rows made of documents, ``least`` to ``most`` characters long, and count them for real."""
    rows = corpora.rows(list(documents), seed=2, least=least, most=most)
    texts = [row.text for row in rows]
    real = tokenizer(family)
    true = np.array([len(encoding.ids) for encoding in real.encode_batch(texts, add_special_tokens=False)], np.float64)
    coefficients = load(family)
    tally = Tally(coefficients)
    begun = time.perf_counter()
    sums = np.concatenate([tally.tally(texts[i : i + 1000]) for i in range(0, len(texts), 1000)])
    found = interval(sums, coefficients)
    return Measured(family, rows, true, found, time.perf_counter() - begun)


def main(families: Sequence[str]) -> None:
    """Print a table: by kind of text the share of rows inside, the width, and the mean error."""
    documents = corpora.held_out()
    print(f"| family | {' | '.join(corpora.KINDS)} |\n|---|" + "---|" * len(corpora.KINDS))
    for family in families or FAMILIES:
        measured = measure(family, documents)
        found = [measured.by_kind(kind) for kind in corpora.KINDS]
        cells = [f"{100 * inside:.1f}, {100 * width:.0f}, {100 * error:+.1f}" for _, inside, width, error in found]
        print(f"| {family} | {' | '.join(cells)} |", flush=True)
        characters = sum(len(row.text) for row in measured.rows)
        print(f"{family}: {characters / measured.seconds / 1e6:.1f} million characters/s", file=sys.stderr)
    print("| rows | " + " | ".join(f"{measured.by_kind(kind)[0]:,}" for kind in corpora.KINDS) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
