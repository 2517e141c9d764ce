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
from lint_dataset.memory.trace.quantised import quantise
from lint_dataset.models import find

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}

#: What ``attention`` adapts: the projections of an attention layer, as nearly every architecture names them.
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]

#: Parameters of Gemma 3n's vision tower, MobileNetV5-300M as timm 1.0.31 builds it (548 tensors). timm is not wanted
#: for this alone: no image runs through the tower here.
GEMMA3N_VISION_PARAMETERS = 294_126_912

#: The rank that a model is built with; ``set_rank`` changes it.
_ANY_RANK = 8


class ParametersOnly(nn.Module):
    """Stands for a tower that never runs: its weights are there, its code is not."""

    def __init__(self, numel: int) -> None:
        """``numel`` parameters in one tensor."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(numel))


def config_of(model: str) -> Any:
    """The configuration of an alias, a Hub id or a local folder, as transformers holds it. Raises TraceError."""
    from transformers import AutoConfig

    known = None if os.path.isdir(model) else find(model)
    try:
        if known is not None and known.config:
            described = dict(known.config)
            return AutoConfig.for_model(described.pop("model_type"), **described)
        return AutoConfig.from_pretrained(known.hub_id if known is not None else model, trust_remote_code=False)
    except Exception as error:
        raise TraceError(f"no configuration for {model}: {str(error).splitlines()[0]}") from error


def _class_of(config: Any) -> Any:
    import transformers
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING,
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    )

    for name in getattr(config, "architectures", None) or ():
        if hasattr(transformers, name):
            return getattr(transformers, name)
    for mapping in (MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING):
        if type(config) in mapping:
            return mapping[type(config)]
    raise TraceError(f"transformers has no causal language model for {type(config).__name__}")


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


def build(recipe: Recipe, attention: str = "sdpa", checkpoint: dict[str, Any] | None = None) -> Any:
    """The model of a recipe, trained as the recipe says, on the meta device.

    ``attention`` is transformers' attention implementation; ``checkpoint`` goes to PyTorch's activation checkpointing.

    With 4-bit weights there are two habits. TRL (mixed precision bf16) leaves the other weights in their type and makes
    the adapters bf16; without TRL, PEFT's ``prepare_model_for_kbit_training`` turns all weights that are not packed
    into fp32, and adapters are fp32. In LoRA adapters are fp32 under both (PEFT's ``autocast_adapter_dtype``).

    Raises TraceError.
    """
    config = config_of(recipe.model)
    dtype = DTYPES[recipe.dtype]
    cls = _class_of(config)
    try:
        with torch.device("meta"), _vision_by_parameters(), warnings.catch_warnings():
            # Of PEFT's use of transformers; nothing that a user can act on.
            warnings.simplefilter("ignore", FutureWarning)
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
        raise TraceError(f"{recipe.model} cannot be built: {str(error).splitlines()[0]}") from error
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
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=_ANY_RANK, target_modules=targets))
    if recipe.method == "qlora" and recipe.mixed_precision == "bf16":
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.to(torch.bfloat16)
    return model


def set_rank(model: nn.Module, rank: int) -> None:
    """Give every LoRA adapter of ``model`` another rank."""
    for module in model.modules():
        for name, along in (("lora_A", 0), ("lora_B", 1)):
            for linear in getattr(module, name, {}).values():
                shape = list(linear.weight.shape)
                shape[along] = rank
                linear.weight = nn.Parameter(linear.weight.new_empty(shape))


def numel(model: nn.Module) -> int:
    """Parameters of a model; tensors that are shared count once."""
    return sum(parameter.numel() for parameter in model.parameters())
