"""Measuring without a processor: three tables that agree with one another, and rows that nobody but it can count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lint_dataset.estimates import family_of, mismatch
from lint_dataset.estimates.measuring import Estimates, estimate
from lint_dataset.faults import Fault
from lint_dataset.sources import RawExample

GEMMA = "google/gemma-3n-E2B-it"
QWEN = "Qwen/Qwen2.5-7B-Instruct"


def estimated(rows: list[Any], model: str = GEMMA, folder: str = "") -> Estimates:
    family = family_of(model)
    assert family is not None
    raws = [row if isinstance(row, bytes) or row is None else json.dumps(row).encode() for row in rows]
    return estimate([RawExample(f"{folder}d.jsonl", i, raw) for i, raw in enumerate(raws, 1)], family)


def chat(*texts: str) -> dict[str, Any]:
    roles = ("user", "assistant") * len(texts)
    return {"messages": [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]}


def test_the_three_tables_hold_the_same_rows_in_order() -> None:
    found = estimated([chat("How are you?", "Well."), b"{not json", None, {"text": "a b c"}, chat("x " * 500, "y")])
    for column in ("path", "line", "hash", "family", "faults"):
        assert found.low.column(column) == found.likely.column(column) == found.high.column(column)
    tokens = [table.column("tokens").to_pylist() for table in (found.low, found.likely, found.high)]
    assert [value is None for value in tokens[0]] == [False, True, True, False, False]
    assert all(low <= likely <= high for low, likely, high in zip(*tokens, strict=True) if low is not None)


def test_spans_are_in_order_at_every_level() -> None:
    texts = ("Tell me about rivers. " * 30, "They flow. " * 50, "And lakes?", "They do not.")
    found = estimated([chat(*texts)])
    for table in (found.low, found.likely, found.high):
        (row,) = table.to_pylist()
        places = [place for turn in row["turns"] for place in (turn["start"], turn["end"], turn["marker_end"])]
        assert places == sorted(places)
        assert places[0] > 0
        assert places[-1] <= row["tokens"]
        assert [answer["start"] for answer in row["answers"]] == [row["turns"][1]["start"], row["turns"][3]["start"]]


def test_a_clip_of_gemma_3n_has_its_188_tokens(tmp_path: Path) -> None:
    import soundfile

    soundfile.write(tmp_path / "a.wav", np.zeros(32000, np.float32), 16000)
    clip = {"type": "audio", "audio": "a.wav"}
    with_clip = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hm?"}, clip]}, _says("Yes.")]}
    without = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hm?"}]}, _says("Yes.")]}
    found = estimated([with_clip, without], folder=f"{tmp_path}/")
    for table in (found.low, found.likely, found.high):
        tokens = table.column("tokens").to_pylist()
        assert tokens[0] - tokens[1] == 188 + 4  # begin and end of audio, and a double line break on either side
        (medium,) = table.column("media").to_pylist()[0]
        assert (medium["kind"], medium["end"] - medium["start"], medium["seconds"]) == ("audio", 188, 2.0)


@pytest.mark.parametrize("model", [GEMMA, QWEN])
def test_clips_are_looked_at_as_closely_as_they_are_asked_to_be(model: str, tmp_path: Path) -> None:
    """Whether their tokens can be estimated (Gemma 3n) or not (Qwen2.5, which has no ears)."""
    import soundfile

    soundfile.write(tmp_path / "silent.wav", np.zeros(32000, np.float32), 16000)
    clip = {
        "role": "user",
        "content": [{"type": "audio", "audio": "silent.wav"}, {"type": "text", "text": "Verbatim!"}],
    }
    raw = json.dumps({"messages": [clip, _says("word " * 100)]}).encode()
    family = family_of(model)
    assert family is not None
    for decode, codes in ((False, ["A016"]), (True, ["A010", "A016"])):
        found = estimate([RawExample(f"{tmp_path}/d.jsonl", 1, raw)], family, decode=decode)
        (faults,) = found.likely.column("faults").to_pylist()
        assert sorted(fault["code"] for fault in faults) == codes


def test_a_clip_that_is_not_there_is_found_all_the_same(tmp_path: Path) -> None:
    clip = {"role": "user", "content": [{"type": "audio", "audio": "none.wav"}]}
    found = estimated([{"messages": [clip, _says("Yes.")]}], folder=f"{tmp_path}/")
    (faults,) = found.likely.column("faults").to_pylist()
    assert [fault["code"] for fault in faults] == ["A002"]


def test_media_of_other_models_are_counted_as_not_known() -> None:
    image = {"role": "user", "content": [{"type": "image", "image": "a.png"}]}
    found = estimated([{"messages": [image, _says("A cat.")]}, chat("a", "b")], QWEN)
    assert found.uncounted == 1
    assert [value is None for value in found.likely.column("tokens").to_pylist()] == [True, False]


def test_tools_make_a_row_longer_and_less_sure() -> None:
    tool = {"type": "function", "function": {"name": "add", "description": "Adds two numbers.", "parameters": {}}}
    plain, with_tools = chat("1 + 1?", "2"), {**chat("1 + 1?", "2"), "tools": [tool]}
    found = estimated([plain, with_tools], QWEN)
    low, high = (table.column("tokens").to_pylist() for table in (found.low, found.high))
    assert low[1] > low[0]
    assert high[1] - low[1] > 200


def test_a_completion_begins_where_the_prompt_ends() -> None:
    found = estimated([{"prompt": "Two words", "completion": " and three more"}], QWEN)
    for table in (found.low, found.likely, found.high):
        (row,) = table.to_pylist()
        assert row["completion"] == row["turns"][0]["end"] == row["answers"][0]["start"]
        assert row["answers"][0]["end"] == row["tokens"]


def test_what_is_said_in_the_prompt_of_a_completion_is_no_answer() -> None:
    messages = chat("a", "b", "c", "d")["messages"]
    found = estimated([{"prompt": messages[:3], "completion": messages[3:]}], QWEN)
    for table in (found.low, found.likely, found.high):
        (row,) = table.to_pylist()
        assert row["answers"] == [{"start": row["turns"][3]["start"], "end": row["turns"][3]["marker_end"]}]
        assert row["completion"] == row["turns"][3]["start"]


def test_what_a_source_found_wrong_is_kept() -> None:
    family = family_of(GEMMA)
    assert family is not None
    found = estimate([RawExample("d", 1, None, (Fault("J001", {"problem": "missing"}),))], family)
    assert [fault["code"] for fault in found.likely.column("faults").to_pylist()[0]] == ["J001"]
    assert found.width() == 0.0


def test_no_rows_are_no_trouble() -> None:
    assert estimated([]).likely.num_rows == 0


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        ("gemma-3n-E2B", "gemma"),
        ("gemma-4-E4B", "gemma"),
        ("google/medgemma-4b-it", None),
        ("Llama-3.1-8B", "llama3"),
        ("Qwen2.5-7B", "qwen"),
        ("Qwen3.5-4B", "qwen35"),
        ("Qwen/Qwen3-4B", "qwen"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama3"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek"),
        ("openai/gpt-oss-20b", "o200k"),
        ("mistralai/Ministral-8B-Instruct-2410", "tekken"),
        ("my-org/my-model", None),
        ("qwen-2.5-without-an-owner", None),
        ("mistralai/Mistral-7B-v0.1", None),
        (None, None),
    ],
)
def test_a_family_is_known_by_the_name_of_the_model(name: str | None, tokenizer: str | None) -> None:
    family = family_of(name)
    assert (family.tokenizer if family is not None else None) == tokenizer


@pytest.mark.parametrize(
    ("model", "tokenizer", "said"),
    [
        ("gemma-3-4b", "Qwen/Qwen3-8B", True),
        ("gemma-3-4b", "unsloth/gemma-3-4b-it", False),
        ("gemma-3-4b", "./folder", False),
        ("my-org/mine", "Qwen/Qwen3-8B", False),
        ("Qwen3.5-4B", "Qwen/Qwen3-8B", True),
        (None, "Qwen/Qwen3-8B", False),
    ],
)
def test_a_tokenizer_of_another_family_is_told_by_its_name(model: str | None, tokenizer: str, said: bool) -> None:
    assert (mismatch(model, tokenizer) is not None) == said


def _says(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}
