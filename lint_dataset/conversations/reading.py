"""How rows are to be read where that is not left to them: as one family, with columns and fields of other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lint_dataset.conversations.faults import key_names
from lint_dataset.faults import Fault
from lint_dataset.usage import UsageError

#: The columns that may be found under another name, and the fields of each message.
COLUMNS = (
    "messages", "conversations", "prompt", "completion", "instruction", "input", "output", "query", "response",
    "history", "text", "system", "tools", "chosen", "rejected", "label", "audios", "images", "videos", "audio", "image",
)  # fmt: skip
FIELDS = ("role", "content")
#: The columns whose items are messages.
_TURNS = ("messages", "prompt", "completion", "chosen", "rejected")


class Reading(NamedTuple):
    """``format`` is the family that every row has to be of, None where the rows tell. ``columns`` are pairs of a name
    that is known here and the one that the data has in its place.
    """

    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, format: str | None = None, columns: str | Mapping[str, str] | None = None) -> Reading:
        """From a family's name and a mapping or its text (``role=from,content=value,messages=dialog``).

        Raises ``UsageError``, with the names there are, for a name that is not known.
        """
        from lint_dataset.conversations.registry import families

        names = [family.name for family in families()]
        if format is not None and format not in names:
            raise UsageError(f"format {format!r} is not known: choose one of {', '.join(sorted(names))}")
        pairs = _pairs(columns) if isinstance(columns, str) else list((columns or {}).items())
        for name, theirs in pairs:
            if name not in (*COLUMNS, *FIELDS):
                known = ", ".join((*FIELDS, *COLUMNS))
                raise UsageError(f"columns: {name!r} is not a column that is read: choose from {known}")
            if not theirs:
                raise UsageError(f"columns: {name} is given no name: write {name}=NAME")
        if len({name for name, _ in pairs}) < len(pairs):
            raise UsageError("columns: a column is named twice")
        given = [(name in FIELDS, theirs) for name, theirs in pairs]
        if twice := [theirs for of_field, theirs in given if given.count((of_field, theirs)) > 1]:
            raise UsageError(f"columns: {twice[0]!r} is given to two names: it can stand for one of them")
        return cls(format, tuple(pairs))

    def rename(self, row: dict[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
        """The row with the names that are known here; the fault where it has none of the columns that were named."""
        if not self.columns:
            return row, []
        wanted = {name: theirs for name, theirs in self.columns if name in COLUMNS}
        if wanted and not any(theirs in row for theirs in wanted.values()):
            return row, [Fault("S017", {"columns": key_names(wanted.values()), "keys": key_names(row)})]
        ours = {theirs: name for name, theirs in wanted.items()}
        # A column that another was named to stand for gives way to it.
        renamed = {ours.get(key, key): value for key, value in row.items() if key in ours or key not in wanted}
        fields = {theirs: name for name, theirs in self.columns if name in FIELDS}
        if fields:
            for column in _TURNS:
                if isinstance(renamed.get(column), list):
                    renamed[column] = [_message(item, fields) for item in renamed[column]]
        return renamed, []


AS_IT_IS = Reading()


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = []
    for item in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, theirs = item.partition("=")
        if not equals:
            raise UsageError(f"columns: {item!r} is no pair: write role=from,content=value,messages=dialog")
        pairs.append((name.strip(), theirs.strip()))
    return pairs


def _message(item: Any, fields: Mapping[str, str]) -> Any:
    """A message with the fields that are known here. Who names the roles' field knows what the roles are called."""
    if not isinstance(item, dict):
        return item
    from lint_dataset.conversations.chat import role_meant

    given = set(fields.values())
    renamed = {fields.get(key, key): value for key, value in item.items() if key in fields or key not in given}
    if "role" in given and isinstance(renamed.get("role"), str):
        renamed["role"] = role_meant(renamed["role"]) or renamed["role"]
    return renamed
