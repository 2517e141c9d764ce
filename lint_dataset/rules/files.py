"""J: is the file as a whole what it should be?"""

from __future__ import annotations

from typing import Any

from lint_dataset.loading.loaders import sentence
from lint_dataset.rules import fault_rule

Data = dict[str, Any]


def _bytes(count: int) -> str:
    return f"{count:,} byte" + ("" if count == 1 else "s")


fault_rule(
    "J002",
    "empty-file",
    "error",
    what="The file has no bytes, nothing but blank lines, or no rows.",
    why="There is nothing to train on: the datasets library fails with an error that does not name the file.",
    remedy="Write the examples again: the export that made this file failed or was cut off before its first row.",
    example="train.jsonl of 0 bytes",
    message=lambda data: (
        "there are no rows"
        if "rows" in data
        else "the file is empty"
        if not data["bytes"]
        else "the file holds nothing but blank lines"
    ),
)

fault_rule(
    "J003",
    "git-lfs-pointer",
    "error",
    what="The file is a Git LFS pointer: three lines of text in place of the data.",
    why="The clone did not fetch the large files, so there is nothing to train on.",
    remedy="Run `git lfs pull` (after `git lfs install`) to fetch the data itself.",
    example="version https://git-lfs.github.com/spec/v1",
    message=lambda data: (
        "this is a Git LFS pointer, not the data"
        + (f" ({_bytes(data['bytes'])} are elsewhere)" if data["bytes"] is not None else "")
    ),
)

fault_rule(
    "J004",
    "byte-order-mark",
    "warning",
    what="The file starts with a UTF-8 byte order mark (the bytes EF BB BF), as Windows editors write it.",
    why="The mark is no part of JSON, and who does not skip it fails on line 1.",
    remedy="Save the file as UTF-8 without the mark: tail -c +4 FILE > FILE.jsonl",
    example='EF BB BF {"messages": [',
    message=lambda data: f"the file starts with a UTF-8 byte order mark: {sentence('byte_order_mark')}",
    loading="byte_order_mark",
)

_UNPACK = {
    "gzip": "Give its name the ending .gz, or unpack it: gunzip FILE",
    "zstd": "Give its name the ending .zst, or unpack it: zstd -d FILE",
    "bzip2": "Unpack it: bunzip2 FILE",
    "xz": "Unpack it: xz -d FILE",
    "zip": "Unpack it: unzip FILE",
    "Parquet": "Give its name the ending .parquet, or write its rows as JSON Lines.",
    "Arrow": "Give its name the ending .arrow, or write its rows as JSON Lines.",
}


def _reencode(data: Data) -> str:
    name = data["looks_like"]
    if name.startswith("UTF"):
        return f"Convert it: iconv -f {name} -t UTF-8 FILE > FILE.utf8"
    return _UNPACK[name]


fault_rule(
    "J005",
    "not-utf-8-text",
    "error",
    what="The file is in another encoding (UTF-16, UTF-32), compressed, or a table in a binary format.",
    why="No JSON Lines reader can load it as it is.",
    remedy="Convert it to UTF-8 text.",
    example="FF FE 7B 00 22 00 (UTF-16)",
    message=lambda data: f"the file is {data['looks_like']}, not UTF-8 text",
    advice=_reencode,
)

fault_rule(
    "J006",
    "windows-line-ends",
    "note",
    what="Lines end with CR LF, as on Windows. Said once a file, at the first such line.",
    why="JSON readers skip the CR, so training is not harmed; scripts that cut or hash lines may trip over it.",
    remedy="Nothing has to be done; tr -d '\\r' < FILE > FILE.jsonl makes the line ends plain.",
    example='{"text": "one"}\\r\\n',
    message=lambda data: "lines end with CR LF (Windows); JSON readers accept it",
)

#: Python's own reader: texts with commas, quotes and line breaks in them stay whole.
_OF_CSV = (
    'python3 -X utf8 -c "import csv, json, sys; csv.field_size_limit(10**9); '
    '[print(json.dumps(row)) for row in csv.DictReader(sys.stdin%s)]" < FILE > FILE.jsonl'
)
_HOLDS = {
    "array": (
        "the file is one JSON array, not one object a line: its rows were not judged",
        "jq -c '.[]' FILE > FILE.jsonl",
    ),
    "objects": (
        "the file holds pretty-printed JSON, not one object a line: its rows were not judged",
        "jq -c . FILE > FILE.jsonl",
    ),
    "wrapped": (
        'the file is one object whose rows are a list under "{key}": they were not judged',
        "jq -c '.[\"{key}\"][]' FILE > FILE.jsonl",
    ),
    "csv": ("this is CSV (columns {columns}), not one JSON object a line: its rows were not judged", _OF_CSV % ""),
    "csv ;": ("this is CSV with semicolons (columns {columns}): its rows were not judged", _OF_CSV % ", delimiter=';'"),
    "tsv": ("this is TSV (columns {columns}): its rows were not judged", _OF_CSV % ", delimiter='\\t'"),
}


def _named(data: Data) -> Data:
    return {**data, "columns": ", ".join(data.get("columns", ()))}


fault_rule(
    "J007",
    "not-json-lines",
    "error",
    what=(
        "The whole file is one JSON array (in a file that is not called .json), its objects go over several lines, "
        "it is one object that holds the rows in a list, or a table of text (CSV, TSV)."
    ),
    why=(
        "The datasets library loads an array, and in most releases objects that go over several lines. Every reader "
        "that takes one object from each line fails on line 1, and so the rows of this file were not judged."
    ),
    remedy="Write one object a line: jq -c . FILE > FILE.jsonl",
    example='[\\n  {"messages": […]},\\n  {"messages": […]}\\n]',
    message=lambda data: _HOLDS[data["holds"]][0].format_map(_named(data)),
    advice=lambda data: "Write one object a line: " + _HOLDS[data["holds"]][1].replace("{key}", data.get("key") or ""),
)

fault_rule(
    "J015",
    "line-too-long",
    "error",
    what="A line is longer than any example could be; it was skipped.",
    why="Readers hold a line in memory as a whole, and most of it would be cut away before training.",
    remedy="Split the example, or keep recordings and images in files of their own and name their paths.",
    example="a line of 300 MiB",
    message=lambda data: f"the line has {_bytes(data['bytes'])}, more than the {_bytes(data['limit'])} that are read",
)

fault_rule(
    "J016",
    "file-changed",
    "error",
    what="The file changed while it was read.",
    why="What was judged is a mixture of two versions, or only a part of the file.",
    remedy="Wait until the file is written, and run again.",
    example="a file that another process still appends to",
    message=lambda data: (
        f"the file changed while it was read ({data['size_before']:,} bytes before, {data['size_after']:,} after)"
    ),
)

fault_rule(
    "J025",
    "own-output",
    "note",
    what="The file is something that lint-dataset itself wrote: a report, measurements, a baseline, rejected codes.",
    why="It lies in a folder that is checked and holds no examples, so it was passed over.",
    remedy="Nothing has to be done; write reports outside of the folder that is checked.",
    example="lint-dataset . --output-format jsonl --output report.jsonl, and then lint-dataset . again",
    message=lambda data: f"this is no dataset but lint-dataset's own output ({data['holds']}): it was passed over",
)

_DAMAGE = {
    "cut": ("the compressed file ends too early", "Compress or download it again: it was cut off."),
    "corrupt": ("the compressed file is damaged", "Compress or download it again."),
    "no_end": ("the array is never closed", "Write the file again: it was cut off."),
    "goes_on": ("the array ends here, but the file goes on", "Put all rows in one array, or write one object a line."),
    "table": ("the table is damaged ({reason})", "Write or download it again."),
}

fault_rule(
    "J018",
    "damaged-file",
    "error",
    what="A compressed file, a table or an array is damaged, or ends before it should. What came before was judged.",
    why="Rows are missing from here on: a loader stops at this file, and some use what they have without a word.",
    remedy="Write or download the file again.",
    example="a train.jsonl.gz that was only half downloaded",
    message=lambda data: _DAMAGE[data["problem"]][0].format_map(data) + ": from here on nothing was read",
    advice=lambda data: _DAMAGE[data["problem"]][1],
)
