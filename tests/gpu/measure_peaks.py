"""Measures the peaks of real training steps, in the columns of the validation set. Needs an NVIDIA GPU for figures.

    python -m tests.gpu.measure_peaks tests/data/measured_CARD.csv --minutes 6
    python -m lint_dataset.memory.validate tests/data/measured_CARD.csv

Each run is a process of its own, as training is: a model with random weights is built from its configuration, moved to
the card, and takes three steps of one length in a loop written by hand (outputs live through backward, AdamW in its
foreach form). The peaks are those of the last two. A run that dies is a row too. Rows are written as they come, so
that a run of which the time is up loses nothing; QLoRA runs are left out where bitsandbytes is missing.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

ATTENTION = "q_proj+k_proj+v_proj+o_proj"
#: Soft tokens that Gemma 3n puts in the place of one clip, whatever its length.
CLIP_TOKENS = 188
STEPS = 3

_COLUMNS = """
source_repo source_path_or_issue model params method lora_rank lora_targets weights_dtype compute_dtype optimizer batch
seq_len seq_len_definition grad_checkpointing attn_impl fused_loss device peak_mem_GB what_peak_means certainty notes
"""
COLUMNS = _COLUMNS.split()


@dataclass(frozen=True)
class Run:
    """One process to measure. ``seconds`` is the length of each of ``clips`` audio clips an example."""

    model: str
    method: str = "lora"
    batch: int = 1
    tokens: int = 1024
    checkpointing: bool = True
    eager: bool = False
    clips: int = 0
    seconds: float = 0.0
    rank: int = 16
    device: str = "cuda"


def runs() -> Iterator[Run]:
    """What six minutes are for: the classes that nobody has measured come first."""
    gemma = Run("gemma-3n-E2B", tokens=1024)
    for seconds in (0.0, 1.0, 5.0, 15.0, 30.0):
        yield replace(gemma, clips=int(seconds > 0), seconds=seconds)
    for tokens in (1024, 4096):
        yield Run("Llama-3.2-1B", checkpointing=False, tokens=tokens)
        yield Run("Llama-3.2-1B", method="qlora", tokens=tokens)
    yield Run("Llama-3.2-1B", method="full", batch=2, tokens=2048)
    yield Run("Qwen3-1.7B", tokens=3001)
    yield Run("Qwen3-1.7B", checkpointing=False, batch=4, tokens=777)
    yield Run("Qwen3-1.7B", method="full", tokens=2048)
    yield replace(gemma, checkpointing=False, clips=2, seconds=30.0)
    yield Run("Granite-4.0-1b", tokens=2048)
    yield Run("gpt-oss-20b", tokens=2048)
    yield Run("Qwen3-1.7B", method="qlora", batch=2, tokens=2048)
    yield Run("Llama-3.2-1B", eager=True, tokens=2048)
    yield Run("Llama-3.2-3B", checkpointing=False, batch=2, tokens=1500)
    yield Run("Llama-3.1-8B", tokens=8192)


def measure(run: Run) -> dict[str, str]:
    """The row of one run. Raises what the model's code raises; out of memory is a row."""
    import torch

    on_card = run.device == "cuda"
    found: dict[str, float] = {}
    died = False
    try:
        _train(run)
    except torch.OutOfMemoryError:
        died = True
    if on_card and not died:
        free, total = torch.cuda.mem_get_info()
        # Nobody else may be on the card: what is taken beside the allocator's segments is this process's context.
        context = total - free - torch.cuda.memory_reserved()
        reserved = torch.cuda.max_memory_reserved()
        found = {"allocated": torch.cuda.max_memory_allocated(), "reserved": reserved, "process": reserved + context}
    return _row(run, found, died)


def _train(run: Run) -> None:
    import torch

    model = _quantised(run) if run.method == "qlora" else _dense(run)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, foreach=True)
    inputs = _inputs(run, model)
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        outputs = model(**inputs, use_cache=False)
        outputs.loss.backward()
        optimizer.step()
        del outputs
        if step == 0 and run.device == "cuda":
            torch.cuda.reset_peak_memory_stats()


def _recipe(run: Run) -> Any:
    from lint_dataset.memory.recipe import Recipe
    from lint_dataset.plan import Plan

    plan = Plan(
        model=run.model,
        method=run.method,
        lora_targets=ATTENTION.replace("+", ","),
        gradient_checkpointing=run.checkpointing,
        loss="logits",
        dtype="bf16",
        mixed_precision="no",
    )
    return Recipe.of(plan)


def _dense(run: Run) -> Any:
    """The model as the tracer builds it, with random weights on the device, each tensor moved for itself."""
    import torch

    from lint_dataset.memory.trace.model import ANY_RANK, build, set_rank

    model = build(_recipe(run), "eager" if run.eager else "sdpa")
    if run.method == "lora":
        set_rank(model, ANY_RANK, run.rank)
    made: dict[int, Any] = {}

    def on_device(tensor: Any) -> Any:
        if id(tensor) not in made:
            filled = torch.empty_like(tensor, device=run.device)
            if filled.is_floating_point():
                filled.normal_(std=0.02)
            kept = (
                torch.nn.Parameter(filled, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else filled
            )
            made[id(tensor)] = kept
        return made[id(tensor)]

    for module in model.modules():
        for held in (module._parameters, module._buffers):
            for name, tensor in held.items():
                if tensor is not None and tensor.device.type == "meta":
                    held[name] = on_device(tensor)
    return model


def _quantised(run: Run) -> Any:
    """Weights are saved and loaded with bitsandbytes, as a user's are: loading decides what is left in the cache."""
    import torch
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
    from transformers import BitsAndBytesConfig

    from lint_dataset.memory.trace.model import build

    shapes = build(_recipe(replace(run, method="full")))
    cls, config = type(shapes), shapes.config
    packing = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
    with tempfile.TemporaryDirectory() as folder:
        cls._from_config(config, dtype=torch.bfloat16).save_pretrained(folder)
        model = cls.from_pretrained(
            folder,
            quantization_config=packing,
            device_map={"": 0},
            dtype=torch.bfloat16,
            attn_implementation="eager" if run.eager else "sdpa",
        )
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=run.checkpointing)
    targets = ATTENTION.split("+")
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=run.rank, target_modules=targets))
    if run.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
    model.train()
    return model


def _inputs(run: Run, model: Any) -> dict[str, Any]:
    import torch

    from lint_dataset.memory.audio import mel_frames

    ids = torch.randint(5, 1000, (run.batch, run.tokens), device=run.device)
    inputs = {"input_ids": ids, "labels": ids}
    if run.clips:
        config = model.config
        ids[:, 1 : 1 + run.clips * CLIP_TOKENS] = config.audio_token_id
        shape = (run.batch * run.clips, int(mel_frames(run.seconds)))
        mels = config.audio_config.input_feat_size
        inputs["input_features"] = torch.randn((*shape, mels), device=run.device, dtype=torch.bfloat16)
        inputs["input_features_mask"] = torch.ones(shape, device=run.device, dtype=torch.bool)
    return inputs


def _row(run: Run, found: dict[str, float], died: bool) -> dict[str, str]:
    import peft
    import torch
    import transformers

    gigabytes = {what: f"{size / 1e9:.3f}" for what, size in found.items()}
    if run.device == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory // 2**20
        device = f"{torch.cuda.get_device_name(0)} ({total:,} MiB)"
    else:
        device = run.device
    notes = [f"{what}_GB={gigabytes[what]}" for what in ("reserved", "process") if what in gigabytes]
    notes += [f"clips={run.clips}; seconds={run.seconds}"] if run.clips else []
    notes += [f"torch {torch.__version__}", f"transformers {transformers.__version__}", f"peft {peft.__version__}"]
    lora = run.method != "full"
    return {
        **dict.fromkeys(COLUMNS, ""),
        "source_repo": "lint-dataset",
        "source_path_or_issue": "tests/gpu/measure_peaks.py",
        "model": run.model,
        "method": run.method,
        "lora_rank": str(run.rank) if lora else "",
        "lora_targets": ATTENTION if lora else "all params",
        "weights_dtype": "nf4; the rest fp32" if run.method == "qlora" else "bf16",
        "compute_dtype": "bf16; adapters fp32" if lora else "bf16",
        "optimizer": "torch AdamW (foreach)",
        "batch": str(run.batch),
        "seq_len": str(run.tokens),
        "seq_len_definition": "exact",
        "grad_checkpointing": str(run.checkpointing),
        "attn_impl": "eager" if run.eager else "sdpa",
        "fused_loss": "no",
        "device": device,
        "peak_mem_GB": gigabytes.get("allocated", ""),
        "what_peak_means": "OOM" if died else "torch max_memory_allocated in the last two of three steps",
        "certainty": "3",
        "notes": "; ".join(notes),
    }


def main(arguments: list[str]) -> int:
    """Measure what time allows; 1 when a run failed for another reason than memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--minutes", type=float, default=6.0, help="start no run after this")
    parser.add_argument("--run", type=json.loads, help="one run as JSON, in this process")
    options = parser.parse_args(arguments)
    if options.run is not None:
        row = measure(Run(**options.run))
        fresh = not options.output.exists()
        with options.output.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerow(row)
        return 0
    from importlib.util import find_spec

    failed = 0
    end = time.monotonic() + 60 * options.minutes
    for run in runs():
        if run.method == "qlora" and find_spec("bitsandbytes") is None:
            print(f"{run}: left out, bitsandbytes is not installed", flush=True)
            continue
        left = end - time.monotonic()
        if left <= 0:
            print(f"{run}: left out, the time is up", flush=True)
            continue
        command = [
            sys.executable,
            "-m",
            "tests.gpu.measure_peaks",
            str(options.output),
            "--run",
            json.dumps(asdict(run)),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            print(f"{run}: stopped, the time is up", flush=True)
            continue
        failed += done.returncode != 0
        print(f"{run}: {'measured' if done.returncode == 0 else done.stderr.strip().splitlines()[-1]}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
