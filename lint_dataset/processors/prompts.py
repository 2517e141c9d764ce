"""The prompt of a prompt/completion row as a trainer renders it: alone, with the header that asks for an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lint_dataset.conversations import Conversation
from lint_dataset.faults import Fault
from lint_dataset.processors import guard
from lint_dataset.processors.mistral import MistralTokenizer

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor


def prompt_of(
    conversation: Conversation, messages: list[dict[str, Any]], processor: Processor, faults: list[Fault]
) -> str | None:
    """The rendered prompt of a row that has one; None where it has none, or the template refuses it (in ``faults``).

    TRL 1.16 tokenizes it beside the whole row (``SFTTrainer._prepare_dataset``), and the completion starts where the
    tokens of the two part. mistral-common renders no conversation that lacks its answer when it renders for training.
    """
    if conversation.completion is None or isinstance(processor.tokenizer, MistralTokenizer):
        return None
    asked = messages[: conversation.completion]
    try:
        return processor.render(asked, conversation.tools, conversation.variables, add_generation_prompt=True)
    except Exception as error:  # a template raises whatever it likes
        faults.append(Fault("M115", {"error": type(error).__name__, "says": guard.first_line(error)}))
        return None


def shared(ids: list[int], others: list[int]) -> int:
    """How many tokens two sequences have in common at their beginning."""
    return next(
        (i for i, (one, other) in enumerate(zip(ids, others, strict=False)) if one != other), min(len(ids), len(others))
    )
