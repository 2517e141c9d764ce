"""A dataset for a pronunciation coach, with rows that are known to be wrong.

    python -m tests.coaching FOLDER

200 lines of ``train.jsonl``: somebody reads a sentence aloud, the coach answers; some conversations go on for a while.
The clips are spoken by espeak-ng where it is installed, and are speech-like noise where it is not.
"""

from __future__ import annotations

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
    else:
        _tone(path, len(sentence) / 15)


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
    for line, code in make(sys.argv[1]).items():
        print(f"{line}: {code}")
