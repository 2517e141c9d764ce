"""J: does the loader of the plan's trainer read the rows as they were written?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from lint_dataset.diagnostics import Severity
from lint_dataset.loading.blocks import BLOCK
from lint_dataset.loading.forecast import Trouble, What, forecast
from lint_dataset.loading.loaders import releases_of, sentence
from lint_dataset.loading.places import shown
from lint_dataset.rules import Finding, Judged, rule

Data = dict[str, Any]

#: So many places of one file are told for each rule; the last of them says how many more there are.
_TOLD = 10
_FIRST = f"the first {BLOCK >> 20} MiB"
_BEFORE = "datasets before 4.7"
_SINCE = "datasets 4.7 and newer"
#: Columns whose texts a model is trained on.
_TEXTS = {"text", "prompt", "completion", "instruction", "input", "output", "response", "question", "answer", "query"}


def _severity(judged: Judged, old: str, new: str) -> Severity:
    """An error where a loader of the plan's trainer refuses the file or reads something else."""
    does = {"lines": "loads", "old": old, "new": new}
    harmed = any(does[release] in ("changed", "fails") for release in releases_of(judged.plan.trainer))
    return "error" if harmed else "warning"


def _findings(
    judged: Judged,
    what: What,
    message: Callable[[str, Data, Trouble], str],
    remedy: Callable[[Trouble], str],
) -> Iterator[Finding]:
    for path, blocks in judged.rows.blocks.items():
        troubles = [trouble for trouble in forecast(blocks) if trouble.what == what]
        for number, trouble in enumerate(troubles[:_TOLD], 1):
            data = {"place": shown(trouble.place), **trouble.data, "old": trouble.old, "new": trouble.new}
            text = message(data["place"], data, trouble)
            if number == _TOLD and len(troubles) > _TOLD:
                data["more"] = len(troubles) - _TOLD
                text += f"; the same at {data['more']:,} more place{'' if data['more'] == 1 else 's'}"
            row = judged.rows.index(path, trouble.line)
            yield Finding(row, text, remedy(trouble), data, _severity(judged, trouble.old, trouble.new))


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _a(kind: str) -> str:
    return (
        kind
        if kind in ("null", "text that is no date", "text that is a date")
        else (f"an {kind}" if kind[0] == "o" else f"a {kind}")
    )


def _one_type(trouble: Trouble) -> str:
    place = trouble.place
    if place[-1:] == ("content",):
        return (
            'Write every content the same way: all as text, or all as lists of parts ([{"type": "text", "text": …}]).'
        )
    if "arguments" in place or "parameters" in place:
        return "Write it in every row as one string of JSON (json.dumps), which no loader looks into."
    return "Write the same type in every row, or leave the column out."


def _mixed(place: str, data: Data, trouble: Trouble) -> str:
    types = sorted(data["types"].items(), key=lambda item: (-item[1]["rows"], item[1]["line"]))
    told = " and ".join(f"{_a(name)} in {_rows(seen['rows'])} (first in line {seen['line']:,})" for name, seen in types)
    text = f"{place} is {told}: {_BEFORE} fails to load the file, {_SINCE} keeps each value as it is"
    if "parsed" in data:
        parsed = data["parsed"]
        text += (
            f", but takes text that is JSON itself ({_rows(parsed['rows'])}, first in line {parsed['line']:,}) for the "
            "value that it spells"
        )
    return text


@rule(
    "J019",
    "mixed-types",
    "error",
    what=f"A place in the rows has values of several types within {_FIRST} of a file.",
    why=(
        f"Arrow wants one type for each place: {_BEFORE} fails with 'Column changed from string to array' or the like. "
        f"{_SINCE} keeps such a place as JSON, and then reads a text such as 42 as a number. Readers of lines "
        "(mlx-lm, json.loads) and pandas take each value as it is; it is then the chat template that has to."
    ),
    remedy="Write the same type in every row.",
    example='{"messages": [{"role": "user", "content": "hi"}]}\n{"messages": [{"role": "user", "content": [{…}]}]}',
)
def _mixed_types(judged: Judged) -> Iterator[Finding]:
    return _findings(judged, "mixed", _mixed, _one_type)


def _later(place: str, data: Data, trouble: Trouble) -> str:
    block = data["block"]
    lines = f"lines {block['first']:,} to {block['last']:,}"
    text = f"{place} is {_a(data['type'])} in {_rows(data['rows'])} from here on and {_a(data['before'])} in {_FIRST}: "
    if data["quoted"] and data["new"] == "changed":
        new = f"{_SINCE} turns every text there in {lines} ({_rows(block['rows'])}) into quoted JSON, without a word"
    else:
        comes = {
            "changed": f"turns it into {_a(data['before'])}, without a word",
            "fails": "fails to load the file",
            "loads": "keeps each value as it is",
        }
        new = f"{_SINCE} {comes[trouble.new]}"
    if data["old"] == data["new"]:
        return text + new.replace(_SINCE, "the datasets library")
    return text + f"{new}; {_BEFORE} fails to load the file"


@rule(
    "J020",
    "type-changes-later",
    "error",
    what=f"A place in the rows has another type behind {_FIRST} of a file than in them.",
    why=(
        f"The datasets library takes all types from {_FIRST} and casts the rest to them, block by block. "
        f'From 4.7 on a block with several types becomes JSON text first: the answer yo is then trained as "yo", in '
        f"quotes, in every row of that block, and nothing says so. {_BEFORE} fails. Readers of lines (mlx-lm, "
        "json.loads) and pandas take each value as it is."
    ),
    remedy="Write the same type in every row.",
    example="40,000 rows whose content is text, then one whose content is a list of parts",
)
def _types_later(judged: Judged) -> Iterator[Finding]:
    return _findings(judged, "later", _later, _one_type)


def _late(place: str, data: Data, trouble: Trouble) -> str:
    before = "does not occur" if data["absent"] else "is only null or empty"
    who = _BEFORE if data["new"] == "loads" else "the datasets library"
    return (
        f"{place} {before} in {_FIRST} and is {_a(data['type'])} from here on: {who} fails to load the file, with a "
        "cast error that names no line"
    )


@rule(
    "J021",
    "filled-late",
    "error",
    what=f"A key that no row has in {_FIRST} of a file, or has only as null or an empty list, is filled later.",
    why=(
        f"The datasets library takes all types from {_FIRST}: what is null there is null for ever, and a key that is "
        'not there must not come. It fails with "Couldn\'t cast array of type …". Readers of lines (mlx-lm, '
        "json.loads) and pandas take it as it is."
    ),
    remedy="Shuffle the rows, or move one that has it to the top: the first rows decide.",
    example="40,000 rows without tool_calls, then one with them",
)
def _filled_late(judged: Judged) -> Iterator[Finding]:
    return _findings(judged, "late", _late, lambda trouble: _LATE)


_LATE = (
    "Move a row that has it to the top (the first rows decide the types), shuffle the rows, or leave the key out of "
    "all of them."
)


def _padded(place: str, data: Data, trouble: Trouble) -> str:
    who = _BEFORE if data["new"] == "loads" else "the datasets library"
    kept = f", {_SINCE} keeps them apart" if data["new"] == "loads" else ""
    return (
        f"the objects at {place} have {data['sets']:,} different sets of keys (the first in line {data['first']:,}, "
        f"another from here on): {who} gives each of them the keys of all others, as null{kept}"
    )


@rule(
    "J022",
    "keys-padded",
    "warning",
    what="Objects that the model gets to see (tool arguments, parts of a content, tools) differ in their keys.",
    why=(
        f'{_BEFORE} makes one type of them: arguments {{"x": 1}} become {{"x": 1, "y": null}}, and a template that '
        "prints them trains on the nulls; a text part gets an audio key. Newer releases keep them apart where "
        f"{_FIRST} of the file already show it. Readers of lines (mlx-lm, json.loads) and pandas take each as it is."
    ),
    remedy="Write arguments and tools as one string of JSON (json.dumps), or load the file with datasets 4.7 or newer.",
    example='{"function": {"name": "f", "arguments": {"x": 1}}}\n{"function": {"name": "g", "arguments": {"y": "s"}}}',
)
def _keys_padded(judged: Judged) -> Iterator[Finding]:
    for finding in _findings(judged, "padded", _padded, _unpadded):
        # Parts of several kinds are how content is written: that is no reason to do anything with a newer release.
        parts = str(finding.data["place"]).endswith(".content[]") and finding.data["new"] == "loads"
        yield finding._replace(severity="note") if parts else finding


def _unpadded(trouble: Trouble) -> str:
    if "arguments" in trouble.place or trouble.place[0] == "tools":
        return "Write it in every row as one string of JSON (json.dumps), or load the file with datasets 4.7 or newer."
    return "Give all of them the same keys, or load the file with datasets 4.7 or newer."


@rule(
    "J023",
    "text-taken-for-dates",
    "error",
    what=f"A text that is trained on looks like a date in every row of {_FIRST} of a file.",
    why=(
        "Arrow takes such a column for timestamps: the trainer gets datetime objects in place of text, in every "
        "release of the datasets library. Readers of lines (mlx-lm, json.loads) and pandas take it as text."
    ),
    remedy="Write a word beside the date, or give load_dataset the features of the file.",
    example='{"prompt": "When was the moon landing?", "completion": "1969-07-20"}',
)
def _taken_for_dates(judged: Judged) -> Iterator[Finding]:
    def message(place: str, data: Data, trouble: Trouble) -> str:
        return f"every text at {place} in {_FIRST} looks like a date: the datasets library makes timestamps of them"

    def remedy(trouble: Trouble) -> str:
        return "Write a word beside the date, or give load_dataset the features of the file."

    for finding in _findings(judged, "dates", message, remedy):
        place = str(finding.data["place"])
        if place in _TEXTS or place.endswith((".content", ".value", ".text")):
            yield finding


@rule(
    "J024",
    "only-row-split",
    "error",
    what="A file holds a single row, and one that Arrow refuses: it has a key twice, or half of a surrogate pair.",
    why=(
        "The datasets library then asks pandas, which takes the file for a table: "
        f"{sentence('only_row_refused')}. Nothing says so."
    ),
    remedy="Mend the row: the other finding in this line says what is wrong with it.",
    example='{"messages": [{"role": "user", "content": "a", "content": "b"}, {"role": "assistant", "content": "c"}]}',
)
def _only_row_split(judged: Judged) -> Iterator[Finding]:
    refused = [(row, code, data) for code in ("J012", "J014") for row, data in judged.faults.get(code, ())]
    if not refused:
        return
    table = judged.rows.table
    rows_of = Counter(table.filter(table.column("hash").is_valid()).column("path").to_pylist())
    for row, code, data in refused:
        path, block = table.column("path")[row].as_py(), table.column("block")[row].as_py()
        seen = table.column("outline")[row].as_py()
        # What pandas cuts into rows is a list at the top of the row.
        lists = any(isinstance(value, list) for value in json.loads(seen).values()) if seen else "[" in data["where"]
        if rows_of[path] == 1 and block is not None and lists:
            text = "this row is the only one and Arrow refuses it: the datasets library makes a row of each message"
            severity = _severity(judged, "changed", "changed")
            yield Finding(row, text, "Mend the row: then it is one again.", {"refused": code}, severity)
