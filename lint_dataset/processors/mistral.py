"""Mistral's own tokenizer (a ``tekken.json`` and nothing else), asked as one of the tokenizers library is.

mistral-common renders and tokenizes in one step and gives no offsets. But each of its tokens is a known number of
bytes, and all of them together are the text: so the tokens of a render say themselves where they stand in it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

#: Renders that were not asked for again are kept up to this number, the oldest goes first. A batch has fewer rows.
_KEPT = 20_000


class Encoding(NamedTuple):
    """The tokens of a text, and the characters ``[start, end)`` that each of them holds a part of."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class MistralTokenizer:
    """mistral-common's tokenizer in its fine-tuning mode, in which a conversation ends with an answer."""

    #: It renders in Python. Whoever asks for a template only wants to know that there is one.
    chat_template = "mistral-common"
    #: Nobody can write a control token: mistral-common takes one in a message for plain text.
    added_tokens_decoder: Mapping[int, Any] = MappingProxyType({})
    all_special_ids: tuple[int, ...] = ()

    def __init__(self, backend: Any) -> None:
        """Take transformers' ``MistralCommonBackend``. Raises ``TypeError`` unless its vocabulary is a tekken.json."""
        self._backend = backend
        self._pieces = backend.tokenizer.instruct_tokenizer.tokenizer
        if type(self._pieces).__name__ != "Tekkenizer":
            raise TypeError("only tokens of a tekken.json say how many bytes they are")
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

        self._keep = SpecialTokenPolicy.KEEP
        controls = {self._bytes(id_).decode(): id_ for id_ in backend.all_special_ids}
        self._controls = controls
        self._control = re.compile("|".join(re.escape(name) for name in sorted(controls, key=len, reverse=True)))
        self._rendered: OrderedDict[str, Encoding] = OrderedDict()
        self.bos_token: str = backend.bos_token
        self.eos_token: str = backend.eos_token
        self.bos_token_id: int = backend.bos_token_id

    @property
    def backend_tokenizer(self) -> MistralTokenizer:
        """What encodes: this object itself."""
        return self

    def no_truncation(self) -> None:
        """Nothing is cut off."""

    def no_padding(self) -> None:
        """Nothing is filled up."""

    def convert_ids_to_tokens(self, id_: int) -> str:
        """The text of a token."""
        return self._bytes(id_).decode("utf-8", "replace")

    def apply_chat_template(
        self,
        messages: list[dict[str, Any]],
        *,
        tokenize: bool = False,
        add_generation_prompt: bool = False,
        tools: list[Any] | None = None,
        **asked: Any,
    ) -> str:
        """The text of a conversation. Its tokens are kept for ``encode_batch``. Raises what mistral-common raises."""
        if tools is not None:
            asked["tools"] = tools
        ids = self._backend.apply_chat_template(
            messages, tokenize=True, return_dict=False, add_generation_prompt=add_generation_prompt, **asked
        )
        text, encoding = self._laid_out(list(ids))
        self._rendered[text] = encoding
        if len(self._rendered) > _KEPT:
            self._rendered.popitem(last=False)
        return text

    def encode_batch(self, texts: Sequence[str], add_special_tokens: bool) -> list[Encoding]:
        """The tokens of texts: those of a conversation as it was rendered, those of any other text as it stands."""
        encodings = [
            self._plain(text) if add_special_tokens else self._rendered.get(text) or self._parts(text) for text in texts
        ]
        for text in texts:
            self._rendered.pop(text, None)
        return encodings

    def _plain(self, text: str) -> Encoding:
        """A row that is one text: what looks like a control token is none, and the real ones are put around it."""
        ids = self._pieces.encode(text, bos=True, eos=True)
        _, inside = self._laid_out(ids[1:-1])
        return Encoding(ids, [(0, 0), *inside.offsets, (0, 0)])

    def _parts(self, text: str) -> Encoding:
        """A part of a render: what looks like a control token is one."""
        ids: list[int] = []
        last = 0
        for match in self._control.finditer(text):
            ids += [*self._pieces.encode(text[last : match.start()], bos=False, eos=False), self._controls[match[0]]]
            last = match.end()
        ids += self._pieces.encode(text[last:], bos=False, eos=False)
        return self._laid_out(ids)[1]

    def _laid_out(self, ids: list[int]) -> tuple[str, Encoding]:
        """The text of tokens and where each of them stands in it. A character may be spread over several tokens."""
        pieces = [self._bytes(id_) for id_ in ids]
        raw = b"".join(pieces)
        text = raw.decode("utf-8")
        ends = list(accumulate(len(piece) for piece in pieces))
        if len(raw) == len(text):
            return text, Encoding(ids, list(zip([0, *ends], ends, strict=False)))
        # The number of characters that begin before each byte: a byte that continues a character begins none.
        begun = [0, *accumulate((byte & 0xC0) != 0x80 for byte in raw), len(text)]
        within = [index < len(raw) and (raw[index] & 0xC0) == 0x80 for index in range(len(raw) + 1)]
        starts = [begun[at] - within[at] for at in [0, *ends]]
        return text, Encoding(ids, [(starts[i], begun[end]) for i, end in enumerate(ends)])

    def _bytes(self, id_: int) -> bytes:
        piece: bytes = self._pieces.id_to_byte_piece(id_, self._keep)
        return piece


def has_only_tekken(folder: Path) -> bool:
    """Whether Mistral's own file is the only vocabulary in a folder."""
    return (folder / "tekken.json").is_file() and not (folder / "tokenizer.json").is_file()


def load(folder: Path) -> MistralTokenizer:
    """The tokenizer of a folder, in fine-tuning mode. Raises whatever transformers and mistral-common raise."""
    from transformers import MistralCommonBackend

    return MistralTokenizer(MistralCommonBackend.from_pretrained(folder, mode="finetuning", local_files_only=True))
