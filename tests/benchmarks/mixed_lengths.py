"""What steps of mixed lengths need beyond equal ones: the room that ``evidence.py`` adds to a band.

python -m tests.benchmarks.mixed_lengths

The longest step that fits a budget is found by replaying two steps of one length. Here random sequences of steps, none
longer than that and the last as long, are replayed too. Printed is by how much the budget must grow until they end.
"""

from itertools import product

import numpy as np

from lint_dataset.memory import StepMemory
from lint_dataset.plan import Plan

PLANS = (("Llama-3.2-1B", "logits"), ("Llama-3.2-1B", "chunked"), ("gemma-3n-E2B", "chunked"))
METHODS = ("qlora", "lora", "full")
LENGTHS = (701, 2001)
SEQUENCES, STEPS = 4, 5
#: To what part of the need it is found.
RESOLUTION = 0.003
MOST = 0.25


def need(memory: StepMemory, steps: list[np.ndarray], least: int) -> int:
    """The least that the allocator may reserve for some steps to complete; ``least`` is known to be too little."""
    low, high = least, int(least * (1 + MOST))
    while memory.run(steps, high) is None:
        low, high = high, int(high * (1 + MOST))
    while high - low > least * RESOLUTION:
        middle = (low + high) // 2
        low, high = (middle, high) if memory.run(steps, middle) is None else (low, middle)
    return high


def beyond(memory: StepMemory, budget: int, rng: np.random.Generator) -> list[float]:
    """By how much more than a budget some sequences up to the length that fits it need, as fractions."""
    longest = memory._longest(budget, True, 0)
    found = []
    for _ in range(SEQUENCES):
        lengths = [*rng.integers(50, longest, STEPS - 1).tolist(), longest]
        steps = [memory.rows(length, length)[0] for length in lengths]
        found.append(0.0 if memory.run(steps, budget) is not None else need(memory, steps, budget) / budget - 1)
    return found


def main() -> None:
    for expandable, checkpointing, method in product((False, True), (True, False), METHODS):
        for model, loss in PLANS:
            plan = Plan(
                model=model,
                method=method,
                batch_size=2,
                mixed_precision="bf16",
                gradient_checkpointing=checkpointing,
                loss=loss,
                expandable_segments=expandable,
            )
            memory = StepMemory.of(plan, trace=False)
            for tokens in LENGTHS:
                # What a step of about that length needs.
                budget = int(1.07 * memory.allocated(memory.rows(tokens, tokens))[0])
                found = beyond(memory, budget, np.random.default_rng(0))
                print(
                    f"{method:5} {'checkpointing' if checkpointing else 'none':13} "
                    f"{'expandable' if expandable else 'default':10} {model:13} {loss:7} "
                    f"{budget / 1e9:5.1f} GB, {memory._longest(budget, True, 0):4} tokens: "
                    + ", ".join(f"{100 * one:4.1f}" for one in found)
                    + " % more",
                    flush=True,
                )


if __name__ == "__main__":
    main()
