"""Arguments of a script around transformers' Trainer: ``TrainingArguments`` and the names its example scripts add."""

from __future__ import annotations

from lint_dataset.trainer_configs.arguments import (
    ATTENTION,
    accumulation,
    checkpointing,
    liger,
    lora_arguments,
    training_arguments,
    weights_dtype,
)
from lint_dataset.trainer_configs.draft import Draft
from lint_dataset.trainer_configs.registry import trainer_format

_MARKS = {
    *("train_file", "validation_file", "block_size", "dataset_name", "dataset_config_name", "model_max_length"),
    *("max_seq_length", "tokenizer_name"),
}
_LAST = {"per_device_train_batch_size", "num_train_epochs", "learning_rate", "bf16", "fp16", "lr_scheduler_type"}


@trainer_format(
    "transformers",
    release="transformers 5.24",
    example="per_device_train_batch_size, num_train_epochs, train_file",
    marks=_MARKS,
    last=_LAST,
    commands=("",),
)
def read(draft: Draft) -> None:
    """Take the keys. How a script loads the model and whether it cuts rows is not in these arguments unless named."""
    draft.set("trainer", "hf")
    draft.set("model", draft.text("model_name_or_path"))
    draft.set("tokenizer", draft.text("tokenizer_name"))
    training_arguments(draft, release_autocast="no")
    for key in ("dtype", "torch_dtype"):
        draft.set("dtype", weights_dtype(draft, key))
    checkpointing(draft, default=False)
    draft.set("loss", "fused" if liger(draft) else None, "logits")
    for key in ("max_length", "max_seq_length", "model_max_length"):
        draft.set("max_length", draft.whole(key))
    _method(draft)
    accumulation(draft)
    draft.unless("attn_implementation", ATTENTION, "another attention changes memory")
    draft.list_unmodelled({"block_size": "truncation: texts are joined and cut into blocks", "packing": "truncation"})
    _data(draft)


def _method(draft: Draft) -> None:
    peft = draft.switch("use_peft")
    named = any(draft.peek(key) is not None for key in ("lora_r", "lora_rank", "lora_target_modules"))
    bits = draft.switch("load_in_4bit")
    if bits:
        draft.set("method", "qlora")
    elif peft or (named and peft is None):
        draft.set("method", "lora")
    elif peft is False:
        draft.set("method", "full")
    else:
        draft.note("method", "these arguments do not say how the model is trained: see --method")
    for key in ("lora_r", "lora_rank"):
        draft.set("lora_rank", draft.whole(key))
    lora_arguments(draft, targets="lora_target_modules", extra="lora_modules_to_save")
    draft.list_unmodelled({"load_in_8bit": "memory: judged with weights of the plan's type"})
    draft.ignore(("bnb_4bit_quant_type", "bnb_4bit_compute_dtype"))


def _data(draft: Draft) -> None:
    for key in ("train_file", "dataset_name"):
        path = draft.text(key)
        if path is not None:
            draft.data(key, path)
    draft.ignore(
        ("validation_file", "test_file", "dataset_config_name", "validation_split_percentage", "max_eval_samples")
    )
    draft.ignore(("max_train_samples", "config_name", "use_fast_tokenizer", "low_cpu_mem_usage", "streaming"))
    draft.unless("model_revision", ("main",), "another revision may count other tokens")
