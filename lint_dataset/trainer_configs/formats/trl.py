"""TRL's SFTTrainer: ``SFTConfig``, ``ModelConfig`` and ``ScriptArguments`` in a file of ``trl sft``, or its options."""

from __future__ import annotations

from typing import Any

from lint_dataset.models import find
from lint_dataset.trainer_configs.arguments import (
    ATTENTION,
    DTYPES,
    accumulation,
    checkpointing,
    lora_arguments,
    training_arguments,
    weights_dtype,
)
from lint_dataset.trainer_configs.draft import Draft, words
from lint_dataset.trainer_configs.registry import trainer_format

_MARKS = words(
    """
    max_length max_seq_length truncation_mode assistant_only_loss completion_only_loss loss_type packing_strategy
    padding_free eval_packing dataset_name dataset_train_split dataset_test_split dataset_text_field dataset_kwargs
    dataset_num_proc chat_template_path model_init_kwargs use_peft use_bnb_nested_quant shuffle_dataset eos_token
    """
)
_IRRELEVANT = words(
    """
    dataset_num_proc dataset_test_split dataset_streaming streaming test_split_size
    shuffle_dataset eval_packing ignore_bias_buffers bnb_4bit_quant_type bnb_4bit_quant_storage use_bnb_nested_quant
    router_aux_loss_coef env pad_token dataset_batch_size
    """
)
#: Architectures whose layers PEFT adapts at the query and value projections when nobody names any.
_QUERY_VALUE = ("gemma", "gemma2", "gemma3_text", "llama", "mistral", "qwen2", "qwen3")


@trainer_format(
    "trl",
    release="TRL 1.16",
    example="max_length, assistant_only_loss, dataset_name",
    marks=_MARKS,
    programs=("trl",),
    commands=("", "sft"),
)
def read(draft: Draft) -> None:
    """Take the keys, with the defaults of ``SFTConfig``; those of ``ModelConfig`` where the model is named."""
    draft.set("trainer", "trl")
    model = draft.set("model", draft.text("model_name_or_path"))
    training_arguments(draft, release_autocast="bf16")
    checkpointing(draft, default=True)
    _weights(draft)
    _method(draft, model)
    accumulation(draft)
    _length(draft)
    _loss(draft)
    _data(draft)
    draft.unless("attn_implementation", ATTENTION, "another attention changes memory")
    draft.unless("pad_to_multiple_of", ("auto", "1"), "longer rows change memory")
    draft.unless("model_revision", ("main",), "another revision may count other tokens")
    draft.template("chat_template_path", "tokens: rows are rendered with the model's own template")
    draft.list_unmodelled(
        {
            "eos_token": "tokens",
            "activation_offloading": "memory",
            "accelerate_config": "memory",
            "num_processes": "memory",
        }
    )
    draft.ignore(_IRRELEVANT)


def _weights(draft: Draft) -> None:
    """The weights' type: ``ModelConfig`` loads fp32 unless told otherwise."""
    kwargs = draft.mapping("model_init_kwargs")
    inner = next((kwargs[key] for key in ("dtype", "torch_dtype") if kwargs.get(key) is not None), None)
    auto = "auto" in (draft.peek("dtype"), draft.peek("torch_dtype"), inner)
    if inner == "auto":
        draft.note("model_init_kwargs", "auto is the type that the weights were published in: bf16 is assumed")
    named = [weights_dtype(draft, key) for key in ("dtype", "torch_dtype")]
    # What is said of loading the model wins over the model's own arguments.
    dtype = DTYPES.get(str(inner).casefold()) or named[0] or named[1]
    config = draft.peek("model_name_or_path") is not None
    draft.set("dtype", dtype, "fp32" if config and not auto else None)
    other = sorted(map(str, kwargs.keys() - {"dtype", "torch_dtype", "trust_remote_code", "use_cache"}))
    if other:
        draft.unmodelled("model_init_kwargs", f"{', '.join(other)}: may change memory")


def _method(draft: Draft, model: str | None) -> None:
    peft, bits = draft.switch("use_peft"), draft.switch("load_in_4bit")
    draft.list_unmodelled({"load_in_8bit": "memory: judged with weights of the plan's type"})
    if peft is None and model is None:
        draft.note("use_peft", "the file does not say how the model is trained: see --method")
    elif peft:
        draft.set("method", "qlora" if bits else "lora")
    else:
        draft.set("method", "full" if peft is False else None, "full")
        if bits:
            draft.unmodelled("load_in_4bit", "true without use_peft: judged as full fine-tuning of whole weights")
    draft.set("lora_rank", draft.whole("lora_r"), 16 if peft else None)
    lora_arguments(draft, targets="lora_target_modules", extra="lora_modules_to_save")
    if peft and draft.peek("lora_target_modules") is None:
        known = find(model or "")
        if known and known.config.get("model_type") in _QUERY_VALUE:
            draft.set("lora_targets", None, "q_proj,v_proj")
        else:
            draft.note(
                "lora_target_modules", "not given: PEFT has its own choice by architecture, all-linear is assumed"
            )


def _length(draft: Draft) -> None:
    older = draft.whole("max_seq_length")
    if older is not None:
        draft.note("max_seq_length", "an older TRL's name for max_length: judged by TRL 1.16")
    if draft.has("max_length") and draft.take("max_length") is None:
        draft.clear("max_length")
    else:
        draft.set("max_length", draft.whole("max_length") or older, 1024)
    sides: dict[str, str | None] = {"keep_start": "right", "keep_end": "left"}
    draft.set("truncation_side", draft.choice("truncation_mode", sides))
    strategy = draft.choice("packing_strategy", {name: name for name in ("bfd", "bfd_split", "wrapped")})
    if draft.switch("packing"):
        draft.set("packing", strategy or "bfd")
    draft.list_unmodelled({"padding_free": "memory: the rows of a batch are joined without padding"})
    skipped = draft.mapping("dataset_kwargs")
    if skipped:
        draft.unmodelled("dataset_kwargs", f"{', '.join(map(str, skipped))}: may change truncation")


def _loss(draft: Draft) -> None:
    """TRL 1.16 computes every loss in its fused head, whatever its type, unless smoothed labels need all logits."""
    kinds: dict[str, str | None] = {"nll": "chunked", "chunked_nll": "chunked", "dft": "chunked"}
    kind = draft.choice("loss_type", kinds)
    smoothing = draft.peek("label_smoothing_factor")
    if isinstance(smoothing, (int, float)) and smoothing > 0:
        kind = "logits"
    elif draft.peek("loss_type") == "nll":
        draft.note("loss_type", "nll: TRL 1.16 holds no full logits for it; for a release that does, say --loss logits")
    if draft.switch("use_liger_kernel"):
        draft.note(
            "use_liger_kernel", "TRL 1.16 keeps its own loss; for a release that takes Liger's, say --loss fused"
        )
        draft.unmodelled("use_liger_kernel", "its kernels change memory")
    draft.ignore(("liger_kernel_config",))
    draft.set("loss", kind, "chunked")
    assistant, completion = draft.switch("assistant_only_loss"), draft.switch("completion_only_loss")
    if assistant and completion:
        draft.note("completion_only_loss", "with assistant_only_loss: judged as assistant turns alone")
    if assistant:
        draft.set("loss_on", "assistant")
    else:
        draft.set("loss_on", {True: "completion", False: "all", None: None}[completion], "completion")


def _data(draft: Draft) -> None:
    datasets: Any = draft.take("datasets")
    name, config, split = (draft.text(f"dataset_{key}") for key in ("name", "config", "train_split"))
    if datasets is None:
        if name is not None:
            draft.data("dataset_name", name, config, split)
    elif isinstance(datasets, list) and all(isinstance(each, dict) for each in datasets):
        for each in datasets:
            draft.dataset("datasets", each)
    else:
        draft.remark("not understood", "datasets", "not a list of mappings: taken as not given")
    field = draft.text("dataset_text_field")
    if field not in (None, "text"):
        draft.unmodelled("dataset_text_field", f"{field}: rows are read by the columns that they have")
