"""The models that go by a short name: where their files are, and the facts that their memory is traced from.

A configuration is what the publisher's own ``config.json`` says, reduced to what differs from the defaults of the
configuration class in transformers. Each is checked by the number of parameters that it gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Model:
    """A model that people fine-tune."""

    #: The short name, as ``--model`` takes it (letter case does not matter).
    alias: str
    #: The repository on the Hugging Face Hub, and one with the same processor that asks for no licence click.
    hub_id: str
    mirror: str | None
    #: Parameters as published or counted in the published weights; embeddings that share a tensor count once.
    parameters: int
    #: ``model_type`` and what differs from the defaults of its configuration class in transformers.
    config: dict[str, Any]


def _llama(hidden: int, mlp: int, layers: int, heads: int, kv: int, head_dim: int, *, tied: bool) -> dict[str, Any]:
    return {
        "model_type": "llama",
        "vocab_size": 128256,
        "hidden_size": hidden,
        "intermediate_size": mlp,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "head_dim": head_dim,
        "tie_word_embeddings": tied,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
    }


def _qwen2(
    hidden: int, mlp: int, layers: int, heads: int, kv: int, *, tied: bool, vocab: int = 151936
) -> dict[str, Any]:
    return {
        "model_type": "qwen2",
        "vocab_size": vocab,
        "hidden_size": hidden,
        "intermediate_size": mlp,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "tie_word_embeddings": tied,
        "max_position_embeddings": 32768,
    }


def _gemma3n(layers: int, mlp: int, shared: int) -> dict[str, Any]:
    # Every fifth layer attends to everything, the others to a window of 512 tokens; the first ten are sparse.
    kinds = ["full_attention" if (i + 1) % 5 == 0 else "sliding_attention" for i in range(layers)]
    return {
        "model_type": "gemma3n",
        "text_config": {
            "num_hidden_layers": layers,
            "intermediate_size": [mlp] * layers,
            "num_kv_shared_layers": shared,
            "layer_types": kinds,
            "activation_sparsity_pattern": [0.95] * 10 + [0.0] * (layers - 10),
        },
    }


MODELS: tuple[Model, ...] = (
    Model("gemma-3n-E2B", "google/gemma-3n-E2B-it", "unsloth/gemma-3n-E2B-it", 5_439_438_272, _gemma3n(30, 8192, 10)),
    Model("gemma-3n-E4B", "google/gemma-3n-E4B-it", "unsloth/gemma-3n-E4B-it", 7_849_978_192, _gemma3n(35, 16384, 15)),
    Model(
        "Llama-3.2-1B",
        "meta-llama/Llama-3.2-1B-Instruct",
        "unsloth/Llama-3.2-1B-Instruct",
        1_235_814_400,
        _llama(2048, 8192, 16, 32, 8, 64, tied=True),
    ),
    Model(
        "Llama-3.2-3B",
        "meta-llama/Llama-3.2-3B-Instruct",
        "unsloth/Llama-3.2-3B-Instruct",
        3_212_749_824,
        _llama(3072, 8192, 28, 24, 8, 128, tied=True),
    ),
    Model(
        "Llama-3.1-8B",
        "meta-llama/Llama-3.1-8B-Instruct",
        "unsloth/Llama-3.1-8B-Instruct",
        8_030_261_248,
        _llama(4096, 14336, 32, 32, 8, 128, tied=False),
    ),
    Model("Qwen2.5-1.5B", "Qwen/Qwen2.5-1.5B-Instruct", None, 1_543_714_304, _qwen2(1536, 8960, 28, 12, 2, tied=True)),
    Model(
        "Qwen2.5-7B",
        "Qwen/Qwen2.5-7B-Instruct",
        None,
        7_615_616_512,
        _qwen2(3584, 18944, 28, 28, 4, tied=False, vocab=152064),
    ),
)


def find(name: str) -> Model | None:
    """The model of that alias or Hub id (letter case does not matter), or None."""
    wanted = name.casefold()
    for model in MODELS:
        known = (model.alias, model.hub_id, model.mirror or "", model.hub_id.removesuffix("-it"))
        if wanted in (k.casefold() for k in known):
            return model
        if wanted == model.hub_id.removesuffix("-Instruct").casefold():
            return model
    return None
