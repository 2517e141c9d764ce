"""Faults of files as people reported them (the links), each with the code, the line and the numbers that it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_dataset.loading import blocks
from tests.finding import find
from tests.loading.kinds import PARTS, call, chat, jsonl, said

GOOD = jsonl([chat()])
TURNS = b'[{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]\n'


@pytest.mark.parametrize(
    ("content", "code", "line", "words"),
    [
        # github.com/huggingface/datasets/pull/8027: 'Column changed from string to array'
        (jsonl([chat(), chat(PARTS)]), "J019", 2, "a string in 2 rows (first in line 1) and a list in 1 row"),
        (jsonl([chat(image=["a"]), chat(image=["b"]), chat(image="c")]), "J019", 3, "image is a list in 2 rows"),
        # github.com/hiyouga/LlamaFactory/issues/8805: 'changed from object to array in row 0'
        (TURNS * 2, "J011", 1, "the line is an array of 2 items"),
        # github.com/ml-explore/mlx-examples/issues/630
        (b'{\n  "messages": [\n    {"role": "user", "content": "a"}\n  ]\n}', "J007", 1, "pretty-printed"),
        (b"[\n" + GOOD.rstrip() + b",\n" + GOOD + b"]\n", "J007", 1, "one JSON array"),
        # a byte of Latin-1 in the middle: loaded, and an error when the row is read
        (GOOD + b'{"text": "a \x81"}\n' + GOOD, "J009", 2, "byte 13 (0x81) is not valid UTF-8"),
        (GOOD + b'{"text": "caf\xe9"}\n' + GOOD, "J009", 2, '(0xE9) is not valid UTF-8: in Windows-1252 it is "é"'),
        # github.com/openai/tiktoken/issues/82
        (GOOD + b'{"messages": [{"role": "user", "content": "a \\ud83d"}]}\n' + GOOD, "J014", 2, "messages[0].content"),
        # github.com/openai-php/client/issues/107: edited by hand
        (GOOD + b'{"messages": [{"role": "user", "content": "a"},]}\n', "J010", 2, "column 47: a comma before"),
        (GOOD + b'{"text": "called as "tik" today"}\n', "J010", 2, "column 22: a double quote inside a string"),
        (GOOD * 2 + b'{"messages": [{"role": "user", "con', "J010", 3, "column 36: the line ends in the middle"),
        (GOOD + b'{"text": "a"},\n', "J010", 2, "column 14: a comma after the object"),
        (GOOD + b"{'text': 'a'}\n", "J010", 2, "column 2: single quotes"),
        (GOOD + '{“text”: "a"}\n'.encode(), "J010", 2, "column 2: a curly quote"),
        (GOOD + '{"text": “a”}\n'.encode(), "J010", 2, "column 10: a curly quote"),
        (GOOD + b'{"text": "a"} // first\n', "J010", 2, "more text after the end"),
        # github.com/huggingface/datasets/issues/6460: keys of other rows
        (jsonl([call({"x": 1}), call({"y": "s"})]), "J022", 2, "function.arguments have 2 different sets of keys"),
        # github.com/axolotl-ai-cloud/axolotl/pull/509
        (jsonl([{"messages": [*said("a", "b")["messages"], *said("c", "")["messages"]]}]), "M009", 1, "message 4"),
        # what loaders are given by mistake
        (b"prompt,completion\na,b\nc,d\n", "J007", 1, "this is CSV (columns prompt, completion)"),
        ((GOOD * 2).decode().encode("utf-16"), "J005", 1, "UTF-16"),
        (GOOD + b'{"text": "a", "text": "b"}\n', "J012", 2, '"text" stands twice'),
        (GOOD + b'{"text": "a", "score": NaN}\n', "J013", 2, "NaN"),
    ],
)  # fmt: skip
def test_it_has_its_code_line_and_numbers(tmp_path: Path, content: bytes, code: str, line: int, words: str) -> None:
    found = [finding for finding in find(tmp_path, content) if finding.code == code]
    assert found, find(tmp_path, content)
    assert (found[0].line, words in found[0].message) == (line, True), found[0].message


def test_a_list_after_the_first_ten_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 20_000)
    row = jsonl([chat("x" * 400)])
    each = -(-20_001 // len(row))  # lines of a block: those that begin within it
    (finding,) = find(tmp_path, row * 100 + jsonl([chat(PARTS)]))
    assert (finding.code, finding.severity, finding.line) == ("J020", "error", 101)
    first = 100 // each * each + 1
    assert f"lines {first} to 101 ({102 - first} rows) into quoted JSON" in finding.message
