"""From seconds of audio to what an audio tower is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

SAMPLE_RATE = 16_000
#: Samples that Gemma 3n hears: what comes after 30 s is cut off.
MOST_SAMPLES = 480_000
_STEP = 160
_WINDOW = 513
_PADDED_TO = 128
#: The audio tower works on blocks of 48 frames and pads the last one. Sizes are polynomials for clips that end half way
#: through a block, as one of 30 seconds nearly does.
BLOCK = 48
ENDS_AT = 24


def mel_frames(seconds: ArrayLike) -> NDArray[np.int64]:
    """Mel frames of a clip of so many seconds, as Gemma 3n's feature extractor in transformers makes them.

    Samples at 16 kHz, at most 30 s of them, padded to a multiple of 128; a frame every 160 samples over a window of
    513. 5 s give 497 frames, 30 s and more 2,997. A clip whose length is not known (0 or NaN) counts as 30 s.
    """
    wanted = np.asarray(seconds, np.float64)
    wanted = np.where(np.isnan(wanted) | (wanted <= 0), np.inf, wanted)
    samples = np.ceil(np.minimum(wanted * SAMPLE_RATE, MOST_SAMPLES)).astype(np.int64)
    samples = -(-samples // _PADDED_TO) * _PADDED_TO
    frames: NDArray[np.int64] = np.maximum((samples - _WINDOW) // _STEP + 1, 1)
    return frames


def whole_frames(frames: ArrayLike) -> NDArray[np.int64]:
    """The next number of frames that step programs hold for: up to 47 more, half a second."""
    given: NDArray[np.int64] = np.asarray(frames, np.int64)
    return given + (ENDS_AT - given) % BLOCK
