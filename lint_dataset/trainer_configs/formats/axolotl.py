"""axolotl's YAML. Keys and defaults are those of its configuration schema at release 0.19."""

from __future__ import annotations

from typing import Any

from lint_dataset.trainer_configs.arguments import ATTENTION, accumulation, beside_lora, optimizer
from lint_dataset.trainer_configs.draft import Draft, words
from lint_dataset.trainer_configs.registry import trainer_format

_MARKS = {
    *("base_model", "base_model_config", "micro_batch_size", "sequence_len", "sample_packing", "adapter"),
    *("lora_target_linear", "pad_to_sequence_len", "val_set_size", "dataset_prepared_path", "excess_length_strategy"),
}
_LIGER = "axolotl.integrations.liger."
_CUT = "axolotl.integrations.cut_cross_entropy."

#: Keys that change neither the tokens of a row nor the memory of a step. Evaluation and saving are none of a plan.
_IRRELEVANT = words(
    """
    adam_beta3 adam_epsilon2 adam_eps lr_div_factor torchdistx_path precompute_ref_log_probs center_rewards_coefficient
    torch_compile_backend torch_compile_mode chunked_cross_entropy_num_chunks tiled_mlp_num_shards
    tiled_mlp_use_original_mlp lisa_step_interval lisa_layers_attribute model_quantization_config_kwargs
    experimental_skip_move_to_device max_prompt_len ddp_broadcast_buffers tokenizer_save_jinja_files
    num_dataset_shards_to_save streaming_multipack_buffer_size pretrain_multipack_buffer_size
    pretrain_multipack_attn sample_packing_mp_start_method multipack_real_batches fix_untrained_tokens
    lora_alpha lora_dropout lora_fan_in_fan_out peft_use_rslora peft_init_lora_weights lora_alpha_pattern
    loraplus_lr_ratio loraplus_lr_embedding tokenizer_type processor_type model_type tokenizer_use_fast
    tokenizer_legacy trust_remote_code output_dir hub_model_id hub_strategy hub_revision hf_use_auth_token
    push_dataset_to_hub dataset_prepared_path dataset_processes dataset_num_proc dataset_keep_in_memory
    dataset_exact_deduplication dataset_shard_num dataset_shard_idx shuffle_merged_datasets
    shuffle_before_merging_datasets val_set_size test_datasets eval_sample_packing eval_batch_size eval_steps
    evals_per_epoch eval_strategy evaluation_strategy eval_table_size eval_max_new_tokens eval_sequence_len
    do_causal_lm_eval eval_causal_lm_metrics do_bench_eval bench_dataset save_steps saves_per_epoch save_strategy
    save_total_limit save_only_model save_safetensors save_first_step load_best_model_at_end early_stopping_patience
    metric_for_best_model greater_is_better resume_from_checkpoint auto_resume_from_checkpoints logging_steps
    learning_rate embedding_lr embedding_lr_scale lr_scheduler lr_scheduler_kwargs lr_groups lr_quadratic_warmup
    cosine_min_lr_ratio cosine_constant_lr_ratio warmup_steps warmup_ratio num_epochs max_steps weight_decay
    max_grad_norm adam_beta1 adam_beta2 adam_epsilon optim_args seed tf32 strict debug local_rank ddp_timeout
    loss_watchdog_threshold loss_watchdog_patience gradient_checkpointing_kwargs remove_unused_columns
    dataloader_num_workers dataloader_pin_memory dataloader_prefetch_factor dataloader_drop_last fsdp_version
    flash_attention sdp_attention sample_packing_eff_est sample_packing_group_size sample_packing_bin_size
    sample_packing_sequentially total_num_tokens low_cpu_mem_usage batch_size use_tensorboard
    include_tokens_per_second include_tkps generate_samples fp8_enable_fsdp_float8_all_gather is_falcon_derived_model
    is_llama_derived_model vllm trl rl_beta eaft_alpha eaft_k dp_replicate_size ray_num_workers ray_run_name
    is_mistral_derived_model is_qwen_derived_model dataloader_persistent_workers
    """
)
_PREFIXES = (
    *(
        "wandb_",
        "swanlab_",
        "mlflow_",
        "comet_",
        "trackio_",
        "otel_",
        "gradio_",
        "hf_mlflow",
        "generation_",
        "dpo_",
        "kto_",
    ),
    *("profiler_", "orpo_", "cpo_", "simpo_", "rpo_", "qgalore_", "dion_", "jagged_restart_", "relora_"),
    *("use_wandb", "use_mlflow", "use_comet", "use_trackio", "use_swanlab", "use_otel", "num_generation"),
)

#: Keys that nothing accounts for when they are on, and what they change.
_NOT_MODELLED = dict.fromkeys(
    words(
        """
        embeddings_skip_upcast fp32_norms peft_autocast_adapter_dtype pretraining_sample_concatenation use_pose
        flash_attn_d512 sdpa_varlen large_head_attention flash_optimum flex_attn_compile_kwargs torch_compile_options
        gc_collect_steps gptq_groupsize gptq_model_v1 shrink_embeddings reinit_weights dynamic_checkpoint
        qlora_sharded_model_loading llama4_linearized_experts gemma4_hybrid_attn_impl use_onebitllms trainer_cls
        pad_to_multiple_of fp8 qat quantization model_quantization_config bnb_config_kwargs lora_target_parameters
        lora_rank_pattern peft_layers_to_transform peft_layer_replication peft_trainable_token_indices peft relora
        lora_mlp_kernel lora_qkv_kernel lora_o_kernel lora_embedding_kernel freeze_mm_modules lisa_n_layers deepspeed
        deepcompile fsdp fsdp_config ddp ddp_find_unused_parameters ddp_bucket_cap_mb accelerator_config device_map
        max_memory gpu_memory_limit activation_offloading layer_offloading selective_checkpointing tiled_mlp
        torch_compile torch_empty_cache_steps gc_steps neftune_noise_alpha flash_attn_cross_entropy
        flash_attn_fuse_mlp eager_attention xformers_attention flex_attention sage_attention s2_attention use_kernels
        liger_cross_entropy liger_rms_norm liger_layer_norm liger_rope liger_glu_activation liger_swiglu
        liger_rms_norm_gated dp_shard_size context_parallel_size sequence_parallel_degree tensor_parallel_size
        expert_parallel_size use_ray experts_implementation quantize_moe_experts use_scattermoe use_sonicmoe
        fused_attn_kernel use_eaft optim_target_modules resize_token_embeddings_to_32x
        """
    ),
    "memory",
) | {
    "batch_flattening": "memory: the rows of a batch are joined without padding",
    "max_packed_sequence_len": "truncation and memory",
    "group_by_length": "which rows share a batch",
    "curriculum_sampling": "which rows share a batch",
    "auto_find_batch_size": "memory: the batch shrinks until it fits",
    "load_in_8bit": "memory: judged with weights of the plan's type",
    "gptq": "memory: judged with weights of the plan's type",
    "lora_model_dir": "memory: the adapter's own rank and modules hold",
    "lora_on_cpu": "memory while loading",
    "unfrozen_parameters": "memory: only some parameters are trained",
    "chunked_cross_entropy": "memory: judged as whole logits",
    "rope_scaling": "the model",
    "overrides_of_model_config": "the model",
    "overrides_of_model_kwargs": "the model",
    "tokens": "tokens: rows are tokenized with the model's own",
    "added_tokens_overrides": "tokens: rows are tokenized with the model's own",
    "tokenizer_use_mistral_common": "tokens",
    "chat_template_kwargs": "tokens",
    "default_system_message": "tokens",
    "eot_tokens": "which end-of-turn tokens are trained on",
    "image_size": "tokens of images",
    "min_sample_len": "which rows are trained on: shorter ones are dropped",
    "streaming": "which rows are seen",
    "pretraining_dataset": "truncation: texts are joined and cut into blocks",
    "reward_model": "the kind of training: judged as supervised fine-tuning",
    "process_reward_model": "the kind of training: judged as supervised fine-tuning",
    "num_labels": "the kind of training: judged as supervised fine-tuning",
    "rl": "the kind of training: judged as supervised fine-tuning",
}


@trainer_format(
    "axolotl",
    release="axolotl 0.19",
    example="base_model, micro_batch_size, sequence_len",
    marks=_MARKS,
    programs=("axolotl", "axolotl.cli.train", "axolotl.cli.preprocess"),
    commands=("", "train", "preprocess"),
)
def read(draft: Draft) -> None:
    """Take the keys."""
    draft.set("trainer", "axolotl")
    draft.set("model", draft.text("base_model"))
    draft.set("tokenizer", draft.text("tokenizer_config"))
    if draft.peek("base_model_config") not in (None, draft.peek("base_model")):
        draft.unmodelled("base_model_config", "another configuration than the model's own changes memory")
    draft.ignore(("base_model_config",))
    _method(draft)
    draft.set("batch_size", draft.whole("micro_batch_size"), 1)
    accumulation(draft)
    _precision(draft)
    _checkpointing(draft)
    _loss(draft)
    _length(draft)
    _data(draft)
    optimizer(draft, "optimizer")
    draft.unless("attn_implementation", ATTENTION, "another attention changes memory")
    draft.template("chat_template_jinja", "tokens: rows are rendered with the model's own template")
    draft.unless("chat_template", ("tokenizer_default", "jinja"), "rows are rendered with the model's own template")
    draft.unless("revision_of_model", ("main",), "another revision may count other tokens")
    # A token that rows are only padded with changes nothing.
    if draft.mapping("special_tokens").keys() - {"pad_token"}:
        draft.unmodelled("special_tokens", "rows are tokenized with the model's own")
    draft.list_unmodelled(_NOT_MODELLED)
    draft.ignore(_IRRELEVANT, _PREFIXES)


def _method(draft: Draft) -> None:
    adapter = draft.text("adapter")
    draft.set("method", {"lora": "lora", "qlora": "qlora", None: None}.get(adapter, "lora"), "full")
    if adapter not in ("lora", "qlora", None):
        draft.unmodelled("adapter", f"{adapter}: judged as LoRA")
    if draft.switch("load_in_4bit") and adapter != "qlora":
        draft.note("load_in_4bit", "true has no effect without adapter: qlora, and is judged so")
    elif adapter == "qlora" and not draft.switch("load_in_4bit"):
        draft.note("adapter", "qlora without load_in_4bit: judged as 4-bit weights")
    draft.set("lora_rank", draft.whole("lora_r"))
    beside_lora(draft, dora="peft_use_dora", saved="lora_modules_to_save")
    if draft.switch("lora_target_linear"):
        draft.targets(["all-linear"], "lora_target_linear")
        draft.ignore(("lora_target_modules",))
    else:
        draft.targets(draft.names("lora_target_modules"), "lora_target_modules")


def _precision(draft: Draft) -> None:
    """Weights and autocast: ``bf16`` and ``fp16`` are both, ``float16`` the weights alone, as is ``bf16: full``."""
    if str(draft.peek("bf16")).casefold() in ("auto", "full"):
        full = str(draft.take("bf16")).casefold() == "full"
        bf16 = full or not draft.peek("fp16")
    else:
        said = [draft.switch("bf16"), draft.switch("bfloat16")]
        # Where nothing is said, axolotl takes bf16 if the card has it.
        bf16, full = any(said) or (said == [None, None] and not draft.peek("fp16")), False
    fp16, float16 = draft.switch("fp16"), draft.switch("float16")
    draft.ignore(("bfloat16", "float32"))
    given = any(draft.peek(key) is not None for key in ("bf16", "bfloat16", "fp16", "float16", "float32"))
    if bf16:
        dtype, autocast = "bf16", "no" if full else "bf16"
    elif fp16 or float16 or draft.peek("load_in_8bit"):
        dtype, autocast = "fp16", "fp16" if fp16 else "no"
    else:
        dtype, autocast = "fp32", "no"
    draft.set("dtype", dtype if given else None, dtype)
    draft.set("mixed_precision", autocast if given else None, autocast)


def _checkpointing(draft: Draft) -> None:
    value = draft.peek("gradient_checkpointing")
    if value in ("offload", "offload_disk"):
        draft.take("gradient_checkpointing")
        draft.set("gradient_checkpointing", True)
        draft.unmodelled("gradient_checkpointing", f"{value}: judged as plain checkpointing, what is kept stays")
    else:
        draft.set("gradient_checkpointing", draft.switch("gradient_checkpointing"), False)


def _loss(draft: Draft) -> None:
    plugins = draft.names("plugins") or []
    fused, cut = draft.switch("liger_fused_linear_cross_entropy"), draft.switch("cut_cross_entropy")
    has_cut = any(plugin.startswith(_CUT) for plugin in plugins)
    if fused and any(plugin.startswith(_LIGER) for plugin in plugins):
        draft.set("loss", "fused")
    elif has_cut and cut is not False:
        draft.set("loss", "fused")
        draft.note("plugins", "cut cross-entropy: judged as the fused loss, which never holds all logits either")
    else:
        draft.set("loss", None, "logits")
        for key, on in (("liger_fused_linear_cross_entropy", fused), ("cut_cross_entropy", cut)):
            if on:
                draft.note(key, "true has no effect without its plugin: judged as whole logits")
    others = [plugin for plugin in plugins if not plugin.startswith((_LIGER, _CUT))]
    if others:
        draft.unmodelled("plugins", ", ".join(plugin.rsplit(".", 1)[-1] for plugin in others))


def _length(draft: Draft) -> None:
    ways: dict[str, str | None] = {"drop": "drop", "truncate": "cut", "raise": "raise"}
    length, overlong = draft.whole("sequence_len"), draft.choice("excess_length_strategy", ways)
    packing, padded = draft.switch("sample_packing"), draft.switch("pad_to_sequence_len")
    if draft.switch("skip_prepare_dataset"):
        draft.clear("max_length")
        draft.note("skip_prepare_dataset", "true: axolotl neither cuts nor drops rows then, so they are judged whole")
        if padded:
            draft.unmodelled("pad_to_sequence_len", "memory: rows are padded to multiples of sequence_len")
        return
    draft.set("max_length", length, 512)
    draft.set("overlong", overlong)
    draft.set("packing", "sample_packing" if packing else None)
    draft.set("pad_to_max_length", padded)


def _data(draft: Draft) -> None:
    """The data, and what the loss is on: everything with ``train_on_inputs`` or in plain texts, else the answers."""
    datasets: Any = draft.take("datasets")
    entries = datasets if isinstance(datasets, list) else []
    if datasets is not None and not (entries and all(isinstance(entry, dict) for entry in entries)):
        draft.remark("not understood", "datasets", "not a list of mappings: taken as not given")
        entries = []
    plain = 0
    for i, entry in enumerate(entries):
        draft.dataset("datasets", entry)
        plain += entry.get("type") == "completion"
        for key, usual in _USUAL.items():
            value = entry.get(key)
            if value is not None and value not in usual:
                draft.unmodelled(f"datasets[{i}].{key}", "changes what is read or trained on of its rows")
    inputs = draft.switch("train_on_inputs")
    if entries and plain == len(entries):
        draft.set("loss_on", "all")
    else:
        draft.set("loss_on", None if inputs is None else "all" if inputs else "assistant", "assistant")
        if plain:
            draft.note("datasets", "type completion beside others: its rows are judged by the loss of the others")
    draft.ignore(("roles_to_train", "train_on_eos"))


#: Keys of a data set that change what is read or trained on, and the values at which we read and train alike.
_USUAL: dict[str, tuple[Any, ...]] = {
    "field_messages": ("messages", "conversations"),
    "message_property_mappings": ({"role": "role", "content": "content"}, {"role": "from", "content": "value"}),
    "message_field_training": ("train", "training"),
    "message_field_training_detail": (),
    "roles_to_train": (["assistant"], ["gpt"], ["gpt", "assistant"], ["assistant", "gpt"]),
    "train_on_eos": ("turn",),
    "train_on_eot": ("turn",),
    "chat_template": ("tokenizer_default",),
    "chat_template_jinja": (),
    "drop_system_message": (False,),
    "split_thinking": (False,),
    "shards": (1,),
    "field": ("text",),
}
