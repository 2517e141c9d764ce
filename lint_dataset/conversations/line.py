"""The JSON of one line, read strictly: what some reader would stumble over is a fault, and says where it stands."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lint_dataset.conversations.faults import name_of, type_name
from lint_dataset.conversations.syntax import describe
from lint_dataset.faults import Fault

#: Deeper than any conversation, and well within what every JSON reader and template survives.
DEEPEST = 200
#: Python refuses to read integers of more than a few thousand digits; no table column holds 64 bits.
_MOST_DIGITS = 30

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_WHITESPACE = b" \t\r\n"


def parse(raw: bytes) -> tuple[Any, list[Fault]]:
    """Read the JSON object of one line (without its line end).

    Returns the object and its faults, or None and the fault that left nothing to judge. Never raises, whatever the
    bytes. Columns count from 1: in characters, and in bytes where the line is no UTF-8.
    """
    if not raw.strip(_WHITESPACE):
        return None, [Fault("J008", {})]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, [Fault("J009", {"column": error.start + 1, "byte": raw[error.start]})]
    faults: list[Fault] = []
    try:
        value = _decoder(faults).decode(text)
    except json.JSONDecodeError as error:
        return None, [Fault("J010", describe(text, error))]
    except RecursionError:
        return None, [Fault("J017", {"deepest": DEEPEST})]
    if not isinstance(value, dict):
        return None, [Fault("J011", _what_else(value))]
    if raw.count(b"{") + raw.count(b"[") > DEEPEST and _depth(value) > DEEPEST:
        return None, [Fault("J017", {"deepest": DEEPEST})]
    if _SURROGATE_ESCAPE.search(raw):
        place = next((place for place, string in _strings(value) if _SURROGATE.search(string)), None)
        if place is not None:
            return None, [*faults, Fault("J014", {"where": place})]
    return value, faults


def _decoder(faults: list[Fault]) -> json.JSONDecoder:
    """A decoder that notes what the standard library lets pass."""

    def pairs_to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            times = Counter(key for key, _ in pairs)
            note("J012", key=name_of(times.most_common(1)[0][0]))
        return value

    def constant(name: str) -> float:
        note("J013", number=name)
        return float(name)

    def integer(digits: str) -> int | float:
        value = int(digits) if len(digits) <= _MOST_DIGITS else float(digits)
        if not -(2**63) <= value < 2**63:
            note("J013", number="integer", digits=len(digits.lstrip("-")))
        return value

    def note(code: str, **data: Any) -> None:
        if not any(fault.code == code for fault in faults):
            faults.append(Fault(code, data))

    return json.JSONDecoder(object_pairs_hook=pairs_to_object, parse_constant=constant, parse_int=integer)


def _what_else(value: Any) -> dict[str, Any]:
    """What a line holds that is not an object, and whether an object is inside."""
    data: dict[str, Any] = {"got": type_name(value)}
    if isinstance(value, list):
        data["items"] = len(value)
        if value and all(isinstance(item, dict) for item in value):
            data["objects_with"] = [key for key in ("role", "from", "messages") if key in value[0]]
    if isinstance(value, str):
        try:
            data["encoded_twice"] = isinstance(json.loads(value), dict)
        except (ValueError, RecursionError):
            data["encoded_twice"] = False
    return data


def _nodes(value: Any) -> Iterator[tuple[str, int, Any]]:
    """Every value inside, with its place (``messages[0].content``) and depth, without recursion."""
    stack: list[tuple[str, int, Any]] = [("", 1, value)]
    while stack:
        place, depth, node = stack.pop()
        yield place, depth, node
        if isinstance(node, dict):
            for key, item in node.items():
                name = name_of(key)
                stack.append((f"{place}.{name}" if place else name, depth + 1, item))
        elif isinstance(node, list):
            stack.extend((f"{place}[{index}]", depth + 1, item) for index, item in enumerate(node))


def _depth(value: Any) -> int:
    return max(depth for _, depth, node in _nodes(value) if isinstance(node, (dict, list)))


def _strings(value: Any) -> Iterator[tuple[str, str]]:
    for place, _, node in _nodes(value):
        if isinstance(node, str):
            yield place, node
        elif isinstance(node, dict):
            for key in node:
                yield place or "a key", key
