"""Peaks and verdicts over columns, on programs made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lint_dataset.memory import NoStepProgram, StepMemory, batch_that_fits, longest_with, peak_bytes, store
from lint_dataset.memory.allocator import MIB, CachingAllocator
from lint_dataset.memory.curve import sizes
from lint_dataset.memory.parts import PARTS
from lint_dataset.memory.program import ParameterGroup, StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.plan import Plan
from tests.memory.made import program

WEIGHTS = 600 * MIB
ADAPTER = 3 * MIB
GROUPS = (
    ParameterGroup("weights", ((WEIGHTS // 2, 0),), 2.0, False),
    ParameterGroup("adapters", ((0, ADAPTER // 4 // 16),), 4.0, True),
)
LAYERS = 12


def a_model(context: int = 0) -> tuple[StepProgram, ...]:
    """Twelve layers that each keep 40 kB a token and use 100 kB a token for a moment, logits, and one gradient each."""
    keep, moment, logits, gradient = range(4)
    kinds = [
        {("batch", "tokens"): 40_000},
        {("batch", "tokens"): 100_000},
        {("batch", "tokens"): 200_000},
        {("rank",): ADAPTER // 16 // LAYERS},
    ]
    events: list[int] = []
    alive: list[int] = []
    born = 0

    def birth(kind: int) -> int:
        nonlocal born
        events.append(kind)
        alive.append(born)
        born += 1
        return born - 1

    def death(index: int) -> None:
        events.append(-1 - (born - 1 - index))
        alive.remove(index)

    kept = []
    for _ in range(LAYERS):
        temporary = birth(moment)
        kept.append(birth(keep))
        death(temporary)
    loss = len(events)
    head = birth(logits)
    backward = len(events)
    also = birth(logits)
    death(head)
    death(also)
    gradients = []
    for saved in reversed(kept):
        temporary = birth(moment)
        gradients.append(birth(gradient))
        death(temporary)
        death(saved)
    optimizer = len(events)
    for index in gradients:
        death(index)
    marks = {"forward": 0, "loss": loss, "backward": backward, "optimizer": optimizer}
    return (program(kinds, events, groups=GROUPS, marks=marks),)


def memory(plan: Plan) -> StepMemory:
    return StepMemory(plan, Recipe.of(plan), a_model())


def plan(**settings: object) -> Plan:
    return Plan(**{"model": "made", "device": "cuda", **settings})  # type: ignore[arg-type]


def by_hand(step: StepMemory, tokens: int, limit: int | None = None) -> int:
    """Peak reserved of two steps, replayed event by event: weights, workspaces and states where they come."""
    made = a_model()[0]
    allocator = CachingAllocator(limit)
    held = [allocator.allocate(WEIGHTS), allocator.allocate(ADAPTER)]
    kinds = sizes(made, [1, tokens, 16, tokens, 0, 0])
    for first in (True, False):
        born = []
        for i, event in enumerate(made.events.tolist()):
            if first and i in (made.marks["forward"], made.marks["backward"]):
                held.append(allocator.allocate(step.device.workspace))
            if first and i == made.marks["optimizer"]:
                held += [allocator.allocate(size) for size in (4, ADAPTER, ADAPTER)]
            if event >= 0:
                born.append(allocator.allocate(kinds[event]))
            else:
                allocator.release(born[event])
    return allocator.peak_reserved


def test_a_peak_is_what_two_replayed_steps_reserve_and_the_context() -> None:
    step = memory(plan())
    for tokens in (1, 333, 1000, 2048):
        assert int(step.peak(tokens, tokens)[0]) == by_hand(step, tokens) + step.device.context


def test_the_basis_says_how_far_the_context_of_an_unnamed_card_may_be_off() -> None:
    unnamed, named = memory(plan()), memory(plan(device="t4"))
    assert "the card's CUDA context takes 0.1 GB to 0.7 GB" in unnamed.band.basis
    assert "context" not in named.band.basis


def test_parts_add_up_to_the_peak_and_say_what_is_there() -> None:
    step = memory(plan())
    parts = step.parts(1000, 1000)
    assert tuple(parts) == PARTS
    assert sum(parts.values()) == int(step.peak(1000, 1000)[0])
    assert parts["weights"] == WEIGHTS + ADAPTER
    assert parts["optimizer"] == 2 * ADAPTER + 512
    # At the peak two logits and what every layer keeps are alive, and no gradient yet: multiples of 512 bytes.
    assert parts["logits"] == 2 * 390_625 * 512
    assert parts["activations"] == LAYERS * 78_125 * 512
    assert parts["gradients"] == 0
    assert parts["overhead"] > step.device.context


@pytest.mark.parametrize("budget", [1_900_000_000, 2_500_000_000, 4_000_000_000])
def test_verdicts_parts_and_advice_agree(budget: int) -> None:
    step = memory(plan(budget=budget))
    tokens = np.random.default_rng(0).integers(1, 4000, 3000)
    tokens[::100] = 0
    verdicts = step.verdicts(tokens, tokens, budget=budget)
    assert (verdicts.peak[tokens == 0] == 0).all()
    assert (verdicts.low <= verdicts.peak).all()
    assert (verdicts.peak <= verdicts.high).all()
    fits = verdicts.longest_that_fits
    assert fits is not None
    assert (verdicts.high[tokens <= fits] <= budget).all()
    over = verdicts.high > budget
    assert (verdicts.high[tokens > fits] > budget).all()
    assert over.any() == (tokens > fits).any()
    top = int(verdicts.peak.argmax())
    assert verdicts.replayed[top]
    assert tokens[top] == tokens.max()
    assert sum(step.parts(int(tokens[top]), int(tokens[top])).values()) == verdicts.peak[top]


def test_longer_rows_never_have_a_lower_verdict() -> None:
    step = memory(plan())
    tokens = np.arange(1, 4000, 7)
    verdicts = step.verdicts(tokens, tokens, budget=2_500_000_000)
    for column in (verdicts.low, verdicts.high):
        over = column > 2_500_000_000
        assert (np.diff(over.astype(int)) >= 0).all()


def test_the_longest_that_fits_really_fits_and_much_longer_does_not() -> None:
    step = memory(plan())
    budget = 3_000_000_000
    fits = step.longest_that_fits(budget)
    assert fits is not None
    limit = int(budget / (1 + step.band.above)) - step.device.context
    assert by_hand(step, fits, limit) <= limit
    # The allocator's rounding costs this model, of few large tensors, up to a tenth: a step a third longer cannot fit.
    rows = step.rows(fits * 4 // 3, fits * 4 // 3)
    assert int(step.allocated(rows)[0]) > limit


@pytest.mark.parametrize("seed", range(6))
def test_steps_of_mixed_lengths_up_to_the_longest_that_fits_survive(seed: int) -> None:
    step = memory(plan())
    budget = 3_000_000_000
    fits = step.longest_that_fits(budget)
    assert fits is not None
    lengths = np.random.default_rng(seed).integers(1, fits + 1, 8)
    lengths[-1] = fits
    assert step.run(step.rows(lengths, lengths), budget - step.device.context) is not None


def test_nothing_fits_where_the_weights_do_not() -> None:
    step = memory(plan(budget=700 * MIB))
    assert step.longest_that_fits(700 * MIB) is None
    verdicts = step.verdicts(np.array([1, 100]), np.array([1, 100]), budget=700 * MIB)
    assert (verdicts.low > 700 * MIB).all()


def test_interpolated_peaks_are_near_the_replayed_ones() -> None:
    step = memory(plan())
    tokens = np.arange(100, 3000, 97)
    interpolated = step.peak(tokens, tokens)
    exact = np.array([int(step.peak(t, t)[0]) for t in tokens.tolist()])
    assert np.abs(interpolated / exact - 1).max() < 0.05


def test_a_batch_counts_every_example() -> None:
    one, four = memory(plan(batch_size=1)), memory(plan(batch_size=4))
    assert four.rows(10, 3, 2, 5.0).tolist() == [[4, 10, 16, 12, 8, 504]]
    assert int(four.allocated(four.rows(500, 500))[0]) == int(one.allocated(one.rows(2000, 2000))[0])


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_the_batch_that_fits_is_the_largest_one_that_does(device: str) -> None:
    budget = 3_000_000_000
    batch = batch_that_fits(memory(plan(batch_size=64, device=device)), budget, 300, 300)
    assert batch is not None
    assert 1 < batch < 63

    def high(size: int) -> int:
        return int(memory(plan(batch_size=size, device=device)).verdicts(300, 300, budget=budget).high[0])

    assert high(batch) <= budget < high(batch + 1)
    assert batch_that_fits(memory(plan(batch_size=8, device=device)), budget, 10_000, 10_000) is None


def test_apple_has_no_caching_allocator_to_replay() -> None:
    step = memory(plan(device="mps"))
    tokens = np.arange(1, 2000)
    expected = step.allocated(step.rows(tokens, tokens)) + step.device.context
    assert step.peak(tokens, tokens).tolist() == expected.tolist()
    budget = int(expected[999] * (1 + step.band.above)) + 1
    assert step.longest_that_fits(budget) == 1000


def test_verdicts_of_nothing() -> None:
    verdicts = memory(plan()).verdicts(np.array([], np.int64), np.array([], np.int64), budget=10**9)
    assert len(verdicts.peak) == len(verdicts.low) == len(verdicts.replayed) == 0


def test_without_a_program_and_torch_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("lint_dataset.memory.obtain.find_spec", lambda name: None)
    with pytest.raises(NoStepProgram) as raised:
        StepMemory.of(Plan(model="nobody/knows-it"), tmp_path)
    assert "lint-dataset[trace]" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan whose program lies in the user's cache."""
    monkeypatch.setenv("LINT_DATASET_CACHE", str(tmp_path))
    wanted = plan(model="made/by-hand")
    store.save(Recipe.of(wanted), a_model(), store.cache_folder())
    return wanted


def test_peak_bytes_of_numbers_and_arrays(kept: Plan) -> None:
    one = peak_bytes(kept, 512)
    assert isinstance(one, int)
    both = peak_bytes(kept, [512, 1024], batch=[1, 2])
    assert both.dtype == np.int64
    assert both.tolist() == [one, peak_bytes(kept, 1024, batch=2)]
    assert peak_bytes(kept, np.array([512])).shape == (1,)


def test_images_are_refused_not_ignored(kept: Plan) -> None:
    assert peak_bytes(kept, 512, images=0) == peak_bytes(kept, 512)
    with pytest.raises(NoStepProgram, match="images"):
        peak_bytes(kept, 512, images=1)


def test_the_longest_that_fits_makes_room_for_audio() -> None:
    """Rows of that length with that audio are not over, rows a good deal longer are."""
    plan = Plan(model="gemma-3n-E2B", method="lora", trainer="hf", budget=36 * 10**9)
    memory = StepMemory.of(plan)
    alone = memory.longest_that_fits(plan.budget or 0)
    beside = memory.longest_that_fits(plan.budget or 0, 3, 29.0)
    assert alone is not None
    assert beside is not None
    assert beside < alone
    verdicts = memory.verdicts([beside, beside * 2], [beside, beside * 2], 3, 29.0, plan.budget)
    assert verdicts.longest_that_fits == beside
    assert (verdicts.high <= plan.budget).tolist() == [True, False]


def test_a_plans_own_batch_counts_unless_another_is_asked_for(kept: Plan) -> None:
    assert peak_bytes(kept.but(batch_size=3), 100) == peak_bytes(kept, 100, batch=3)
    assert peak_bytes(kept.but(batch_size=3), 100, batch=1) == peak_bytes(kept, 100)


def test_no_step_is_so_large_that_its_peak_wraps_around_to_a_small_one() -> None:
    memory = StepMemory.of(Plan(model="gemma-3-270m", batch_size=2**16), trace=False)
    tokens = np.array([1, 2**10, 2**20, 2**24, 2**27, 2**31 - 1])
    peaks = memory.verdicts(tokens, tokens, budget=2**60).peak
    assert (np.diff(peaks[:3]) > 0).all()
    assert (peaks[3:] > 2**60).all()


def test_lighter_settings_are_named_only_where_their_program_is_at_hand() -> None:
    given = Plan(model="gemma-3n-E2B", budget=36 * 10**9, trainer="hf", gradient_checkpointing=False)
    heavy = StepMemory.of(given, trace=False)
    found = longest_with(heavy, 36 * 10**9)
    assert found
    for options, tokens in found.items():
        change = {
            "gradient_checkpointing": "--gradient" in options,
            "loss": "chunked" if "--loss" in options else "logits",
        }
        light = StepMemory.of(given.but(**change), trace=False)
        assert light.longest_that_fits(36 * 10**9) == tokens > (heavy.longest_that_fits(36 * 10**9) or 0)
