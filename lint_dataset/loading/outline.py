"""The outline of a row: which keys it has and what types their values are, without the values.

An outline is JSON text: an object for an object (keys sorted), a list with the outlines that its items have (each once,
sorted), and a letter for everything else (see ``KINDS``). Rows of a dataset have few different outlines.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

#: What the letters stand for. ``t`` and ``j`` are strings too: text that Arrow takes for a moment in time, and text
#: that is JSON itself, such as ``42`` or ``{}``. ``w`` is a whole number written with a point, ``1.0``. ``o`` and ``a``
#: stand for an object and a list that go unseen.
KINDS = {
    "s": "string",
    "t": "string",
    "j": "string",
    "i": "number",
    "f": "number",
    "w": "number",
    "b": "boolean",
    "n": "null",
    "x": "bytes",
    "o": "object",
    "a": "list",
}
#: A longer outline leaves out what is deepest, a level at a time.
LONGEST = 4000
_DEEPEST = 12
#: What Arrow's JSON reader takes for a timestamp.
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d(?::\d\d(?::\d\d(?:\.\d{1,9})?)?)?Z?)?", re.ASCII)
_JSON_STARTS = frozenset('{["-0123456789tfnIN \t\r\n')
_LETTERS = {int: '"i"', bool: '"b"', type(None): '"n"', bytes: '"x"'}


def outline(row: dict[str, Any]) -> str:
    """The outline of a parsed row, of at most ``LONGEST`` characters (or of the row's own keys, where these are more).

    Nothing is said of what lies more than a dozen levels deep.
    """
    for depth in range(_DEEPEST, 0, -1):
        text = _outline(row, depth)
        if len(text) <= LONGEST:
            break
    return text


def _outline(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        if not depth:
            return '"o"'
        return "{" + ",".join([f"{_key(key)}:{_outline(value[key], depth - 1)}" for key in sorted(value)]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_outline(item, depth - 1) for item in value})) + "]" if depth else '"a"'
    if isinstance(value, float):
        return '"w"' if value.is_integer() else '"f"'
    return _LETTERS[type(value)]


def _string(text: str) -> str:
    if not text or text[0] not in _JSON_STARTS:
        return '"s"'
    if len(text) <= 30 and _TIME.fullmatch(text):
        return '"t"'
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return '"s"'
    return '"j"'


@lru_cache(4096)
def _key(key: str) -> str:
    return json.dumps(key)
