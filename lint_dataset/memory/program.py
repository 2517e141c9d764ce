"""A step program: the births and deaths of every storage in one training step, run without torch.

A traced step is a list of events. Which events there are and in which order depends on few facts (one example in the
batch or several, tokens within or beyond a sliding window); within such a class each size is a polynomial in the
step's variables. So a program holds the kinds of size once, as coefficients over shared monomials, and each event as
one integer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The variables a size may depend on, in the order of the columns of ``StepProgram.powers``.
#: batch       examples in the padded batch
#: tokens      tokens of the longest example, to which the batch is padded
#: rank        LoRA rank
#: supervised  supervised tokens in the batch
#: clips       audio clips in the batch
#: frames      mel frames of the longest of those clips, to which they are padded
VARIABLES = ("batch", "tokens", "rank", "supervised", "clips", "frames")


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters of one storage type that live as long as training does.

    ``numbers`` are the elements of each tensor as (constant, coefficient of the rank), so that the sizes of LoRA
    adapters follow the rank. ``bytes_per_element`` may be fractional (4-bit weights hold 0.5).
    """

    name: str
    numbers: tuple[tuple[int, int], ...]
    bytes_per_element: float
    trained: bool


@dataclass(frozen=True)
class StepProgram:
    """One class of steps of one model under one recipe.

    ``bounds`` says for which values of each variable the order of events holds: name to (least, most), most is None
    where open. ``powers`` has shape (monomials, variables), ``coefficients`` (kinds, monomials), in bytes: kind ``k``
    is ``sum_m coefficients[k, m] * prod_v value[v] ** powers[m, v]`` bytes, before the allocator rounds.

    ``events`` has one int32 an event, in order: ``k >= 0`` is the birth of a storage of kind ``k``; ``-1 - a`` is the
    death of the storage born ``a`` births before the latest one (``-1`` kills the latest). ``marks`` maps the phases
    ``forward``, ``loss``, ``backward``, ``optimizer`` to the index of their first event. Gradients of trained
    parameters are born and die inside the events; weights and optimizer states are ``groups`` and ``state_bytes``.
    """

    bounds: Mapping[str, tuple[int, int | None]]
    powers: NDArray[np.int64]
    coefficients: NDArray[np.int64]
    events: NDArray[np.int32]
    marks: Mapping[str, int]
    groups: tuple[ParameterGroup, ...]
    made_with: Mapping[str, str]
