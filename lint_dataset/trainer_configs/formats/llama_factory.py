"""LLaMA-Factory's training arguments. Keys and defaults are those of its argument classes at release 0.9.5."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lint_dataset.trainer_configs.arguments import ATTENTION, accumulation, beside_lora, training_arguments
from lint_dataset.trainer_configs.draft import Draft, words
from lint_dataset.trainer_configs.registry import trainer_format

_MARKS = {
    *("stage", "finetuning_type", "cutoff_len", "template", "dataset_dir", "lora_target", "lora_rank", "media_dir"),
    *("quantization_bit", "pure_bf16", "train_on_prompt", "mask_history", "neat_packing", "enable_liger_kernel"),
    *("disable_gradient_checkpointing", "flash_attn", "freeze_vision_tower", "plot_loss"),
}
_IRRELEVANT = words(
    """
    lora_alpha lora_dropout use_rslora loraplus_lr_ratio loraplus_lr_embedding plot_loss compute_accuracy
    early_stopping_steps disable_shuffling include_effective_tokens_per_second eval_dataset val_size
    eval_on_each_dataset eval_num_beams max_samples buffer_size mix_strategy interleave_probs preprocessing_batch_size
    data_shared_file_system ignore_pad_token_for_loss overwrite_cache media_dir low_cpu_mem_usage use_fast_tokenizer
    use_reentrant_gc infer_backend infer_dtype offload_folder use_kv_cache print_param_status hf_hub_token
    ms_hub_token om_hub_token max_new_tokens temperature top_p top_k do_sample quantization_type fp8_backend
    fp8_enable_fsdp_float8_all_gather ray_init_kwargs master_addr master_port pissa_iter pissa_convert oft_rank
    oft_block_size oft_target module_dropout freeze_trainable_layers freeze_trainable_modules freeze_extra_modules
    create_new_adapter ref_model ref_model_adapters enable_torch_profiler activation_checkpointing liger_kernel_config
    moe_aux_loss_coef adapter_folder init_special_tokens profile_modules ld_alpha dpo_label_smoothing pref_bco_weight
    num_beams length_penalty repetition_penalty skip_special_tokens reward_model reward_model_adapters
    reward_model_type reward_model_quantization_bit ref_model_quantization_bit asft_alpha eaft_alpha pref_beta
    pref_loss pref_ftx trust_remote_code
    """
)
_PREFIXES = (
    *("swanlab_", "use_swanlab", "export_", "vllm_", "sglang_", "profiler_", "galore_", "apollo_", "badam_"),
    *("kt_", "ppo_", "kto_", "simpo_"),
)

_NOT_MODELLED = dict.fromkeys(
    words(
        """
        use_liger_kernel quantization_device_map train_from_scratch
        use_galore use_apollo use_badam use_adam_mini use_muon use_llama_pro use_unsloth use_v1_kernels use_kt use_ray
        ray_num_workers use_mca use_megatron_bridge use_hyper_parallel use_dft_loss use_asft_loss use_eaft_loss fp8
        freeze_language_model upcast_layernorm upcast_lmhead_output mixture_of_depths shift_attn resize_vocab
        """
    ),
    "memory",
) | {
    "streaming": "which rows are seen",
    "tokenized_path": "the data: rows that were tokenized before are used",
    "adapter_name_or_path": "memory: the adapter's own rank and modules hold",
    "pissa_init": "memory while loading",
    "use_unsloth_gc": "memory: what is kept goes to the processor's memory",
    "rope_scaling": "the model",
    "add_tokens": "tokens",
    "add_special_tokens": "tokens",
    "new_special_tokens_config": "tokens",
    "split_special_tokens": "tokens",
    "default_system": "tokens",
    "tool_format": "tokens",
    "preserve_thinking": "tokens",
    "image_max_pixels": "tokens of images",
    "image_min_pixels": "tokens of images",
    "image_do_pan_and_scan": "tokens of images",
    "crop_to_patches": "tokens of images",
    "video_max_pixels": "tokens of videos",
    "video_min_pixels": "tokens of videos",
    "video_fps": "tokens of videos",
    "video_maxlen": "tokens of videos",
    "use_audio_in_video": "tokens of videos",
    "audio_sampling_rate": "tokens of audio",
}


@trainer_format(
    "llama-factory",
    release="LLaMA-Factory 0.9.5",
    example="stage, finetuning_type, cutoff_len",
    marks=_MARKS,
    programs=("llamafactory-cli", "lmf"),
    commands=("", "train"),
)
def read(draft: Draft) -> None:
    """Take the keys."""
    draft.set("trainer", "llama-factory")
    draft.set("model", draft.text("model_name_or_path"))
    training_arguments(draft, release_autocast="no")
    _method(draft)
    accumulation(draft)
    _precision(draft)
    _checkpointing(draft)
    stage = draft.text("stage") or "sft"
    if stage not in ("sft", "pt"):
        draft.unmodelled("stage", f"{stage}: judged as supervised fine-tuning")
    fused = draft.switch("enable_liger_kernel")
    draft.set("loss", "fused" if fused and stage in ("sft", "pt") else None, "logits")
    if fused:
        draft.unmodelled("enable_liger_kernel", "its kernels beside the fused loss change memory")
    _loss_on(draft, stage)
    draft.set("max_length", draft.whole("cutoff_len"), 2048)
    packing, neat = draft.switch("packing"), draft.switch("neat_packing")
    if packing or neat:
        draft.set("packing", "neat_packing" if neat else "packing")
    template = draft.text("template")
    if template:
        draft.note("template", f"{template[:40]}: rows are rendered with the model's own template instead")
    _data(draft)
    draft.unless("flash_attn", ATTENTION, "another attention changes memory")
    draft.unless("model_revision", ("main",), "another revision may count other tokens")
    for key in ("double_quantization", "enable_thinking", "freeze_vision_tower", "freeze_multi_modal_projector"):
        if draft.switch(key) is False:
            draft.unmodelled(key, "false: changes " + ("tokens" if key == "enable_thinking" else "memory"))
    draft.list_unmodelled(_NOT_MODELLED)
    draft.ignore(_IRRELEVANT, _PREFIXES)


def _method(draft: Draft) -> None:
    kind = draft.text("finetuning_type")
    bits, how = draft.whole("quantization_bit"), draft.text("quantization_method") or "bnb"
    known = {"lora": "lora", "full": "full", "freeze": "full", "oft": "lora", None: None}
    method = known.get(kind, "lora")
    if kind in ("freeze", "oft") or kind not in known:
        draft.unmodelled("finetuning_type", f"{kind}: judged as {method}")
    if bits == 4 and how in ("bnb", "bitsandbytes") and method != "full":
        method = "qlora"
    elif bits:
        draft.unmodelled("quantization_bit", f"{bits} ({how}): judged with weights of the plan's type")
    draft.set("method", method, "lora")
    draft.set("lora_rank", draft.whole("lora_rank"), 8)
    beside_lora(draft, dora="use_dora", saved="additional_target")
    names = draft.names("lora_target")
    draft.targets(names, "lora_target")
    if names is None:
        draft.set("lora_targets", None, "all-linear")
    elif "all" in names and len(names) > 1:
        draft.remark("not understood", "lora_target", "all beside other names")


def _precision(draft: Draft) -> None:
    """Weights are loaded in bf16 or fp16; those that are trained are then made fp32, unless ``pure_bf16``."""
    pure = draft.switch("pure_bf16")
    if pure:
        draft.set("dtype", "bf16")
        draft.set("mixed_precision", "no")
    elif draft.get("method") == "full":
        draft.set("dtype", None, "fp32")
    else:
        half = draft.get("mixed_precision")
        draft.set("dtype", half if half in ("bf16", "fp16") else None, "bf16")


def _checkpointing(draft: Draft) -> None:
    disabled = draft.switch("disable_gradient_checkpointing")
    draft.set("gradient_checkpointing", None if disabled is None else not disabled, True)
    if draft.switch("gradient_checkpointing") is False and not disabled:
        draft.note("gradient_checkpointing", "false has no effect here: disable_gradient_checkpointing turns it off")


def _loss_on(draft: Draft, stage: str) -> None:
    prompt, last = draft.switch("train_on_prompt"), draft.switch("mask_history")
    if stage == "pt" or prompt:
        draft.set("loss_on", "all")
    elif last:
        draft.set("loss_on", "last")
    else:
        draft.set("loss_on", None if prompt is None else "assistant", "assistant")


def _data(draft: Draft) -> None:
    """The files that ``dataset_info.json`` gives the named data sets."""
    folder = draft.take("dataset_dir")
    folder = "data" if folder is None else folder
    names = draft.names("dataset") or []
    if not isinstance(folder, str):
        draft.remark("not understood", "dataset_dir", "not a folder: its data sets are not read")
        return
    info, place = _dataset_info(draft, folder) if names else ({}, Path())
    for name in names:
        entry = info.get(name)
        file = entry.get("file_name") if isinstance(entry, dict) else None
        hub = entry.get("hf_hub_url") if isinstance(entry, dict) else None
        if isinstance(hub, str) and isinstance(entry, dict):
            draft.data(f"dataset {name}", hub, entry.get("subset"), entry.get("split"))
        elif isinstance(file, str):
            draft.data(f"dataset {name}", str(place / file))
        else:
            where = "nothing of dataset_info.json" if info else f"there is no dataset_info.json in {folder[:60]}"
            draft.remark("not read", f"dataset {name}", where)


def _dataset_info(draft: Draft, folder: str) -> tuple[dict[str, Any], Path]:
    for place in (Path(folder).expanduser(), draft.path.parent / folder):
        try:
            info = json.loads((place / "dataset_info.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(info, dict):
            return info, place
    return {}, Path(folder)
