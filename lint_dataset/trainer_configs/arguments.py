"""The arguments of transformers' Trainer, which TRL and LLaMA-Factory take too: read by name, not by format.

The names are the fields of ``TrainingArguments`` in transformers 5.24, and those of older releases that are still met.
"""

from __future__ import annotations

from lint_dataset.trainer_configs.draft import Draft, words

#: Optimizers whose states are known, by the names that configurations have for them.
OPTIMIZERS = {
    **dict.fromkeys(("adamw", "adamw_torch", "adamw_torch_fused", "adamw_hf"), "adamw"),
    **dict.fromkeys(("adamw_8bit", "adamw_bnb_8bit"), "adamw-8bit"),
    "paged_adamw_8bit": "paged-adamw-8bit",
    "sgd": "sgd",
}
#: Attention that the device's fused kernels stand for.
ATTENTION = ("auto", "sdpa", "flash_attention_2", "flash_attention_3", "fa2", "fa3")

#: Arguments that change neither the tokens of a row nor the memory of a step.
IRRELEVANT = words(
    """
    output_dir overwrite_output_dir run_name project seed data_seed full_determinism do_train do_eval do_predict
    num_train_epochs max_steps learning_rate lr_scheduler_type lr_scheduler_kwargs warmup_steps warmup_ratio
    weight_decay adam_beta1 adam_beta2 adam_epsilon max_grad_norm optim_args average_tokens_across_devices tf32
    bf16_full_eval fp16_full_eval gradient_checkpointing_kwargs activation_checkpointing_kwargs logging_dir
    logging_strategy logging_steps logging_first_step log_on_each_node logging_nan_inf_filter log_level
    log_level_replica include_num_input_tokens_seen include_tokens_per_second include_for_metrics disable_tqdm
    report_to trackio_space_id trackio_bucket_id trackio_static_space_id eval_strategy evaluation_strategy eval_steps
    eval_delay per_device_eval_batch_size prediction_loss_only eval_on_start eval_do_concat_batches
    eval_use_gather_object eval_accumulation_steps batch_eval_metrics save_only_model save_strategy save_steps
    save_on_each_node save_total_limit save_safetensors enable_jit_checkpoint push_to_hub hub_token hub_private_repo
    hub_model_id hub_strategy hub_always_push hub_revision load_best_model_at_end metric_for_best_model
    greater_is_better ignore_data_skip restore_callback_states_from_checkpoint resume_from_checkpoint local_rank debug
    skip_memory_metrics dataloader_drop_last dataloader_num_workers dataloader_pin_memory
    dataloader_persistent_workers dataloader_prefetch_factor dataloader_multiprocessing_context dataloader_in_order
    remove_unused_columns label_names length_column_name ddp_timeout ddp_backend use_reentrant
    sortish_sampler predict_with_generate generation_max_length generation_num_beams generation_config no_cuda
    preprocessing_num_workers overwrite_cache trust_remote_code cache_dir token use_auth_token
    """
)

#: Arguments that nothing accounts for when they are on, and what they change.
NOT_MODELLED = dict.fromkeys(
    words(
        """
        deepspeed fsdp fsdp_config parallelism_config accelerator_config ddp_find_unused_parameters ddp_bucket_cap_mb
        ddp_broadcast_buffers ddp_static_graph torch_compile torch_compile_backend torch_compile_mode
        torch_empty_cache_steps optim_target_modules neftune_noise_alpha label_smoothing_factor use_cache use_cpu
        """
    ),
    "memory",
) | {
    "auto_find_batch_size": "memory: the batch shrinks until it fits",
    "group_by_length": "which rows share a batch",
}


def training_arguments(draft: Draft, *, release_autocast: str) -> None:
    """Take every argument of the Trainer: batch, autocast, optimizer.

    ``release_autocast`` is what the trainer does where neither ``bf16`` nor ``fp16`` is given (``"bf16"`` or ``"no"``).
    """
    draft.set("batch_size", draft.whole("per_device_train_batch_size"), 8)
    bf16, fp16 = draft.switch("bf16"), draft.switch("fp16")
    if bf16 or fp16:
        draft.set("mixed_precision", "bf16" if bf16 else "fp16")
    else:
        draft.set("mixed_precision", "no" if bf16 is False else None, release_autocast)
    optimizer(draft, "optim")
    draft.unless("train_sampling_strategy", ("random", "sequential"), "changes which rows share a batch")
    draft.list_unmodelled(NOT_MODELLED)
    draft.ignore(IRRELEVANT)


def checkpointing(draft: Draft, default: bool) -> None:
    """Set gradient checkpointing, by either of the names that transformers has for it."""
    given = [draft.switch(key) for key in ("gradient_checkpointing", "activation_checkpointing")]
    draft.set("gradient_checkpointing", None if given == [None, None] else any(given), default)


def optimizer(draft: Draft, key: str) -> None:
    """Set the optimizer, or say that its states are not known."""
    draft.set("optimizer", OPTIMIZERS.get(str(draft.peek(key)).casefold()))
    draft.unless(key, OPTIMIZERS, "another optimizer's states and steps change memory")


def accumulation(draft: Draft) -> None:
    """Take ``gradient_accumulation_steps``: kept gradients meet the activations."""
    draft.set("gradient_accumulation", draft.whole("gradient_accumulation_steps"))


def liger(draft: Draft) -> bool:
    """Whether ``use_liger_kernel`` puts a fused loss in; what else it replaces is listed."""
    config = draft.mapping("liger_kernel_config")
    if not draft.switch("use_liger_kernel"):
        return False
    fused = config.get("fused_linear_cross_entropy", True) is not False
    draft.unmodelled("use_liger_kernel", f"its kernels{' beside the fused loss' if fused else ''} change memory")
    return fused


#: Types of weights, by the names that configurations have for them.
DTYPES = {
    "bfloat16": "bf16",
    "torch.bfloat16": "bf16",
    "bf16": "bf16",
    "float16": "fp16",
    "torch.float16": "fp16",
    "fp16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "torch.float32": "fp32",
    "fp32": "fp32",
    "float": "fp32",
}


def weights_dtype(draft: Draft, key: str) -> str | None:
    """The type of the weights that a key names. ``auto`` is that of the published weights: said, and left open."""
    if draft.peek(key) == "auto":
        draft.take(key)
        draft.note(key, "auto is the type that the weights were published in: bf16 is assumed, as --dtype would say")
        return None
    return draft.choice(key, DTYPES)


def beside_lora(draft: Draft, *, dora: str, saved: str) -> None:
    """Set what is trained beside LoRA's matrices. ``dora``, ``saved``: keys of DoRA and of modules trained whole."""
    draft.set("dora", draft.switch(dora))
    names = draft.names(saved)
    draft.set("modules_to_save", ",".join(names) if names else None)


def lora_arguments(draft: Draft, *, targets: str, extra: str) -> None:
    """Take what LoRA can be told. ``targets``, ``extra``: keys of target modules and of modules trained whole."""
    beside_lora(draft, dora="use_dora", saved=extra)
    draft.list_unmodelled({"lora_target_parameters": "memory"})
    draft.ignore(("lora_alpha", "lora_dropout", "lora_bias", "use_rslora", "lora_task_type"))
    draft.targets(draft.names(targets), targets)
