"""Makes the step programs that come with the package.

    python -m lint_dataset.memory.trace [--model NAME]... [--jobs N] [--every] [--remake]

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

#: Models that programs are shipped for, those that people ask for first in front. Models of the same shapes share them
#: (``models.shapes_of``).
MODELS = (
    "gemma-3n-E2B", "gemma-3n-E4B", "Llama-3.2-1B", "Llama-3.2-3B", "Qwen2.5-1.5B",
    "Llama-3.1-8B", "Qwen3-4B", "Qwen2.5-7B", "Qwen3-0.6B", "Qwen3-8B", "gemma-3-4b", "gemma-3-1b", "Mistral-7B-v0.3",
    "Qwen3-1.7B", "Qwen2.5-0.5B", "Qwen2.5-3B", "Phi-4-mini", "SmolLM2-1.7B", "SmolLM3-3B", "TinyLlama-1.1B",
    "gemma-3-270m", "SmolLM2-360M", "SmolLM2-135M", "Qwen3-14B", "gemma-3-12b", "Phi-4", "Granite-3.3-2B",
)  # fmt: skip

_LORA = [("lora", "all-linear"), ("lora", "attention")]
_FULL = [("full", "")]
_USUAL = [*_LORA, ("qlora", "all-linear"), *_FULL]
_METHODS = [*_LORA, ("qlora", "all-linear"), ("qlora", "attention"), *_FULL]
_AUTOCAST, _PLAIN, _FP32, _MASTER = ("bf16", "bf16"), ("bf16", "no"), ("fp32", "no"), ("fp32", "bf16")

_sizes: dict[str, Sizes] = {}


def recipes(models: Sequence[str] = MODELS, *, every: bool = False) -> Iterator[Recipe]:
    """What is shipped, the most wanted first; with ``every`` also what few ask for."""
    wanted: dict[Recipe, None] = {}

    def add(
        methods: Sequence[tuple[str, str]],
        types: Sequence[tuple[str, str]],
        checkpointing: Sequence[bool],
        losses: Sequence[str],
        device: str = "cuda",
    ) -> None:
        for model in models:
            for keep, loss, (dtype, mixed), (method, targets) in product(checkpointing, losses, types, methods):
                wanted.setdefault(Recipe(model, method, targets, dtype, mixed, keep, loss, device))

    add(_METHODS, [_AUTOCAST], [True], ["chunked"])  # TRL
    add(_USUAL, [_PLAIN], [False], ["logits"])  # transformers' Trainer
    add(_LORA, [_PLAIN, _FP32], [False, True], ["logits"], "mps")  # that on a Mac
    add([*_LORA, *_FULL], [_MASTER], [True], ["chunked"])  # TRL's command line, which loads fp32
    add(_USUAL, [_AUTOCAST], [True], ["logits"])
    add(_USUAL, [_AUTOCAST], [False], ["chunked", "logits"])
    add(_USUAL, [_PLAIN], [True], ["logits"])
    add(_LORA, [_AUTOCAST], [True], ["chunked"], "mps")  # TRL on a Mac
    add(_USUAL, [_AUTOCAST], [True], ["fused"])
    add(_FULL, [_PLAIN], [True, False], ["logits"], "mps")
    if every:
        add(_METHODS, [_AUTOCAST, _PLAIN], [True, False], ["chunked", "logits", "fused"])
        add([*_LORA, *_FULL], [_PLAIN, _FP32, _AUTOCAST], [True, False], ["logits", "chunked"], "mps")
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
@click.option("--every", is_flag=True, help="Also the recipes that few ask for.")
@click.option("--remake", is_flag=True, help="Make again what is there.")
def main(models: tuple[str, ...], jobs: int, every: bool, remake: bool) -> None:
    """See the module."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # transformers walks sets of strings; in one fixed order the same programs come out every time.
        os.execve(
            sys.executable,
            [sys.executable, "-m", "lint_dataset.memory.trace", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    held = {model: store.keys(model) for model in models or MODELS}
    wanted = recipes(models or MODELS, every=every)
    missing = [recipe for recipe in wanted if remake or recipe.key not in held[recipe.model]]
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
