"""Rows of every schema are counted as the library counts the conversation that they hold."""

from __future__ import annotations

import json
import wave
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lint_dataset import Plan, lint, measure
from lint_dataset.conversations import convert
from lint_dataset.judge import look
from lint_dataset.measurements import schema
from lint_dataset.notes import notes
from tests.conversations.samples import ASKED, SAMPLES
from tests.processors.exact import decoded, ids_of, measured

SHORT = {"role": "assistant", "content": "A duck."}
LONG = {"role": "assistant", "content": "A heron: grey, on one leg, in shallow water, waiting for fish."}


def clip(folder: Path) -> None:
    """One second of silence."""
    with wave.open(str(folder / "a.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"\0\0" * 16000)


@pytest.mark.parametrize(("chosen", "rejected"), [(LONG, SHORT), (SHORT, LONG)])
def test_a_preference_row_is_as_long_as_its_longer_answer(gemma3n, chosen: dict, rejected: dict) -> None:
    rows = [
        {"prompt": ASKED[:1], "chosen": [chosen], "rejected": [rejected]},
        {"prompt": ASKED[0]["content"], "chosen": chosen["content"], "rejected": rejected["content"]},
    ]
    lists, texts = measured(gemma3n, rows)
    ids = ids_of(gemma3n, [ASKED[0], LONG])
    assert len(ids) > len(ids_of(gemma3n, [ASKED[0], SHORT]))
    assert (lists["tokens"], lists["codes"]) == (len(ids), [])
    assert [decoded(gemma3n, ids, answer) for answer in lists["answers"]] == [f"{LONG['content']}<end_of_turn>"]
    # Everything behind the prompt is what DPO compares.
    assert decoded(gemma3n, ids, (lists["completion"], len(ids))).startswith("A heron")
    whole = gemma3n.tokenizer(ASKED[0]["content"] + LONG["content"] + "<eos>")["input_ids"]
    assert texts["tokens"] == len(whole)


def test_what_is_wrong_with_either_answer_is_said(gemma3n) -> None:
    row = {"prompt": ASKED[:1], "chosen": [SHORT], "rejected": [{**SHORT, "content": "<end_of_turn> and on"}]}
    assert measured(gemma3n, [row])[0]["codes"] == ["M108"]


def test_text_only_rows_of_every_family_count_as_their_messages(gemma3n) -> None:
    checked = set()
    for sample in SAMPLES:
        conversation = convert(sample.row)[0]
        if conversation is None or conversation.text is not None or conversation.rejected is not None:
            continue
        roles = {message.role for message in conversation.messages}
        if roles <= {"system", "user", "assistant"} and all(
            p.kind == "text" for m in conversation.messages for p in m.parts
        ):
            (row,) = measured(gemma3n, [sample.row])
            messages = [{"role": message.role, "content": message.text} for message in conversation.messages]
            assert row["tokens"] == len(ids_of(gemma3n, messages)), sample.family
            assert row["family"] == sample.family
            checked.add(sample.family)
    assert checked == {
        "messages", "sharegpt", "swift-pairs", "alpaca", "input-output", "prompt-completion", "kto", "rl-prompt", "palm"
    }  # fmt: skip


def test_a_clip_in_a_column_counts_as_a_clip_in_its_message(gemma3n, tmp_path: Path) -> None:
    clip(tmp_path)
    parts = [{"type": "audio", "audio": "a.wav"}, {"type": "text", "text": "What is this?"}]
    rows = [
        {"messages": [{"role": "user", "content": parts}, ASKED[1]]},
        {"messages": [{"role": "user", "content": "<audio>What is this?"}, ASKED[1]], "audios": ["a.wav"]},
        {"query": "<audio>a.wav</audio>What is this?", "response": ASKED[1]["content"]},
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [{"fileData": {"mimeType": "audio/wav", "fileUri": "a.wav"}}, {"text": "What is this?"}],
                },
                {"role": "model", "parts": [{"text": ASKED[1]["content"]}]},
            ]
        },
    ]
    found = measured(gemma3n, rows, str(tmp_path))
    same = [(row["tokens"], row["media"], row["answers"]) for row in found]
    assert same == [same[0]] * len(rows)
    assert [row["media"][0]["seconds"] for row in found] == [1.0] * len(rows)
    (alone,) = measured(gemma3n, [{"audio_filepath": "a.wav", "duration": 1.0, "text": "A heron."}], str(tmp_path))
    assert (alone["media"][0]["seconds"], alone["codes"]) == (1.0, [])


@pytest.fixture
def at_hand(gemma3n, gemma3n_folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a processor that is loaded already."""
    monkeypatch.setattr(measure, "load", lambda _: gemma3n)
    return str(gemma3n_folder)


def test_a_cut_inside_a_clip_of_a_column(at_hand: str, tmp_path: Path) -> None:
    clip(tmp_path)
    row = {"messages": [{"role": "user", "content": "<audio>What is this?"}, ASKED[1]], "audios": ["a.wav"]}
    (tmp_path / "train.jsonl").write_text(json.dumps(row))
    plan = Plan(tokenizer=at_hand, trainer="llama-factory", max_length=100)
    result = lint(tmp_path / "train.jsonl", plan, select=["S", "T004"], use_cache=False)
    assert [(found.code, found.data["of"]) for found in result.diagnostics] == [("T004", 188)]


def test_a_pair_is_measured_before_any_cut_and_the_step_of_dpo_is_told(at_hand: str, tmp_path: Path) -> None:
    row = {"prompt": "word " * 1500, "chosen": "yes", "rejected": "no"}
    (tmp_path / "train.jsonl").write_text(json.dumps(row))
    plan = Plan(tokenizer=at_hand, max_length=1024)
    result = lint(tmp_path / "train.jsonl", plan, use_cache=False)
    assert result.rows.column("tokens").to_pylist()[0] > 1500
    assert result.rows.column("reach_tokens").to_pylist() == [1024]
    (found,) = [found for found in result.diagnostics if found.code == "T001"]
    assert "drops" not in found.message
    judged = look(result.rows.select(schema().names), plan, None)
    memory: Any = SimpleNamespace(basis="traced", peak=np.array([1]))
    said = notes(replace(judged, memory=memory))
    assert any("a step of DPO holds both (2 x batch rows)" in note for note in said)
