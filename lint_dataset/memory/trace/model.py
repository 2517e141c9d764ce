"""The model as a trainer would hold it, on the meta device: from its configuration, without weights."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace.errors import TraceError
from lint_dataset.memory.trace.quantised import WEIGHT_OF_DORA, quantise, whole_weight
from lint_dataset.models import find

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}

#: What ``attention`` adapts: the projections of an attention layer, as nearly every architecture names them.
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]

#: Parameters of Gemma 3n's vision tower, MobileNetV5-300M as timm 1.0.31 builds it (548 tensors). timm is not wanted
#: for this alone: no image runs through the tower here.
GEMMA3N_VISION_PARAMETERS = 294_126_912

#: The rank that a model is built with; ``set_rank`` changes it.
ANY_RANK = 8

#: Layers whose fused kernels (Mamba's, flash-linear-attention's) are not emulated. What transformers computes without
#: them loops over chunks of tokens in Python, in far more memory.
_OWN_KERNELS = ("linear_attention", "mamba", "recurrent", "conv")


class ParametersOnly(nn.Module):
    """Stands for a tower that never runs: its weights are there, its code is not."""

    def __init__(self, numel: int) -> None:
        """``numel`` parameters in one tensor."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(numel))


def config_of(model: str) -> Any:
    """The configuration of an alias, a Hub id or a local folder, as transformers holds it. Raises TraceError.

    Of a model that hears and speaks (Qwen Omni) it is the part that is fine-tuned: its thinker.
    """
    from transformers import AutoConfig

    known = None if os.path.isdir(model) else find(model)
    try:
        with _quietly():
            if known is not None and known.config:
                described = dict(known.config)
                config = AutoConfig.for_model(described.pop("model_type"), **described)
            else:
                where = known.hub_id if known is not None else model
                config = AutoConfig.from_pretrained(where, trust_remote_code=False)
    except Exception as error:
        if os.path.isdir(model):
            raise TraceError(f"transformers cannot read the configuration of {model}") from error
        raise TraceError(
            f"{model} has no configuration here: it is no folder, and no repository within reach"
        ) from error
    return getattr(config, "thinker_config", config)


def class_of(config: Any, model: str) -> Any:
    """The class that a trainer would load. Raises TraceError for what is known to be traced wrongly."""
    import transformers
    from transformers.models.auto import modeling_auto as auto

    text = config.get_text_config()
    kinds = {*(getattr(text, "layer_types", None) or ()), *(getattr(text, "layers_block_type", None) or ())}
    if kinds & set(_OWN_KERNELS):
        raise TraceError(f"{model} has layers of linear attention, whose kernels are not emulated yet")
    if config.is_encoder_decoder:
        raise TraceError(f"{model} is an encoder-decoder, whose steps are not traced yet")
    for name in getattr(config, "architectures", None) or ():
        if hasattr(transformers, name):
            return getattr(transformers, name)
    mappings = [auto.MODEL_FOR_CAUSAL_LM_MAPPING, auto.MODEL_FOR_MULTIMODAL_LM_MAPPING]
    for mapping in mappings if text is config else reversed(mappings):
        if type(config) in mapping:
            return mapping[type(config)]
    raise TraceError(f"transformers has no language model for {model}")


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what libraries say of a model that is never used: nothing that a user can act on."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)


@contextmanager
def _vision_by_parameters() -> Iterator[None]:
    """Build Gemma 3n without timm: its vision tower becomes ``ParametersOnly``."""
    from transformers import AutoModel

    real = AutoModel.from_config

    def from_config(config: Any, **kwargs: Any) -> Any:
        if getattr(config, "model_type", "") == "gemma3n_vision":
            return ParametersOnly(GEMMA3N_VISION_PARAMETERS)
        return real(config, **kwargs)

    with patch.object(AutoModel, "from_config", from_config):
        yield


def build(recipe: Recipe, attention: str | None = None, checkpoint: dict[str, Any] | None = None) -> Any:
    """The model of a recipe, trained as the recipe says, on the meta device.

    ``attention`` is transformers' attention implementation, None its own choice for the model; ``checkpoint`` goes to
    PyTorch's activation checkpointing.

    With 4-bit weights there are two habits. TRL (mixed precision bf16) leaves the other weights in their type and makes
    the adapters bf16; without TRL, PEFT's ``prepare_model_for_kbit_training`` turns all weights that are not packed
    into fp32, and adapters are fp32. In LoRA adapters are fp32 under both (PEFT's ``autocast_adapter_dtype``).

    Raises TraceError.
    """
    config = config_of(recipe.model)
    dtype = DTYPES[recipe.dtype]
    cls = class_of(config, recipe.model)
    try:
        with torch.device("meta"), _vision_by_parameters(), _quietly():
            model = cls._from_config(config, attn_implementation=attention, dtype=dtype)
            if recipe.method == "qlora":
                quantise(model, model.get_output_embeddings(), dtype)
                if recipe.mixed_precision != "bf16":
                    for parameter in model.parameters():
                        if parameter.dtype in (torch.float16, torch.bfloat16):
                            parameter.data = parameter.data.float()
            if recipe.method != "full":
                model = _adapt(model, recipe)
    except TraceError:
        raise
    except Exception as error:
        raise TraceError(
            f"the code that transformers has for {recipe.model} cannot be built without weights"
        ) from error
    model.train()
    if recipe.gradient_checkpointing:
        enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
        enable({"use_reentrant": False, **(checkpoint or {})})
        if recipe.method != "full":
            model.enable_input_require_grads()
    return model


def _adapt(model: Any, recipe: Recipe) -> Any:
    from peft import LoraConfig, get_peft_model

    targets: Any = [name.strip() for name in recipe.targets.split(",") if name.strip()]
    if recipe.targets == "all-linear":
        targets = "all-linear"
    elif recipe.targets == "attention":
        targets = ATTENTION
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    saved = recipe.modules_to_save.split(",") if recipe.modules_to_save else None
    there = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    for name in saved or ():
        if name.rpartition(".")[2] not in there:
            raise TraceError(f"{recipe.model} has no module {name} to train whole")
    config = LoraConfig(
        task_type="CAUSAL_LM", r=ANY_RANK, target_modules=targets, use_dora=recipe.dora, modules_to_save=saved
    )
    try:
        with patch(WEIGHT_OF_DORA, whole_weight):
            model = get_peft_model(model, config)
    except ValueError as error:
        if "not found" in str(error):
            raise TraceError(
                f"PEFT finds nothing to adapt in {recipe.model} by lora-targets {recipe.targets}"
            ) from error
        raise TraceError(f"PEFT cannot adapt {recipe.model} in this way") from error
    if recipe.method == "qlora" and recipe.mixed_precision == "bf16":
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.to(torch.bfloat16)
    return model


def set_rank(model: nn.Module, before: int, rank: int) -> None:
    """Give every LoRA adapter of ``model``, of rank ``before``, another rank.

    An adapter of stacked experts has a row of each rank for each of them.
    """
    for module in model.modules():
        for name, along in (("lora_A", 0), ("lora_B", 1)):
            for linear in getattr(module, name, {}).values():
                shape = list(linear.weight.shape)
                shape[along] = shape[along] // before * rank
                linear.weight = nn.Parameter(linear.weight.new_empty(shape))


def numel(model: nn.Module) -> int:
    """Parameters of a model; tensors that are shared count once."""
    return sum(parameter.numel() for parameter in model.parameters())
