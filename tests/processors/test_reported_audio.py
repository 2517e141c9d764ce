"""Faults of clips as people reported them (the links), each with the code, the line and the numbers that it gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lint_dataset import Plan, lint
from tests.processors import real


def heard(clip: str, answer: str = "ok") -> dict[str, Any]:
    content = [{"type": "audio", "audio": clip}, {"type": "text", "text": "What is said?"}]
    return {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": answer}]}


@pytest.fixture(scope="module")
def folder(fetched: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models and a few clips of a steady tone."""
    import soundfile

    made = tmp_path_factory.mktemp("reported")
    (made / "gemma-3n").symlink_to(fetched("gemma3n"))
    fetched("qwen3")
    real.HEAR["Qwen2-Audio"]("Qwen2-Audio").save_pretrained(made / "qwen2-audio")
    # Its own class needs torchvision; what is counted of it stands in these files.
    omni = real.tokenizer(**real.OMNI)
    omni.chat_template = real.template("<|audio_bos|><|AUDIO|><|audio_eos|>")
    omni.save_pretrained(made / "qwen2.5-omni")
    ears = {"feature_extractor_type": "WhisperFeatureExtractor", "chunk_length": 300, "n_samples": 4_800_000}
    kind = {"processor_class": "Qwen2_5OmniProcessor", "image_processor_type": "Qwen2VLImageProcessor"}
    settings = json.dumps({**kind, "sampling_rate": 16000, **ears})
    (made / "qwen2.5-omni" / "preprocessor_config.json").write_text(settings)
    for name, seconds, rate, channels in (
        ("half-minute.wav", 30, 16000, 1),
        ("45s.wav", 45, 16000, 1),
        ("stereo.wav", 4, 44100, 2),
        ("short.wav", 2.46, 16000, 1),
        ("empty.wav", 0, 16000, 1),
        ("ten-minutes.flac", 600, 16000, 1),
    ):
        soundfile.write(made / name, np.full((round(seconds * rate), channels), 0.1, np.float32), rate)
    (made / "cut.wav").write_bytes((made / "short.wav").read_bytes()[: 44 + 2 * 2 * 16000])
    return made


@pytest.mark.parametrize(
    ("model", "limit", "rows", "found"),
    [
        (
            "gemma-3n",
            None,
            [
                # github.com/Blaizzy/mlx-vlm/issues/675: what is said behind 30 s is never heard
                heard("45s.wav", "word " * 70),
                {"audio_filepath": "45s.wav", "duration": 45, "text": "word " * 70},
                # github.com/huggingface/audio-transformers-course/pull/205: nobody resamples
                heard("stereo.wav"),
                # github.com/persephone-tools/persephone/issues/52: a clip that stops a loader after hours
                *(heard(f"{name}.wav") for name in ("empty", "short", "missing", "cut")),
            ],
            [
                (1, "A001", "the last 15.0 s are dropped"),
                (2, "A001", "the last 15.0 s are dropped"),
                (3, "A015", "44,100 Hz in 2 channels"),
                (4, "A004", ""),
                (6, "A002", ""),
                (7, "A009", "promises 2.46 s, and its file holds 2.00 s"),
            ],
        ),
        # github.com/QwenLM/Qwen2-Audio/issues/117: a cutoff_len through the placeholders
        ("qwen2-audio", 512, [heard("half-minute.wav")], [(1, "T004", "of the 750 tokens")]),
        # github.com/hiyouga/LlamaFactory/issues/7812: nothing caps a clip, and memory goes
        (
            "qwen2.5-omni",
            4096,
            [heard("ten-minutes.flac", "word " * 70)],
            [(1, "A001", "the last 300.0 s are dropped"), (1, "T004", "of the 7,500 tokens")],
        ),
    ],
)
def test_it_has_its_code_line_and_numbers(
    folder: Path, model: str, limit: int | None, rows: list[Any], found: list[tuple[int, str, str]]
) -> None:
    data = folder / "train.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = Plan(tokenizer=str(folder / model), trainer="hf", max_length=limit)
    result = lint(data, plan, select=["A", "T004"], ignore=["A017"], use_cache=False)
    assert not result.unjudged
    assert [(d.line, d.code) for d in result.diagnostics] == [(line, code) for line, code, _ in found]
    for diagnostic, (_, _, words) in zip(result.diagnostics, found, strict=True):
        assert words in diagnostic.message
