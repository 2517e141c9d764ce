"""What a header says of a clip, and what a file that does not keep it gives away."""

from __future__ import annotations

import base64
import io
import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from lint_dataset.cache import Cache
from lint_dataset.media import Library, find
from lint_dataset.media import library as module
from lint_dataset.media.picture import look
from lint_dataset.media.promises import divides
from lint_dataset.media.sound import Sound, read_bytes
from lint_dataset.processors.audio import grouped, listen
from lint_dataset.processors.slots import Ear

GEMMA_3N = Ear(16000, 480_000, 513)
FORMATS = ("wav", "flac", "mp3", "ogg", "aiff", "opus")


def noise(seconds: float, rate: int = 16000, channels: int = 1) -> np.ndarray:
    found: np.ndarray = np.random.default_rng(3).standard_normal((round(seconds * rate), channels)) * 0.1
    return found.astype(np.float32)


def encoded(ending: str, seconds: float = 8, rate: int = 16000, channels: int = 1) -> bytes:
    out = io.BytesIO()
    kind, subtype = (ending, None) if ending != "opus" else ("ogg", "OPUS")
    soundfile.write(out, noise(seconds, rate, channels), rate, format=kind.upper(), subtype=subtype)
    return out.getvalue()


def codes(source: Any, folder: Path, ear: Ear | None = GEMMA_3N, **options: Any) -> list[str]:
    return [fault.code for fault in listen(source, str(folder), ear, {"message": 1, "clip": 1}, **options).faults]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("channels", [1, 2])
def test_a_whole_clip_is_whole(ending: str, channels: int) -> None:
    for seconds in (0.04, 0.5, 8):
        sound = read_bytes(encoded(ending, seconds, channels=channels))
        assert (sound.problem, sound.held, sound.channels) == ("", None, channels)
        assert sound.seconds == pytest.approx(seconds, abs=0.08)


@pytest.mark.parametrize("ending", ["wav", "flac"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.97])
def test_a_clip_that_was_cut_off_says_how_much_is_left(ending: str, share: float) -> None:
    whole = encoded(ending)
    sound = read_bytes(whole[: int(len(whole) * share)])
    assert sound.seconds == 8
    assert sound.held == pytest.approx(8 * share, abs=0.6)


def test_the_checksum_of_a_flac_frame_by_its_definition() -> None:
    """RFC 9639, section 9.3: a CRC-16 with the polynomial x^16 + x^15 + x^2 + 1, begun at 0, high bits first."""
    draw = random.Random(5)
    for length in (0, 1, 2, 3, 15, 16, 17, 100, 1500):
        data, crc = draw.randbytes(length), 0
        for byte in data:
            crc ^= byte << 8
            for _ in range(8):
                crc = crc << 1 ^ (0x18005 if crc & 0x8000 else 0)
        frame = data + crc.to_bytes(2, "big")
        assert divides(frame)
        for bit in draw.sample(range(8 * len(frame)), 10):
            wrong = int.from_bytes(frame, "big") ^ 1 << bit
            assert not divides(wrong.to_bytes(len(frame), "big"))


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_an_ogg_stream_without_its_end_is_cut_off(share: float) -> None:
    whole = encoded("ogg")
    assert read_bytes(whole[: int(len(whole) * share)]).held is not None


def test_an_mp3_whose_xing_header_counts_more_bytes_is_cut_off() -> None:
    out = io.BytesIO()
    soundfile.write(out, noise(8), 16000, format="MP3", bitrate_mode="VARIABLE", compression_level=0.5)
    whole = out.getvalue()
    sound = read_bytes(whole[: len(whole) // 2])
    assert sound.held == pytest.approx(4, abs=0.5)


@pytest.mark.parametrize("decode", [False, True])
def test_a_cut_mp3_is_a_finding_and_no_line_on_standard_error(
    decode: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = encoded("mp3")
    for name, share in (("half", 0.5), ("whole", 1)):
        (tmp_path / f"{name}.mp3").write_bytes(whole[: int(len(whole) * share)])
    library = Library(decode=decode)
    library.prepare((f"{name}.mp3", str(tmp_path)) for name in ("half", "whole"))
    os.write(2, b"still heard")
    assert capfd.readouterr().err == "still heard"
    assert codes("half.mp3", tmp_path, library=library) == ["A009"]
    assert codes("whole.mp3", tmp_path, library=library) == []


@pytest.mark.parametrize("length", [0, 0xFFFFFFFF, 0x7FFFFFFF])
def test_a_wav_that_was_streamed_promises_nothing(length: int) -> None:
    whole = bytearray(encoded("wav", 1))
    at = whole.index(b"data") + 4
    whole[at : at + 4] = length.to_bytes(4, "little")
    assert read_bytes(bytes(whole)).held is None


def test_compressed_wav_by_its_own_measure() -> None:
    out = io.BytesIO()
    soundfile.write(out, noise(4), 16000, format="WAV", subtype="MS_ADPCM")
    whole = out.getvalue()
    assert read_bytes(whole).held is None
    sound = read_bytes(whole[: len(whole) // 2])
    assert sound.seconds == pytest.approx(4, abs=0.1)
    assert sound.held == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(
    "content",
    [b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", b"/annex/objects/SHA256E-s3--00.wav\n"],
)
def test_a_pointer_is_no_audio(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "clip.wav").write_bytes(content)
    assert codes("clip.wav", tmp_path) == ["A011"]


@pytest.mark.parametrize(
    ("head", "name"),
    [(b"\0\0\0\x20ftypM4A ", "m4a"), (b"\x1a\x45\xdf\xa3", "webm"), (b"#!AMR\n", "amr"), (b"\xff\xf1\x50\x80", "aac")],
)
def test_what_only_ffmpeg_decodes(head: bytes, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "clip").write_bytes(head + bytes(400))
    clip = listen("clip", str(tmp_path), GEMMA_3N, {"message": 1, "clip": 1})
    (fault,) = clip.faults
    assert fault.code == "A012"
    assert name in fault.data["format"]
    assert clip.samples is None


@pytest.mark.parametrize(("samples", "code"), [(512, ["A013"]), (513, []), (480_000, []), (496_000, ["A001"])])
def test_too_short_and_too_long(samples: int, code: list[str], tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", noise(samples / 16000), 16000)
    assert codes("clip.wav", tmp_path) == code
    assert codes("clip.wav", tmp_path, None) == []


def test_another_rate_and_channels_are_a_fact_of_the_clip(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", noise(1, 44100, 2), 44100)
    (fault,) = listen("clip.wav", str(tmp_path), GEMMA_3N, {}).faults
    assert (fault.code, fault.data) == ("A015", {"rate": 44100, "channels": 2, "wanted": 16000, "array": False})


def test_silence_and_a_header_that_lies_are_seen_by_decoding(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "silent.flac", np.zeros(16000), 16000)
    assert codes("silent.flac", tmp_path) == []
    assert codes("silent.flac", tmp_path, library=Library(decode=True)) == ["A010"]
    whole = bytearray(encoded("flac"))
    whole[len(whole) // 2 : len(whole) // 2 + 9000] = bytes(9000)
    (tmp_path / "hole.flac").write_bytes(whole)
    assert codes("hole.flac", tmp_path) == []
    assert codes("hole.flac", tmp_path, library=Library(decode=True)) in (["A009"], ["A003"])
    assert codes(encoded("ogg"), tmp_path, library=Library(decode=True)) == []


def wrapped(way: str, content: bytes, path: str) -> Any:
    text = base64.b64encode(content).decode()
    return {
        "path": path,
        "bytes": content,
        "base64": text,
        "data": f"data:audio/wav;base64,{text}",
        "object": {"path": path, "bytes": None},
        "arrow": {"bytes": content, "path": "gone.wav"},
        "input_audio": {"data": text, "format": "wav"},
        "fileData": {"fileUri": path, "mimeType": "audio/wav"},
        "inlineData": {"inlineData": {"data": text, "mimeType": "audio/wav"}},
        "file_data": {"file_data": {"file_uri": f"file://{path}"}},
        "array": {"array": [0.1] * 16000, "sampling_rate": 16000, "path": None},
        "samples": [0.1] * 16000,
    }[way]


WAYS = ("path", "bytes", "base64", "data", "object", "arrow", "input_audio", "fileData", "inlineData", "file_data",
        "array", "samples")  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_way_a_clip_is_given(way: str, tmp_path: Path) -> None:
    content = encoded("wav", 1)
    (tmp_path / "clip.wav").write_bytes(content)
    clip = listen(wrapped(way, content, str(tmp_path / "clip.wav")), str(tmp_path), GEMMA_3N, {})
    assert (clip.samples, clip.seconds, clip.faults) == (16000, 1, ())


def test_an_array_at_another_rate_is_not_resampled_by_anybody(tmp_path: Path) -> None:
    row = {"array": [[0.0] * 44100, [0.0] * 44100], "sampling_rate": 44100}
    (fault,) = listen(row, str(tmp_path), GEMMA_3N, {}).faults
    assert fault.data == {"rate": 44100, "channels": 2, "wanted": 16000, "array": True}


@pytest.mark.parametrize(
    "source",
    [
        {"array": []}, {"array": [[]]}, {"array": "x"}, {"array": [None]}, {"array": [1.0], "sampling_rate": 0},
        {"array": [1.0], "sampling_rate": float("inf")}, {"array": [1.0], "sampling_rate": float("nan")}, [], [[1]],
        {"path": "clip.wav", "duration": float("inf")}, {"path": "clip.wav", "duration": "3"}, True, {"path": {}},
        {"path": "clip.wav", "duration": 1, "offset": "x"}, {"path": "clip.wav", "duration": -1, "offset": 1e300},
    ],
)  # fmt: skip
def test_odd_sources_raise_nothing(source: Any, tmp_path: Path) -> None:
    (tmp_path / "clip.wav").write_bytes(encoded("wav", 1))
    for ear in (GEMMA_3N, None):
        listen(source, str(tmp_path), ear, {"message": 1, "clip": 1})


def test_a_file_outside_of_the_datasets_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    for place in ("data", "other", "."):
        (tmp_path / place / "clip.wav").write_bytes(encoded("wav", 1))
    folder = str(tmp_path / "data")
    assert not find("clip.wav", folder).outside
    assert not find(f"{tmp_path}/data/clip.wav", folder).outside
    assert not find("../other/clip.wav", folder).outside
    assert find("../clip.wav", folder).outside
    assert find(f"{tmp_path}/clip.wav", folder).outside


def test_an_address_is_opened_only_when_told(tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    with memory.open("s3://clip.wav", "wb") as file:
        file.write(encoded("wav", 2))
    fsspec.register_implementation("s3", type(memory), clobber=True)
    try:
        assert codes("s3://clip.wav", tmp_path) == ["A005"]
        clip = listen("s3://clip.wav", str(tmp_path), GEMMA_3N, {}, library=Library(fetch=True))
        assert (clip.seconds, clip.faults) == (2, ())
        assert codes("s3://none.wav", tmp_path, library=Library(fetch=True)) == ["A003"]
        assert codes("ftp://clip.wav", tmp_path, library=Library(fetch=True)) == ["A003"]
    finally:
        fsspec.register_implementation("s3", "s3fs.S3FileSystem", clobber=True)


def test_the_clips_of_a_row_that_share_a_fault_are_one_fault(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", noise(41), 16000)
    soundfile.write(tmp_path / "b.wav", noise(33), 16000)
    faults = []
    for number, name in enumerate(("b.wav", "a.wav", "none.wav", "b.wav", "gone.wav"), start=1):
        faults += listen(name, str(tmp_path), GEMMA_3N, {"message": 1, "clip": number}).faults
    cut, lost = grouped(faults)
    assert (cut.data["clip"], cut.data["dropped"], cut.data["times"], cut.data["all_dropped"]) == (2, 11, 3, 17)
    assert (lost.data["clip"], lost.data["times"]) == (3, 2)


def test_headers_are_read_once_and_again_when_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    real = module.read
    monkeypatch.setattr(module, "read", lambda file, size, name: opened.append(name) or real(file, size, name))
    sources = []
    for number in range(30):
        soundfile.write(tmp_path / f"{number}.wav", noise(0.1), 16000)
        sources.append((f"{number}.wav", str(tmp_path)))
    for _ in range(2):
        with Cache(tmp_path / "cache") as cache:
            library = Library(cache)
            library.prepare([*sources, *sources])
            before = [library.identity(*source) for source in sources]
    assert len(opened) == 30
    for number in range(30):
        os.utime(tmp_path / f"{number}.wav", (1, 1))  # as a checkout does
    soundfile.write(tmp_path / "7.wav", noise(0.2), 16000)
    with Cache(tmp_path / "cache") as cache:
        library = Library(cache)
        library.prepare(sources)
        after = [library.identity(*source) for source in sources]
    assert len(opened) == 60
    assert [i for i in range(30) if before[i] != after[i]] == [7]


def test_what_was_decoded_is_remembered_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    real = module.decode
    monkeypatch.setattr(module, "decode", lambda file, said, name: decoded.append(name) or real(file, said, name))
    soundfile.write(tmp_path / "a.wav", noise(0.5), 16000)
    for name in ("a.wav", "b.wav"):
        (tmp_path / name).write_bytes((tmp_path / "a.wav").read_bytes())
        with Cache(tmp_path / "cache") as cache:
            library = Library(cache, decode=True)
            library.prepare([(name, str(tmp_path))])
            assert library.sound(name, str(tmp_path))[1].silent is False
    assert len(decoded) == 1


def test_every_clip_cut_at_random_bytes_is_measured_or_said(tmp_path: Path) -> None:
    """2,000 cuts, and as many single bytes changed: never an exception, never long."""
    chance = random.Random(5)
    wholes = [encoded(ending, 0.6, rate, channels) for ending in FORMATS for rate, channels in ((16000, 1), (48000, 2))]
    start = time.perf_counter()
    for number in range(2000):
        content = bytearray(wholes[number % len(wholes)])
        for damaged in (content[: chance.randrange(len(content))], content):
            if damaged is content:
                damaged[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            clip = listen(bytes(damaged), str(tmp_path), GEMMA_3N, {"message": 1, "clip": 1})
            assert clip.samples is not None or clip.faults
            assert clip.samples is None or clip.samples <= 86_400 * 16000
    assert time.perf_counter() - start < 120


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg", "mp3"])
def test_damaged_clips_are_decoded_without_an_exception(ending: str, tmp_path: Path) -> None:
    chance, whole = random.Random(6), encoded(ending, 0.6)
    for _ in range(30):
        damaged = bytearray(whole[: chance.randrange(1, len(whole))])
        damaged[chance.randrange(len(damaged))] ^= 255
        clip = listen(bytes(damaged), str(tmp_path), GEMMA_3N, {}, library=Library(decode=True))
        assert clip.samples is not None or clip.faults


def test_a_header_that_claims_years_is_bounded(tmp_path: Path) -> None:
    whole = bytearray(encoded("flac", 1))
    # STREAMINFO: 36 bits of samples, all set: 49 days at 16 kHz.
    whole[21] |= 0x0F
    whole[22:26] = b"\xff\xff\xff\xff"
    (tmp_path / "bomb.flac").write_bytes(whole)
    start = time.perf_counter()
    for library in (Library(), Library(decode=True)):
        assert codes("bomb.flac", tmp_path, library=library) == ["A003"]
    assert time.perf_counter() - start < 5


def test_a_long_silence_in_few_bytes_is_decoded_in_bounded_memory(tmp_path: Path) -> None:
    """20 minutes in some kilobytes, in a process of its own whose memory is watched."""
    soundfile.write(tmp_path / "long.flac", np.zeros(20 * 60 * 16000, np.int16), 16000)
    assert (tmp_path / "long.flac").stat().st_size < 200_000
    script = (
        "import resource, sys\n"
        "from lint_dataset.media import Library\n"
        "import numpy, soundfile\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "sound = Library(decode=True).sound('long.flac', sys.argv[1])[1]\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(sound.seconds, sound.silent, (after - before) // 1024)\n"
    )
    import sys

    run = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=120)
    seconds, silent, grown = run.stdout.split()
    assert (float(seconds), silent) == (1200, "True")
    assert int(grown) < 40, "MiB: the samples alone would be 73"


def test_images_as_a_loader_sees_them(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (40, 30)).save(tmp_path / "a.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 30)).save(tmp_path / "turned.jpg", exif=exif)
    assert look("a.png", str(tmp_path), {}).size == (30, 40)
    assert look("turned.jpg", str(tmp_path), {}).size == (40, 30)
    for name in ("a.png", "turned.jpg"):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / f"cut-{name}").write_bytes(whole[:-14])
        picture = look(f"cut-{name}", str(tmp_path), {})
        assert [(fault.code, fault.data["reason"]) for fault in picture.faults] == [("A006", "the file is cut off")]


def test_an_image_that_claims_billions_of_pixels_is_refused(tmp_path: Path) -> None:
    from PIL import Image

    out = io.BytesIO()
    Image.new("L", (8, 8)).save(out, "PNG")
    content = bytearray(out.getvalue())
    content[16:24] = (100_000).to_bytes(4, "big") * 2
    import zlib

    content[29:33] = zlib.crc32(bytes(content[12:29])).to_bytes(4, "big")
    (fault,) = look(bytes(content), str(tmp_path), {}).faults
    assert fault.data["reason"] == "DecompressionBombError"


def test_a_description_survives_being_remembered() -> None:
    sound = Sound(5, 16000, 1, "", "", 0.5, True)
    assert Sound(*json.loads(json.dumps(sound))) == sound
