"""What is wrong with the turns of a conversation as a whole, whatever the template."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.chat import ROLES, role_meant, says_nothing
from lint_dataset.conversations.faults import name_of
from lint_dataset.conversations.shape import Message
from lint_dataset.faults import Fault

#: Columns that hold the answer in files for reinforcement learning, evaluation or another format.
_ANSWER_COLUMNS = (
    "reference_answer", "ground_truth", "answer", "solution", "completion", "response", "output", "target", "label",
)  # fmt: skip


def turn_faults(messages: tuple[Message, ...], row: dict[str, Any], first: int = 1) -> list[Fault]:
    """Faults of the turns taken together; ``first`` is the number of the first message in the row."""
    meant = [message.role if message.role in ROLES else role_meant(message.role) for message in messages]
    faults = _silences(messages, meant, first)
    answers = [message for message, role in zip(messages, meant, strict=True) if role == "assistant"]
    if not answers:
        columns = [key for key in _ANSWER_COLUMNS if row.get(key) is not None]
        roles = list(dict.fromkeys(name_of(message.role) for message in messages))
        return [*faults, Fault("M007", {"roles": roles, "answer_columns": columns})]
    if meant[-1] != "assistant":
        trailing = next(n for n, role in enumerate(reversed(meant)) if role == "assistant")
        faults.append(Fault("M008", {"role": name_of(messages[-1].role), "trailing": trailing}))
    off = [answer for answer in answers if answer.trained is False]
    if off:
        switches = sorted({answer.switch for answer in off if answer.switch})
        code = "M011" if len(off) == len(answers) else "M014"
        faults.append(Fault(code, {"switches": switches, "off": len(off), "answers": len(answers)}))
    return faults


def _silences(messages: tuple[Message, ...], meant: list[str | None], first: int) -> list[Fault]:
    faults = []
    for number, (message, role) in enumerate(zip(messages, meant, strict=True), start=first):
        if message.trained is False and role == "assistant":
            continue  # Nothing is learned from it, so nothing wrong is.
        if role in ("assistant", "user") and says_nothing(message):
            code = "M009" if role == "assistant" else "M013"
            faults.append(Fault(code, {"message": number, "messages": len(messages)}))
    return faults
