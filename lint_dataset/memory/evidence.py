"""What the error band of a prediction rests on: what ``python -m lint_dataset.memory.validate`` printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_dataset.memory.recipe import Recipe
    from lint_dataset.plan import Plan


@dataclass(frozen=True)
class Band:
    """How far the real peak may lie from the predicted one, as fractions of it: ``[1 - below, 1 + above]``."""

    below: float
    above: float
    #: What that rests on, to be shown to people.
    basis: str


@dataclass(frozen=True)
class Evidence:
    """Measured runs of one class beside their predictions."""

    runs: int
    cards: str
    #: The worst prediction under and over what was measured, in percent of that.
    low: float
    high: float


#: By (method, loss, device). Attention follows from the device: fused kernels on CUDA, all scores in memory on MPS. The
#: runs kept a mask; without gradient checkpointing that is 1 to 5 % more than the causal kernel that one example alone
#: gets, so there they say nothing of a batch of one.
#: Left out of qlora are two runs that took 12 % more than predicted (Qwen2.5-7B and Qwen2.5-Coder-1.5B on a T4): the
#: threads that loaded them ran ahead of the packing, as they do no more since transformers 5.4.
MEASURED: dict[tuple[str, str, str], Evidence] = {
    ("full", "logits", "cuda"): Evidence(7, "an RTX A6000", 0.21, 0.01),
    ("lora", "logits", "cuda"): Evidence(16, "a Tesla T4 and an RTX A6000", 0.03, 0.27),
    ("qlora", "logits", "cuda"): Evidence(32, "a Tesla T4", 5.53, 6.21),
}

#: What steps of mixed lengths may need beyond two steps of the same length, which is what is replayed: a little more
#: than the most that ``python -m tests.benchmarks.mixed_lengths`` found. With gradient checkpointing the logits are by
#: far the largest pieces: where they are whole (True) and differ in size from step to step, one step's do not fit where
#: another's were, or small blocks are in the way.
_MIXED_CHECKPOINTING = {True: 0.15, False: 0.05}
#: Without checkpointing, whatever the loss.
_MIXED_WITHOUT = 0.08
#: With expandable segments, which grow: there hardly is a difference.
_MIXED_EXPANDABLE = 0.01


def _mixed(recipe: Recipe, plan: Plan) -> float:
    if plan.expandable_segments:
        return _MIXED_EXPANDABLE
    return _MIXED_CHECKPOINTING[recipe.loss == "logits"] if recipe.gradient_checkpointing else _MIXED_WITHOUT


def band(recipe: Recipe, plan: Plan) -> Band:
    """The band of a plan, by the class of its recipe: a quarter wider than the worst error measured, at least 1 %.

    No measured run had DoRA, modules trained whole, expandable segments, or, with all weights trained, another
    optimizer than AdamW.
    """
    if recipe.device == "mps":
        # There is no allocator to replay, and no run to compare with.
        return Band(0.08, 0.08, "traced, not yet measured on Apple silicon: taken as 8 % either way")
    mixed = _mixed(recipe, plan)
    found = MEASURED.get((recipe.method, recipe.loss, recipe.device))
    unmasked = plan.batch_size == 1 and not recipe.gradient_checkpointing
    other = recipe.dora or recipe.modules_to_save or (recipe.method == "full" and plan.optimizer != "adamw")
    other = other or plan.expandable_segments
    if found is None or unmasked or other or "gemma-3n" in recipe.model.casefold():
        above = 0.05 + mixed
        basis = f"traced, not yet measured: taken as 5 % less to {100 * above:.0f} % more"
        return Band(0.05, above, basis)
    basis = (
        f"{found.runs} runs measured on {found.cards}: at worst {found.low:.2f} % under, {found.high:.2f} % over; "
        f"steps of mixed lengths may take {100 * mixed:.0f} % more"
    )
    return Band(max(1.25 * found.high, 1.0) / 100, max(1.25 * found.low / 100, 0.01 + mixed), basis)


#: How much two runs of one plan may differ, by method: the most that one measured run says of the next. Runs that are
#: not quantised reserved what the replay does to 0.3 %; QLoRA's reserved 4.87 to 5.12 GB for the same tensors.
_AGAIN = {"full": 0.01, "lora": 0.01, "qlora": 0.05}


def calibrated(recipe: Recipe, plan: Plan, basis: str) -> Band:
    """The band around a peak that was measured once: never wider than that of the class."""
    before = band(recipe, plan)
    if recipe.device == "mps":
        return Band(before.below / 2, before.above / 2, basis)
    again = _AGAIN[recipe.method]
    above = again + _mixed(recipe, plan)
    return Band(min(before.below, again), min(before.above, above), basis)
