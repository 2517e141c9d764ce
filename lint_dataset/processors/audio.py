"""What a processor hears of a clip: its length in samples and in seconds, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from lint_dataset.faults import Fault
from lint_dataset.media import Library, Medium, Sound
from lint_dataset.media.sound import LONGEST_SECONDS
from lint_dataset.processors.slots import Ear

#: What is not heard of a clip and would not be missed: less than a frame of speech.
_TOLERANCE_SECONDS = 0.01
#: Manifests round their durations.
_SLACK_SECONDS = 0.1
_PLAIN = Library()


class Clip(NamedTuple):
    """A clip: its length in samples at the ear's rate and in seconds, None where not known."""

    samples: int | None
    seconds: float | None
    faults: tuple[Fault, ...] = ()


def listen(
    source: Any, folder: str, ear: Ear | None, place: dict[str, Any], words: int = 0, library: Library = _PLAIN
) -> Clip:
    """Measure a clip without decoding it. ``place`` says which one it is, for its faults. Never raises.

    ``seconds`` is what the processor hears of it, ``samples`` its whole length. Without an ear nothing is said of what
    a model hears. ``words`` is how long the answer to it is.
    """
    medium, sound = library.sound(source, folder)
    fault = _nothing_to_hear(medium, sound, place)
    declared = declared_seconds(source)
    if fault is not None:
        if declared is None or ear is None:
            return Clip(None, None, (fault,))
        # The row itself says how long it is.
        samples = math.ceil(declared * ear.rate)
        seconds, more = _heard(samples, declared, ear, {**place, "words": words})
        return Clip(samples, seconds, (fault, *more))
    faults = list(_of_the_file(medium, sound, place))
    if declared is not None and sound.frames:
        offset = source.get("offset")
        end = declared + (offset if isinstance(offset, (int, float)) else 0)
        if end > sound.seconds + _SLACK_SECONDS:
            faults.append(Fault("A019", {**place, "end": round(end, 3), "length": round(sound.seconds, 3)}))
        sound = sound._replace(frames=min(sound.frames, round(declared * sound.rate)))
    rate = sound.rate or (ear.rate if ear is not None else 0)
    if ear is None or not rate or not sound.frames:
        return Clip(None, sound.seconds or None, tuple(faults))
    if (rate, sound.channels) != (ear.rate, 1):
        given = {"rate": rate, "channels": sound.channels, "wanted": ear.rate, "array": medium.samples is not None}
        faults.append(Fault("A015", {**place, **given}))
    # As long as resampling makes it: soxr and librosa round up.
    samples = math.ceil(sound.frames * ear.rate / rate)
    heard, more = _heard(samples, sound.frames / rate, ear, {**place, "words": words})
    return Clip(samples, heard, (*faults, *more))


def declared_seconds(source: Any) -> float | None:
    """How long a row says that its clip is, or the part of it that is meant; None where it says nothing."""
    seconds = source.get("duration") if isinstance(source, dict) else None
    return float(seconds) if isinstance(seconds, (int, float)) and 0 < seconds <= LONGEST_SECONDS else None


def grouped(faults: Iterable[Fault]) -> list[Fault]:
    """One fault of a code for all clips of a row: the worst of them, how many there are (``times``), what all lose."""
    worst: dict[str, Fault] = {}
    for fault in faults:
        key = fault.code if fault.code != "A015" else f"A015 {fault.data['rate']} {fault.data['channels']}"
        other = worst.get(key)
        if other is None:
            worst[key] = Fault(fault.code, dict(fault.data))
            continue
        times = other.data.get("times", 1) + 1
        dropped = other.data.get("all_dropped", other.data.get("dropped", 0)) + fault.data.get("dropped", 0)
        if fault.data.get("dropped", 0) > other.data.get("dropped", 0):
            other = Fault(fault.code, dict(fault.data))
        other.data["times"] = times
        if dropped:
            other.data["all_dropped"] = round(dropped, 3)
        worst[key] = other
    return list(worst.values())


def _nothing_to_hear(medium: Medium, sound: Sound, place: dict[str, Any]) -> Fault | None:
    """Why there is no clip at all; None where there is one."""
    if medium.problem == "address":
        return Fault("A005", place)
    if medium.problem:
        return Fault("A002", {**place, "named": medium.problem != "none"})
    if sound.problem == "unreadable":
        return Fault("A003", {**place, "reason": sound.reason})
    if sound.problem == "empty":
        return Fault("A004", place)
    if sound.problem == "pointer":
        return Fault("A011", place)
    return None


def _of_the_file(medium: Medium, sound: Sound, place: dict[str, Any]) -> Iterable[Fault]:
    """What is wrong with the file, whoever hears it."""
    if sound.problem == "foreign":
        yield Fault("A012", {**place, "format": sound.reason, "measured": bool(sound.frames)})
    if sound.held is not None:
        yield Fault("A009", {**place, "promised": round(sound.seconds, 3), "held": sound.held})
    if sound.silent:
        yield Fault("A010", {**place, "length": round(sound.seconds, 3)})
    if medium.outside:
        yield Fault("A014", place)


def _heard(samples: int, seconds: float, ear: Ear, place: dict[str, Any]) -> tuple[float, list[Fault]]:
    """The seconds that the processor hears, and the fault where it does not hear all."""
    words = place.pop("words")
    if samples < ear.shortest:
        short = {"samples": samples, "shortest": ear.shortest, "rate": ear.rate}
        return seconds, [Fault("A013", {**place, **short})]
    if ear.longest is None or samples <= ear.longest:
        return seconds, []
    heard = ear.longest / ear.rate
    if seconds - heard < _TOLERANCE_SECONDS:
        return heard, []
    lengths = {"seconds": round(seconds, 3), "heard": round(heard, 3), "dropped": round(seconds - heard, 3)}
    return heard, [Fault("A001", {**place, **lengths, "words": words})]
