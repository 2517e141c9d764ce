"""The J rules: what they say, and that the loaders really do what the rules say of them."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.finding import find, find_in

GOOD = b'{"text": "one"}\n'


@pytest.mark.parametrize(
    ("content", "code", "severity", "line", "message", "remedy"),
    [
        (b"", "J002", "error", 1, "is empty", "Write the examples again"),
        (
            b"version https://git-lfs.github.com/spec/v1\nsize 1234567\n",
            "J003",
            "error",
            1,
            "1,234,567",
            "git lfs pull",
        ),
        (b"\xef\xbb\xbf" + GOOD, "J004", "warning", 1, "byte order mark", "tail -c +4"),
        (GOOD.decode().encode("utf-16"), "J005", "error", 1, "UTF-16", "iconv -f UTF-16"),
        (b"\x1f\x8b\x08\x00", "J005", "error", 1, "gzip", "gunzip"),
        (b"PAR1\x15\x04", "J005", "error", 1, "Parquet", "JSON Lines"),
        (GOOD + b'{"text": "two"}\r\n', "J006", "note", 2, "CR LF", "tr -d"),
        (b"[\n" + GOOD + b"]\n", "J007", "error", 1, "one JSON array", "jq -c '.[]'"),
        (b'{\n"text": "one"\n}\n', "J007", "error", 1, "pretty-printed", "jq -c . "),
        (GOOD + b"\n" + GOOD, "J008", "warning", 2, "blank line", "grep -v"),
        (GOOD + b"\n", "J008", "warning", 2, "at the end of the file", "grep -v"),
        (GOOD + b'{"text": "caf\xe9"}\n', "J009", "error", 2, "byte 14 (0xE9)", "iconv"),
        (GOOD + b'{"text": "two",}\n', "J010", "error", 2, "column 15: a comma before", "Remove the comma"),
        (GOOD + b'{"text": "tw', "J010", "error", 2, "ends in the middle", "cut off"),
        (b'[{"role": "user", "content": "a"}]\n' + GOOD, "J011", "error", 1, "array of 1 item", '{"messages": […]}'),
        (b'"{\\"text\\": \\"a\\"}"\n', "J011", "error", 1, "encoded twice", "json.loads"),
        (b'{"text": "a", "text": "b"}\n', "J012", "error", 1, '"text" stands twice', "Keep one"),
        (b'{"text": "a", "n": NaN}\n', "J013", "warning", 1, "NaN", "null"),
        (b'{"text": "a \\ud83d"}\n', "J014", "error", 1, "surrogate pair in text", "characters"),
        (b'{"text": "a", "n": ' + b"[" * 300 + b"]" * 300 + b"}\n", "J017", "error", 1, "more than 200", "string"),
    ],
)
def test_one_finding_that_says_where_and_what_to_do(
    tmp_path: Path, content: bytes, code: str, severity: str, line: int, message: str, remedy: str
) -> None:
    (finding,) = find(tmp_path, content)
    assert (finding.code, finding.severity, finding.line) == (code, severity, line)
    assert message in finding.message
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    ("delimiter", "called"), [(",", "this is CSV (columns prompt, completion)"), ("\t", "TSV"), (";", "semicolons")]
)
def test_a_table_of_text_is_named_and_the_command_converts_it(tmp_path: Path, delimiter: str, called: str) -> None:
    rows = [{"prompt": "a, b; c\td", "completion": 'say "hi"\nthere'}, {"prompt": "é" * 200_000, "completion": "x"}]
    page = io.StringIO()
    writer = csv.DictWriter(page, ["prompt", "completion"], delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (finding,) = find(tmp_path, page.getvalue().encode())
    assert (finding.code, finding.line) == ("J007", 1)
    assert called in finding.message
    command = finding.remedy.partition(": ")[2].replace("python3", sys.executable).replace("FILE", "train.jsonl")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    written = (tmp_path / "train.jsonl.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in written] == rows


def test_the_commands_of_the_remedies_do_what_they_say(tmp_path: Path) -> None:
    for content, code, after in (
        (b"\xef\xbb\xbf" + GOOD, "J004", GOOD),
        (GOOD + b" \t\r\n\n" + GOOD, "J008", GOOD + GOOD),
        (GOOD.replace(b"\n", b"\r\n"), "J006", GOOD),
    ):
        finding = next(found for found in find(tmp_path, content) if found.code == code)
        command = re.search(r"(tail|LC_ALL|tr) .*FILE > FILE.jsonl|LC_ALL=.*FILE.jsonl", finding.remedy)
        assert command is not None
        subprocess.run(["bash", "-c", command[0].replace("FILE", "train.jsonl")], cwd=tmp_path, check=True)
        assert (tmp_path / "train.jsonl.jsonl").read_bytes() == after


@pytest.mark.parametrize("content", [b"not, json\n{}\n{}\n", b"a,b\n", b"hello there, you\nand more\nof it\n"])
def test_broken_lines_are_no_table(tmp_path: Path, content: bytes) -> None:
    assert "J007" not in {finding.code for finding in find(tmp_path, content)}


def test_a_missing_file_is_a_finding(tmp_path: Path) -> None:
    (finding,) = find_in(str(tmp_path / "absent.jsonl"))
    assert (finding.code, finding.severity, finding.line) == ("J001", "error", 1)


def test_findings_do_not_stop_the_rest_of_the_file(tmp_path: Path) -> None:
    content = GOOD + b"{broken\n" + b"\n" + b"\xff\n" + b'{"text": ""}\n' + GOOD
    assert [(f.line, f.code) for f in find(tmp_path, content)] == [(2, "J010"), (3, "J008"), (4, "J009"), (5, "M009")]


#: What the datasets library does with a file: "loads", or the step at which it raises.
LOADER = [
    (b"", "load"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 12\n", "load"),
    (b"\xef\xbb\xbf" + GOOD, "loads"),
    (GOOD.decode().encode("utf-16"), "load"),
    (GOOD.replace(b"\n", b"\r\n") * 2, "loads"),
    (b"[\n" + GOOD + b"]\n", "loads"),
    (b'{\n"text": "one"\n}\n', "loads"),
    (GOOD + b"\n" + GOOD, "loads"),
    (GOOD + b'{"text": "caf\xe9"}\n' + GOOD, "read"),
    (GOOD + b'{"text": "two",}\n', "load"),
    (b'["one"]\n["two"]\n', "load"),
    (GOOD + b'{"text": "a", "text": "b"}\n', "load"),
    (b'{"text": "a", "n": NaN}\n', "loads"),
    (b'{"text": "a", "n": 123456789012345678901234567890}\n', "loads"),
    (GOOD + b'{"text": "a \\ud83d"}\n' + GOOD, "load"),
    (b'{"text": "a", "n": ' + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}\n", "load"),
]


@pytest.mark.parametrize(("content", "outcome"), LOADER)
def test_the_datasets_library_does_what_the_rules_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, outcome: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert _loaded(tmp_path, content) == outcome
    severities = {finding.severity for finding in find(tmp_path, content)}
    if outcome != "loads":
        assert "error" in severities
    elif "not one object a line" not in "".join(f.message for f in find(tmp_path, content)):
        assert "error" not in severities


def _loaded(folder: Path, content: bytes) -> str:
    import datasets

    path = folder / "loaded.jsonl"
    path.write_bytes(content)
    try:
        rows: Any = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(folder / "cache"))
    except Exception:
        return "load"
    try:
        list(rows)
    except Exception:
        return "read"
    return "loads"
