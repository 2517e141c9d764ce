from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lint_dataset.memory.curve import Curve, sizes, table
from lint_dataset.memory.program import VARIABLES, StepProgram
from tests.memory.made import program, random_program


def slow_peak(made: StepProgram, values: dict[str, int]) -> int:
    """The peak by walking through the events with Python's integers."""
    row = [values.get(name, 0) for name in VARIABLES]
    rounded = [(size + 511) // 512 * 512 for size in sizes(made, row)]
    born: list[int] = []
    now = peak = 0
    for event in made.events.tolist():
        if event >= 0:
            born.append(rounded[event])
            now += rounded[event]
        else:
            now -= born[len(born) + event]
        peak = max(peak, now)
    return peak


def test_a_peak_worked_out_by_hand() -> None:
    # Two storages of 100 bytes a token and one of 3,000 bytes; the first dies before the last is born.
    made = program([{("tokens",): 100}, {(): 3000}], [0, 0, -2, 1, -1, -1 - 1])
    # 10 tokens: 1,000 bytes take 1,024; 3,000 take 3,072. Two alive of the first kind: 2,048; one and the last: 4,096.
    # 100 tokens: 10,000 bytes take 10,240. Two: 20,480; one and the last: 13,312.
    assert Curve([made])(table({"tokens": [10, 100]})).tolist() == [4096, 20480]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), wide=st.booleans())
def test_the_curve_is_the_slow_peak_to_the_byte(seed: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    made = random_program(rng)
    columns = {
        "batch": rng.integers(1, 9, 20),
        "tokens": rng.integers(1, 40000 if wide else 60, 20),
        "rank": rng.integers(1, 257, 20),
        "supervised": rng.integers(0, 5000, 20),
    }
    got = Curve([made])(table(columns))
    wanted = [slow_peak(made, {name: int(column[i]) for name, column in columns.items()}) for i in range(20)]
    assert got.tolist() == wanted


def test_sizes_that_shrink_with_a_variable_are_bounded_right() -> None:
    # A storage of unsupervised tokens: it shrinks as supervised grows.
    made = program(
        [{("tokens",): 1000, ("supervised",): -1000}, {("supervised",): 900}],
        [0, -1, 1, -1],
        bounds={"tokens": (1, None)},
    )
    rows = table({"tokens": 100, "supervised": np.arange(101)})
    wanted = [slow_peak(made, {"tokens": 100, "supervised": s}) for s in range(101)]
    assert Curve([made])(rows).tolist() == wanted


def test_each_row_is_judged_by_the_program_of_its_class() -> None:
    short = program([{("tokens",): 512}], [0, -1], bounds={"tokens": (1, 512)})
    long = program([{("tokens",): 1024}], [0, -1], bounds={"tokens": (513, None)})
    assert Curve([short, long])(table({"tokens": [512, 513]})).tolist() == [512 * 512, 513 * 1024]


def test_the_peak_of_a_row_is_found_in_time() -> None:
    made = program([{("tokens",): 512}, {(): 10 * 512}], [0, 0, -1, 1, -1, -2])
    few = Curve([made]).peak(table({"tokens": 3})[0])
    many = Curve([made]).peak(table({"tokens": 30})[0])
    assert (few.bytes, few.event) == (13 * 512, 3)
    assert (many.bytes, many.event) == (60 * 512, 1)


def test_nothing_in_nothing_out() -> None:
    made = program([{("tokens",): 512}], [0, -1])
    assert Curve([made])(table({"tokens": np.array([], np.int64)})).shape == (0,)


@pytest.mark.parametrize("distinct", [False, True])
def test_a_million_rows(distinct: bool) -> None:
    rng = np.random.default_rng(0)
    made = random_program(rng, births=18_500, kinds=32, most_alive=800)
    tokens = np.minimum(rng.lognormal(5.5, 1.0, 10**6).astype(np.int64) + 1, 32768)
    columns = {"batch": 4, "tokens": tokens, "rank": 16}
    columns["supervised"] = rng.integers(1, tokens + 1) if distinct else tokens
    curve = Curve([made])
    curve(table({"tokens": 1}))
    rows = table(columns)
    start = time.process_time()
    got = curve(rows)
    took = time.process_time() - start
    for i in rng.integers(0, 10**6, 5).tolist():
        values = {"batch": 4, "tokens": int(tokens[i]), "rank": 16, "supervised": int(columns["supervised"][i])}
        assert got[i] == slow_peak(made, values)
    # Under half a second of processor time on an idle machine; the margin is for a busy one.
    print(f"{took:.2f} s")
    assert took < 2
