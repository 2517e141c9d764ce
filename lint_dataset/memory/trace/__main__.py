"""Makes the step programs that come with the package.

    python -m lint_dataset.memory.trace [--model NAME]... [--jobs N] [--remake]

What the archives hold already is left alone, so the command can be stopped and started again at any time. Progress goes
to stderr.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import click

from lint_dataset.memory import store
from lint_dataset.memory.program import StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace import TraceError, trace
from lint_dataset.memory.trace.programs import Sizes

#: Models that programs are shipped for, those that people ask for first in front.
MODELS = ("gemma-3n-E2B", "gemma-3n-E4B", "Llama-3.2-1B", "Llama-3.2-3B", "Qwen2.5-1.5B")

_LORA = [("lora", "all-linear"), ("lora", "attention")]
_METHODS = [*_LORA, ("qlora", "all-linear"), ("qlora", "attention"), ("full", "")]

_sizes: dict[str, Sizes] = {}


def recipes(models: Sequence[str] = MODELS) -> Iterator[Recipe]:
    """What is shipped, the most wanted first: TRL, transformers' Trainer, Apple, then bf16 without autocast."""
    wanted: dict[Recipe, None] = {}

    def add(
        methods: Sequence[tuple[str, str]],
        types: Sequence[tuple[str, str]],
        checkpointing: Sequence[bool],
        losses: Sequence[str],
        device: str,
        of: Sequence[str] = models,
    ) -> None:
        for model in of:
            for keep, loss, (dtype, mixed), (method, targets) in product(checkpointing, losses, types, methods):
                wanted.setdefault(Recipe(model, method, targets, dtype, mixed, keep, loss, device))

    add(_LORA, [("fp32", "no")], [False], ["logits"], "mps", models[:1])
    add(_METHODS, [("bf16", "bf16")], [True], ["chunked", "logits"], "cuda")
    add(_METHODS, [("bf16", "no")], [False], ["logits"], "cuda")
    add(_LORA, [("bf16", "no"), ("fp32", "no"), ("bf16", "bf16")], [True, False], ["logits", "chunked"], "mps")
    add(_METHODS, [("bf16", "bf16")], [True, False], ["chunked", "logits", "fused"], "cuda")
    full = [("full", "")]
    add(full, [("bf16", "no"), ("fp32", "no"), ("bf16", "bf16")], [True, False], ["logits", "chunked"], "mps")
    add(_METHODS, [("bf16", "no")], [True, False], ["logits", "chunked", "fused"], "cuda")
    yield from wanted


def _make(recipe: Recipe) -> tuple[Recipe, float, tuple[StepProgram, ...] | str]:
    warnings.filterwarnings("ignore")
    start = time.perf_counter()
    try:
        made: tuple[StepProgram, ...] | str = trace(recipe, sizes=_sizes.setdefault(recipe.model, Sizes()))
    except TraceError as error:
        made = str(error)
    return recipe, time.perf_counter() - start, made


@click.command(help="Make the step programs that come with the package, where they are missing.")
@click.option("--model", "models", multiple=True, help="Only this model. May be given several times.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
@click.option("--remake", is_flag=True, help="Make again what is there.")
def main(models: tuple[str, ...], jobs: int, remake: bool) -> None:
    """See the module."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # transformers walks sets of strings; in one fixed order the same programs come out every time.
        os.execve(
            sys.executable,
            [sys.executable, "-m", "lint_dataset.memory.trace", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    held = {model: store.keys(model) for model in models or MODELS}
    missing = [recipe for recipe in recipes(models or MODELS) if remake or recipe.key not in held[recipe.model]]
    failed = 0
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(_make, missing) if jobs > 1 else map(_make, missing)
        for done, (recipe, seconds, made) in enumerate(results, 1):
            if isinstance(made, str):
                failed += 1
                outcome = made
            else:
                store.save(recipe, made)
                outcome = f"{len(made)} programs, {sum(len(p.events) for p in made)} events"
            click.echo(f"{done}/{len(missing)} {recipe.model} {recipe.key} {seconds:.0f} s: {outcome}", err=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
