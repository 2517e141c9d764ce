"""Training runs that others measured, as rows of a CSV file, in the tool's terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lint_dataset import machines
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.replay import Loading
from lint_dataset.models import Model, find

#: Models of measured runs that have no alias: what differs from the defaults of the Llama configuration.
LLAMAS = {
    "deepseek-ai/deepseek-coder-1.3b-instruct": (2048, 5504, 24, 16, 16, 128, 32256, False),
    "Llama-2-7B": (4096, 11008, 32, 32, 32, 128, 32000, False),
    "llama-2-7b": (4096, 11008, 32, 32, 32, 128, 32000, False),
    "Llama-2-13B": (5120, 13824, 40, 40, 40, 128, 32000, False),
    "llama-3-8b": (4096, 14336, 32, 32, 8, 128, 128256, False),
    "mistral-7b": (4096, 14336, 32, 32, 8, 128, 32000, False),
    "mistral-7b-v0.2": (4096, 14336, 32, 32, 8, 128, 32000, False),
    "tiny-llama": (2048, 5632, 22, 32, 4, 64, 32000, False),
}

#: Sources whose runs are known to differ from what is traced, and in what.
_NEAR = {
    "huggingface/peft": (
        "PEFT's benchmark, at the cap: its batches are as long as their longest example, and the longest of all is "
        "not known"
    ),
    "Lightning-AI/litgpt": (
        "litgpt's own models: nothing in fp32 (adapters, logits, embeddings and norms of 4-bit models), a mask of "
        "dropout before each adapter, and an output layer apart from the embeddings"
    ),
    "pytorch/torchtune": "torchtune's own models",
}
_LITGPT = {"query": "q_proj", "value": "v_proj"}

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
    #: What of the run is known to differ from what is traced; empty where nothing is.
    why: str = ""

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


def express(row: Mapping[str, str]) -> Case | str:
    """The case of a row, or the reason why it is none."""
    attention, lengths = row["attn_impl"], row["seq_len_definition"]
    near = next((name for name in _NEAR if name in row["source_repo"]), None)
    reason = _refused(row, near)
    if reason is not None:
        return reason
    if near is None and not lengths.startswith("exact"):
        return f"the number of tokens is not exact: {lengths}"
    if known(row["model"]) is None and row["model"] not in LLAMAS:
        return f"no configuration for {row['model']}"
    t4, a6000 = "T4" in row["device"], "A6000" in row["device"]
    weights = _TYPES.get(row["compute_dtype"][:4] if row["method"] == "qlora" else row["weights_dtype"])
    if weights is None:
        return f"weights of type {row['weights_dtype']}"
    recipe = Recipe(
        model=row["model"],
        method=row["method"],
        targets="" if row["method"] == "full" else _targets(row["lora_targets"]),
        dtype=weights,
        mixed_precision="bf16" if "torch.autocast" in row["compute_dtype"] else "no",
        gradient_checkpointing=row["grad_checkpointing"] == "True",
        loss="logits",
        device="cuda",
        dora="use_dora" in row["notes"],
    )
    # All authors wrote the loop by hand: outputs live through backward and AdamW is the foreach one. Batches came
    # without a mask, but for PEFT's and the A6000 runs: what those kept a layer is, to the byte, a bias of tokens x
    # tokens and repeated keys and values; and gradients of an earlier micro-batch were in place.
    loop = {
        "keep_outputs": True,
        "foreach": True,
        "padded": a6000 or near == "huggingface/peft",
        "resident_gradients": "gradients already resident" in row["what_peak_means"] or near == "Lightning-AI/litgpt",
        "flash": not t4,
        "eager": attention.startswith("eager"),
    }
    card, total = re.fullmatch(r"(.*?)(?: \(([\d,]+) MiB\))?", row["device"]).groups()  # type: ignore[union-attr]
    usable = re.search(r"([\d.]+) GiB usable", row["what_peak_means"])
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
        card=float(total.replace(",", "")) * 2**20 if total else float(usable[1]) * 2**30 if usable else None,
        died=row["what_peak_means"].startswith("OOM"),
        why=_NEAR[near] if near is not None else "",
    )


def _refused(row: Mapping[str, str], near: str | None) -> str | None:
    """Why a row cannot be compared even nearly; None where it can."""
    source, notes = row["source_repo"], row["notes"]
    if row["method"] not in ("full", "lora", "qlora"):
        return f"not a fine-tuning method of this tool: {row['method']}"
    if "mlx" in source or "mlx" in row["attn_impl"]:
        return "trained with MLX, not PyTorch"
    if near is None:
        return None
    if row["seq_len_definition"] == "image latents":
        return "trains a model of images"
    if not row["seq_len"]:
        return "the number of tokens is not known, nor a cap"
    if "torchtune" in source and "+packed" not in notes:
        return "compiled with torch.compile, which decides by itself what to keep"
    if row["optimizer"] == "lora-fa" or "mica" in notes or "use_bdlora" in notes:
        return f"a variant of LoRA that is not traced: {re.split('[;=]', notes)[1].split('-')[-1]}"
    if notes.startswith("name=lora--llama-3.2-3B-rank64-steps1000-ff"):
        return "holds 26.7 GB after a step, four times what its configuration does"
    return None


def _targets(text: str) -> str:
    """PEFT's names for what LoRA adapts, also where litgpt named it."""
    names = text.split("+")
    if "head" in names:
        return "all-linear"
    return ",".join(_LITGPT.get(name, name) for name in names)


def _measured(row: Mapping[str, str]) -> dict[str, float]:
    found = dict(re.findall(r"(reserved|process)_GB=([\d.]+)", row["notes"]))
    if row["peak_mem_GB"]:
        means = row["what_peak_means"]
        reserved = "reserved" if "max_memory_reserved" in means else "allocated"
        found["process" if means.startswith("process") else reserved] = row["peak_mem_GB"]
    return {what: float(found[what]) * 1e9 for what in ("allocated", "reserved", "process") if what in found}


def known(model: str) -> Model | None:
    """The model of that name, whose publisher may be a mirror."""
    return find(model.split("/")[-1].removeprefix("meta-").removesuffix("-Instruct"))
