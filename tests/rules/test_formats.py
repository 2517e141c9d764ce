"""Who reads rows of a schema, what becomes of media in columns, and files that mix schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lint_dataset.diagnostics import Diagnostic
from tests import finding
from tests.conversations.samples import ASKED, SAID, SAMPLES


def find(folder: Path, content: bytes, trainer: str = "trl") -> list[Diagnostic]:
    """The findings but what loaders make of contents that are text here and parts there."""
    return finding.find(folder, content, trainer, ignore=("J019", "J022"))


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_trl_reads_four_families_and_each_other_one_is_said_once(tmp_path: Path) -> None:
    said = {}
    for sample in SAMPLES:
        found = [f for f in find(tmp_path, lines(sample.row, sample.row), "trl") if f.code in ("S008", "S014")]
        assert all(f.line == 1 and f.data["rows"] == 2 for f in found)
        said[sample.family] = [(f.code, f.severity) for f in found]
    note, error = [("S008", "note")], [("S008", "error")]
    assert said == {
        **{name: [] for name in ("messages", "sharegpt", "prompt-completion", "text", "kto", "rl-prompt")},
        **dict.fromkeys(("swift-pairs", "query-response", "alpaca", "input-output", "llava", "gemini"), note),
        **dict.fromkeys(("asr-manifest", "asr-pair", "funasr", "kimi-audio"), note),
        # TRL takes their messages for chat messages, and templates lose what is in them.
        **dict.fromkeys(("llama-factory-v1", "anthropic", "nova", "palm", "inline-audio"), error),
        "preference": [("S014", "note")],
    }


def test_who_reads_it_instead(tmp_path: Path) -> None:
    (found,) = find(tmp_path, lines({"query": "What is this?", "response": "A heron."}))
    assert found.message == "TRL does not read query-response rows by itself (1 row): they are for ms-swift"
    (found,) = find(tmp_path, lines({"instruction": "What is this?", "output": "A heron."}))
    assert found.message.endswith("they are for axolotl, LLaMA-Factory, ms-swift and torchtune")


@pytest.mark.parametrize(
    ("trainer", "family", "severity"),
    [
        ("llama-factory", "llama-factory-v1", None),
        ("llama-factory", "alpaca", None),
        ("llama-factory", "text", "error"),  # for supervised fine-tuning: no row has an answer
        ("llama-factory", "query-response", "note"),
        ("ms-swift", "query-response", None),
        ("ms-swift", "swift-pairs", None),
        ("axolotl", "alpaca", None),
        ("mlx-lm", "alpaca", "note"),
        ("mlx-lm", "sharegpt", "note"),
        ("mlx-lm", "text", None),
        ("openai", "sharegpt", "note"),
        ("nemo", "asr-manifest", None),
    ],
)
def test_what_other_trainers_read(tmp_path: Path, trainer: str, family: str, severity: str | None) -> None:
    row = next(sample.row for sample in SAMPLES if sample.family == family)
    assert [f.severity for f in find(tmp_path, lines(row), trainer) if f.code == "S008"] == [severity][: bool(severity)]


def test_code_of_ones_own_may_read_anything_but_would_take_foreign_messages_for_its_own(tmp_path: Path) -> None:
    manifest = {"audio_filepath": "a.wav", "text": "A heron."}
    (told,) = find(tmp_path, lines(manifest), "hf")
    assert told.message == "asr-manifest rows are no chat messages (1 row): they are for NeMo"
    values = {"messages": [{"role": "user", "content": [{"type": "text", "value": "a"}]}, ASKED[1]]}
    for trainer, codes in (("hf", ["S008"]), ("none", [])):
        assert [f.code for f in find(tmp_path, lines(values), trainer)] == codes
        assert find(tmp_path, lines({"instruction": "a", "output": "b"}), trainer) == []


def test_a_mix_names_both_schemas_and_their_lines(tmp_path: Path) -> None:
    content = lines(*[{"messages": ASKED}] * 3, {"conversations": SAID}, {"messages": ASKED}, {"conversations": SAID})
    (found,) = [f for f in find(tmp_path, content) if f.code == "S015"]
    assert (found.line, found.severity) == (4, "error")
    assert found.message == (
        "the file mixes messages (4 rows, the first in line 1) and sharegpt (2 rows, the first in line 4)"
    )
    assert "as messages rows" in found.remedy
    # The larger part is what the file is, wherever it begins.
    content = lines({"conversations": SAID}, *[{"messages": ASKED}] * 2)
    assert [f.line for f in find(tmp_path, content) if f.code == "S015"] == [1]


@pytest.mark.parametrize(
    "rows",
    [
        [{"messages": ASKED}, {"messages": ASKED, "label": True}],
        [{"conversations": SAID}, {"id": 1, "image": "a.png", "conversations": SAID}],
        [{"query": "a", "response": "b"}, {"query": "a", "response": "b", "history": [["c", "d"]]}],
        [{"messages": ASKED}, {"nobody": "knows"}],
    ],
)
def test_what_may_stand_in_one_file(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    assert "S015" not in [f.code for f in find(tmp_path, lines(*rows))]


def images(content: Any, *files: str) -> bytes:
    return lines({"messages": [{"role": "user", "content": content}, ASKED[1]], "images": list(files)})


def test_media_columns_and_their_places(tmp_path: Path) -> None:
    found = find(tmp_path, images("<image>What?", "a", "b"))
    assert [(f.code, f.severity) for f in found] == [("S006", "warning"), ("S013", "error")]
    assert found[0].message == (
        '"images" holds 2 image files, which TRL puts in front of the first user message; <image> is trained on as text'
    )
    assert found[1].message == '"images" holds 2 files for 1 <image>'
    (found,) = find(tmp_path, images([{"type": "image"}, {"type": "text", "text": "What?"}], "a", "b"))
    assert found.message == '"images" holds 2 files for 1 parts of type image'
    assert find(tmp_path, images("What?", "a", "b")) == []  # in front of the first user message


def test_trainers_that_fill_placeholders_say_only_what_does_not_fit(tmp_path: Path) -> None:
    fits = images("<image>What?", "a")
    assert find(tmp_path, fits, "llama-factory") == find(tmp_path, fits, "ms-swift") == []
    for content, swift in (
        (images("What?", "a"), []),  # ms-swift puts it in front
        (images("<image>What?", "a", "b"), ["puts the rest in front of the first message"]),
        (images("<image><image>What?", "a"), ["leaves the rest as text"]),
    ):
        assert [f.code for f in find(tmp_path, content, "llama-factory")] == ["S013"]
        assert [f.message.split("ms-swift ")[1] for f in find(tmp_path, content, "ms-swift")] == swift


@pytest.mark.parametrize("column", [{}, {"images": []}, {"images": None}])
@pytest.mark.parametrize("trainer", ["trl", "llama-factory", "ms-swift"])
def test_a_placeholder_without_a_file_is_found_where_other_rows_have_theirs(
    tmp_path: Path, column: dict[str, Any], trainer: str
) -> None:
    without = lines({"messages": [{"role": "user", "content": "<image>Where?"}, ASKED[1]], **column})
    found = [f for f in find(tmp_path, images("<image>What?", "a") + without, trainer) if f.code == "S013"]
    assert [f.line for f in found] == [2]
    assert "there is no file for 1 <image>, and other rows have theirs" in found[0].message
    assert "S013" not in [f.code for f in find(tmp_path, without, trainer)]  # a text about HTML, perhaps


def test_ms_swift_reads_a_system_column(tmp_path: Path) -> None:
    content = lines({"system": "Be brief.", "messages": ASKED})
    said = {
        trainer: [(f.code, f.severity) for f in find(tmp_path, content, trainer)] for trainer in ("trl", "ms-swift")
    }
    assert said == {"trl": [("S010", "warning")], "ms-swift": [("S010", "note")]}


def test_a_table_fills_objects_with_nulls(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    def row(function: str, name: str) -> dict[str, Any]:
        tool = {"function": {"name": function, "parameters": {"properties": {name: {"type": "string"}}}}}
        call = {"function": {"name": function, "arguments": {name: "x"}}}
        return {"messages": [ASKED[0], {"role": "assistant", "content": "", "tool_calls": [call]}], "tools": [tool]}

    path = tmp_path / "train.parquet"
    parquet.write_table(pa.Table.from_pylist([row("f", "city"), row("g", "bird")]), path)
    found = [f for f in finding.find_in(str(path)) if f.code == "M015"]
    assert [(f.line, f.data["where"], f.data["names"]) for f in found] == [
        (1, "tools", ["bird"]),
        (1, "call", ["bird"]),
        (2, "tools", ["city"]),
        (2, "call", ["city"]),
    ]


def test_a_switch_that_the_trainer_does_not_read_is_said_once_a_file(tmp_path: Path) -> None:
    row = {"messages": [*ASKED[:1], {**ASKED[1], "weight": 0}, *ASKED]}
    other = {"messages": [{"role": "user", "content": "And this?"}, *row["messages"][1:]]}
    (found,) = find(tmp_path, lines(row, other), "trl")
    assert (found.code, found.line) == ("M014", 1)
    assert 'does not read "weight": answers that it switches off are trained on (2 rows)' in found.message
    assert find(tmp_path, lines(row), "hf") == []


def test_nulls_of_a_table(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"city": None}}}}
    (found,) = find(tmp_path, lines({"messages": ASKED, "tools": [tool]}))
    assert (found.code, found.severity) == ("M015", "warning")
    assert 'null parameters ("city"), as a table fills in' in found.message
