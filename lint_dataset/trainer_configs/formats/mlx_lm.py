"""mlx-lm's YAML for ``mlx_lm.lora``. Keys and defaults are those of its release 0.32."""

from __future__ import annotations

from pathlib import Path

from lint_dataset.trainer_configs.draft import Draft, words
from lint_dataset.trainer_configs.registry import trainer_format

_MARKS = {
    *("fine_tune_type", "num_layers", "lora_layers", "lora_parameters", "iters", "val_batches", "steps_per_report"),
    *("steps_per_eval", "save_every", "test_batches", "resume_adapter_file", "adapter_path", "grad_checkpoint"),
    *("mask_prompt", "hf_dataset", "grad_accumulation_steps", "data"),
}
#: Memory is not modelled for MLX at all, so what changes it alone is not listed key by key.
_IRRELEVANT = words(
    """
    train test seed num_layers lora_layers iters val_batches learning_rate lr_schedule steps_per_report steps_per_eval
    save_every test_batches resume_adapter_file adapter_path optimizer optimizer_config grad_accumulation_steps
    clear_cache_threshold report_to project_name wandb trust_remote_code
    """
)


@trainer_format(
    "mlx-lm",
    release="mlx-lm 0.32",
    example="fine_tune_type, lora_parameters, iters",
    marks=_MARKS,
    programs=("mlx_lm", "mlx_lm.lora"),
    commands=("", "lora"),
)
def read(draft: Draft) -> None:
    """Take the keys. The model is the plan's tokenizer: the memory of PyTorch's model is not that of MLX's."""
    draft.set("trainer", "mlx-lm")
    draft.clear("model")
    draft.set("tokenizer", draft.text("model"), "Qwen/Qwen3-0.6b")
    draft.note("model", "memory is not known for MLX, whatever is given: tokens and truncation are judged")
    draft.set("device", "mps")
    draft.set("batch_size", draft.whole("batch_size"), 4)
    kind = draft.choice("fine_tune_type", {"lora": "lora", "dora": "lora", "full": "full"})
    draft.set("method", kind, "lora")
    lora = draft.mapping("lora_parameters")
    rank, keys = lora.get("rank"), lora.get("keys")
    if isinstance(rank, int) and not isinstance(rank, bool) and rank > 0:
        draft.set("lora_rank", rank)
    else:
        draft.set("lora_rank", None, 8)
        if rank is not None:
            draft.remark(
                "not understood", "lora_parameters.rank", "not a whole number of 1 or more: taken as not given"
            )
    if isinstance(keys, list) and keys and all(isinstance(key, str) for key in keys):
        draft.targets(keys, "lora_parameters.keys")
    else:
        draft.set("lora_targets", None, "all-linear")
    draft.set("max_length", draft.whole("max_seq_length"), 2048)
    draft.set("gradient_checkpointing", draft.switch("grad_checkpoint"), False)
    masked = draft.switch("mask_prompt")
    # The prompt is everything before the last message, whoever said it.
    draft.set("loss_on", {True: "last", False: "all", None: None}[masked], "all")
    hub = draft.take("hf_dataset")
    for entry in hub if isinstance(hub, list) else [hub] if hub else []:
        name = (entry.get("path") or entry.get("name")) if isinstance(entry, dict) else None
        if isinstance(name, str):
            draft.data("hf_dataset", name, None, entry.get("train_split"))
        else:
            draft.remark("not understood", "hf_dataset", "names no dataset: taken as not given")
    data = draft.text("data")
    if data is not None:
        _data(draft, data)
    draft.ignore(_IRRELEVANT)


def _data(draft: Draft, data: str) -> None:
    """The training split of a folder; the other splits are not trained on."""
    for place in (Path(data).expanduser(), draft.path.parent / data):
        if (place / "train.jsonl").is_file():
            draft.data("data", str(place / "train.jsonl"))
            return
    draft.data("data", data)
