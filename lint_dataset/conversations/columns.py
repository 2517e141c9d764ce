"""The columns that stand beside a conversation: tools, a system prompt, labels, the template's variables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lint_dataset.conversations.faults import key_names, type_name
from lint_dataset.conversations.shape import Message
from lint_dataset.faults import Fault

#: What ``apply_chat_template`` or the trainer's call of it already has a meaning for: given once more it fails, or
#: something else than a variable of the template changes.
_RESERVED = frozenset({
    "self", "input", "processing_class", "conversation", "conversations", "messages", "tools", "chat_template",
    "add_generation_prompt", "continue_final_message", "tokenize", "padding", "truncation", "max_length",
    "return_tensors", "return_dict", "return_assistant_tokens_mask", "tokenizer_kwargs", "processor_kwargs",
    "sanitize_control_tokens", "load_audio_from_video",
})  # fmt: skip


def tools_of(row: dict[str, Any]) -> tuple[list[Any] | None, list[Fault]]:
    """The tools of a row: a list, or the JSON text of one. None without tools, or where they cannot be read."""
    tools = row.get("tools")
    if tools is None or tools == []:
        return None, []
    if isinstance(tools, str):
        try:
            tools = json.loads(tools)
        except (ValueError, RecursionError):
            return None, [Fault("S005", {"problem": "not_json", "empty": not tools.strip()})]
    if tools is None:
        return None, []
    if not isinstance(tools, list):
        return None, [Fault("S005", {"problem": "not_list", "got": type_name(tools)})]
    if not all(isinstance(tool, dict) for tool in tools):
        return None, [Fault("S005", {"problem": "tool_not_object"})]
    return tools or None, []


def variables_of(row: dict[str, Any]) -> tuple[dict[str, Any] | None, list[Fault]]:
    """What a row gives its chat template to know, in ``chat_template_kwargs``; None where that is nothing.

    A null is a fault too: TRL takes the column apart wherever it is there. Reserved names are left out, with a fault.
    """
    if "chat_template_kwargs" not in row:
        return None, []
    given = row["chat_template_kwargs"]
    if not isinstance(given, dict):
        return None, [Fault("S012", {"problem": "not_object", "got": type_name(given)})]
    reserved = [key for key in given if key in _RESERVED]
    faults = [Fault("S012", {"problem": "reserved", "names": key_names(reserved)})] if reserved else []
    return {key: value for key, value in given.items() if key not in _RESERVED} or None, faults


def label_faults(row: dict[str, Any]) -> list[Fault]:
    """A boolean label false beside a conversation marks a bad answer in files for KTO."""
    return [Fault("S009", {"column": "label"})] if row.get("label") is False else []


def prompt_faults(row: dict[str, Any]) -> list[Fault]:
    """A prompt column (even of nulls) without a completion beside a conversation: judged with the plan."""
    return [Fault("S011", {"column": "prompt"})] if "prompt" in row and row.get("completion") is None else []


def system_faults(row: dict[str, Any], messages: Iterable[Message]) -> list[Fault]:
    """A system prompt in a column of its own is not read beside a list of turns."""
    system = row.get("system")
    if not isinstance(system, str) or not system.strip() or any(message.role == "system" for message in messages):
        return []
    return [Fault("S010", {"column": "system"})]
