"""The order of messages that a trainer insists on, where it skips or refuses rows of another."""

from __future__ import annotations

from collections.abc import Sequence


def out_of_turn(roles: Sequence[str], merge_tools: bool = True) -> int | None:
    """The index of the first message that LLaMA-Factory does not take where it stands; None where it takes all.

    After a system message at the beginning, questions (of the user, or what a tool said) and answers alternate.
    ``merge_tools`` takes what several tools said in a row for one, as its openai format does and its sharegpt format
    does not. ``data/converter.py`` of LLaMA-Factory 0.9.5.
    """
    place, last = 0, ""
    for index, role in enumerate(roles):
        if index == 0 and role == "system":
            continue
        if role == "tool" and last == "tool" and merge_tools:
            continue
        if role not in (("user", "tool") if place % 2 == 0 else ("assistant",)):
            return index
        place, last = place + 1, role
    return None


def refused(roles: Sequence[str]) -> str | None:
    """Why torchtune stops at a conversation of these roles, as a part of a sentence; None where it takes it.

    ``validate_messages`` in ``data/_messages.py`` of torchtune 0.6.1, which knows no answer to what a tool said.
    """
    if len(roles) < 2:
        return "a conversation has to have two messages at least"
    for index, role in enumerate(roles):
        before = roles[index - 1] if index else "assistant"
        if role == "assistant" and before != "user":
            return f"message {index + 1} (assistant) does not follow a message of the user"
        if role == "user" and before == "user":
            return f"messages {index} and {index + 1} are both the user's"
        if role == "system" and index:
            return f"message {index + 1} is a system message that is not the first"
    return None
