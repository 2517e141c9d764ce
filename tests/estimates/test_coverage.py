"""The promise of the estimates, on text that they were not fitted to: real counts lie inside, and inside is narrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.estimates import corpora
from tests.estimates.conftest import fetched
from tests.estimates.coverage import measure
from tests.estimates.vocabularies import FAMILIES

pytestmark = pytest.mark.real_tokenizer

#: Of the mean row of a kind: the rows here are short. docs/estimates.md has the table on the large corpus.
WIDEST = {"en": 0.25, "code": 0.25, **dict.fromkeys(("fr", "zh", "ar", "hi", "json", "numbers", "other"), 0.35)}


@pytest.fixture(scope="module", params=FAMILIES)
def measured(request: pytest.FixtureRequest, held_out: list[Any]) -> Any:
    return fetched(lambda: measure(request.param, corpora.cap(held_out, 90_000, of_each=12_000), least=200, most=1500))


def test_real_counts_lie_inside(measured: Any) -> None:
    own = np.array([row.kind in WIDEST for row in measured.rows])
    inside = (measured.found.low <= measured.true) & (measured.true <= measured.found.high)
    # Each kind of text counts alike, however much of it the corpus has.
    assert np.mean([inside[own & _of(measured, kind)].mean() for kind in WIDEST]) >= 0.95


@pytest.mark.parametrize("kind", WIDEST)
def test_a_kind_of_text_is_neither_missed_nor_guessed_at(measured: Any, kind: str) -> None:
    rows, inside, width, error = measured.by_kind(kind)
    # One row outside by chance must not decide: the declaration has a dozen rows in a language.
    assert inside >= 0.95 - 1.5 / rows
    assert width <= WIDEST[kind]
    assert abs(error) < 0.04


def test_longer_rows_are_known_better(measured: Any) -> None:
    low, likely, high = measured.found
    relative = (high - low) / likely
    lengths = np.array([len(row.text) for row in measured.rows])
    english = _of(measured, "en")
    half = np.median(lengths[english])
    assert relative[english & (lengths > half)].mean() < relative[english & (lengths <= half)].mean()


def _of(measured: Any, kind: str) -> np.ndarray[Any, Any]:
    return np.array([row.kind == kind for row in measured.rows])
