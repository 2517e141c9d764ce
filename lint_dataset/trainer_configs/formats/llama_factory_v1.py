"""LLaMA-Factory's second generation (``USE_V1=1``): keys and defaults of the argument classes in its folder ``v1``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lint_dataset.trainer_configs.arguments import ATTENTION
from lint_dataset.trainer_configs.draft import Draft, TrainerConfigError, words
from lint_dataset.trainer_configs.reading import mapping_of
from lint_dataset.trainer_configs.registry import trainer_format

_MARKS = {
    *(
        "train_dataset",
        "eval_dataset",
        "model_class",
        "micro_batch_size",
        "peft_config",
        "dist_config",
        "kernel_config",
    ),
    *("quant_config", "init_config", "optim_config", "lr_scheduler_config", "batching_strategy", "sample_backend"),
    *("enable_activation_checkpointing", "batching_workers"),
}
_IRRELEVANT = words(
    """
    output_dir learning_rate num_train_epochs max_steps max_grad_norm batching_workers lr_scheduler_config seed
    eval_dataset sample_backend max_new_tokens trust_remote_code model_class resume_from_checkpoint logging_steps
    save_steps save_epochs save_total_limit save_ckpt_as_hf report_to dist_timeout
    """
)


@trainer_format(
    "llama-factory-v1",
    release="LLaMA-Factory v1",
    example="train_dataset, micro_batch_size, peft_config",
    marks=_MARKS,
    programs=("llamafactory-cli", "lmf"),
    commands=("sft",),
)
def read(draft: Draft) -> None:
    """Take the keys. It cuts rows at their end and trains on the answers, in a loop of its own: judged as ``hf``."""
    draft.set("trainer", "hf")
    draft.set("model", draft.text("model"), "Qwen/Qwen3-4B-Instruct-2507")
    batch = draft.set("batch_size", draft.whole("micro_batch_size"), 1)
    # On one device; more of them share it out.
    together = draft.whole("global_batch_size")
    draft.set("gradient_accumulation", max(1, together // batch) if together else None)
    draft.set("max_length", draft.whole("cutoff_len"), 2048)
    draft.set("gradient_checkpointing", draft.switch("enable_activation_checkpointing"), True)
    bf16 = draft.switch("bf16")
    draft.set("dtype", None if bf16 is None else "bf16" if bf16 else "fp32", "bf16")
    draft.set("mixed_precision", None, "no")
    draft.set("loss", None, "logits")
    draft.set("loss_on", None, "assistant")
    _method(draft)
    _plugins(draft)
    _data(draft)
    template = draft.text("template")
    if template:
        draft.note("template", f"{template[:40]}: rows are rendered with the model's own template instead")
    draft.unless("batching_strategy", ("normal",), "changes which rows share a batch")
    draft.unless("flash_attn", ATTENTION, "another attention changes memory")
    draft.list_unmodelled({"init_config": "memory while loading", "cp_size": "memory"})
    draft.ignore(_IRRELEVANT)


def _method(draft: Draft) -> None:
    peft, quant = draft.mapping("peft_config"), draft.mapping("quant_config")
    name, bits = peft.get("name"), quant.get("quantization_bit")
    method = {"lora": "lora", None: None}.get(name, "full")
    if name not in ("lora", None):
        draft.unmodelled("peft_config", f"{str(name)[:40]}: judged as full fine-tuning")
    if bits == 4 and method == "lora":
        method = "qlora"
    elif quant:
        draft.unmodelled("quant_config", "judged with weights of the plan's type")
    draft.set("method", method, "full")
    if name != "lora":
        return
    rank, targets = peft.get("r"), peft.get("target_modules")
    whole = isinstance(rank, int) and not isinstance(rank, bool) and rank > 0
    draft.set("lora_rank", rank if whole else None, 8)
    names = [targets] if isinstance(targets, str) else targets
    if isinstance(names, list) and names and all(isinstance(each, str) for each in names):
        draft.targets(names, "peft_config.target_modules")
    else:
        draft.set("lora_targets", None, "all-linear")
    saved = peft.get("modules_to_save")
    draft.set("dora", True if peft.get("use_dora") is True else None)
    draft.set("modules_to_save", ",".join(map(str, saved)) if isinstance(saved, list) and saved else None)
    if peft.get("adapter_name_or_path"):
        draft.unmodelled("peft_config.adapter_name_or_path", "the adapter's own rank and modules hold")


def _plugins(draft: Draft) -> None:
    """What is put into the model and around it: sharding, kernels, optimizers."""
    for key in ("dist_config", "kernel_config", "optim_config"):
        name = draft.mapping(key).get("name")
        if name and not (key == "kernel_config" and name == "auto"):
            draft.unmodelled(key, f"{str(name)[:40]}: changes memory")


def _data(draft: Draft) -> None:
    """The data: a file or a dataset of the Hub, or a YAML file that lists such."""
    name = draft.text("train_dataset")
    if name is None:
        return
    places = [place for place in (Path(name).expanduser(), draft.path.parent / name) if place.is_file()]
    if not places or places[0].suffix not in (".yaml", ".yml"):
        draft.data("train_dataset", name)
        return
    try:
        listed = mapping_of(places[0])
    except TrainerConfigError as problem:
        draft.remark("not read", "train_dataset", str(problem))
        return
    for key, entry in listed.items():
        _listed(draft, places[0].parent, key, entry)


def _listed(draft: Draft, folder: Path, key: str, entry: Any) -> None:
    """One entry of a list of data sets: ``file_name`` in ``dataset_dir``, or ``hf_hub_url``."""
    entry = entry if isinstance(entry, dict) else {}
    hub, file, inside = entry.get("hf_hub_url"), entry.get("file_name"), entry.get("dataset_dir")
    if isinstance(hub, str):
        draft.data(f"train_dataset.{key}", hub, entry.get("subset"), entry.get("split"))
    elif isinstance(file, str):
        path = Path(inside) / file if isinstance(inside, str) else Path(file)
        near = [place for place in (path, folder / path, folder / file) if place.exists()]
        draft.data(f"train_dataset.{key}", str(near[0] if near else path))
    else:
        draft.remark("not understood", f"train_dataset.{key}", "names no file and no repository: taken as not given")
