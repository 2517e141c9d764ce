"""Other estimators of training memory beside this one, on the same measured runs.

    pip install --no-deps --target PEERS fitcheck-llm==0.3.1 vramcalc==0.1.2 fitscout==0.1.1 tinyforge==0.1.2
    pip install --target PEERS pydantic rich typer
    python -m tests.benchmarks.peers tests/data/measured.csv PEERS

Each gets the model's own dimensions and all it asks for of the run. Its figure for tensors is compared with allocated
memory, its whole figure with that of the process. What it cannot express is left out and counted. fitcheck is fitted to
49 of the T4 runs, vramcalc checked against the A6000 runs: both are judged on all, and on what is not theirs.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

from lint_dataset.memory import validate
from lint_dataset.memory.measured_runs import Case, express

GIB = 2**30
MIB = 2**20


class Figures(NamedTuple):
    """Bytes that tensors hold, and bytes of the whole process."""

    tensors: float
    process: float


@dataclass(frozen=True)
class Asked:
    """One run as others are asked: its configuration, its parameters without adapters, and what it adapts."""

    case: Case
    config: Any
    parameters: int
    adapted: Sequence[tuple[int, int]]

    @property
    def eager(self) -> bool:
        """Whether all scores lie in memory."""
        return bool(dict(self.case.loop)["eager"])


def fitcheck(asked: Asked) -> Figures | None:
    from fitcheck.config_parser import ModelConfig
    from fitcheck.estimator import TrainingConfig, estimate
    from fitcheck.gpu_db import get_gpu

    case, config = asked.case, asked.config
    if case.recipe.mixed_precision != "no":
        return None
    heads = config.num_attention_heads
    model = ModelConfig(
        name=case.model,
        num_params=asked.parameters,
        hidden_size=config.hidden_size,
        num_layers=config.num_hidden_layers,
        num_attention_heads=heads,
        num_kv_heads=config.num_key_value_heads,
        intermediate_size=config.intermediate_size,
        vocab_size=config.vocab_size,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // heads,
        tie_word_embeddings=config.tie_word_embeddings,
    )
    training = TrainingConfig(
        precision=case.recipe.dtype,
        quantization="nf4" if case.recipe.method == "qlora" else "none",
        optimizer_dtype="fp32" if case.recipe.method != "full" else "bf16",
        batch_size=case.batch,
        seq_len=case.tokens,
        lora_rank=case.rank if case.recipe.method != "full" else None,
        lora_targets=case.recipe.targets.split(",") if case.recipe.method != "full" else [],
        grad_checkpoint=case.recipe.gradient_checkpointing,
        flash_attn=not asked.eager,
    )
    report = estimate(model, training, get_gpu(case.device))
    return Figures((report.total_mib - report.overhead_mib) * MIB, report.total_mib * MIB)


def vramcalc(asked: Asked) -> Figures | None:
    import vramcalc

    case = asked.case
    if case.recipe.method == "qlora" or case.recipe.dtype == "fp16":
        return None
    amp = case.recipe.mixed_precision != "no"
    found = vramcalc.estimate(
        {**asked.config.to_dict(), "model_type": asked.config.model_type},
        mode="train",
        dtype="bf16",
        batch=case.batch,
        seq_len=case.tokens,
        lora_rank=case.rank if case.recipe.method == "lora" else None,
        grad_checkpoint=case.recipe.gradient_checkpointing,
        precision="amp" if amp else "pure",
        attn_impl="eager" if asked.eager else "sdpa",
    )
    return Figures(found.total, found.total + found.overhead)


def fitscout(asked: Asked) -> Figures | None:
    from fitscout.memory.estimator import estimate_memory
    from fitscout.model.profile import ModelProfile

    case, config = asked.case, asked.config
    profile = ModelProfile(
        params=asked.parameters,
        num_layers=config.num_hidden_layers,
        hidden_size=config.hidden_size,
        num_attention_heads=config.num_attention_heads,
        num_kv_heads=config.num_key_value_heads,
        intermediate_size=config.intermediate_size,
        vocab_size=config.vocab_size,
        tie_word_embeddings=config.tie_word_embeddings,
        dtype_bytes=4 if case.recipe.dtype == "fp32" else 2,
    )
    found = estimate_memory(
        profile,
        method=case.recipe.method,
        micro_batch=case.batch,
        seq_len=case.tokens,
        grad_ckpt=case.recipe.gradient_checkpointing,
        lora_rank=case.rank,
    )
    return Figures((found.total_gb - found.overhead_gb) * GIB, found.total_gb * GIB)


def tinyforge(asked: Asked) -> Figures | None:
    from tinyforge.finetune import estimate_vram_gb

    case, config = asked.case, asked.config
    if case.recipe.method == "full" or asked.eager:
        return None
    shape = {
        "params": asked.parameters,
        "hidden": config.hidden_size,
        "layers": config.num_hidden_layers,
        "vocab": config.vocab_size,
        "linear_dims": [inputs + outputs for inputs, outputs in asked.adapted],
    }
    settings = SimpleNamespace(lora_r=case.rank, max_len=case.tokens, chunked_ce=False, ce_chunk=0)
    quant = "4bit" if case.recipe.method == "qlora" else "none"
    found = estimate_vram_gb(shape, settings, quant, case.recipe.gradient_checkpointing, case.batch)
    return Figures((found - 0.6) * GIB, found * GIB)


PEERS: Mapping[str, Callable[[Asked], Figures | None]] = {
    "fitcheck": fitcheck,
    "vramcalc": vramcalc,
    "fitscout": fitscout,
    "tinyforge": tinyforge,
}


def asked(case: Case) -> Asked:
    """What the tracer knows of a run."""
    from lint_dataset.memory.trace.quantised import Linear4Bit

    model = validate._tracer(case.recipe, case.loop).model
    packed = {id(m.weight): m.in_features * m.out_features for m in model.modules() if isinstance(m, Linear4Bit)}
    own = {
        id(p): packed.get(id(p), p.numel())
        for name, p in model.named_parameters()
        if ".lora_" not in name and not name.endswith((".scales", ".levels"))
    }
    adapted = [(m.in_features, m.out_features) for m in model.modules() if hasattr(m, "lora_A")]
    return Asked(case, model.config.get_text_config(), sum(own.values()), adapted)


def main(arguments: Sequence[str]) -> int:
    """Print the errors of every estimator by method, attention and card. Status 2 for a wrong command line."""
    if len(arguments) != 2:
        print("usage: python -m tests.benchmarks.peers MEASURED.csv FOLDER_OF_PEERS", file=sys.stderr)
        return 2
    sys.path.append(arguments[1])
    with open(arguments[0], encoding="utf-8", newline="") as file:
        cases = [case for row in csv.DictReader(file) if isinstance(case := express(row), Case)]
    cases = [case for case in cases if not case.died]
    cases.sort(key=lambda case: (case.recipe.key, case.recipe.model, case.loop, case.batch, case.tokens))
    errors: dict[tuple[str, str], dict[str, list[float]]] = {}
    for case in cases:
        ours = validate.predict(case)
        assert ours is not None, f"{case.label} completed"
        run = asked(case)
        figures = {"lint-dataset": Figures(ours["allocated"], ours["process"])}
        for name, peer in PEERS.items():
            found = peer(run)
            if found is not None:
                figures[name] = found
        for what, index in (("allocated", 0), ("process", 1)):
            if what not in case.measured:
                continue
            for group in (case.group, "all"):
                for name in ("lint-dataset", *PEERS):
                    if name in figures:
                        error = 100 * (figures[name][index] / case.measured[what] - 1)
                        errors.setdefault((what, group), {}).setdefault(name, []).append(error)
    print("| figure | runs | lint-dataset | " + " | ".join(PEERS) + " |")
    print("|---|---:|" + "---:|" * (1 + len(PEERS)))
    for (what, group), by_name in sorted(errors.items(), key=lambda item: (item[0][0], item[0][1] == "all", item[0])):
        cells = []
        for name in ("lint-dataset", *PEERS):
            own = by_name.get(name)
            mean = f"{sum(map(abs, own)) / len(own):.1f} % ({min(own):+.0f} to {max(own):+.0f})" if own else "–"
            cells.append(mean + (f", {len(own)} runs" if own and len(own) < len(by_name["lint-dataset"]) else ""))
        print(f"| {what}, {group} | {len(by_name['lint-dataset'])} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
