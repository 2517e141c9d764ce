"""Audio under Gemma 3n: as the real processor counts it, from headers alone."""

from __future__ import annotations

import base64
import builtins
import wave
from pathlib import Path

import numpy as np
import pytest

from lint_dataset.processors.audio import listen
from lint_dataset.processors.slots import Ear
from tests.processors.exact import measured

SOFT, BEGIN, END = 262273, 256000, 262272
LENGTHS = sorted({1, 2, 159, 160, 161, 320, 399, 400, 512, 513, 1600, 8000, 15999, 16000, 16001, 479_999, 480_000}
                 | {480_001, 480_160, 500_000, 720_000, 1_000_000} | {int(16000 * 1.37**k) for k in range(11)}
                 | {4000 + 37 * k * k for k in range(12)})  # fmt: skip


def tone(path: Path, samples: int, rate: int = 16000, channels: int = 1) -> str:
    values = (np.sin(np.arange(samples) / 9) * 8000).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.repeat(values, channels).tobytes())
    return path.name


def spoken(*clips: str, text: str = "What is said?", answer: str = "Hello.") -> dict:
    content = [*({"type": "audio", "audio": clip} for clip in clips), {"type": "text", "text": text}]
    return {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": answer}]}


def test_rows_count_as_the_real_processor_counts(gemma3n, tmp_path: Path) -> None:
    assert len(LENGTHS) >= 40
    rows = [spoken(tone(tmp_path / f"{samples}.wav", samples)) for samples in LENGTHS]
    for samples, row, found in zip(LENGTHS, rows, measured(gemma3n, rows, str(tmp_path)), strict=True):
        text = gemma3n.render(row["messages"])
        clip = np.sin(np.arange(samples) / 9).astype(np.float32)
        ids = list(gemma3n.whole(text=text, audio=[clip], add_special_tokens=False)["input_ids"][0])
        assert found["tokens"] == len(ids), samples
        (medium,) = found["media"]
        assert [i for i, id_ in enumerate(ids) if id_ == SOFT] == list(range(medium["start"], medium["end"]))
        assert ids[medium["start"] - 1] == BEGIN
        assert ids[medium["end"]] == END
        assert medium["seconds"] == pytest.approx(min(samples / 16000, 30.0))
        assert ("A001" in found["codes"]) == (samples >= 480_160)
        assert gemma3n.tokenizer.decode(ids[found["turns"][1]["start"] : found["turns"][1]["end"]]) == "Hello."


def test_several_clips_and_turns(gemma3n, tmp_path: Path) -> None:
    for number, (samples, rate, channels) in enumerate([(8000, 8000, 1), (44100, 44100, 2), (96000, 48000, 1)]):
        tone(tmp_path / f"{number}.wav", samples, rate, channels)
    row = spoken("0.wav", "1.wav", text="\n\nCompare them.\n\n")
    row["messages"] += spoken("2.wav", text="And this?\n", answer="s")["messages"]
    (found,) = measured(gemma3n, [row], str(tmp_path))
    text = gemma3n.render(row["messages"])
    ids = list(
        gemma3n.whole(text=text, audio=[np.zeros(9000, np.float32)] * 3, add_special_tokens=False)["input_ids"][0]
    )
    assert found["tokens"] == len(ids)
    assert [medium["seconds"] for medium in found["media"]] == pytest.approx([1, 1, 2])
    soft = {i for medium in found["media"] for i in range(medium["start"], medium["end"])}
    assert soft == {i for i, id_ in enumerate(ids) if id_ == SOFT}
    first, _, second, answer = found["turns"]
    assert first["start"] == found["media"][0]["start"]
    assert first["end"] > found["media"][1]["end"]
    assert second["start"] == found["media"][2]["start"]
    assert gemma3n.tokenizer.decode(ids[answer["start"] : answer["end"]]) == "s"


def test_images_are_256_soft_tokens(gemma3n, tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (40, 30)).save(tmp_path / "picture.png")
    content = [{"type": "image", "image": "picture.png"}, {"type": "text", "text": "What is it?"}]
    row = {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": "Nothing."}]}
    (found,) = measured(gemma3n, [row], str(tmp_path))
    text = gemma3n.render(row["messages"])
    out = gemma3n.whole(text=text, images=[Image.new("RGB", (40, 30))], add_special_tokens=False, return_tensors="np")
    assert found["tokens"] == len(out["input_ids"][0])
    soft = [i for i, id_ in enumerate(out["input_ids"][0]) if id_ == 262145]
    assert len(soft) == 256
    assert found["media"] == [{"kind": "image", "start": soft[0], "end": soft[-1] + 1, "seconds": None}]
    assert found["codes"] == []


def test_a_clip_is_found_beside_the_dataset_then_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = Ear(16000, 480_000)
    (tmp_path / "data").mkdir()
    (tmp_path / "work").mkdir()
    tone(tmp_path / "data" / "one.wav", 16000)
    tone(tmp_path / "work" / "one.wav", 32000)
    tone(tmp_path / "work" / "two.wav", 48000)
    monkeypatch.chdir(tmp_path / "work")
    assert listen("one.wav", str(tmp_path / "data"), ear, {}).seconds == 1
    assert listen("two.wav", str(tmp_path / "data"), ear, {}).seconds == 3
    assert listen(f"file://{tmp_path}/data/one.wav", "", ear, {}).seconds == 1


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("none.wav", "A002"),
        ("nul\x00.wav", "A002"),
        (None, "A002"),
        ("", "A002"),
        ({}, "A002"),
        ("x" * 199, "A002"),
        ("x" * 5000, "A003"),
        ("text.wav", "A003"),
        ("folder", "A002"),
        ("cut.wav", "A003"),
        (b"RIFF", "A003"),
        ("data:audio/wav;base64,!!!", "A003"),
        ("empty.wav", "A004"),
        ("https://example.org/clip.wav", "A005"),
        ("gs://bucket/clip.wav", "A005"),
        ({"url": "https://example.org/clip.wav"}, "A005"),
        (17, "A002"),
    ],
)
def test_a_clip_that_cannot_be_heard_is_a_fault(source, code: str, tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("no audio at all\n" * 9)
    (tmp_path / "folder").mkdir()
    tone(tmp_path / "empty.wav", 0)
    tone(tmp_path / "whole.wav", 999)
    (tmp_path / "cut.wav").write_bytes((tmp_path / "whole.wav").read_bytes()[:20])
    clip = listen(source, str(tmp_path), Ear(16000, 480_000), {"message": 1, "clip": 1})
    assert [fault.code for fault in clip.faults] == [code]
    assert clip.samples is clip.seconds is None
    assert str(tmp_path) not in str(clip.faults), "a fault names no file of the data"


def test_a_clip_inside_the_row(tmp_path: Path) -> None:
    tone(tmp_path / "clip.wav", 24000)
    content = (tmp_path / "clip.wav").read_bytes()
    encoded = base64.b64encode(content).decode()
    for source in (content, encoded, f"data:audio/wav;base64,{encoded}", {"data": encoded, "format": "wav"}):
        assert listen(source, "/", Ear(16000, None), {}).samples == 24000


def test_only_the_header_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import soundfile

    tone(tmp_path / "clip.wav", 700_000)
    monkeypatch.setattr(soundfile, "read", lambda *_: pytest.fail("decoded"))
    monkeypatch.setattr(soundfile.SoundFile, "read", lambda *_: pytest.fail("decoded"))
    clip = listen("clip.wav", str(tmp_path), Ear(16000, 480_000), {"message": 1, "clip": 1})
    (fault,) = clip.faults
    assert fault.code == "A001"
    assert (fault.data["seconds"], fault.data["heard"], fault.data["dropped"]) == (43.75, 30.0, 13.75)
    assert clip.seconds == 30


def test_an_address_is_never_fetched_and_still_counted(gemma3n, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("connected"))
    monkeypatch.setattr(builtins, "open", lambda *_, **__: pytest.fail("opened"))
    row = spoken("https://example.org/clip.wav")
    text = gemma3n.render(row["messages"])
    ids = gemma3n.whole(text=text, audio=[np.zeros(9000, np.float32)], add_special_tokens=False)["input_ids"][0]
    (found,) = measured(gemma3n, [row])
    assert found["codes"] == ["A005"]
    assert found["tokens"] == len(ids)
    assert [medium["seconds"] for medium in found["media"]] == [None]


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), ("one two, three", 3), ("今日は良い天気です", 6), ("say 你好 twice", 3), ("  \n", 0)]
)
def test_words_of_scripts_with_and_without_spaces(text: str, words: int) -> None:
    from lint_dataset.processors.speech import words_in

    assert words_in(text) == words
