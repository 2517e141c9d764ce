"""Models as transformers builds them from the table, on the meta device, and what published files hold besides."""

from __future__ import annotations

from typing import Any

from lint_dataset.models import Model

#: Parameters of Gemma 3n's vision tower, MobileNetV5-300M as timm 1.0.31 builds it: timm is not wanted for this alone.
GEMMA_3N_VISION = 294_126_912


def built(model: Model) -> Any:
    """The model of an entry, on the meta device."""
    from unittest.mock import patch

    import torch
    from torch import nn
    from transformers import AutoConfig, AutoModel
    from transformers.models.auto import modeling_auto

    facts = dict(model.config)
    config = AutoConfig.for_model(facts.pop("model_type"), **facts)
    mappings = [
        modeling_auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING if config.model_type == "whisper" else {},
        modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
        modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING,
        modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING,
        modeling_auto.MODEL_FOR_TEXT_TO_WAVEFORM_MAPPING,
    ]
    architecture = next(mapping[type(config)] for mapping in mappings if type(config) in mapping)
    real = AutoModel.from_config

    def from_config(part: Any, **kwargs: Any) -> Any:
        if part.model_type != "gemma3n_vision":
            return real(part, **kwargs)
        tower = nn.Module()
        tower.weight = nn.Parameter(torch.empty(GEMMA_3N_VISION))
        return tower

    with torch.device("meta"), patch.object(AutoModel, "from_config", from_config):
        return architecture._from_config(config, dtype=torch.bfloat16)


def parameters(built_model: Any) -> int:
    """Parameters of a model; a tensor that two modules share counts once."""
    return sum(parameter.numel() for parameter in built_model.parameters())


def left_out(config: Any) -> int:
    """What the published files hold and transformers does not build as parameters, computed from the shapes.

    Gemma 3n and 4: keys, values and a norm for layers that use those of an earlier layer, and of Gemma 4 one factor a
    layer, which is a buffer in transformers. Qwen3.5: a layer that predicts the token after the next one.
    """
    text = config.get_text_config()
    text.allow_global_per_layer_attribute_access = True
    hidden = text.hidden_size
    if config.model_type in ("gemma3n", "gemma4"):
        layers = getattr(text, "per_layer_config", None) or [text] * text.num_hidden_layers
        heads = [layer.head_dim for layer in list(layers)[text.num_hidden_layers - text.num_kv_shared_layers :]]
        unused = sum(2 * hidden * text.num_key_value_heads * head + head for head in heads)
        return unused + (text.num_hidden_layers if config.model_type == "gemma4" else 0)
    if config.model_type == "qwen3_5":
        queries = text.num_attention_heads * text.head_dim
        attention = hidden * 2 * queries + 2 * hidden * text.num_key_value_heads * text.head_dim + queries * hidden
        norms = 2 * hidden + 2 * text.head_dim + 3 * hidden
        return attention + 3 * hidden * text.intermediate_size + 2 * hidden * hidden + norms
    return 0
