"""Formats that libsndfile does not know: m4a, mp4, aac, webm, amr, wma. Their length by PyAV or ffprobe, if there."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from typing import Any, BinaryIO

_SECONDS = 20
_MOST = 64 * 2**20


def foreign(head: bytes) -> str | None:
    """The name of the format that a file begins like, where only FFmpeg decodes it."""
    if head[4:8] == b"ftyp":
        return "m4a or mp4"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm or mkv"
    if head.startswith(b"#!AMR"):
        return "amr"
    if head.startswith(b"\x30\x26\xb2\x75"):
        return "wma"
    # An ADTS frame has layer 0, where an MPEG audio frame has 1 to 3.
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        return "aac"
    return None


def measure(file: BinaryIO) -> tuple[int, int, int] | None:
    """Frames, rate and channels of the first audio stream; None where nothing here can tell."""
    if find_spec("av") is not None:
        return _by_av(file)
    program = shutil.which("ffprobe")
    return _by_ffprobe(program, file) if program is not None else None


def _by_av(file: BinaryIO) -> tuple[int, int, int] | None:
    import av

    with av.open(file) as container:
        stream = next((s for s in container.streams if s.type == "audio"), None)
        if stream is None:
            return None
        rate = int(stream.rate or 0)
        seconds = None
        if stream.duration and stream.time_base:
            seconds = float(stream.duration * stream.time_base)
        elif container.duration:
            seconds = container.duration / 1_000_000
        return (round(seconds * rate), rate, int(stream.channels or 1)) if seconds and rate else None


def _by_ffprobe(program: str, file: BinaryIO) -> tuple[int, int, int] | None:
    """Ask ffprobe over standard input, so that no name of a file is ever a part of a command."""
    entries = "stream=sample_rate,channels,duration:format=duration"
    command = [program, "-v", "error", "-select_streams", "a:0", "-show_entries", entries, "-of", "json", "-"]
    try:
        run = subprocess.run(command, input=file.read(_MOST), capture_output=True, timeout=_SECONDS)
        found: dict[str, Any] = json.loads(run.stdout or b"{}")
        stream = found["streams"][0]
        seconds = float(stream.get("duration") or found["format"]["duration"])
        return round(seconds * int(stream["sample_rate"])), int(stream["sample_rate"]), int(stream["channels"])
    except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError):
        return None
