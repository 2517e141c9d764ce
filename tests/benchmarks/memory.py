"""What memory costs in CPU seconds: a live trace, the curve of a million rows, a replay, the first judgement.

python -m tests.benchmarks.memory            # all but the trace: no torch
python -m tests.benchmarks.memory --trace    # a plan of a model of 30 layers, needs torch and PEFT
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from lint_dataset.memory import StepMemory
from lint_dataset.memory.recipe import Recipe
from lint_dataset.plan import Plan

ROWS = 1_000_000
RUNS = 3
PLANS = {
    "Llama-3.2-1B, LoRA": Plan(model="Llama-3.2-1B"),
    "Llama-3.2-1B, QLoRA": Plan(model="Llama-3.2-1B", method="qlora"),
    "gemma-3n-E2B, LoRA": Plan(model="gemma-3n-E2B"),
}


def fastest(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest of some runs: what an idle core would take."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main(arguments: list[str]) -> None:
    rng = np.random.default_rng(0)
    tokens = rng.integers(1, 8192, ROWS)
    supervised = rng.integers(0, tokens + 1)
    for name, plan in PLANS.items():
        load = fastest(lambda plan=plan: StepMemory.of(plan, trace=False))
        memory = StepMemory.of(plan, trace=False)
        rows = memory.rows(tokens, supervised)
        curve = fastest(lambda memory=memory, rows=rows: memory.curve(rows))
        step = memory.rows(2048, 2048)[0]
        replay = fastest(lambda memory=memory, step=step: memory.run([step, step])) / 2
        first = fastest(
            lambda plan=plan: StepMemory.of(plan, trace=False).verdicts(tokens, supervised, budget=24 * 10**9)
        )
        print(
            f"{name:20} load {1e3 * load:5.1f} ms   curve of {ROWS:,} rows {curve:.2f} s   replay of a step "
            f"{1e3 * replay:4.0f} ms   first judgement of {ROWS:,} rows {first:.2f} s",
            flush=True,
        )
    if "--trace" in arguments:
        from lint_dataset.memory.trace import trace

        recipe = Recipe.of(Plan(model="SmolLM2-135M", lora_targets="q_proj,up_proj"))
        start = time.process_time()
        programs = trace(recipe)
        print(f"live trace of {recipe.model} (30 layers): {len(programs)} classes, {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
