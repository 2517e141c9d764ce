"""What we say of the loaders, against what they did (``record.py``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lint_dataset import sources
from lint_dataset.loading import blocks
from lint_dataset.loading.forecast import outcomes
from lint_dataset.loading.gather import blocks_of
from lint_dataset.loading.loaders import CLAIMS
from lint_dataset.measure import measure
from tests.loading.kinds import ENDINGS, KINDS

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "loaders.json").read_text())
BLOCK = 1 << 14
#: Kinds whose trouble is in single lines or in the file as a whole, and the claim that covers each.
CLAIMED = {
    "byte_order_mark": "byte_order_mark",
    "blank_line": "blank_line",
    "blank_last_line": "blank_line",
    "pretty_printed": "not_lines",
    "two_objects_on_a_line": "not_lines",
    "array_file": "array_file",
    "array_on_each_line": "array_on_a_line",
    "trailing_comma": "syntax",
    "comma_at_end": "syntax",
    "single_quotes": "syntax",
    "cut_last_line": "syntax",
    "csv": "syntax",
    "utf_16": "syntax",
    "raw_line_break": "raw_line_break",
    "latin_1_byte": "not_utf_8",
    "lone_surrogate": "lone_surrogate",
    "duplicate_key": "duplicate_key",
    "lone_surrogate_alone": "only_row_refused",
    "duplicate_key_alone": "only_row_refused",
    "nan": "nan",
    "integer_over_64_bits": "long_integer",
    "nested_300_deep": "nested_deep",
    "empty": "empty",
    "windows_line_ends": "windows_line_ends",
}
#: Nobody trains on a file of blank lines: json.loads fails on it, and that an empty file does not is said by J002.
UNCLAIMED = ("only_blank_lines",)
#: What only releases from 4.7 to 4.8.3 do, of all that is forecast for 4.7 and newer.
BETWEEN = (("empty_object_filled_later", "middle"),)
#: Columns of numbers and booleans, which pandas makes numbers.
BOOLEANS = ("column_number_boolean", "column_boolean_later", "column_number_after_booleans_later")
COLUMN = {"mlx-lm": "lines", "pandas": "pandas"}
DATASETS = {"4.5": "old", "4.6": "old", "4.7": "middle", "4.8.0": "middle", "5.2": "new"}


def column(loader: str) -> str:
    """The column of the table of claims for a loader as it was recorded."""
    name, _, version = loader.partition(" ")
    return COLUMN.get(name) or next(known for start, known in DATASETS.items() if version.startswith(start))


@pytest.mark.parametrize("kind", CLAIMED)
def test_the_table_says_what_the_loaders_did(kind: str) -> None:
    claim = CLAIMS[CLAIMED[kind]]._asdict()
    did = {loader: found[kind] for loader, found in RECORDED.items()}
    assert {loader: claim[column(loader)] for loader in did} == did


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in CLAIMED and kind not in UNCLAIMED])
def test_types_are_forecast_as_the_datasets_library_takes_them(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", BLOCK)
    path = tmp_path / f"train{ENDINGS.get(kind, '.jsonl')}"
    path.write_bytes(KINDS[kind](BLOCK).content)
    (found,) = blocks_of(measure(sources.read(str(path)), None)).values()
    old, new = outcomes(found)
    for loader, did in RECORDED.items():
        if loader.startswith("datasets") and (kind, column(loader)) not in BETWEEN:
            assert did[kind] == (old if column(loader) == "old" else new), (loader, kind)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in CLAIMED and kind not in UNCLAIMED])
def test_readers_of_lines_and_pandas_are_not_harmed_by_types(kind: str) -> None:
    for loader, did in RECORDED.items():
        if loader.startswith("mlx-lm") and kind not in ENDINGS:
            assert did[kind] == "loads"
        elif loader.startswith("pandas"):
            # A column that a row does not have is null there, and true in a column of numbers is 1.
            harmless = ("loads", "padded") if "absent" in kind else ("loads",)
            assert did[kind] in (("changed",) if kind in BOOLEANS else harmless)
