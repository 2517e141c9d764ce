"""Which tokenizer and which template a model has: by its name alone, as there is nothing else to look at.

The tokens that a template puts around messages are the same in every row. They were read off the templates that
Google, Meta, Qwen, DeepSeek, OpenAI and Mistral publish, rendered and counted with the real tokenizers; tests do it
again wherever a registry holds the template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from lint_dataset import models


@dataclass(frozen=True)
class Template:
    """The tokens that a template puts around the messages of a conversation.

    ``begin`` stand before everything. A message has ``before`` it its header (by role; ``other`` for those that are
    not named), behind its text its end-of-turn ``marker``, and ``after`` that what parts it from the next.
    ``answer`` is the assistant's header.
    """

    begin: int
    before: int
    marker: int
    after: int
    answer: int | None = None
    #: Where a system message goes: a turn of its own, at the beginning of the first user's, or bare before all turns.
    system: Literal["turn", "user", "bare"] = "turn"
    #: Tokens that a system message has besides (a date, a heading), and those that stand there without one.
    system_extra: int = 0
    no_system: int = 0
    #: End-of-turn tokens of a user's message, where they are not those of an answer.
    user_marker: int | None = None
    #: Tokens before the answers that follow the last question (an empty block of reasoning).
    last_answer: int = 0
    #: Begin and end of a row that is plain text.
    text_begin: int = 1
    text_end: int = 1
    #: What explains tools to the model, besides their descriptions: at most so many tokens.
    tools: int = 250


class Medium(NamedTuple):
    """A clip or an image that always takes the same tokens: ``before`` and ``after`` are its markers."""

    before: int
    soft: int
    after: int


@dataclass(frozen=True)
class Family:
    """What is known of a model without its processor. ``tokenizer`` names the coefficients."""

    tokenizer: str
    template: Template
    media: dict[str, Medium] = field(default_factory=dict)


_CHATML = Template(begin=0, before=3, marker=1, after=1, text_begin=0)
_QWEN_2 = Template(begin=0, before=3, marker=1, after=1, no_system=21, text_begin=0)
_QWEN_3 = Template(begin=0, before=3, marker=1, after=1, last_answer=4, text_begin=0)
_GEMMA = Template(begin=1, before=3, marker=1, after=1, system="user", system_extra=1)
_GEMMA_4 = Template(begin=1, before=3, marker=1, after=1)
_LLAMA_3 = Template(begin=1, before=4, marker=1, after=0)
_LLAMA_3_DATED = Template(begin=1, before=4, marker=1, after=0, system_extra=20, no_system=25)
_DEEPSEEK = Template(begin=1, before=1, marker=1, after=0, user_marker=0, system="bare", text_begin=0)
_MISTRAL = Template(begin=1, before=1, marker=1, after=0, answer=0)
_HARMONY = Template(begin=61, before=3, marker=1, after=0, answer=5, system_extra=4, text_begin=0)

#: Gemma 3n: 188 tokens a clip, 256 an image, their begin and end, and two line breaks on either side.
_GEMMA_3N_MEDIA = {"audio": Medium(2, 188, 2), "image": Medium(2, 256, 2)}

#: Patterns of a model's name, the first that is found decides. Distilled models keep the tokenizer of their base.
_PATTERNS: tuple[tuple[str, Family], ...] = (
    (r"deepseek.*distill.*qwen", Family("qwen", _DEEPSEEK)),
    (r"deepseek.*distill.*llama", Family("llama3", _DEEPSEEK)),
    (r"deepseek", Family("deepseek", _DEEPSEEK)),
    (r"gemma-?3n", Family("gemma", _GEMMA, _GEMMA_3N_MEDIA)),
    # Gemma 4 kept Gemma 3's tokens (the turn's header has the same three ids); a system message is a turn of its own.
    (r"gemma-?4(?!b)", Family("gemma", _GEMMA_4)),
    (r"gemma-?[23]", Family("gemma", _GEMMA)),
    (r"qwen-?2", Family("qwen", _QWEN_2)),
    (r"qwen-?3.*instruct-2507", Family("qwen", _CHATML)),
    (r"qwen-?3\.[56]", Family("qwen35", _QWEN_3)),
    (r"qwen-?3(?!\.)", Family("qwen", _QWEN_3)),
    (r"llama-?3[.-][123]", Family("llama3", _LLAMA_3_DATED)),
    (r"llama-?3", Family("llama3", _LLAMA_3)),
    (r"gpt-?oss", Family("o200k", _HARMONY)),
    (r"ministral|mistral-(nemo|small|large-24|medium)|magistral|devstral", Family("tekken", _MISTRAL)),
)
#: A name without an owner may be a slip of the pen: only aliases go without.
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def family_of(name: str | None) -> Family | None:
    """The family of a model by its alias or Hub id; None where no tokenizer like it was fitted."""
    known = models.find(name) if name else None
    if not name or (known is None and not _HUB_ID.fullmatch(name)):
        return None
    wanted = (known.hub_id if known is not None else name).rstrip("/").rpartition("/")[2].casefold()
    return next((family for pattern, family in _PATTERNS if re.search(pattern, wanted)), None)


def mismatch(model: str | None, tokenizer: str | None) -> str | None:
    """What is wrong with counting a model's tokens by a tokenizer, where their names tell that it is another's."""
    own, other = family_of(model), family_of(tokenizer)
    if own is None or other is None or own.tokenizer == other.tokenizer:
        return None
    return (
        f"--tokenizer {tokenizer} counts as the {other.tokenizer} family and {model} as the {own.tokenizer} family: "
        "tokens, and what follows from them, hold only if the model was trained on that vocabulary"
    )
