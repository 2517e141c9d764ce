"""ms-swift's queries: ``{"system": …, "query": …, "response": …, "history": [[…, …]], "images": […]}``.

A response alone is text to be trained on as it is (pre-training).
"""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, tools_of, variables_of
from lint_dataset.conversations.history import history_of, string_faults
from lint_dataset.conversations.media_columns import place_media
from lint_dataset.conversations.media_tags import place_tags
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation
from lint_dataset.faults import Fault

_TAKEN = frozenset({"instruction", "prompt", "question", "messages", "conversations", "conversation", "text", "input"})


def _is_one(row: dict[str, Any]) -> bool:
    """A query with its response, or a response that answers nothing."""
    return row.get("query") is not None or not any(row.get(column) is not None for column in _TAKEN)


@family("query-response", keys=(("response",),), order=45, where=_is_one, also=("query",), read_by=("ms-swift",))
def convert(row: dict[str, Any]) -> Converted:
    """The history, the query and its response; media from tags in the query or from their columns."""
    faults = string_faults(row, ("query", "response", "system"), needed="response")
    history, found = history_of(row)
    faults += found
    if faults:
        return None, faults
    if row.get("query") is None and not history:
        faults = [] if row["response"].strip() else [Fault("M009", {"message": None, "field": "response"})]
        return Conversation("query-response", text=row["response"]), faults
    messages = [build("system", row["system"])] if row.get("system") else []
    messages += [*history, build("user", row.get("query") or ""), build("assistant", row["response"])]
    tools, found = tools_of(row)
    variables, more = variables_of(row)
    faults += found + more + label_faults(row) + turn_faults(tuple(messages), row)
    placed, found = place_media(place_tags(messages), row)
    return Conversation("query-response", placed, tools, variables=variables), faults + found
