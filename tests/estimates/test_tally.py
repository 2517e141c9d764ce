"""Tallies of text: quick, bounded, and the same whatever was tallied before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_dataset.estimates import tally as tallies
from lint_dataset.estimates.coefficients import Coefficients, load, pack, unpack
from lint_dataset.estimates.interval import GROUPS, groups, interval
from lint_dataset.estimates.pieces import COLUMNS, KINDS, PIECE, chunks, kinds
from lint_dataset.estimates.sketch import Sketch, fingerprints
from lint_dataset.estimates.tally import Tally

FAMILIES = ["gemma", "qwen", "qwen35", "llama3", "deepseek", "o200k", "tekken"]
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
@pytest.mark.parametrize("family", ["gemma", "qwen"])
def test_any_text_has_a_finite_number_of_tokens(family: str, text: str) -> None:
    coefficients = load(family)
    sums = Tally(coefficients).tally([text])
    found = interval(sums, coefficients)
    assert 0 <= found.low[0] <= found.likely[0] <= found.high[0]
    # Nothing has more tokens than bytes, and an estimate should not be far above that either.
    assert found.likely[0] <= 1.3 * len(text.encode("utf-8", "surrogatepass"))


@given(st.lists(st.text(max_size=60), max_size=6))
def test_a_text_counts_the_same_alone_and_among_others(texts: list[str]) -> None:
    coefficients = load("qwen")
    together = Tally(coefficients).tally(texts)
    alone = [Tally(coefficients).tally([text])[0] for text in texts]
    assert np.array_equal(together, np.array(alone).reshape(together.shape))


def test_what_was_tallied_before_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally(load("qwen"))
    first = tally.tally([ENGLISH, FRENCH, "字" * 100])
    assert np.array_equal(tally.tally([ENGLISH, FRENCH, "字" * 100]), first)
    monkeypatch.setattr(tallies, "_MOST", 20)
    for number in range(10):
        tally.tally([f"{ENGLISH} {number} {FRENCH}"])
        assert len(tally._known) <= 60
    assert np.array_equal(tally.tally([ENGLISH])[0], first[0])


@given(st.text(max_size=400))
def test_chunks_and_pieces_leave_no_character_out(text: str) -> None:
    assert "".join(chunks(text)) == text
    assert "".join(piece for chunk in chunks(text) for piece in PIECE.findall(chunk)) == text


def test_chunks_are_words_with_the_space_before_them() -> None:
    assert chunks("a b, c ") == ["a", " b,", " c", " "]
    assert chunks("def f():\n    return 1") == ["def", " f():\n", "    return", " 1"]
    assert [len(chunk) for chunk in chunks("x" * 500)] == [200, 200, 100]


@given(
    st.lists(st.binary(min_size=1, max_size=12), max_size=30), st.lists(st.binary(min_size=1, max_size=40), max_size=9)
)
def test_the_fewest_tokens_are_those_of_the_best_cut(vocabulary: list[bytes], pieces: list[bytes]) -> None:
    # Every token of a byte-pair vocabulary is two tokens put together: here, a prefix and a byte.
    tokens = {token[:size] for token in vocabulary for size in range(1, len(token) + 1)}

    def fewest(piece: bytes) -> int:
        best = [0]
        for end in range(1, len(piece) + 1):
            cuts = [start for start in range(end) if end - start == 1 or piece[start:end] in tokens]
            best.append(1 + min(best[start] for start in cuts))
        return best[-1]

    found = Sketch(fingerprints(sorted(tokens)), fingerprints([])).fewest(pieces)
    assert found.tolist() == [fewest(piece) for piece in pieces]


def test_a_token_that_no_two_others_make_is_known_too() -> None:
    tokens = [b"</", b"</body>"]
    assert Sketch(fingerprints(tokens), fingerprints([b"</body>"])).fewest([b"</body>", b"</bod"]).tolist() == [1, 4]


def test_a_sketch_of_a_large_vocabulary_takes_little_for_a_token_that_is_none() -> None:
    rng = np.random.default_rng(0)
    strings = sorted({rng.bytes(6) for _ in range(250_000)})
    sketch = Sketch(fingerprints(strings), fingerprints([]))
    # Six random bytes are no token, nor are any two of them.
    others = [rng.bytes(3) for _ in range(20_000)]
    assert (sketch.fewest(others) == 3).mean() > 0.998


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" word", "latin"), ("Été", "latin"), ("слово", "cyrillic"), (" كلمة", "arabic"), ("शब्द", "indic"),
        ("단어", "hangul"), ("ことば", "kana"), ("詞", "han"), ("𠀀", "han"), ("λόγος", "greek"), ("ቃል", "letters"),
        ("คำ", "south east asian"), ("12", "digits"), ('":', "signs"), ("🎉", "signs"), (" ", "signs"),
        (".name", "latin"),
    ],
)  # fmt: skip
def test_a_piece_is_of_the_kind_of_its_first_letter(text: str, kind: str) -> None:
    assert KINDS[kinds(["x", text, "1"])[1]] == kind


@pytest.mark.parametrize(
    ("text", "group"),
    [
        (ENGLISH, "latin"),
        (FRENCH, "latin"),
        ("会议将于星期四举行。", "scripts"),
        ("17, 23, 42, 1999", "digits"),
        ("if (a[i] == b) { c[i++] += -d; }", "signs"),
    ],
)
def test_a_row_is_what_most_of_it_is(text: str, group: str) -> None:
    assert GROUPS[groups(Tally(load("qwen")).tally([text]))[0]] == group


def test_longer_texts_are_surer() -> None:
    coefficients = load("gemma")
    found = interval(Tally(coefficients).tally([ENGLISH, " ".join([ENGLISH] * 40)]), coefficients)
    width = (found.high - found.low) / found.likely
    assert width[1] < 0.8 * width[0]


def test_accents_are_composed_where_the_tokenizer_does_so() -> None:
    sums = Tally(load("qwen")).tally(["r\u00e9sum\u00e9", "re\u0301sume\u0301"])
    assert np.array_equal(sums[0], sums[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_shipped_whole_and_small(family: str) -> None:
    made = load(family)
    assert 100_000 < len(made.sketch.marks) < 270_000
    assert made.scale.shape == (COLUMNS,)
    assert (made.spread > 0).all()
    assert (made.ends > 0).all()
    again = unpack(pack(made))
    assert np.array_equal(again.sketch.marks, made.sketch.marks)
    assert np.allclose(again.ends, made.ends)
