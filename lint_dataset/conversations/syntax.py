"""What a JSON syntax error looks like to the person who has to mend it."""

from __future__ import annotations

import json
import re
from typing import Any

_PYTHON_LITERAL = re.compile(r"(True|False|None)\b")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*\s*:")


def describe(text: str, error: json.JSONDecodeError) -> dict[str, Any]:
    """The column (from 1) of a syntax error, what it looks like (``problem``), and the parser's words.

    Where the row goes over several lines, ``row_line`` is the line of the row (from 1) that the column is in.
    """
    position = min(error.pos, len(text))
    problem, position = _problem(text, error.msg, position)
    data = {"column": position - text.rfind("\n", 0, position), "problem": problem, "parser": error.msg}
    above = text.count("\n", 0, position)
    return {**data, "row_line": above + 1} if above else data


#: What word processors put in place of a straight double quote.
_CURLY = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"


def _problem(text: str, message: str, position: int) -> tuple[str, int]:
    rest = text[position:]
    if text.startswith("\ufeff"):
        return "byte_order_mark", 0
    if message.startswith("Extra data"):
        if rest.strip() == ",":
            return "comma_at_end", position
        return ("second_value" if rest[:1] in '{["' else "extra_text"), position
    if message.startswith("Invalid control character"):
        return "control_character", position
    if message.startswith("Invalid \\"):
        return "bad_escape", position
    if message.startswith("Unterminated string") or not rest.strip():
        return "cut", len(text.rstrip())
    if message.startswith("Illegal trailing comma"):
        return "trailing_comma", position
    if rest[0] in "}]" and text[:position].rstrip().endswith(","):
        # Before Python 3.13 the error points at the bracket; the comma is what has to go.
        return "trailing_comma", len(text[:position].rstrip()) - 1
    if rest[0] == "'":
        return "single_quotes", position
    if rest[0] in _CURLY:
        return "curly_quotes", position
    if rest.startswith(("//", "/*", "#")):
        return "comment", position
    if _PYTHON_LITERAL.match(rest):
        return "python_literal", position
    if "property name" in message and _IDENTIFIER.match(rest):
        return "unquoted_key", position
    if "',' delimiter" in message:
        after_string = text[:position].rstrip().endswith('"')
        return ("unescaped_quote" if after_string and rest[0] not in '{["' else "missing_comma"), position
    return "syntax", position
