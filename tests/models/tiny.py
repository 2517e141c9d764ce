"""A whole processor whose vocabulary is a few words: what a Hub of our own serves and a folder of our own holds."""

from __future__ import annotations

import json

TEMPLATE = "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} </s> {% endfor %}"


def files(*words: str) -> dict[str, bytes]:
    """Its files by name, beside weights and code that nobody should ask for."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate(("<unk>", "</s>", "<user>", "<assistant>", *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "chat_template": TEMPLATE,
    }
    return {
        "config.json": b'{"model_type": "llama"}',
        "model.safetensors": b"weights" * 1000,
        "modeling_own.py": b"raise SystemExit('ran remote code')",
        "tokenizer.json": tokenizer.to_str().encode(),
        "tokenizer_config.json": json.dumps(settings).encode(),
    }
