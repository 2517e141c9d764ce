"""A peak that was measured: what it does to figures, bands and advice, and which ones cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_dataset.memory import StepMemory
from lint_dataset.memory.evidence import Band
from lint_dataset.memory.reading import Calibrated, Reading, largest
from lint_dataset.plan import Plan, PlanError, show
from lint_dataset.usage import UsageError
from tests.memory.test_step_memory import memory, plan

TOKENS = np.array([1, 200, 1000, 1500, 3000, 9000])


def calibrated(gigabytes: float, tokens: int = 1500, **settings: object) -> StepMemory:
    return memory(plan(calibrate=f"{gigabytes}GB@{tokens}", **settings))


def predicted(tokens: int) -> int:
    return int(memory(plan()).peak(tokens, tokens)[0])


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.15])
def test_the_measured_point_is_met_and_its_band_is_narrow(factor: float) -> None:
    measured = predicted(1500) * factor
    step = calibrated(measured / 1e9)
    assert int(step.peak(1500, 1500)[0]) == pytest.approx(measured, abs=2)
    verdicts, before = step.verdicts([1500], [1500]), memory(plan()).verdicts([1500], [1500])
    width = (verdicts.high - verdicts.low) / verdicts.peak
    assert (width <= (before.high - before.low) / before.peak).all()
    assert verdicts.low[0] <= measured <= verdicts.high[0]


@pytest.mark.parametrize("factor", [0.9, 1.15])
def test_the_band_holds_both_explanations_and_widens_with_the_distance(factor: float) -> None:
    """Whether the difference is the same at every length, or grows with it, one point cannot tell."""
    plain, off = memory(plan()), predicted(1500) * (factor - 1)
    step = calibrated((predicted(1500) + off) / 1e9)
    verdicts = step.verdicts(TOKENS, TOKENS)
    before = plain.verdicts(TOKENS, TOKENS)
    assert (verdicts.low <= before.peak + off + 2).all()
    assert (verdicts.high >= before.peak + off - 2).all()
    width = (verdicts.high - verdicts.low) / verdicts.peak
    at = int(np.flatnonzero(TOKENS == 1500)[0])
    assert width.argmin() == at
    assert (np.diff(width[at:]) >= 0).all()


def test_it_says_by_how_much_the_prediction_was_off() -> None:
    basis = calibrated(predicted(1500) * 1.1 / 1e9).band.basis
    assert "calibrated on your run" in basis
    assert "at 1,500 tokens" in basis
    assert "10.0 % more" in basis
    assert "may not have been this plan" not in basis
    assert "may not have been this plan" in calibrated(predicted(1500) * 1.5 / 1e9).band.basis


def test_a_peak_that_took_more_makes_less_fit() -> None:
    budget = 3_000_000_000
    plain = memory(plan()).longest_that_fits(budget)
    more, less = (calibrated(predicted(1500) * factor / 1e9).longest_that_fits(budget) for factor in (1.2, 0.9))
    assert plain is not None
    assert more is not None
    assert less is not None
    assert more < plain < less


def test_verdicts_and_advice_agree() -> None:
    budget = 3_000_000_000
    step = calibrated(predicted(1500) * 1.1 / 1e9)
    fits = step.longest_that_fits(budget)
    assert fits is not None
    tokens = np.unique(np.concatenate([np.arange(1, 4000, 97), [fits, fits + 1]]))
    verdicts = step.verdicts(tokens, tokens, budget=budget)
    assert ((verdicts.high <= budget) == (tokens <= fits)).all()
    assert (verdicts.low <= verdicts.peak).all()
    assert (verdicts.peak <= verdicts.high).all()


def test_parts_show_the_shift_and_add_up() -> None:
    step = calibrated(predicted(1500) * 0.9 / 1e9)
    parts = step.parts(1500, 1500)
    assert sum(parts.values()) == int(step.peak(1500, 1500)[0])
    assert parts["calibration"] == pytest.approx(-0.1 * predicted(1500), abs=2)
    assert "calibration" not in memory(plan()).parts(1500, 1500)


def test_a_batch_is_the_plans_unless_it_is_given() -> None:
    four = int(memory(plan(batch_size=4)).peak(500, 500)[0])
    assert int(calibrated(four / 1e9, 500, batch_size=4).peak(500, 500)[0]) == pytest.approx(four, abs=2)
    one = memory(plan(calibrate=f"{four / 1e9}GB@4x500"))
    assert int(one.peak(2000, 2000)[0]) == pytest.approx(int(memory(plan()).peak(2000, 2000)[0]), rel=1e-3)
    assert Plan(batch_size=4, calibrate="2GB@500").but(batch_size=1).calibrate == "2GB@4x500"


@pytest.mark.parametrize("gigabytes", [0.1, 0.6])
def test_less_than_the_weights_cannot_be(gigabytes: float) -> None:
    with pytest.raises(UsageError, match="before its first token") as raised:
        calibrated(gigabytes)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["", "41.2GB", "41.2@1536", "@1536", "41.2GB@0", "41.2GB@4x", "41.2GB@4x0", "GB@3", "1GB@-1"]
)
def test_what_is_no_measured_peak_is_one_line(text: str) -> None:
    with pytest.raises(PlanError, match="calibrate") as raised:
        Plan(calibrate=text)
    assert "\n" not in str(raised.value)


def test_it_is_a_setting_of_the_plan() -> None:
    shown = show(Plan(calibrate="41.2GB@1536"))
    [line] = [line for line in shown.splitlines() if line.startswith("calibrate")]
    assert line.split()[1:] == ["41.2GB@1x1536", "given"]


@given(
    fixed=st.integers(0, 10**11),
    grown=st.integers(1, 10**11),
    took=st.integers(1, 10**12),
    budget=st.integers(0, 10**12),
    spare=st.integers(0, 10**9),
)
def test_readings_grow_with_the_prediction_and_largest_inverts_them(
    fixed: int, grown: int, took: int, budget: int, spare: int
) -> None:
    band = Band(0.05, 0.08, "")
    peaks = np.unique(np.concatenate([np.linspace(fixed, fixed + 3 * grown, 50).astype(np.int64), [fixed + grown]]))
    for reading in (Reading(band, spare), Calibrated(band, 0, fixed, fixed + grown, fixed + took)):
        for read in (reading.low, reading.peak, reading.high):
            assert (np.diff(read(peaks)) >= 0).all()
        assert (reading.low(peaks) <= reading.peak(peaks)).all()
        assert (reading.peak(peaks) <= reading.high(peaks)).all()
        for read in (reading.low, reading.high):
            most = largest(read, budget)
            assert most < 0 or int(read(most)) <= budget
            assert most + 1 == 2**50 or int(read(most + 1)) > budget
