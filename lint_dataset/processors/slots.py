"""How one kind of medium enters a text: what the template prints for it, and what the processor puts there instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

#: From the size of a medium (samples of a clip at the ear's rate; height and width of an image) and the longest of its
#: kind in the row to what takes the placeholder's place. None where that is not known. May raise for a size that the
#: processor refuses.
Measure = Callable[[Any, Any], "str | None"]


class Ear(NamedTuple):
    """What a processor does with a clip: resample it to ``rate`` Hz and keep the first ``longest`` samples (None: all).

    A clip of fewer than ``shortest`` samples is refused, or leaves the model nothing to hear.
    """

    rate: int
    longest: int | None
    shortest: int = 1


class Slot(NamedTuple):
    """One kind of medium.

    ``placeholder`` is what the template prints for it, ``soft`` the token whose embedding the encoder replaces.
    ``fixed`` is the replacement where it is always the same, else ``measured`` makes it from the size.
    """

    placeholder: str
    soft: str
    fixed: str | None
    measured: Measure

    def replacement(self, size: Any | None, longest: Any | None = None) -> str | None:
        """What takes the placeholder's place, None where that is not known. May raise what the processor raises."""
        if self.fixed is not None:
            return self.fixed
        return None if size is None else self.measured(size, size if longest is None else longest)


class Expansion(NamedTuple):
    """How a processor expands media: a slot per kind that it takes (``audio``, ``image``), and its ear."""

    slots: Mapping[str, Slot]
    ear: Ear


def run(placeholder: str, soft: str, count: Callable[[Any], int], before: str = "", after: str = "") -> Slot:
    """A slot whose replacement is ``before``, as many soft tokens as ``count`` makes of the size, and ``after``."""
    return Slot(placeholder, soft, None, lambda size, longest: before + soft * count(size) + after)
