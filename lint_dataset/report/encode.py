"""Strict JSON, the same bytes for the same input, whatever a dataset holds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

# Half a surrogate pair cannot be written as UTF-8, and the others end a line for many readers of lines.
_ESCAPED = re.compile("[\ud800-\udfff\u0085\u2028\u2029]")


def plain(value: Any) -> Any:
    """The value in the types that JSON has.

    Numbers of numpy become Python's, sequences become lists, and a number that is not finite becomes null, as JSON
    has no word for it.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=lambda item: (str(type(item)), str(item)))
    if callable(getattr(value, "tolist", None)):
        return plain(value.tolist())
    return str(value)


def dumps(value: Any, *, indent: int | None = None) -> str:
    """The JSON text of a value: keys in the order given, no NaN, readable letters, and encodable as UTF-8.

    Without ``indent`` it is one line, for every reader's idea of a line.
    """
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
