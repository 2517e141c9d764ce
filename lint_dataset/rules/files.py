"""J: will the file load at all, and does every line of it hold one JSON object?"""

from __future__ import annotations

from typing import Any

from lint_dataset.rules import fault_rule

Data = dict[str, Any]


def _bytes(count: int) -> str:
    return f"{count:,} byte" + ("" if count == 1 else "s")


#: What is wrong with a path and what to do, filled in from the fault's data.
_UNREADABLE = {
    "not_found": ("there is no such file", "Check the path."),
    "no_match": ("the pattern matches no file", "Check the pattern; quote it so that the shell leaves it alone."),
    "folder": (
        "the folder holds no file with rows",
        "Name the files, or give them an ending that is read: .jsonl, .ndjson, .json, .parquet, .arrow.",
    ),
    "not_a_file": ("this is no regular file", "Write it to a file first, or pipe it to lint-dataset -."),
    "not_fetched": (
        "this is an address, which is opened only when asked",
        "Give --fetch (without --offline) to read it, or download it first.",
    ),
    "no_protocol": ("addresses of {protocol}:// are not opened", "Download it first. What is opened: {known}."),
    "no_package": ("{protocol}:// cannot be opened without the package {package}", "Run: pip install {package}"),
    "hub_name": ("this names no dataset", "Write hf:user/name, hf:user/name:split or hf:user/name:config:split."),
    "hub_not_found": (
        "the Hub has no dataset {name} that you may see",
        "Check the name; if it is private, log in with: hf auth login",
    ),
    "hub_gated": (
        "the dataset {name} is gated",
        "Ask for access at https://huggingface.co/datasets/{name} and log in with: hf auth login",
    ),
    "hub_offline": (
        "the dataset {name} is not in the cache, and nothing is downloaded offline",
        "Run once without --offline and HF_HUB_OFFLINE: the dataset then stays in the cache.",
    ),
    "hub_unreachable": (
        "the dataset {name} is not in the cache, and the Hub cannot be reached",
        "Check the network, or load the dataset on a machine that has it and copy it here with save_to_disk.",
    ),
    "hub_split": ("the dataset {name} has no such split", "Name one of its splits: {known}."),
    "hub_no_split": ("the dataset {name} has several splits, none called train", "Name one of its splits: {known}."),
    "hub_config": ("the dataset {name} has no such configuration", "Name one of its configurations: {known}."),
    "hub_script": (
        "the dataset {name} needs code of its own, which is never run",
        "Convert it to Parquet where you trust its code, and name the files.",
    ),
    "hub_failed": (
        "the dataset {name} cannot be loaded ({reason})",
        "See what load_dataset says of it in Python: a trainer would stop there too.",
    ),
}


def _unreadable(data: Data) -> tuple[str, str]:
    unknown = ("the file cannot be read ({reason})", "Check the path and its permissions.")
    message, advice = _UNREADABLE.get(data["problem"], unknown)
    return message.format_map(data), advice.format_map(data)


fault_rule(
    "J001",
    "unreadable-file",
    "error",
    what="The path is no file or dataset that can be read, or a folder or pattern without any file with rows in it.",
    why="Nothing in it was judged, and a training run would stop here, or silently train on the other files alone.",
    remedy="Check the path, the pattern and the permissions.",
    example="lint-dataset trian.jsonl",
    message=lambda data: _unreadable(data)[0],
    advice=lambda data: _unreadable(data)[1],
)

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
    why=(
        "Readers that take one JSON object from each line (mlx-lm, most scripts) fail on line 1; "
        "the datasets library skips the mark."
    ),
    remedy="Save the file as UTF-8 without BOM, for example: sed -i '1s/^\\xEF\\xBB\\xBF//' FILE",
    example='EF BB BF {"messages": [',
    message=lambda data: "the file starts with a UTF-8 byte order mark: plain JSON readers fail on line 1",
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
    remedy="Nothing has to be done; `sed -i 's/\\r$//' FILE` makes the line ends plain.",
    example='{"text": "one"}\\r\\n',
    message=lambda data: "lines end with CR LF (Windows); JSON readers accept it",
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
}

fault_rule(
    "J007",
    "not-json-lines",
    "error",
    what=(
        "The whole file is one JSON array (in a file that is not called .json), its objects go over several lines, or "
        "it is one object that holds the rows in a list."
    ),
    why=(
        "The datasets library happens to load an array, but every reader that takes one object from each line fails "
        "on line 1, and so the rows of this file were not judged."
    ),
    remedy="Write one object a line: jq -c . FILE > FILE.jsonl",
    example='[\\n  {"messages": […]},\\n  {"messages": […]}\\n]',
    message=lambda data: _HOLDS[data["holds"]][0].format_map(data),
    advice=lambda data: "Write one object a line: " + _HOLDS[data["holds"]][1].format_map(data),
)

fault_rule(
    "J008",
    "blank-line",
    "warning",
    what="A line is empty or holds only spaces.",
    why="Readers that take one JSON object from each line (mlx-lm, most scripts) fail on it; datasets skips it.",
    remedy="Delete it: sed -i '/^[[:space:]]*$/d' FILE",
    example='{"text": "one"}\\n\\n{"text": "two"}\\n',
    message=lambda data: (
        "blank line at the end of the file" if data.get("last") else "blank line: readers that parse each line fail"
    ),
)

fault_rule(
    "J009",
    "invalid-utf-8",
    "error",
    what="A line holds a byte that is no UTF-8, usually text in Latin-1 or Windows-1252 pasted into it.",
    why=(
        "The datasets library says that it loaded the file and raises UnicodeDecodeError when this row is read, "
        "which can be hours into a run."
    ),
    remedy="Write the line again as UTF-8; if all of it is Latin-1: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8",
    example='{"text": "caf\\xe9"}',
    message=lambda data: f"byte {data['column']} (0x{data['byte']:02X}) is not valid UTF-8",
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
    why="Python keeps the last of them and drops the others without a word; the datasets library fails to load it.",
    remedy="Keep one of them: what wrote the row means something else than what is read.",
    example='{"prompt": "a", "prompt": "b", "completion": "c"}',
    message=lambda data: f'the key "{data["key"]}" stands twice in one object',
)

fault_rule(
    "J013",
    "number-no-json",
    "warning",
    what="A number is NaN or Infinity, which JSON does not have, or an integer of more than 64 bits.",
    why=(
        "Python and the datasets library read NaN, other readers refuse the line; the integer is rounded to a "
        "floating-point number."
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
    "J017",
    "nested-too-deep",
    "error",
    what="Objects or arrays are nested deeper than any conversation.",
    why="Readers and chat templates give up at their recursion limits, some with a crash.",
    remedy="Store the nested value as a string, or leave it out.",
    example='{"a": {"a": {"a": …}}}',
    message=lambda data: f"nested more than {data['deepest']} levels deep",
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
