"""Rows with clips, measured from headers and by the whole processor of Gemma 3n: the same tokens, in less time.

python -m tests.benchmarks.whole_processor [ROWS]        # 1,000 unless given
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from lint_dataset.processors import load, locate
from tests import tokenizers
from tests.processors.exact import measured


def make(folder: Path, rows: int) -> list[dict[str, Any]]:
    """One to three clips a row, of 0.1 to 40 s, in four formats, at three rates, mono and stereo."""
    chance, noise = random.Random(4), np.random.default_rng(4)
    clips = []
    for number in range(60):
        rate, channels = chance.choice((8000, 16000, 44100)), 1 + number % 2
        name = f"{number}.{('wav', 'flac', 'mp3', 'ogg')[number % 4]}"
        frames = round(chance.choice((0.1, 1, 5, 12, 29, 40)) * rate)
        soundfile.write(folder / name, noise.standard_normal((frames, channels)) * 0.1, rate)
        clips.append(name)
    found = []
    for number in range(rows):
        content: list[dict[str, str]] = [
            {"type": "audio", "audio": chance.choice(clips)} for _ in range(chance.choice((1, 1, 2, 3)))
        ]
        content.append({"type": "text", "text": f"Take {number}: how was that?"})
        answer = [{"type": "text", "text": "Good, " + "and again " * chance.randrange(40)}]
        found.append({"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": answer}]})
    return found


def main(rows: int) -> None:
    from transformers.audio_utils import load_audio

    processor = load(locate(None, str(tokenizers.gemma3n())))
    with tempfile.TemporaryDirectory() as place:
        dataset = make(Path(place), rows)
        start = time.perf_counter()
        ours = [row["tokens"] for row in measured(processor, [json.dumps(row).encode() for row in dataset], place)]
        middle = time.perf_counter()
        theirs = []
        for row in dataset:
            clips = [
                load_audio(f"{place}/{part['audio']}", sampling_rate=16000)
                for part in row["messages"][0]["content"]
                if part["type"] == "audio"
            ]
            text = processor.render(row["messages"])
            theirs.append(len(processor.whole(text=text, audio=clips, add_special_tokens=False)["input_ids"][0]))
        end = time.perf_counter()
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    own, whole = 1000 * (middle - start) / rows, 1000 * (end - middle) / rows
    print(f"{same:,} of {rows:,} rows have the same tokens")
    print(f"{own:.2f} ms a row from headers, {whole:.1f} ms by the whole processor: {whole / own:.0f} x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1000)
