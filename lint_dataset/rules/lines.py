"""J: does every line hold one JSON object that every loader reads alike?"""

from __future__ import annotations

from typing import Any

from lint_dataset.loading.loaders import sentence
from lint_dataset.rules import fault_rule

Data = dict[str, Any]

fault_rule(
    "J008",
    "blank-line",
    "warning",
    what="A line is empty or holds only spaces.",
    why="There is no object on it to be read.",
    remedy="Delete it: LC_ALL=C grep -v '^[[:space:]]*$' FILE > FILE.jsonl",
    example='{"text": "one"}\\n\\n{"text": "two"}\\n',
    message=lambda data: f"blank line{' at the end of the file' if data.get('last') else ''}: {sentence('blank_line')}",
    loading="blank_line",
)


def _letter(byte: int) -> str:
    """What the byte is in the usual other encoding: ``: in Windows-1252 it is "é"``; nothing where it is no letter."""
    letter = bytes([byte]).decode("cp1252", "ignore")
    return f': in Windows-1252 it is "{letter}"' if letter.isprintable() and letter else ""


fault_rule(
    "J009",
    "invalid-utf-8",
    "error",
    what="A line holds a byte that is no UTF-8, usually text in Latin-1 or Windows-1252 pasted into it.",
    why=(
        "The datasets library says that it loaded the file and raises UnicodeDecodeError when this row is read, "
        "which can be hours into a run."
    ),
    loading="not_utf_8",
    remedy="Write the line again as UTF-8; if all of it is Latin-1: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8",
    example='{"text": "caf\\xe9"}',
    message=lambda data: f"byte {data['column']} (0x{data['byte']:02X}) is not valid UTF-8{_letter(data['byte'])}",
)

_SYNTAX = {
    "byte_order_mark": (
        "a byte order mark inside the file",
        "Remove the three bytes EF BB BF at the start of the line.",
    ),
    "no_value": ("a comma with nothing before it", "Remove the comma."),
    "comma_at_end": ("a comma after the object", "Remove the comma: lines are not joined by commas in JSON Lines."),
    "second_value": ("a second JSON value on the line", "Put each object on a line of its own."),
    "extra_text": ("more text after the end of the object", "Remove what follows the object's closing bracket."),
    "control_character": (
        "a raw control character inside a string",
        "Write tabs as \\t, line breaks as \\n and other control characters as \\u00XX.",
    ),
    "bad_escape": (
        "a backslash that starts no JSON escape",
        "Write a literal backslash as two (paths and LaTeX need it), or make the file with a JSON library.",
    ),
    "cut": ("the line ends in the middle of the object", "Write the row again: the file or this line was cut off."),
    "trailing_comma": ("a comma before a closing bracket", "Remove the comma."),
    "single_quotes": (
        "single quotes, as Python prints a dict",
        "Write the rows with json.dumps: JSON strings take double quotes.",
    ),
    "curly_quotes": (
        "a curly quote where JSON has a straight one, as word processors put it",
        'Put " around every key and string, with an editor for plain text.',
    ),
    "comment": ("a comment", "Remove it: JSON has no comments."),
    "python_literal": ("a Python literal", "Write true, false and null, or write the rows with json.dumps."),
    "unquoted_key": ("a key without quotes", "Put double quotes around every key."),
    "missing_comma": ("a missing comma", "Put a comma between the values."),
    "unescaped_quote": (
        "a double quote inside a string, not escaped",
        'Write it as \\", or write the rows with json.dumps.',
    ),
}


def _place(data: Data) -> str:
    return f"line {data['row_line']:,} of the row, " if "row_line" in data else ""


def _syntax(data: Data) -> tuple[str, str]:
    parser = data["parser"].rstrip(": ")
    return _SYNTAX.get(data["problem"], (f"{parser[:1].lower()}{parser[1:]}", "Write the row again with json.dumps."))


fault_rule(
    "J010",
    "json-syntax",
    "error",
    what="A line is no valid JSON. The column is the character at which it stops to be.",
    why="Loaders stop at it, and most name a row inside a chunk rather than the line of the file.",
    loading="syntax",
    remedy="Write the row again with a JSON library (json.dumps) rather than by hand.",
    example='{"messages": [{"role": "user", "content": "hi"},]}',
    message=lambda data: f"not valid JSON at {_place(data)}column {data['column']:,}: {_syntax(data)[0]}",
    advice=lambda data: _syntax(data)[1],
)


def _not_object(data: Data) -> tuple[str, str]:
    if data.get("encoded_twice"):
        return (
            "the line is a string that holds the JSON of an object: it was encoded twice",
            "Decode it once more (json.loads), or write the rows without the second json.dumps.",
        )
    if data["got"] == "array":
        inside = data.get("objects_with") or []
        column = "messages" if "role" in inside else "conversations" if "from" in inside else None
        advice = f'Wrap it: {{"{column}": […]}}' if column else "Put each object of the array on a line of its own."
        items = data["items"]
        return f"the line is an array of {items:,} item{'' if items == 1 else 's'}, not an object", advice
    return f"the line is a {data['got']}, not an object", "Write one JSON object a line, or delete the line."


fault_rule(
    "J011",
    "not-an-object",
    "error",
    what="A line is valid JSON but no object: an array, a number, or a string (often an object encoded twice).",
    why="A row needs named columns: loaders fail with messages such as 'changed from object to array in row 0'.",
    loading="array_on_a_line",
    remedy="Write one JSON object a line.",
    example='[{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]',
    message=lambda data: _not_object(data)[0],
    advice=lambda data: _not_object(data)[1],
)

fault_rule(
    "J012",
    "duplicate-key",
    "error",
    what="An object has the same key twice.",
    why=(
        "Who reads it keeps the last of them and drops the others without a word; in a file of a single row the "
        "datasets library makes a row of each message."
    ),
    remedy="Keep one of them: what wrote the row means something else than what is read.",
    example='{"prompt": "a", "prompt": "b", "completion": "c"}',
    message=lambda data: f'the key "{data["key"]}" stands twice in one object: {sentence("duplicate_key")}',
)

fault_rule(
    "J013",
    "number-no-json",
    "warning",
    what="A number is NaN or Infinity, which JSON does not have, or an integer of more than 64 bits.",
    why=(
        "Python and the datasets library read NaN, other readers refuse the line; the integer is rounded to a "
        "floating-point number, and datasets 4.7 to 4.8.3 and pandas fail on it."
    ),
    remedy="Write null, or leave the key out; write a long number as a string.",
    example='{"text": "hi", "score": NaN}',
    message=lambda data: (
        f"an integer of {data['digits']:,} digits fits no 64 bits"
        if data["number"] == "integer"
        else f"{data['number']} is no JSON number"
    ),
)

fault_rule(
    "J014",
    "lone-surrogate",
    "error",
    what="A string holds half of a surrogate pair (\\ud83d without its second half), usually an emoji cut in two.",
    why="It cannot be written as UTF-8: tokenizers and Arrow raise an error on this row.",
    remedy="Cut texts by characters, not by UTF-16 units, or remove the half: text.encode('utf-8', 'ignore').decode().",
    example='{"text": "party \\ud83d time"}',
    message=lambda data: f"half of a surrogate pair in {data['where']}",
)

fault_rule(
    "J017",
    "nested-too-deep",
    "error",
    what="Objects or arrays are nested deeper than any conversation.",
    why="Readers and chat templates give up at their recursion limits, some with a crash.",
    loading="nested_deep",
    remedy="Store the nested value as a string, or leave it out.",
    example='{"a": {"a": {"a": …}}}',
    message=lambda data: f"nested more than {data['deepest']} levels deep",
)
