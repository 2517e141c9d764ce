"""The measurement: what the target model's processor says of one example, as a row of an Arrow table.

Everything that is slow to know is in here, and nothing that depends on the plan: another budget, limit or trainer is
a second judgement of the same rows.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from lint_dataset.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

#: Raised whenever the same row would be measured differently: cached measurements of another version are not used.
VERSION = 9


@cache
def schema() -> pa.Schema:
    """The Arrow schema of a measurement, one row per example. Pyarrow is imported here, when it is first needed.

    All spans count tokens, start at 0 and are half open. ``hash`` names the bytes of the row; it is null for a row
    that is about a file as a whole. ``tokens`` is null where faults prevented counting (then the lists are empty).

    ``turns`` has one entry per message, in order. ``[start, end)`` is what the turn says: its text, and its media
    with what lies between. ``marker_end`` is the end of the end-of-turn marker behind it (equal to ``end`` where
    there is none). A turn of which nothing was rendered has an empty span where it would have been. ``trained`` is
    the row's own switch: null where the row does not say.

    ``answers`` are the assistant's turns as ``[start, marker_end)``; a row that is one text is one answer, whole.
    ``completion`` is the first token of the completion of a prompt/completion row: where its tokens part from those of
    the prompt by itself, as TRL 1.16 has it.

    ``media`` spans are the soft tokens that the encoder's features take the place of, without the markers around
    them. ``seconds`` is how much of an audio clip the processor hears: null where that is not known, and for images.

    ``block`` is the block of the file that the datasets library reads the row in, from 0 (see
    ``loading.blocks``); it is null for tables. ``outline`` is which keys of which types the row has
    (``loading.outline``). ``content`` and ``said`` are the same where rows are the same conversation, and where
    assistants say the same (``conversations.identity``). The last three are null for what is no row that can be read.

    ``faults`` are code and data (a JSON object), in the order they were met.
    """
    import pyarrow as pa

    turn = [
        ("role", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("marker_end", pa.int64()),
        ("trained", pa.bool_()),
    ]
    answer = [("start", pa.int64()), ("end", pa.int64())]
    medium = [("kind", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("seconds", pa.float64())]
    fault = [("code", pa.string()), ("data", pa.string())]
    return pa.schema(
        [
            ("path", pa.string()),
            ("line", pa.int64()),
            ("block", pa.int32()),
            ("hash", pa.string()),
            ("family", pa.string()),
            ("tokens", pa.int64()),
            ("turns", pa.list_(pa.struct(turn))),
            ("answers", pa.list_(pa.struct(answer))),
            ("completion", pa.int64()),
            ("media", pa.list_(pa.struct(medium))),
            ("outline", pa.string()),
            ("content", pa.string()),
            ("said", pa.string()),
            ("faults", pa.list_(pa.struct(fault))),
        ]
    )


def __getattr__(name: str) -> Any:
    """``SCHEMA`` is the schema as a name, made when it is first asked for."""
    if name == "SCHEMA":
        return schema()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def pack(faults: Iterable[Fault]) -> list[dict[str, str]]:
    """Faults as the ``faults`` column holds them. Keys are sorted: the same fault is the same bytes."""
    return [{"code": fault.code, "data": json.dumps(fault.data, sort_keys=True)} for fault in faults]


def unpack(faults: Iterable[dict[str, str]]) -> list[Fault]:
    """The faults of one row of the ``faults`` column, as a row of ``Table.to_pylist`` gives them."""
    return [Fault(fault["code"], json.loads(fault["data"])) for fault in faults]
