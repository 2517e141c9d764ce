"""What a predicted peak stands for: a figure and a band, by the evidence there is, or by a peak that was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lint_dataset.memory.evidence import Band

Ints = NDArray[np.int64]

#: No budget is larger.
_MOST = 2**50


@dataclass(frozen=True)
class Reading:
    """Predicted peaks of the process, in bytes, as they are: within the band of their class.

    ``spare`` is by how much the context may be smaller than assumed. All three readings grow with the prediction.
    """

    band: Band
    spare: int

    def peak(self, predicted: Any) -> Any:
        """The peak."""
        return predicted

    def low(self, predicted: Any) -> Any:
        """The least that it may be."""
        return _whole(np.floor(np.maximum(predicted - self.spare, 0) * (1 - self.band.below)))

    def high(self, predicted: Any) -> Any:
        """The most that it may be."""
        return _whole(np.ceil(predicted * (1 + self.band.above)))


@dataclass(frozen=True)
class Calibrated(Reading):
    """Predicted peaks, shifted by one that was measured.

    Weights, states and context, ``fixed`` bytes, are there before the first token, and counted. One measured peak does
    not tell whether what it adds to the ``predicted`` one is the same at every length (a context, a library's buffers)
    or grows with the length. So both are reckoned, and the band holds both: it is narrow at the measured point and
    widens with the distance. The figure takes the smaller shift of the two: in proportion to what grows below the
    measured point, the measured difference above it.
    """

    fixed: int
    predicted: int
    measured: int

    def _constant(self, predicted: Any) -> Any:
        return predicted + (self.measured - self.predicted)

    def _growing(self, predicted: Any) -> Any:
        ratio = (self.measured - self.fixed) / (self.predicted - self.fixed)
        return _whole(np.floor(self.fixed + (predicted - self.fixed) * ratio))

    def peak(self, predicted: Any) -> Any:
        """The peak: as measured at the measured point."""
        return np.where(predicted < self.predicted, self._growing(predicted), self._constant(predicted))

    def low(self, predicted: Any) -> Any:
        """The least that it may be, whatever the difference is made of."""
        least = np.minimum(self._constant(predicted), self._growing(predicted))
        return _whole(np.floor(np.maximum(least, 0) * (1 - self.band.below)))

    def high(self, predicted: Any) -> Any:
        """The most that it may be, whatever the difference is made of."""
        most = np.maximum(self._constant(predicted), self._growing(predicted))
        return _whole(np.ceil(most * (1 + self.band.above)))


def largest(read: Callable[[int], Any], budget: int) -> int:
    """The largest predicted peak whose reading (``low`` or ``high``) is within a budget; -1 where none is."""
    inside, outside = -1, _MOST
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if int(read(middle)) <= budget else (inside, middle)
    return inside


def _whole(value: Any) -> Any:
    # However absurd a measured peak is, its readings stay numbers that 64 bits hold.
    return np.clip(value, -(2.0**60), 2.0**60).astype(np.int64)
