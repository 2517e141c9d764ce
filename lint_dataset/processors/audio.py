"""How long a clip is, from its header alone, and how much of it the processor hears."""

from __future__ import annotations

import io
import math
from typing import Any, NamedTuple

from lint_dataset.faults import Fault
from lint_dataset.processors.media import Medium, find

#: What is not heard of a clip and would not be missed: less than a frame of speech.
_TOLERANCE_SECONDS = 0.01


class Ear(NamedTuple):
    """What a processor does with a clip: resample it to ``rate`` Hz, keep the first ``longest`` samples (None: all)."""

    rate: int
    longest: int | None


class Clip(NamedTuple):
    """A clip: its length in samples at the ear's rate and in seconds, None where not known."""

    samples: int | None
    seconds: float | None
    faults: tuple[Fault, ...] = ()


def listen(source: Any, folder: str, ear: Ear, place: dict[str, Any]) -> Clip:
    """Measure a clip without decoding it. ``place`` says which one it is, for its faults. Never raises.

    ``seconds`` is what the processor hears of it, ``samples`` its whole length.
    """
    medium = find(source, folder)
    if medium.problem == "address":
        return Clip(None, None, (Fault("A005", place),))
    if medium.problem:
        return Clip(None, None, (Fault("A002", {**place, "named": medium.problem != "none"}),))
    try:
        frames, rate = _header(medium)
    except Exception as error:  # libsndfile and the file system name their reasons, and there are many
        return Clip(None, None, (Fault("A003", {**place, "reason": _reason(error, medium)}),))
    if frames <= 0 or rate <= 0:
        return Clip(None, None, (Fault("A004", place),))
    # As long as resampling makes it: soxr and librosa round up.
    samples = math.ceil(frames * ear.rate / rate)
    seconds = frames / rate
    if ear.longest is None or samples <= ear.longest:
        return Clip(samples, seconds)
    heard = ear.longest / ear.rate
    if seconds - heard < _TOLERANCE_SECONDS:
        return Clip(samples, heard)
    lengths = {"seconds": round(seconds, 3), "heard": round(heard, 3), "dropped": round(seconds - heard, 3)}
    return Clip(samples, heard, (Fault("A001", {**place, **lengths}),))


def _header(medium: Medium) -> tuple[int, int]:
    """Frames and rate, as the file's header gives them."""
    import soundfile

    if medium.path is not None:
        info = soundfile.info(str(medium.path))
    else:
        info = soundfile.info(io.BytesIO(medium.content or b""))
    return info.frames, info.samplerate


def _reason(error: Exception, medium: Medium) -> str:
    """Why a clip cannot be read, without naming it."""
    text = getattr(error, "error_string", None) or getattr(error, "strerror", None) or str(error)
    reason = str(text).strip().rstrip(".").splitlines()
    first = reason[0] if reason else type(error).__name__
    if medium.path is not None:
        first = first.replace(str(medium.path), "the file")
    return first[:120]
