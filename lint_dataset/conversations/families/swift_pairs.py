"""ms-swift's pairs: ``{"system": …, "conversation": [{"human": …, "assistant": …}, …]}``."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import tools_of, variables_of
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.media_columns import place_media
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message
from lint_dataset.faults import Fault

_USERS = ("human", "user")
_COLUMNS = ("conversation", "conversations", "messages")


def _column(row: dict[str, Any]) -> str | None:
    """The column that holds a list of pairs."""
    for column in _COLUMNS:
        items = row.get(column)
        if isinstance(items, list) and items and all(map(_is_pair, items)):
            return column
    return None


def _is_pair(item: Any) -> bool:
    return isinstance(item, dict) and "assistant" in item and any(name in item for name in _USERS)


@family(
    "swift-pairs",
    keys=(_COLUMNS,),
    order=15,
    where=lambda row: _column(row) is not None,
    read_by=("ms-swift",),
)
def convert(row: dict[str, Any]) -> Converted:
    """Two messages for each pair, and the system prompt in front."""
    column = _column(row) or _COLUMNS[0]
    messages: list[Message] = []
    faults: list[Fault] = []
    if isinstance(row.get("system"), str) and row["system"]:
        messages.append(build("system", row["system"]))
    for pair in row[column]:
        question = next(pair[name] for name in _USERS if name in pair)
        for role, said in (("user", question), ("assistant", pair["assistant"])):
            if isinstance(said, str):
                messages.append(build(role, said))
            else:
                data = {"message": len(messages) + 1, "key": role, "got": type_name(said)}
                faults.append(Fault("M004" if said is None else "M005", data))
    tools, found = tools_of(row)
    variables, more = variables_of(row)
    faults += found + more
    if any(fault.code in ("M004", "M005") for fault in faults):
        return None, faults
    placed, found = place_media(messages, row)
    return Conversation("swift-pairs", placed, tools, variables=variables), faults + turn_faults(placed, row) + found
