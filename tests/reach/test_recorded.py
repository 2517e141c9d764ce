"""Our verdicts equal what the trainers' own code did: see ``record`` and ``compare``."""

from __future__ import annotations

import pytest

from tests.reach import compare


@pytest.fixture(scope="module")
def rows() -> compare.Rows:
    return compare.Rows()


@pytest.mark.parametrize("trainer", compare.RECORDED)
def test_every_row_fares_as_it_did_in_the_trainer(trainer: str, rows: compare.Rows) -> None:
    agreed, differ = compare.compare(trainer, rows)
    assert sum(agreed.values()) > 100
    assert differ == []
