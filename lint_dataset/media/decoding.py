"""Read a clip whole (``--decode``): how long it really is, and whether there is anything to hear."""

from __future__ import annotations

import os
from typing import BinaryIO

from lint_dataset.media.quiet import quiet
from lint_dataset.media.sound import HEAD, LONGEST_SECONDS, Sound, reason_of

_BLOCK = 1 << 18
#: Full scale is 1: below this, some 60 dB under it, nobody speaks.
_SILENCE = 1e-3


def decode(file: BinaryIO, said: Sound, name: str = "the file") -> Sound:
    """The clip by its samples, where ``said`` is what its header says. Never raises.

    Reads in blocks of fixed size, and not beyond ``LONGEST_SECONDS``: a file cannot make more of itself than that.
    """
    import numpy as np
    import soundfile

    frames, loudest = 0, 0.0
    try:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(HEAD)
        file.seek(0)
        with quiet(head, size), soundfile.SoundFile(file) as sound:
            block = np.empty((max(1, _BLOCK // sound.channels), sound.channels), np.float32)
            while frames < LONGEST_SECONDS * sound.samplerate and len(part := sound.read(out=block)):
                frames += len(part)
                loudest = max(loudest, float(np.abs(part).max()))
    except Exception as error:  # libsndfile names its reasons, and there are many
        if said.held is not None:
            return said
        if frames and said.rate:
            return said._replace(held=round(frames / said.rate, 3), silent=loudest < _SILENCE)
        return Sound(problem="unreadable", reason=reason_of(error, name))
    if not frames:
        return said._replace(frames=0, problem="empty")
    short = said.frames - frames > 0.05 * said.rate
    held = round(frames / said.rate, 3) if short else said.held
    return said._replace(frames=said.frames if short else frames, held=held, silent=loudest < _SILENCE)
