"""Whisper: labels as its processor makes them, and what it hears of a clip, by the processor itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lint_dataset import Plan, lint
from lint_dataset.processors import expansion
from lint_dataset.processors.settings import Settings
from tests.processors import whisper


@pytest.fixture(scope="module")
def whole() -> Any:
    return whisper.processor(*whisper.small())


def test_labels_are_counted_as_the_processor_makes_them(whole: Any, tmp_path: Path) -> None:
    both = whisper.labels(whole, tmp_path, whisper.transcripts(100))
    assert [ours for _, ours in both] == [theirs for theirs, _ in both]
    assert {theirs > 448 for theirs, _ in both} == {True, False}


def test_what_is_beyond_30_s_is_not_heard(whole: Any, tmp_path: Path) -> None:
    """The features of a longer clip are those of its first 30 s, and of a shorter one others."""
    whole.save_pretrained(tmp_path)
    ear = expansion.read(None, whole.tokenizer, Settings.read(tmp_path)).ear
    assert (ear.rate, ear.longest) == (16_000, 480_000)
    noise = np.random.default_rng(1).standard_normal(500_000).astype(np.float32)
    clips = [noise[:samples] for samples in (479_000, 480_000, 480_001, 500_000)]
    short, whole_window, *longer = whole.feature_extractor(clips, sampling_rate=16000)["input_features"]
    assert short.shape[-1] == 3000
    assert not np.array_equal(short, whole_window)
    assert all(np.array_equal(features, whole_window) for features in longer)


def test_a_transcript_of_495_words_is_beyond_the_decoder(whole: Any, tmp_path: Path) -> None:
    """As reported: labels of 495 tokens, while the decoder has 448 positions (Whisper-Finetune, issue 7)."""
    import soundfile

    soundfile.write(tmp_path / "a.wav", np.full(25 * 16000, 0.1, np.float32), 16000)
    soundfile.write(tmp_path / "b.wav", np.full(45 * 16000, 0.1, np.float32), 16000)
    whole.save_pretrained(tmp_path / "my-own")
    rows = [("a.wav", "word " * 495), ("a.wav", "The rain in Spain."), ("b.wav", "red lorry, yellow lorry")]
    lines = [json.dumps({"audio": clip, "text": text}) for clip, text in rows]
    (tmp_path / "train.jsonl").write_text("\n".join(lines) + "\n")
    plan = Plan(tokenizer=str(tmp_path / "my-own"), trainer="hf")
    result = lint(tmp_path / "train.jsonl", plan, select=["A001", "A020"], use_cache=False)
    assert [(d.line, d.code) for d in result.diagnostics] == [(1, "A020"), (3, "A001")]
    tokens = len(whole(text="word " * 495)["input_ids"])
    assert result.diagnostics[0].data == {"tokens": tokens, "limit": 448}
    assert result.diagnostics[1].data["dropped"] == 15.0
