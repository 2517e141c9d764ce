"""Prompt and completion: two strings, or two lists of chat messages as TRL takes them."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.chat import messages_of
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, tools_of, variables_of
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.media_columns import place_media
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation
from lint_dataset.faults import Fault


@family("prompt-completion", keys=(("prompt",), ("completion",)), order=10)
def convert(row: dict[str, Any]) -> Converted:
    """Strings become one text, message lists one conversation; both remember where the completion starts."""
    prompt, completion = row["prompt"], row["completion"]
    if isinstance(prompt, str) and isinstance(completion, str):
        return _strings(prompt, completion, row)
    if isinstance(prompt, list) and isinstance(completion, list):
        return _lists(prompt, completion, row)
    if isinstance(prompt, (str, list)):
        expected = "array" if isinstance(prompt, list) else "string"
        return None, [Fault("S003", {"field": "completion", "got": type_name(completion), "expected": expected})]
    return None, [Fault("S003", {"field": "prompt", "got": type_name(prompt), "expected": "string"})]


def _strings(prompt: str, completion: str, row: dict[str, Any]) -> Converted:
    # Without a template there is nobody to know its variables, but TRL takes them apart all the same.
    faults = variables_of(row)[1] + label_faults(row)
    if not completion.strip():
        faults.append(Fault("M009", {"message": None, "field": "completion"}))
    return Conversation("prompt-completion", text=prompt + completion, completion=len(prompt)), faults


def _lists(prompt: list[Any], completion: list[Any], row: dict[str, Any]) -> Converted:
    empty = [Fault("S004", {"field": name}) for name in ("prompt", "completion") if not row[name]]
    if empty:
        return None, empty
    questions, faults = messages_of(prompt)
    answers, found = messages_of(completion, first=len(prompt) + 1)
    faults += found
    tools, found = tools_of(row)
    variables, more = variables_of(row)
    faults += found + more + label_faults(row)
    if questions is None or answers is None:
        return None, faults
    # Only the completion is trained on: an answer in the prompt is context, and so is judged as such.
    faults += turn_faults(answers, row, first=len(prompt) + 1)
    messages = questions + answers
    messages, found = place_media(messages, row)
    faults += found
    return Conversation("prompt-completion", messages, tools, completion=len(prompt), variables=variables), faults
