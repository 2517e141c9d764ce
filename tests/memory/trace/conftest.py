from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="tracing needs torch: pip install 'lint-dataset[trace]'")
pytest.importorskip("peft", reason="tracing needs PEFT: pip install 'lint-dataset[trace]'")


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the configuration of a small Llama with grouped heads."""
    return _folder(
        tmp_path_factory.mktemp("llama"),
        model_type="llama",
        vocab_size=70_001,
        hidden_size=96,
        intermediate_size=224,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )


@pytest.fixture(scope="session")
def experts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the configuration of a small Qwen3 of four experts, two of which see a token."""
    return _folder(
        tmp_path_factory.mktemp("experts"),
        model_type="qwen3_moe",
        vocab_size=5003,
        hidden_size=96,
        intermediate_size=224,
        moe_intermediate_size=48,
        num_experts=4,
        num_experts_per_tok=2,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=16,
    )


@pytest.fixture(scope="session")
def gemma3n(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the configuration of a small Gemma 3n: a window of 64 tokens, shared keys, an audio tower."""
    layers = 5
    return _folder(
        tmp_path_factory.mktemp("gemma3n"),
        model_type="gemma3n",
        text_config={
            "vocab_size": 3000,
            "vocab_size_per_layer_input": 2000,
            "hidden_size": 96,
            "hidden_size_per_layer_input": 24,
            "intermediate_size": [160] * layers,
            "num_hidden_layers": layers,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 40,
            "sliding_window": 64,
            "num_kv_shared_layers": 2,
            "layer_types": [f"{kind}_attention" for kind in ("sliding", "sliding", "full", "sliding", "full")],
            "activation_sparsity_pattern": [0.95, 0.0, 0.0, 0.0, 0.0],
        },
        audio_config={"conf_num_hidden_layers": 2, "hidden_size": 96, "vocab_size": 128, "vocab_offset": 2900},
        vision_config={"hidden_size": 64, "vocab_size": 128, "vocab_offset": 2700},
    )


def _folder(path: Path, **config: object) -> str:
    (path / "config.json").write_text(json.dumps(config))
    return str(path)
