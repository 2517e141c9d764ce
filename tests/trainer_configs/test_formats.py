"""Three files of each format, as people write them, and the plan that their trainer would follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lint_dataset.cli import command
from lint_dataset.plan import resolve
from lint_dataset.trainer_configs import TrainerConfig, load

SAMPLES = Path(__file__).parent / "samples"

#: What the trainers' documentation and schemas make of each file. Settings that are not named stay assumed.
PLANS: dict[str, dict[str, Any]] = {
    "axolotl/qlora.yml": {
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "method": "qlora",
        "trainer": "axolotl",
        "batch_size": 2,
        "max_length": 8192,
        "lora_rank": 64,
        "lora_targets": "all-linear",
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "loss": "logits",
        "loss_on": "assistant",
        "gradient_accumulation": 8,
        "optimizer": "paged-adamw-8bit",
        "overlong": "drop",
        "packing": "sample_packing",
        "pad_to_max_length": True,
    },
    "axolotl/full.yaml": {
        "model": "Qwen/Qwen2.5-7B-Instruct",
        "method": "full",
        "trainer": "axolotl",
        "batch_size": 1,
        "max_length": 4096,
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "loss": "fused",
        "loss_on": "all",
        "gradient_accumulation": 16,
        "optimizer": "adamw",
        "overlong": "cut",
    },
    "axolotl/audio.yml": {
        "model": "google/gemma-3n-E2B-it",
        "method": "qlora",
        "trainer": "axolotl",
        "batch_size": 4,
        "max_length": None,
        "lora_rank": 32,
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": False,
        "loss": "fused",
        "loss_on": "assistant",
        "optimizer": "adamw",
    },
    "llama-factory/lora.yaml": {
        "model": "meta-llama/Llama-3.2-3B-Instruct",
        "method": "lora",
        "trainer": "llama-factory",
        "batch_size": 2,
        "max_length": 4096,
        "lora_rank": 16,
        "lora_targets": "attention",
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "loss": "logits",
        "loss_on": "assistant",
        "gradient_accumulation": 4,
        "packing": "packing",
    },
    # All weights are trained, so all are fp32 under bf16 autocast.
    "llama-factory/full.yaml": {
        "model": "Qwen/Qwen2.5-1.5B-Instruct",
        "method": "full",
        "trainer": "llama-factory",
        "batch_size": 1,
        "max_length": 2048,
        "lora_rank": 8,
        "lora_targets": "all-linear",
        "dtype": "fp32",
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "loss": "fused",
        "loss_on": "all",
        "optimizer": "paged-adamw-8bit",
        "gradient_accumulation": 2,
    },
    "llama-factory/qlora.yaml": {
        "model": "Qwen/Qwen2.5-7B-Instruct",
        "method": "qlora",
        "trainer": "llama-factory",
        "batch_size": 8,
        "max_length": 2048,
        "lora_rank": 8,
        "lora_targets": "all-linear",
        "dtype": "bf16",
        "mixed_precision": "no",
        "gradient_checkpointing": False,
        "loss": "logits",
        "loss_on": "last",
        "dora": True,
    },
    "llama-factory-v1/lora.yaml": {
        "model": "Qwen/Qwen3-4B",
        "method": "lora",
        "trainer": "hf",
        "batch_size": 2,
        "max_length": 4096,
        "lora_rank": 16,
        "lora_targets": "all-linear",
        "dtype": "bf16",
        "mixed_precision": "no",
        "gradient_checkpointing": True,
        "loss": "logits",
        "loss_on": "assistant",
    },
    "llama-factory-v1/qlora.yaml": {
        "model": "meta-llama/Llama-3.2-3B-Instruct",
        "method": "qlora",
        "trainer": "hf",
        "batch_size": 1,
        "max_length": 2048,
        "lora_rank": 8,
        "lora_targets": "q_proj,v_proj",
        "dtype": "bf16",
        "mixed_precision": "no",
        "gradient_checkpointing": True,
        "loss": "logits",
        "loss_on": "assistant",
        "dora": True,
    },
    "llama-factory-v1/full.json": {
        "model": "Qwen/Qwen2.5-1.5B-Instruct",
        "method": "full",
        "trainer": "hf",
        "batch_size": 1,
        "max_length": 2048,
        "dtype": "bf16",
        "mixed_precision": "no",
        "gradient_checkpointing": False,
        "loss": "logits",
        "loss_on": "assistant",
        "gradient_accumulation": 4,
    },
    "trl/lora.yaml": {
        "model": "meta-llama/Llama-3.2-1B-Instruct",
        "method": "lora",
        "trainer": "trl",
        "batch_size": 4,
        "max_length": 3072,
        "lora_rank": 8,
        "lora_targets": "q_proj,v_proj",
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": False,
        "loss": "chunked",
        "loss_on": "assistant",
        "gradient_accumulation": 2,
    },
    "trl/launch.sh": {
        "model": "Qwen/Qwen2.5-7B-Instruct",
        "method": "qlora",
        "trainer": "trl",
        "batch_size": 1,
        "max_length": 4096,
        "truncation_side": "left",
        "lora_rank": 64,
        "lora_targets": "attention",
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": False,
        "loss": "chunked",
        "loss_on": "all",
        "gradient_accumulation": 16,
        "packing": "bfd",
    },
    # TRL loads in fp32 unless told otherwise, and trains 8 rows a device.
    "trl/full.json": {
        "model": "Qwen/Qwen2.5-1.5B-Instruct",
        "method": "full",
        "trainer": "trl",
        "batch_size": 8,
        "max_length": None,
        "dtype": "fp32",
        "mixed_precision": "fp16",
        "gradient_checkpointing": True,
        "loss": "chunked",
        "loss_on": "completion",
        "gradient_accumulation": 4,
    },
    "transformers/arguments.json": {
        "trainer": "hf",
        "batch_size": 4,
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "loss": "fused",
        "optimizer": "adamw",
        "gradient_accumulation": 2,
    },
    "transformers/finetune.sh": {
        "model": "Qwen/Qwen2.5-7B-Instruct",
        "method": "full",
        "trainer": "hf",
        "batch_size": 2,
        "max_length": 2048,
        "dtype": "bf16",
        "mixed_precision": "bf16",
        "gradient_checkpointing": False,
        "loss": "logits",
        "gradient_accumulation": 8,
    },
    "transformers/lora.yaml": {
        "model": "meta-llama/Llama-3.2-3B-Instruct",
        "method": "qlora",
        "trainer": "hf",
        "batch_size": 8,
        "max_length": 1024,
        "lora_rank": 32,
        "lora_targets": "q_proj,v_proj",
        "mixed_precision": "fp16",
        "gradient_checkpointing": True,
        "loss": "logits",
    },
    "mlx-lm/lora.yaml": {
        "model": None,
        "tokenizer": "mlx-community/Llama-3.2-3B-Instruct-4bit",
        "device": "mps",
        "method": "lora",
        "trainer": "mlx-lm",
        "batch_size": 2,
        "max_length": 4096,
        "lora_rank": 16,
        "lora_targets": "self_attn.q_proj,self_attn.v_proj",
        "gradient_checkpointing": True,
        "loss_on": "last",
    },
    "mlx-lm/full.yaml": {
        "model": None,
        "tokenizer": "Qwen/Qwen2.5-1.5B-Instruct",
        "device": "mps",
        "method": "full",
        "trainer": "mlx-lm",
        "batch_size": 1,
        "max_length": 2048,
        "lora_rank": 8,
        "lora_targets": "all-linear",
        "gradient_checkpointing": False,
        "loss_on": "all",
    },
    # The options of the command over those of the file that it names.
    "mlx-lm/train.sh": {
        "model": None,
        "tokenizer": "./llama-mlx",
        "device": "mps",
        "method": "lora",
        "trainer": "mlx-lm",
        "batch_size": 8,
        "max_length": 1024,
        "lora_rank": 16,
        "lora_targets": "self_attn.q_proj,self_attn.v_proj",
        "gradient_checkpointing": True,
        "loss_on": "last",
    },
}

#: What the plan cannot hold, what is not known, and what is not on this machine, of each file.
LISTED: dict[str, dict[str, set[str]]] = {
    "axolotl/qlora.yml": {
        "unknown": {"loss_wachdog_threshold"},
    },
    "axolotl/full.yaml": {"not modelled": {"deepspeed", "liger_rms_norm"}},
    "axolotl/audio.yml": {
        "not modelled": {"lora_target_modules", "chat_template", "eot_tokens"},
    },
    "llama-factory/lora.yaml": {},
    "llama-factory/full.yaml": {"not modelled": {"deepspeed", "enable_liger_kernel"}},
    "llama-factory/qlora.yaml": {},
    "llama-factory-v1/lora.yaml": {"not modelled": {"dist_config"}},
    "llama-factory-v1/qlora.yaml": {"not modelled": {"batching_strategy"}},
    "llama-factory-v1/full.json": {"not modelled": {"kernel_config", "optim_config"}},
    "trl/lora.yaml": {},
    "trl/launch.sh": {
        "not modelled": {"eos_token", "accelerate launch --num_processes 2 --config_file zero2.yaml"},
    },
    "trl/full.json": {"not modelled": {"use_liger_kernel"}},
    "transformers/arguments.json": {"not modelled": {"use_liger_kernel", "fsdp"}},
    "transformers/finetune.sh": {
        "not modelled": {"torchrun --nproc_per_node 4 --master_port 20001"},
        "unknown": {"my_own_switch"},
    },
    "transformers/lora.yaml": {},
    "mlx-lm/lora.yaml": {},
    "mlx-lm/full.yaml": {},
    "mlx-lm/train.sh": {},
}


@pytest.fixture(params=sorted(PLANS))
def sample(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def read(name: str) -> TrainerConfig:
    return load(str(SAMPLES / name))


def test_every_format_has_three_samples() -> None:
    files = {str(path.relative_to(SAMPLES)) for path in SAMPLES.glob("*/*") if path.is_file()}
    assert {name for name in files if not name.endswith(".jsonl")} == set(PLANS) == set(LISTED)
    formats = [name.split("/")[0] for name in PLANS]
    assert all(formats.count(name) == 3 for name in formats)


def test_a_file_is_recognised_and_becomes_the_plan_that_its_trainer_follows(sample: str) -> None:
    config = read(sample)
    plan = resolve({}, {}, trainer_config=config)
    assert config.format == sample.split("/")[0]
    expected = PLANS[sample]
    assert {name: getattr(plan, name) for name in expected} == expected
    others = {name: origin for name, origin in plan.origins.items() if name not in expected}
    assert not [name for name, origin in others.items() if Path(sample).name in origin]


def test_what_a_plan_cannot_hold_and_what_nobody_knows_is_listed_and_nothing_else(sample: str) -> None:
    listed: dict[str, set[str]] = {}
    for remark in read(sample).remarks:
        if remark.kind != "note":
            listed.setdefault(remark.kind, set()).add(remark.key)
    assert listed == LISTED[sample]


def test_the_same_options_print_the_same_plan(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The round trip: a file, what --show-plan prints of it, those values as options, and the same print."""

    def shown(*arguments: str) -> dict[str, str]:
        assert command.main([*arguments, "--show-plan"], standalone_mode=False) == 0
        table = capsys.readouterr().out.split("\n\n")[0]
        return {line.split()[0]: line.split()[1] for line in table.splitlines()}

    from_file = shown("--config", str(SAMPLES / sample))
    options: list[str] = []
    for name, value in from_file.items():
        if value in ("true", "false"):
            options.append(f"--{name}" if value == "true" else f"--no-{name}")
        elif value != "-":
            options += [f"--{name}", value]
    assert shown(*options) == from_file


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("axolotl/qlora.yml", ["axolotl/dialogues.jsonl"]),
        ("axolotl/full.yaml", ["axolotl/dialogues.jsonl", "axolotl/more.jsonl"]),
        ("axolotl/audio.yml", ["hf:someone/pronunciation-clips:train"]),
        ("llama-factory/lora.yaml", ["llama-factory/data/coach.jsonl", "hf:someone/alpaca-en:train"]),
        ("llama-factory-v1/lora.yaml", ["llama-factory-v1/data/coach.jsonl", "hf:someone/dialogues:train"]),
        ("trl/lora.yaml", ["trl/coach.jsonl"]),
        ("trl/launch.sh", ["hf:someone/dialogues:train"]),
        ("transformers/finetune.sh", ["transformers/coach.jsonl"]),
        ("mlx-lm/lora.yaml", ["mlx-lm/coach/train.jsonl"]),
        ("mlx-lm/full.yaml", ["hf:someone/dialogues:train"]),
    ],
)
def test_the_training_data_is_named(name: str, paths: list[str]) -> None:
    expected = [path if path.startswith("hf:") else str(SAMPLES / path) for path in paths]
    assert list(read(name).datasets) == expected
