"""Predictions beside peaks that others measured: ``python -m lint_dataset.memory.validate FILE.csv``.

A row of the file is one training run. Each is traced at its exact batch and length under the loop that its author
describes, replayed, and compared: allocated memory with the allocator's allocated peak, reserved memory with its
reserved peak, a process with reserved memory and the context. Rows that cannot be expressed are listed with the reason.
Needs ``lint-dataset[trace]``.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lint_dataset.memory import devices
from lint_dataset.memory.allocator import OutOfMemory
from lint_dataset.memory.program import VARIABLES, StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.replay import Process
from lint_dataset.models import find

#: Models of measured runs that have no alias: what differs from the defaults of the Llama configuration.
_LLAMAS = {
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": (2048, 5632, 22, 32, 4, 64, 32000, False),
    "HuggingFaceTB/SmolLM2-135M": (576, 1536, 30, 9, 3, 64, 49152, True),
    "HuggingFaceTB/SmolLM2-360M": (960, 2560, 32, 15, 5, 64, 49152, True),
}

_TYPES = {"fp16": "fp16", "bf16": "bf16", "fp32": "fp32", "bfloat16": "bf16"}


@dataclass(frozen=True)
class Case:
    """One run in the tool's terms: what is traced, on which device, and what was measured (bytes, by what it is)."""

    group: str
    model: str
    recipe: Recipe
    loop: tuple[tuple[str, bool], ...]
    batch: int
    tokens: int
    rank: int
    device: str
    measured: Mapping[str, float] = field(compare=False)
    #: The bytes that the card has, where the run ran out of memory.
    died_with: float | None = None

    @property
    def label(self) -> str:
        """The run in a line."""
        attention = "eager" if dict(self.loop).get("eager") else "sdpa"
        precision = self.recipe.dtype + ("" if self.recipe.mixed_precision == "no" else " amp")
        checkpointing = "ckpt" if self.recipe.gradient_checkpointing else "-"
        size = f"{self.batch}x{self.tokens}"
        return (
            f"{self.model:26.26} {self.recipe.method:5} r{self.rank:<3} {precision:8} {checkpointing:4} {attention:5} "
            f"{size:8} {self.device:5}"
        )


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


def express(row: Mapping[str, str]) -> Case | str:
    """The case of a row, or the reason why it is none."""
    source, attention = row["source_repo"], row["attn_impl"]
    if row["method"] not in ("full", "lora", "qlora"):
        return f"not a fine-tuning method of this tool: {row['method']}"
    if "mlx" in source or "mlx" in attention:
        return "trained with MLX, not PyTorch"
    if "litgpt" in source or "torchtune" in source:
        return "another model implementation than transformers'"
    if not row["seq_len_definition"].startswith("exact"):
        return f"the number of tokens is not exact: {row['seq_len_definition']}"
    if find(_plain(row["model"])) is None and row["model"] not in _LLAMAS:
        return f"no configuration for {row['model']}"
    t4 = "T4" in row["device"]
    weights = "fp16" if row["method"] == "qlora" else _TYPES.get(row["weights_dtype"], "")
    if not weights:
        return f"weights of type {row['weights_dtype']}"
    recipe = Recipe(
        model=row["model"],
        method=row["method"],
        targets="" if row["method"] == "full" else row["lora_targets"].replace("+", ","),
        dtype=weights,
        mixed_precision="bf16" if "autocast" in row["compute_dtype"] else "no",
        gradient_checkpointing=row["grad_checkpointing"] == "True",
        loss="logits",
        device="cuda",
    )
    # Both authors wrote the loop by hand: outputs live through backward and AdamW is the foreach one. The T4 runs had
    # batches without a mask. The A6000 runs had one: what they kept a layer is, to the byte, a bias of tokens x tokens
    # and repeated keys and values; and gradients of an earlier micro-batch were in place.
    loop = {
        "keep_outputs": True,
        "foreach": True,
        "padded": not t4,
        "resident_gradients": "gradients already resident" in row["what_peak_means"],
        "flash": not t4,
        "eager": attention.startswith("eager"),
    }
    died = re.search(r"\(([\d,]+) MiB\)", row["device"]) if row["what_peak_means"].startswith("OOM") else None
    return Case(
        group=f"{row['method']}, {'eager' if loop['eager'] else 'sdpa'}, {'T4' if t4 else 'A6000'}",
        model=row["model"].split("/")[-1],
        recipe=recipe,
        loop=tuple(sorted(loop.items())),
        batch=int(row["batch"]),
        tokens=int(row["seq_len"]),
        rank=int(row["lora_rank"] or 1),
        device="t4" if t4 else "a6000",
        measured=_measured(row),
        died_with=float(died[1].replace(",", "")) * 2**20 if died else None,
    )


def _measured(row: Mapping[str, str]) -> dict[str, float]:
    found = dict(re.findall(r"(reserved|process)_GB=([\d.]+)", row["notes"]))
    if row["peak_mem_GB"]:
        found["process" if row["what_peak_means"].startswith("process") else "allocated"] = row["peak_mem_GB"]
    return {what: float(found[what]) * 1e9 for what in ("allocated", "reserved", "process") if what in found}


def _plain(model: str) -> str:
    """A model's name without its publisher, which may be a mirror."""
    return model.split("/")[-1].removeprefix("meta-").removesuffix("-Instruct")


@lru_cache(maxsize=1)
def _tracer(recipe: Recipe, loop: tuple[tuple[str, bool], ...]) -> Any:
    from dataclasses import replace

    from lint_dataset.memory.trace.step import Loop, Tracer

    known = find(_plain(recipe.model))
    if known is not None:
        return Tracer(replace(recipe, model=known.alias), Loop(**dict(loop)))
    hidden, mlp, layers, heads, kv, head_dim, vocabulary, tied = _LLAMAS[recipe.model]
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
    seen = tracer.trace(Point(case.batch, case.tokens, case.rank, case.batch * case.tokens))
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


def predict(case: Case, limit: int | None = None) -> dict[str, int] | None:
    """Peak bytes allocated, reserved and of the process in the second of two steps; None when memory runs out."""
    step, device = program(case), devices.find(case.device)
    try:
        process = Process(step.groups, case.rank, device, limit)
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


def compare(cases: Iterable[Case]) -> Iterator[Comparison]:
    """Predict each case and put it beside what was measured."""
    for case in cases:
        predicted = predict(case)
        assert predicted is not None, "without a limit nothing runs out of memory"
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
        import torch  # noqa: F401
    except (OSError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    left_out: dict[str, int] = {}
    cases = []
    for row in rows:
        case = express(row)
        if isinstance(case, str):
            left_out[case] = left_out.get(case, 0) + 1
        else:
            cases.append(case)
    cases.sort(key=lambda case: (case.recipe.key, case.recipe.model, case.loop, case.batch, case.tokens))
    comparisons = []
    for case in cases:
        for one in compare([case]):
            comparisons.append(one)
            gigabytes = f"{one.predicted / 1e9:7.3f} GB  measured {one.measured / 1e9:7.3f}"
            print(f"{case.label} {one.what:9} predicted {gigabytes}  {one.error:+6.2f} %", flush=True)
        if case.died_with is not None:
            inside = predict(case, int(case.died_with) - devices.find(case.device).context)
            print(
                f"{case.label} ran out of memory: {'MISSED, predicted to fit' if inside else 'predicted'}", flush=True
            )
    print(f"\n{len(rows) - len(cases)} of {len(rows)} rows cannot be expressed:")
    for reason, count in sorted(left_out.items(), key=lambda item: -item[1]):
        print(f"  {count:3}  {reason}")
    print()
    print("\n".join(table(comparisons)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
