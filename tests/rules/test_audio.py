"""A: what is said of clips, from rows and files to findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import soundfile

from lint_dataset import Plan, lint
from lint_dataset.diagnostics import Diagnostic
from lint_dataset.faults import Fault
from lint_dataset.judge import judge, look
from lint_dataset.measurements import pack, schema


def row(line: int, *faults: Fault, clips: int = 1, path: str = "t.jsonl") -> dict[str, Any]:
    media = [{"kind": "audio", "start": 10 * i, "end": 10 * i + 5, "seconds": 2.0} for i in range(clips)]
    places = {"path": path, "line": line, "hash": "0", "family": "messages", "tokens": 50, "completion": None}
    return {**places, "turns": [], "answers": [], "media": media, "faults": pack(faults)}


def found(rows: list[dict[str, Any]], plan: Plan, *codes: str) -> list[Diagnostic]:
    return judge(look(pa.Table.from_pylist(rows, schema()), plan, None), codes)


def rate(hertz: int, channels: int = 1, array: bool = False, times: int = 1) -> Fault:
    data = {"rate": hertz, "channels": channels, "wanted": 16000, "array": array, "times": times}
    return Fault("A015", {"message": 1, "clip": 1, **data})


def test_other_rates_are_said_once_a_file() -> None:
    rows = [row(n, rate(44100, 2)) for n in range(1, 6)] + [row(6, rate(8000, times=3)), row(7, rate(22050), clips=1)]
    notes = found(rows, Plan(trainer="hf"), "A015")
    assert [(d.line, d.data["rate"], d.data["clips"], d.severity) for d in notes] == [
        (1, 8000, 3, "note"),
        (1, 22050, 1, "note"),
        (1, 44100, 5, "note"),
    ]
    assert "in 2 channels" in notes[2].message
    assert "resamples" in notes[0].message


def test_samples_at_another_rate_are_a_warning() -> None:
    (warning,) = found([row(4, rate(8000, array=True))], Plan(trainer="hf"), "A015")
    assert warning.severity == "warning"
    assert "nothing resamples an array" in warning.message
    assert "sampling_rate=16000" in warning.remedy


def test_clips_elsewhere_are_said_once_a_file() -> None:
    rows = [row(n, Fault("A014", {"message": 1, "clip": 1, "times": n})) for n in (1, 2)]
    rows.append(row(1, Fault("A014", {"message": 1, "clip": 1}), path="u.jsonl"))
    assert [(d.path, d.line, d.data["clips"]) for d in found(rows, Plan(), "A014")] == [
        ("t.jsonl", 1, 3),
        ("u.jsonl", 1, 1),
    ]


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (Plan(model="gemma-3n-E2B", trainer="hf", max_length=2048), [2]),
        (Plan(tokenizer="some/gemma3n", trainer="none", max_length=2048), [2]),
        (Plan(model="gemma-3n-E2B", trainer="hf"), []),
        (Plan(model="gemma-3n-E2B", trainer="trl", max_length=2048), []),
        (Plan(tokenizer="qwen2-audio", trainer="hf", max_length=2048), []),
    ],
)
def test_a_max_length_that_reaches_the_audio(plan: Plan, lines: list[int]) -> None:
    notes = found([row(1, clips=0), row(2), row(3)], plan, "A017")
    assert [d.line for d in notes] == lines
    assert all("2,048 samples (0.13 s)" in d.message for d in notes)


def test_rows_with_and_without_audio_in_one_batch() -> None:
    rows = [row(1), row(2), row(3, clips=0), row(4)]
    (warning,) = found(rows, Plan(trainer="hf", batch_size=4), "A018")
    assert (warning.line, warning.data) == (3, {"with_audio": 3, "without": 1})
    assert not found(rows, Plan(trainer="hf"), "A018")
    assert not found(rows[:2], Plan(trainer="hf", batch_size=4), "A018")
    assert not found([row(1), row(2, clips=0, path="other.jsonl")], Plan(trainer="hf", batch_size=4), "A018")


def test_the_default_collator_cannot_batch_them() -> None:
    """What the rule is about, by the library itself."""
    collator = pytest.importorskip("transformers").default_data_collator
    pytest.importorskip("torch", reason="the collator makes tensors")
    heard, unheard = {"input_ids": [1], "input_features": [1.0]}, {"input_ids": [2]}
    with pytest.raises(KeyError):
        collator([heard, unheard])
    assert "input_features" not in collator([unheard, heard])


def spoken(clip: Any, text: str, answer: str) -> str:
    content = [{"type": "audio", "audio": clip}, {"type": "text", "text": text}]
    return json.dumps({"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": answer}]})


def test_clips_are_checked_without_a_model(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "good.wav", np.full(48000, 0.1), 16000)
    whole = (tmp_path / "good.wav").read_bytes()
    (tmp_path / "cut.wav").write_bytes(whole[:50_044])
    soundfile.write(tmp_path / "empty.wav", np.zeros(0), 16000)
    lines = [
        spoken("good.wav", "What is said?", "word " * 300),
        spoken("cut.wav", "?", "x"),
        spoken("none.wav", "?", "x"),
        spoken("empty.wav", "?", "x"),
        spoken("https://example.org/a.wav", "?", "x"),
        spoken("good.wav", "Transcribe this.", "word " * 1000),
        spoken("good.wav", "Transcribe this.", "word " * 20),
        spoken(None, "?", "x"),
    ]
    (tmp_path / "train.jsonl").write_text("\n".join(lines) + "\n")
    result = lint([str(tmp_path / "train.jsonl")], Plan(), select=["A"])
    assert [(d.line, d.code) for d in result.diagnostics] == [
        (2, "A009"), (3, "A002"), (4, "A004"), (6, "A016"), (8, "A002"),
    ]  # fmt: skip
    cut, fast = result.diagnostics[0], result.diagnostics[3]
    assert "promises 3.00 s, and its file holds 1.56 s" in cut.message
    assert "1,000 words for 3.0 s of audio" in fast.message


def test_the_share_of_an_answer_that_is_about_what_was_dropped() -> None:
    lengths = {"seconds": 45.0, "heard": 30.0, "dropped": 15.0, "words": 70}
    (cut,) = found([row(1, Fault("A001", {"message": 1, "clip": 1, **lengths}))], Plan(), "A001")
    assert cut.message == (
        "clip 1 (message 1) is 45.0 s long and the processor hears 30 s: the last 15.0 s are dropped, and with them "
        "what up to 33% of its answer of 70 words may speak of"
    )
    many = {**lengths, "times": 12, "all_dropped": 90.5}
    (cut,) = found([row(1, Fault("A001", {"message": 1, "clip": 3, **many}))], Plan(), "A001")
    assert cut.message.startswith("12 clips are longer than the 30 s that the processor hears, the longest (clip 3")
    assert "in all 90.5 s are dropped" in cut.message


def test_a_row_that_cannot_be_counted_says_why() -> None:
    data = {"kind": "audio", "media": 2, "why": "the template prints 1 placeholders for 2"}
    (finding,) = found([row(1, Fault("A008", data))], Plan(), "A008")
    assert finding.message.endswith("so the row was not judged: the template prints 1 placeholders for 2")


@pytest.mark.parametrize(("name", "lines"), [("openai/whisper-large-v2", [2]), ("gemma-3n-E2B", [])])
def test_labels_longer_than_whispers_decoder(name: str, lines: list[int]) -> None:
    rows = [{**row(n), "tokens": tokens} for n, tokens in ((1, 448), (2, 495))]
    errors = found(rows, Plan(tokenizer=name, trainer="hf"), "A020")
    assert [d.line for d in errors] == lines
    assert all("has 495 tokens" in d.message and "takes 448" in d.message for d in errors)


@pytest.mark.parametrize(
    ("processor", "codes"),
    [("WhisperProcessor", ["A020"]), ("Gemma3nProcessor", ["A017"]), ("Qwen2AudioProcessor", []), (None, [])],
)
def test_a_model_is_known_by_its_processor_not_by_what_it_is_called(processor: str | None, codes: list[str]) -> None:
    rows = pa.Table.from_pylist([{**row(1), "tokens": 495}], schema())
    mine = Plan(tokenizer="./my-model", trainer="hf", max_length=1000)
    assert [d.code for d in judge(look(rows, mine, None, processor=processor), ["A017", "A020"])] == codes
    other = Plan(tokenizer="whisper-of-gemma-3n", trainer="hf", max_length=1000)
    if processor is not None:
        assert [d.code for d in judge(look(rows, other, None, processor=processor), ["A017", "A020"])] == codes


def test_manifests_say_how_long_their_clips_are(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(160_000, 0.1), 16000)
    rows = [
        {"audio_filepath": "a.wav", "duration": 10.04, "text": "word " * 20},
        {"audio_filepath": "a.wav", "offset": 2.5, "duration": 7.5, "text": "word " * 20},
        {"audio_filepath": "a.wav", "offset": 8, "duration": 5, "text": "word " * 20},
        {"audio_filepath": "a.wav", "offset": 1, "duration": 2, "text": "word " * 20},
        {"audio_filepath": "ep.wav", "duration": 1287.477, "text": "word " * 3500},
    ]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = lint([str(tmp_path / "train.jsonl")], Plan(), select=["A"])
    assert [(d.line, d.code) for d in result.diagnostics] == [(3, "A019"), (4, "A016"), (5, "A002")]
    assert "is 10.00 s long, and the row names a part of it that ends at 13.00 s" in result.diagnostics[0].message


def test_a_clip_that_is_not_there_is_as_long_as_its_row_says() -> None:
    from lint_dataset.processors.audio import listen
    from lint_dataset.processors.slots import Ear

    clip = listen({"path": "ep.wav", "duration": 1287.477}, "", Ear(16000, 480_000), {"message": 1, "clip": 1}, 3500)
    assert [fault.code for fault in clip.faults] == ["A002", "A001"]
    assert clip.faults[1].data["dropped"] == 1257.477
    assert clip.seconds == 30
