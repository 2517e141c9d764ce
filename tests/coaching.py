"""A dataset for a pronunciation coach, with rows that are known to be wrong.

    python -m tests.coaching FOLDER [988]

200 lines of ``train.jsonl``: somebody reads a sentence aloud, the coach answers; some conversations go on for a while.
988 lines have clips of 0.5 to 90 s in four formats, and every fault of a clip that there is a rule for. The clips are
spoken by espeak-ng where it is installed, and are speech-like noise where it is not.
"""

from __future__ import annotations

import base64
import json
import math
import random
import shutil
import struct
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

ROWS = 200
CLIPS = 24
#: Under a processor that hears 30 s and a max_length of 2,048 tokens cut on the right.
PLANTED = {
    17: "T002",
    41: "T001",
    58: "A001",
    73: "J010",
    88: "M101",
    104: "A002",
    119: "T002",
    131: "M103",
    146: "A003",
    157: "T001",
    168: "A004",
    179: "M111",
    190: "A001",
}
#: The planted rows that are far longer than the others, in tokens or in seconds of audio.
LONG = (17, 41, 119, 157)

FULL = 988
#: What more is wrong in the 988 lines. The codes of a line are all that is found there.
MORE: dict[int, tuple[str, ...]] = {
    230: ("A009",),  # a WAV that was cut off
    251: ("A009",),  # a FLAC
    270: ("A009",),  # an Ogg stream
    290: ("A009",),  # an MP3
    300: ("A011",),
    333: ("A012",),
    350: ("A013",),
    371: ("A014",),
    402: ("A015",),
    433: ("A016",),
    460: ("A010",),
    480: ("A005",),
    500: ("A006",),
    520: ("T001", "T004"),
    560: ("A001",),
    580: ("A001",),  # three clips in one row, one finding
    600: ("A004",),
    620: ("M103",),
    640: ("J010",),
    660: ("A003",),
    680: ("A002",),
}
#: Lines with a clip given in another way, and one without a clip: nothing is wrong with them.
OTHER_WAYS = (720, 740, 760, 780)

_SENTENCES = (
    "The thirty-three thieves thought that they thrilled the throne.",
    "She sells sea shells by the sea shore.",
    "A proper copper coffee pot stood on the shelf.",
    "Red lorry, yellow lorry, red lorry, yellow lorry.",
    "I would have written if I had known the address.",
    "Please call Stella and ask her to bring these things.",
)
_ADVICE = (
    "the vowel in this word is a little too short so hold it longer and let your jaw drop before you close it again "
    "while the final consonant needs more air because it sounds voiced now try to feel the tip of your tongue behind "
    "the teeth and listen for the stress on the second syllable which falls in pitch at the end of the sentence"
)
_WORDS = _ADVICE.split()
_COACH = "You are a friendly pronunciation coach. Name one thing that was good and one thing to practise."


def make(folder: str | Path) -> dict[int, str]:
    """Write ``train.jsonl`` and ``clips/`` into a folder. Returns the planted rows: line to the code of its rule."""
    folder = Path(folder)
    clips = folder / "clips"
    clips.mkdir(parents=True, exist_ok=True)
    for number in range(CLIPS):
        _speak(_SENTENCES[number % len(_SENTENCES)], clips / f"{number:02}.wav", number)
    _tone(clips / "long.wav", 41.5)
    _tone(clips / "longer.wav", 30.5)
    _tone(clips / "empty.wav", 0)
    (clips / "text.wav").write_text("this is no audio\n" * 20)
    chance = random.Random(20250101)
    lines = [_line(number, chance) for number in range(1, ROWS + 1)]
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return dict(PLANTED)


def make_full(folder: str | Path) -> dict[int, tuple[str, ...]]:
    """Write 988 lines and their clips into a folder. Returns what is wrong in each planted line.

    Line 1 has a note that is due once: a max_length given to the processor itself reaches the audio.
    """
    import numpy as np
    import soundfile

    folder = Path(folder)
    make(folder)
    clips, chance = folder / "clips", random.Random(988)
    lengths = [0.5, 1.0, 3.0, 7.5, 12.0, 20.0, 29.5]
    for number in range(28):
        ending = ("wav", "flac", "mp3", "ogg")[number % 4]
        samples = _hum(lengths[number % 7], 16000, number)
        soundfile.write(clips / f"x{number:02}.{ending}", samples, 16000)
    for name in ("cut.wav", "cut.flac", "cut.ogg", "cut.mp3"):
        path = clips / name
        if name == "cut.mp3":
            soundfile.write(path, _hum(8, 16000, 3), 16000, bitrate_mode="VARIABLE", compression_level=0.5)
        else:
            soundfile.write(path, _hum(8, 16000, 3), 16000)
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    (clips / "pointer.wav").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n")
    (clips / "clip.m4a").write_bytes(b"\0\0\0\x20ftypM4A \0\0\0\0" + bytes(500))
    soundfile.write(clips / "short.wav", _hum(0.025, 16000, 1), 16000)
    (folder.parent / "elsewhere.wav").write_bytes((clips / "x00.wav").read_bytes())
    stereo = np.stack([_hum(4, 44100, 5), _hum(4, 44100, 6)], axis=1)
    soundfile.write(clips / "stereo.mp3", stereo, 44100)
    soundfile.write(clips / "three.wav", _hum(3, 16000, 7), 16000)
    soundfile.write(clips / "silent.wav", np.zeros(48000), 16000)
    soundfile.write(clips / "ninety.ogg", _hum(90, 16000, 8), 16000)
    soundfile.write(clips / "forty.flac", _hum(40, 16000, 9), 16000)
    soundfile.write(clips / "empty.aiff", np.zeros(0), 16000)
    (clips / "bytes.mp3").write_bytes(random.Random(1).randbytes(3000))
    lines = (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()
    lines += [_more(number, chance, folder) for number in range(ROWS + 1, FULL + 1)]
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {line: (code,) for line, code in PLANTED.items()} | MORE


def _more(number: int, chance: random.Random, folder: Path) -> str:
    endings = ("wav", "flac", "mp3", "ogg")
    index = chance.randrange(28)
    clip: Any = _audio(f"clips/x{index:02}.{endings[index % 4]}")
    named = {
        230: "clips/cut.wav", 251: "clips/cut.flac", 270: "clips/cut.ogg", 290: "clips/cut.mp3",
        300: "clips/pointer.wav", 333: "clips/clip.m4a", 350: "clips/short.wav", 371: "../elsewhere.wav",
        402: "clips/stereo.mp3", 433: "clips/three.wav", 460: "clips/silent.wav",
        480: "https://example.org/clip.wav", 560: "clips/ninety.ogg", 600: "clips/empty.aiff", 660: "clips/bytes.mp3",
        680: None,
    }  # fmt: skip
    if number in named:
        clip = {"type": "audio", "audio": named[number]}
    asked = [clip, _text(f"I read: {chance.choice(_SENTENCES)} How was that?")]
    answer = _prose(chance, chance.choice((12, 30, 60, 150)))
    if number == 433:
        asked, answer = [clip, _text("Transcribe the clip.")], _prose(chance, 1000)
    elif number == 500:
        asked.append({"type": "image", "image": "clips/mouth.png"})
    elif number == 520:
        asked = [_text(_prose(chance, 2600)), clip]
    elif number == 580:
        asked = [_audio(f"clips/{name}") for name in ("forty.flac", "ninety.ogg", "forty.flac")] + asked[1:]
    elif number == 620:
        asked[0] = {"type": "audio_url", "audio_url": {"url": "clips/x00.wav"}}
    elif number in OTHER_WAYS[:2]:
        encoded = base64.b64encode((folder / "clips" / "x00.wav").read_bytes()).decode()
        asked[0] = _audio(encoded if number == OTHER_WAYS[0] else f"data:audio/wav;base64,{encoded}")
    elif number == OTHER_WAYS[2]:
        asked = asked[1:]
    elif number == OTHER_WAYS[3]:
        asked[0] = {"type": "audio", "path": "clips/x01.flac"}
    messages: list[dict[str, Any]] = [{"role": "user", "content": asked}]
    messages.append({"role": "assistant", "content": [_text(answer)]})
    line = json.dumps({"messages": messages}, ensure_ascii=False)
    return line[:-9] if number == 640 else line


def _hum(seconds: float, rate: int, seed: int) -> Any:
    """A voice-like sound: a gliding pitch with its overtones, louder and softer, and a little noise."""
    import numpy as np

    time = np.arange(round(seconds * rate)) / rate
    pitch = 110 + 5 * seed + 20 * np.sin(2 * np.pi * time / 3)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = sum(np.sin(k * phase) / k for k in range(1, 9))
    noise = np.random.default_rng(seed).standard_normal(len(time))
    return (0.2 * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * time)) * voice + 0.01 * noise).astype(np.float32)


def _line(number: int, chance: random.Random) -> str:
    sentence = chance.choice(_SENTENCES)
    clip = f"clips/{chance.randrange(CLIPS):02}.wav"
    question = [_audio(clip), _text(f"I read: {sentence} How was that?")]
    # Most answers are short, some conversations have up to four turns; none comes near 2,048 tokens.
    turns = [(question, _prose(chance, chance.choice((12, 30, 60, 150))))]
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        again = [_audio(f"clips/{chance.randrange(CLIPS):02}.wav"), _text("And now?")]
        turns.append((again, _prose(chance, chance.choice((20, 80)))))
    planted = PLANTED.get(number)
    if planted == "T002":
        turns[-1] = (turns[-1][0], _prose(chance, 2600))
    elif planted == "T001":
        # The clip comes first: max_length cuts through the text behind it, not through the clip.
        turns[-1] = ([*turns[-1][0], _text(_prose(chance, 2600))], "Very good.")
    elif planted == "A001":
        question[0] = _audio("clips/long.wav" if number < 100 else "clips/longer.wav")
    elif planted == "A002":
        question[0] = _audio("clips/none.wav")
    elif planted == "A003":
        question[0] = _audio("clips/text.wav")
    elif planted == "A004":
        question[0] = _audio("clips/empty.wav")
    elif planted == "M103":
        question[0] = {"type": "input_audio", "input_audio": clip}
    elif planted == "M111":
        question[1] = _text("What did I say in <audio_soft_token>?")
    messages: list[dict[str, Any]] = [{"role": "system", "content": [_text(_COACH)]}]
    for asked, answer in turns:
        messages.append({"role": "user", "content": asked})
        messages.append({"role": "assistant", "content": [_text(answer)]})
    if planted == "M101":
        messages.insert(1, {"role": "user", "content": [_text("Hello!")]})
    line = json.dumps({"messages": messages}, ensure_ascii=False)
    return line[:-9] if planted == "J010" else line


def _audio(path: str) -> dict[str, str]:
    return {"type": "audio", "audio": path}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _prose(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(words)).capitalize() + "."


def _speak(sentence: str, path: Path, number: int) -> None:
    espeak = shutil.which("espeak-ng")
    if espeak is not None:
        command = [espeak, "-w", str(path), "-s", str(130 + 4 * number), "-p", str(30 + 2 * number), sentence]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        _resample(path)
    else:
        _tone(path, len(sentence) / 15)


def _resample(path: Path, rate: int = 16000) -> None:
    """To what the model hears: a voice has nothing above 8 kHz that would be missed here."""
    import numpy as np
    import soundfile

    samples, own = soundfile.read(path)
    times = np.arange(round(len(samples) * rate / own)) / rate
    soundfile.write(path, np.interp(times, np.arange(len(samples)) / own, samples), rate)


def _tone(path: Path, seconds: float, rate: int = 16000) -> None:
    """A voice-like hum: harmonics of a gliding pitch, louder and softer four times a second."""
    frames = bytearray()
    phase = 0.0
    for i in range(round(seconds * rate)):
        time = i / rate
        phase += 2 * math.pi * (120 + 20 * math.sin(2 * math.pi * time / 3)) / rate
        loudness = 0.5 + 0.5 * math.sin(2 * math.pi * 4 * time)
        frames += struct.pack("<h", round(6000 * loudness * (math.sin(phase) + 0.5 * math.sin(2 * phase))))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(frames))


if __name__ == "__main__":
    planted = make_full(sys.argv[1]) if sys.argv[2:] else {line: (code,) for line, code in make(sys.argv[1]).items()}
    for at, codes in planted.items():
        print(f"{at}: {', '.join(codes)}")
