"""ShareGPT: ``{"conversations": [{"from": "human", "value": …}, {"from": "gpt", "value": …}]}``."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.chat import role_meant
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import label_faults, system_faults, tools_of, variables_of
from lint_dataset.conversations.faults import name_of, type_name
from lint_dataset.conversations.media_columns import place_media
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation
from lint_dataset.conversations.turns import turns_of
from lint_dataset.faults import Fault


@family(
    "sharegpt",
    keys=(("conversations",),),
    order=30,
    read_by=("trl", "hf", "unsloth", "axolotl", "llama-factory", "ms-swift", "torchtune", "nemo"),
)
def convert(row: dict[str, Any]) -> Converted:
    """Turns with the roles that templates know. TRL does not read a ``system`` column beside them, so it is said."""
    return read(row, "sharegpt")


def read(row: dict[str, Any], family: str) -> Converted:
    """The turns of a row as a conversation of this family."""
    items = row["conversations"]
    if not isinstance(items, list):
        return None, [Fault("S003", {"field": "conversations", "got": type_name(items), "expected": "array"})]
    if not items:
        return None, [Fault("S004", {"field": "conversations"})]
    faults = _trainer_faults(items)
    messages, found = turns_of(items, mask=row.get("mask"))
    tools, more = tools_of(row)
    faults += found + more
    variables, found = variables_of(row)
    faults += found + label_faults(row)
    if messages is None:
        return None, faults
    faults += turn_faults(messages, row) + system_faults(row, messages)
    messages, found = place_media(messages, row)
    return Conversation(family, messages, tools, variables=variables), faults + found


def _trainer_faults(items: list[Any]) -> list[Fault]:
    """What a trainer that only renames from/value would leave as it is: facts of the data, judged with the plan."""
    turns = [item for item in items if isinstance(item, dict)]
    if any("from" in turn for turn in turns):
        speakers = dict.fromkeys(turn.get("from") for turn in turns if isinstance(turn.get("from"), str))
        renamed = [name_of(speaker) for speaker in speakers if role_meant(str(speaker)) not in (None, speaker)]
        return [Fault("S007", {"roles": renamed})] if renamed else []
    return [Fault("S008", {"column": "conversations"})] if turns else []
