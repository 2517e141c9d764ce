"""OpenAI chat: ``{"messages": [{"role": …, "content": …}], "tools": […]}``."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.chat import messages_of
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, system_faults, tools_of, variables_of
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.media_columns import place_media
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation
from lint_dataset.faults import Fault


@family("messages", keys=(("messages",),), order=20)
def convert(row: dict[str, Any]) -> Converted:
    """The messages as they are; tools from their own column."""
    items = row["messages"]
    if not isinstance(items, list):
        return None, [Fault("S003", {"field": "messages", "got": type_name(items), "expected": "array"})]
    if not items:
        return None, [Fault("S004", {"field": "messages"})]
    messages, faults = messages_of(items)
    tools, found = tools_of(row)
    variables, more = variables_of(row)
    faults += found + more + label_faults(row)
    if messages is None:
        return None, faults
    faults += turn_faults(messages, row) + system_faults(row, messages)
    messages, found = place_media(messages, row)
    return Conversation("messages", messages, tools, variables=variables), faults + found
