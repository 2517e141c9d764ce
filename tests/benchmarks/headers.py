"""How long the headers of many clips take, beside reading the first page of each file and nothing else.

    python -m tests.benchmarks.headers [FILES]        # 100,000 unless given

Prints seconds, processor time, and the ratio to the plain reading: where the disk is slow, that is what bounds it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile

from lint_dataset.cache import Cache
from lint_dataset.media import Library


def make(folder: Path, files: int) -> list[tuple[str, str]]:
    """Clips of a tenth of a second, wav, flac and mp3 in turn."""
    noise = np.random.default_rng(1).standard_normal(1600) * 0.1
    contents = []
    for ending in ("wav", "flac", "mp3"):
        soundfile.write(folder / f"clip.{ending}", noise, 16000)
        contents.append((ending, (folder / f"clip.{ending}").read_bytes()))
    names = []
    for number in range(files):
        ending, content = contents[number % 3]
        if number % 1000 == 0:
            (folder / f"{number // 1000}").mkdir()
        name = f"{number // 1000}/{number}.{ending}"
        (folder / name).write_bytes(content)
        names.append((name, str(folder)))
    return names


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that pass, and seconds of the processor."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def first_pages(clips: list[tuple[str, str]]) -> None:
    for name, folder in clips:
        with open(f"{folder}/{name}", "rb") as file:
            file.read(4096)


def run(files: int) -> dict[str, tuple[float, float]]:
    """Seconds of each way."""
    with tempfile.TemporaryDirectory() as place:
        clips = make(Path(place), files)
        found = {"first page of each": timed(lambda: first_pages(clips))}
        for way in ("headers", "headers, remembered"):
            with Cache(f"{place}/cache") as cache:
                library = Library(cache)
                found[way] = timed(lambda: [library.prepare(clips[i : i + 1000]) for i in range(0, files, 1000)])  # noqa: B023
    return found


if __name__ == "__main__":
    number = int(sys.argv[1]) if sys.argv[1:] else 100_000
    times = run(number)
    base = times["first page of each"][0]
    for way, (seconds, busy) in times.items():
        each = f"{1e6 * seconds / number:6.0f} us each ({1e6 * busy / number:4.0f} us of the processor)"
        print(f"{number:,} files, {way:20} {seconds:7.1f} s {each}  {seconds / base:5.1f} x")
