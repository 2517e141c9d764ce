"""A peak that somebody measured, as ``--calibrate`` takes it: ``41.2GB@1536`` or ``41.2GB@4x1536``."""

from __future__ import annotations

import re
from typing import NamedTuple

from lint_dataset.sizes import format_bytes, parse_bytes
from lint_dataset.usage import PlanError


class MeasuredPeak(NamedTuple):
    """What a training process took at most: ``size`` bytes in all, as ``nvidia-smi`` shows it for the process.

    Its longest step held ``batch`` examples of so many ``tokens``.
    """

    size: int
    batch: int
    tokens: int
    #: The size as it was written.
    written: str

    @classmethod
    def parse(cls, text: str, batch: int = 1) -> MeasuredPeak:
        """The peak of a text that may leave out the ``batch``.

        Raises ``PlanError`` for what is not a size, ``@``, and tokens or batch x tokens.
        """
        size, at, step = text.partition("@")
        match = re.fullmatch(r"\s*(?:([1-9]\d{0,8})\s*[x*]\s*)?([1-9]\d{0,8})\s*", step)
        if not at or match is None:
            raise PlanError(
                f"calibrate {text!r} is not a measured peak: write what the process took and the tokens of its longest "
                "step, such as 41.2GB@1536, or 41.2GB@4x1536 for 4 examples of 1536 tokens"
            )
        return cls(parse_bytes(size, "calibrate"), int(match[1] or batch), int(match[2]), size.strip())

    @property
    def text(self) -> str:
        """The peak as a setting, batch and all: ``41.2GB@1x1536``."""
        return f"{self.written}@{self.batch}x{self.tokens}"

    def __str__(self) -> str:
        """``41.2 GB at 1,536 tokens``."""
        batch = f"{self.batch:,} x " if self.batch > 1 else ""
        return f"{format_bytes(self.size)} at {batch}{self.tokens:,} tokens"
