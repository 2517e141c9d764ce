"""Our verdicts equal what the trainers' own code did: see ``record`` and ``compare``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reach import compare


@pytest.mark.parametrize("trainer", compare.RECORDED)
def test_every_row_fares_as_it_did_in_the_trainer(trainer: str) -> None:
    agreed, differ = compare.compare(trainer)
    assert sum(agreed.values()) > 100
    assert differ == []


def test_the_table_in_the_docs_is_the_one_that_is_printed() -> None:
    page = Path(__file__).parents[2] / "docs" / "trainers.md"
    assert compare.table() in page.read_text(encoding="utf-8")
