"""Tallies of text: quick, bounded, and the same whatever was tallied before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_dataset.estimates import tally as tallies
from lint_dataset.estimates.coefficients import Coefficients, load, pack, unpack
from lint_dataset.estimates.interval import GROUPS, groups, interval
from lint_dataset.estimates.pieces import PIECE, SIZES, SPACED, chunks
from lint_dataset.estimates.tally import Tally, settle, votes_of

ENGLISH = "The committee will meet on Thursday, and the minutes of that meeting are public."
FRENCH = "Le comité se réunira jeudi, et le compte rendu de cette séance sera public."
HOSTILE = [
    "",
    " ",
    "\n",
    "a" * 5000,
    "  ".join("xy"),
    "\ud800",
    "\x00",
    "字" * 3000,
    "e\u0301" * 10,
    "🎉" * 50,
    " " * 5000,
]


@pytest.fixture(scope="module")
def coefficients() -> Coefficients:
    return load("qwen")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_has_a_finite_number_of_tokens(coefficients: Coefficients, text: str) -> None:
    sums = Tally(coefficients).tally([text])
    found = interval(settle(sums, votes_of(sums)), coefficients)
    assert np.isfinite(sums).all()
    assert 0 <= found.low[0] <= found.likely[0] <= found.high[0]
    # Nothing has more tokens than bytes, and an estimate should not be far above that either.
    assert found.likely[0] <= 1.5 * len(text.encode("utf-8", "surrogatepass")) + 2


@given(st.lists(st.text(max_size=60), max_size=6))
def test_a_text_counts_the_same_alone_and_among_others(texts: list[str]) -> None:
    coefficients = load("qwen")
    together = Tally(coefficients).tally(texts)
    alone = [Tally(coefficients).tally([text])[0] for text in texts]
    assert np.allclose(together, np.array(alone).reshape(together.shape), rtol=1e-4, atol=1e-4)


def test_what_was_tallied_before_changes_nothing(coefficients: Coefficients, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally(coefficients)
    first = tally.tally([ENGLISH, FRENCH, "字" * 100])
    assert np.array_equal(tally.tally([ENGLISH, FRENCH, "字" * 100]), first)
    monkeypatch.setattr(tallies, "_MOST", 20)
    for number in range(10):
        tally.tally([f"{ENGLISH} {number} {FRENCH}"])
        assert len(tally._known) <= 60
    assert np.allclose(tally.tally([ENGLISH])[0], first[0])


@given(st.text(max_size=200))
def test_pieces_leave_no_character_out(text: str) -> None:
    assert "".join(SPACED.findall(text)) == text
    assert "".join(piece for chunk in SPACED.findall(text) for piece in PIECE.findall(chunk)) == text


def test_chunks_are_what_stands_between_spaces() -> None:
    assert chunks("def f():\n    return 1") == ["def", "f():\n", "   return", "1"]
    assert [len(chunk) for chunk in chunks("x" * 2500)] == [1000, 1000, 500]


def test_a_row_is_english_or_another_language_as_a_whole(coefficients: Coefficients) -> None:
    sums = Tally(coefficients).tally([ENGLISH, FRENCH])
    assert votes_of(sums)[0] < 0 < votes_of(sums)[1]
    tokens = settle(sums, votes_of(sums))
    assert [GROUPS[group] for group in groups(tokens)] == ["english", "latin"]
    assert (tokens[:, :2] > 0).sum() == 2


def test_longer_texts_are_surer() -> None:
    coefficients = load("gemma")
    sums = Tally(coefficients).tally([ENGLISH, " ".join([ENGLISH] * 40)])
    found = interval(settle(sums, votes_of(sums)), coefficients)
    width = (found.high - found.low) / found.likely
    assert width[1] < 0.8 * width[0]


@pytest.mark.parametrize("family", ["gemma", "qwen", "llama3", "deepseek", "o200k", "tekken"])
def test_every_family_is_shipped_whole_and_small(family: str) -> None:
    made = load(family)
    assert tuple(len(table) for table in made.tables) == SIZES
    assert (made.spread > 0).all()
    assert (made.ends > 0).all()
    again = unpack(pack(made))
    assert all(np.allclose(a, b, atol=1e-3) for a, b in zip(again.tables, made.tables, strict=True))
