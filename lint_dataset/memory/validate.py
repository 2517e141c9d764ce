"""Predictions beside peaks that others measured: ``python -m lint_dataset.memory.validate FILE.csv``.

A row of the file is one training run. Each is traced at its exact batch and length under the loop that its author
describes, replayed, and compared: allocated memory with the allocator's allocated peak, reserved memory with its
reserved peak, a process with reserved memory and the context. Rows of which something is known to differ from what is
traced stand for themselves, below what differs; rows that cannot be expressed are listed with the reason.
Needs ``lint-dataset[trace]``.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lint_dataset.memory import devices
from lint_dataset.memory.allocator import OutOfMemory
from lint_dataset.memory.audio import mel_frames
from lint_dataset.memory.measured_runs import LLAMAS, Case, express, known
from lint_dataset.memory.program import VARIABLES, StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.replay import Process

#: How far threads may be ahead: not at all, one tensor each, and up to the whole model.
_AHEAD = (0, 4, 8, 16, 32, 64, 128, 1024)


class Comparison(NamedTuple):
    """A predicted figure beside the measured one, in bytes."""

    case: Case
    what: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """How far the prediction is over (positive) or under what was measured, in percent of that."""
        return 100 * (self.predicted / self.measured - 1)


@lru_cache(maxsize=1)
def _tracer(recipe: Recipe, loop: tuple[tuple[str, bool], ...]) -> Any:
    from lint_dataset.memory.trace.step import Loop, Tracer

    alias = known(recipe.model)
    if alias is not None:
        return Tracer(replace(recipe, model=alias.alias), Loop(**dict(loop)))
    hidden, mlp, layers, heads, kv, head_dim, vocabulary, tied = LLAMAS[recipe.model]
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": hidden,
        "intermediate_size": mlp,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "head_dim": head_dim,
        "vocab_size": vocabulary,
        "tie_word_embeddings": tied,
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(config), encoding="utf-8")
        return Tracer(replace(recipe, model=folder), Loop(**dict(loop)))


@lru_cache(maxsize=1)
def program(case: Case) -> StepProgram:
    """The step of a case as a program that holds for its batch and length only."""
    from lint_dataset.memory.trace.programs import groups_of
    from lint_dataset.memory.trace.step import Point

    tracer = _tracer(case.recipe, case.loop)
    frames = int(mel_frames(case.seconds)) if case.clips else 0
    seen = tracer.trace(Point(case.batch, case.tokens, case.rank, case.batch * case.tokens, case.clips, frames))
    sizes, kinds = np.unique(seen.sizes, return_inverse=True)
    events, births = [], 0
    for event in seen.events:
        births += event >= 0
        events.append(int(kinds[event]) if event >= 0 else -1 - event - births)
    return StepProgram(
        bounds={},
        powers=np.zeros((1, len(VARIABLES)), np.int64),
        coefficients=sizes.astype(np.int64)[:, None],
        events=np.array(events, np.int32),
        marks=seen.marks,
        groups=groups_of(tracer.model, tracer.rank, seen.trained),
        made_with={},
    )


def predict(case: Case, ahead: int | None = None) -> dict[str, int] | None:
    """Peak bytes allocated, reserved and of the process in the second of two steps; None when memory runs out.

    The process has its card, where its size is known. ``ahead`` is another number of tensors than the case's own that
    arrive before the one that is packed.
    """
    step, device = program(case), devices.find(case.device)
    limit = None if case.card is None else int(case.card) - device.context
    loading = case.loading if ahead is None else replace(case.loading, ahead=ahead)
    try:
        process = Process(step.groups, case.rank, device, limit, loading=loading)
        for _ in range(2):
            process.step(step, step.coefficients[:, 0].tolist())
    except OutOfMemory:
        return None
    reserved = process.allocator.peak_reserved
    return {
        "allocated": process.allocator.peak_allocated,
        "reserved": reserved,
        "process": reserved + device.context,
    }


def spread(case: Case) -> tuple[int, int] | None:
    """The least and the most that the process may reserve by how far its loading threads were ahead.

    None where nothing was loaded by threads, or memory runs out.
    """
    if case.recipe.method != "qlora" or not case.loading.ahead:
        return None
    found = [predict(case, ahead) for ahead in _AHEAD]
    reserved = [one["reserved"] for one in found if one is not None]
    return (min(reserved), max(reserved)) if reserved else None


def compare(case: Case) -> Iterator[Comparison]:
    """Predict a case and put it beside what was measured: nothing where memory runs out."""
    predicted = predict(case)
    if predicted is not None:
        for what, measured in case.measured.items():
            yield Comparison(case, what, predicted[what], measured)


def table(comparisons: Sequence[Comparison]) -> list[str]:
    """The errors by group and by what was measured, a line each."""
    groups: dict[tuple[str, str], list[float]] = {}
    for one in comparisons:
        for group in (one.case.group, "all eager" if "eager" in one.case.group else "all sdpa"):
            groups.setdefault((one.what, group), []).append(one.error)
    lines = [f"{'':10} {'':24} {'rows':>4} {'mean |error|':>12} {'lowest':>8} {'highest':>8}"]
    for (what, group), errors in sorted(
        groups.items(), key=lambda item: (item[0][0], item[0][1][:3] == "all", item[0])
    ):
        mean = sum(abs(error) for error in errors) / len(errors)
        lines.append(f"{what:10} {group:24} {len(errors):4} {mean:10.2f} % {min(errors):+6.2f} % {max(errors):+6.2f} %")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Print every row, the rows left out, and the table. Exit status 2 for a wrong command line or no torch."""
    if len(arguments) != 1:
        print("usage: python -m lint_dataset.memory.validate FILE.csv", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        import peft  # noqa: F401
        import torch  # noqa: F401
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"validation traces and needs {error.name}: pip install 'lint-dataset[trace]'", file=sys.stderr)
        return 2
    left_out: dict[str, int] = {}
    cases = []
    for row in rows:
        case = express(row)
        if isinstance(case, str):
            left_out[case] = left_out.get(case, 0) + 1
        else:
            cases.append(case)
    cases.sort(key=lambda case: (case.why, case.recipe.key, case.recipe.model, case.loop, case.batch, case.tokens))
    exact, explained = [], []
    reason = ""
    for case in cases:
        if case.why != reason:
            reason = case.why
            print(f"\n{reason}:")
        found = list(compare(case))
        exact += found if not reason else []
        for one in found:
            gigabytes = f"{one.predicted / 1e9:7.3f} GB  measured {one.measured / 1e9:7.3f}"
            print(f"{case.label} {one.what:9} predicted {gigabytes}  {one.error:+6.2f} %", flush=True)
        if case.died or (case.card is not None and not found):
            real, replayed = ("died" if died else "completed" for died in (case.died, not predict(case)))
            print(f"{case.label} {real} on its card, {replayed} in the replay", flush=True)
        ends = spread(case)
        if ends is not None and "reserved" in case.measured:
            explained.append(0.999 * ends[0] <= case.measured["reserved"] <= 1.001 * ends[1])
            gigabytes = f"{ends[0] / 1e9:7.3f} to {ends[1] / 1e9:7.3f} GB"
            print(f"{case.label} reserved  {gigabytes} by how far threads are ahead", flush=True)
    if left_out:
        print(f"\n{len(rows) - len(cases)} of {len(rows)} rows cannot be expressed:")
    for reason, count in sorted(left_out.items(), key=lambda item: -item[1]):
        print(f"  {count:3}  {reason}")
    if exact:
        print("\n" + "\n".join(table(exact)))
    if explained:
        print(f"{sum(explained)} of {len(explained)} runs reserved what some lead of the loading threads explains")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
