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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lint_dataset import machines
from lint_dataset.memory import devices
from lint_dataset.memory.allocator import OutOfMemory
from lint_dataset.memory.audio import mel_frames
from lint_dataset.memory.program import VARIABLES, StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.replay import Loading, Process
from lint_dataset.models import Model, find

#: Models of measured runs that have no alias: what differs from the defaults of the Llama configuration.
_LLAMAS = {"deepseek-ai/deepseek-coder-1.3b-instruct": (2048, 5504, 24, 16, 16, 128, 32256, False)}

#: How far threads may be ahead: not at all, one tensor each, and up to the whole model.
_AHEAD = (0, 4, 8, 16, 32, 64, 128, 1024)

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
    #: Audio clips in the batch, and the seconds of each.
    clips: int
    seconds: float
    device: str
    loading: Loading
    measured: Mapping[str, float] = field(compare=False)
    #: The bytes that the card has, where they are known, and whether the run died for want of more.
    card: float | None = None
    died: bool = False

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
    if _known(row["model"]) is None and row["model"] not in _LLAMAS:
        return f"no configuration for {row['model']}"
    t4, a6000 = "T4" in row["device"], "A6000" in row["device"]
    weights = row["compute_dtype"][:4] if row["method"] == "qlora" else row["weights_dtype"]
    weights = _TYPES.get(weights, "")
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
    # All authors wrote the loop by hand: outputs live through backward and AdamW is the foreach one. Batches came
    # without a mask, but for the A6000 runs: what they kept a layer is, to the byte, a bias of tokens x tokens and
    # repeated keys and values; and gradients of an earlier micro-batch were in place.
    loop = {
        "keep_outputs": True,
        "foreach": True,
        "padded": a6000,
        "resident_gradients": "gradients already resident" in row["what_peak_means"],
        "flash": not t4,
        "eager": attention.startswith("eager"),
    }
    card, total = re.fullmatch(r"(.*?)(?: \(([\d,]+) MiB\))?", row["device"]).groups()  # type: ignore[union-attr]
    machine = machines.find(card)
    name = machine.name if machine is not None else card
    audio = re.search(r"clips=(\d+); seconds=([\d.]+)", row["notes"])
    return Case(
        group=f"{row['method']}, {'eager' if loop['eager'] else 'sdpa'}, {name.upper()}",
        model=row["model"].split("/")[-1],
        recipe=recipe,
        loop=tuple(sorted(loop.items())),
        batch=int(row["batch"]),
        tokens=int(row["seq_len"]),
        rank=int(row["lora_rank"] or 1),
        clips=int(row["batch"]) * int(audio[1]) if audio else 0,
        seconds=float(audio[2]) if audio else 0.0,
        device=name,
        # The T4 runs loaded by transformers' four threads, and PEFT gave memory back in those of 15 September.
        loading=Loading(ahead=4 if t4 else 0, clears=not t4 or "t4-sweep" in row["source_path_or_issue"]),
        measured=_measured(row),
        card=float(total.replace(",", "")) * 2**20 if total else None,
        died=row["what_peak_means"].startswith("OOM"),
    )


def _measured(row: Mapping[str, str]) -> dict[str, float]:
    found = dict(re.findall(r"(reserved|process)_GB=([\d.]+)", row["notes"]))
    if row["peak_mem_GB"]:
        found["process" if row["what_peak_means"].startswith("process") else "allocated"] = row["peak_mem_GB"]
    return {what: float(found[what]) * 1e9 for what in ("allocated", "reserved", "process") if what in found}


def _known(model: str) -> Model | None:
    """The model of that name, whose publisher may be a mirror."""
    return find(model.split("/")[-1].removeprefix("meta-").removesuffix("-Instruct"))


@lru_cache(maxsize=1)
def _tracer(recipe: Recipe, loop: tuple[tuple[str, bool], ...]) -> Any:
    from lint_dataset.memory.trace.step import Loop, Tracer

    known = _known(recipe.model)
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
    cases.sort(key=lambda case: (case.recipe.key, case.recipe.model, case.loop, case.batch, case.tokens))
    comparisons, explained = [], []
    for case in cases:
        found = list(compare(case))
        comparisons += found
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
    print(f"\n{len(rows) - len(cases)} of {len(rows)} rows cannot be expressed:")
    for reason, count in sorted(left_out.items(), key=lambda item: -item[1]):
        print(f"  {count:3}  {reason}")
    print()
    print("\n".join(table(comparisons)))
    if explained:
        print(f"{sum(explained)} of {len(explained)} runs reserved what some lead of the loading threads explains")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
