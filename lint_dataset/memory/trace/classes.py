"""Which facts decide the order of events in a step, and points to trace on each side of them.

Found by tracing, not by reading models: steps are grouped by the order that was seen, and a class whose traces differ
is an error. Three facts matter so far. Batches of several examples carry a mask (their lengths differ). Beyond a
sliding window, layers that attend to the window carry one. With audio, its tower runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from lint_dataset.memory.trace.step import Point

Bound = tuple[int, int | None]

#: Values that give every product of variables its own size: no small factors, which model dimensions are made of.
_BATCHES = (19, 17, 23, 31, 37)
_TOKENS = (521, 1031, 1559, 2053, 2999)
#: Lengths within a window, as shares of it.
_SHARES = (0.4122, 0.6192, 0.7168, 0.8653, 0.959)
_RANKS = (29, 67, 31, 43, 47)
_SUPERVISED = (397, 811, 1999, 2897, 3607)
_CLIPS = (41, 53, 59, 61, 71)
#: Gemma 3n works on audio in blocks of 48 frames, 12 a block after its convolutions: a clip that does not fill its last
#: block is padded to it. Sizes are polynomials for clips that end half way through a block, as one of 30 seconds does
#: (3,000 frames); others are judged as the next longer one of that kind, at most 0.47 seconds longer.
FRAMES_STEP, FRAMES_REST = 48, 24
_FRAMES = (552, 1752, 1128, 2568, 2904)

#: The most traces of one class.
MOST_TRACES = len(_TOKENS)


@dataclass(frozen=True)
class StepClass:
    """A set of steps that should have one order of events, as bounds of their variables."""

    batch: Bound
    tokens: Bound
    clips: Bound

    @property
    def bounds(self) -> dict[str, Bound]:
        """Bounds of every variable."""
        return {
            "batch": self.batch,
            "tokens": self.tokens,
            "rank": (1, None),
            "supervised": (0, None),
            "clips": self.clips,
            "frames": (0, 0) if self.clips[1] == 0 else (1, None),
        }

    def point(self, index: int) -> Point:
        """The ``index``-th point to trace."""
        least, most = self.tokens
        tokens = least - 1 + _TOKENS[index]
        if most is not None:
            tokens = least + int((most - least + 1) * _SHARES[index])
        return Point(
            batch=1 if self.batch[1] == 1 else _BATCHES[index],
            tokens=tokens,
            rank=_RANKS[index],
            supervised=_SUPERVISED[index],
            clips=_CLIPS[index] if self.clips[1] != 0 else 0,
            frames=_FRAMES[index] if self.clips[1] != 0 else 0,
        )

    def varying(self, lora: bool) -> set[str]:
        """Variables that take several values within the class."""
        names = {"tokens", "supervised"}
        if self.batch[1] != 1:
            names.add("batch")
        if self.clips[1] != 0:
            names |= {"clips", "frames"}
        if lora:
            names.add("rank")
        return names


def classes(config: Any, hears: bool) -> list[StepClass]:
    """The classes of a model: of its text configuration's windows, and of its hearing."""
    text = config.get_text_config()
    sizes = {getattr(text, name, None) for name in ("sliding_window", "attention_chunk_size")}
    layers = set(getattr(text, "layer_types", None) or ())
    used = not layers or layers != {"full_attention"}
    edges = sorted(size for size in sizes if isinstance(size, int) and size > 0 and used)
    tokens: list[Bound] = []
    least = 1
    for edge in edges:
        tokens.append((least, edge))
        least = edge + 1
    tokens.append((least, None))
    # Traced with several clips. One clip alone makes some sixty small copies fewer of 34,000 storages: its peak as
    # several is within a few hundredths of a percent.
    clips: list[Bound] = [(0, 0), (1, None)] if hears else [(0, 0)]
    batches: list[Bound] = [(1, 1), (2, None)]
    # Those in which most varies come first: what they teach about sizes serves the others.
    return [StepClass(*bounds) for bounds in product(reversed(batches), reversed(tokens), reversed(clips))]
