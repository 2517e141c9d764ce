"""The target model's own processor: find its files, load it, render with its template, count with its tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_dataset.processors.location import Location, ProcessorUnavailable, locate

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor

__all__ = ["Location", "ProcessorUnavailable", "load", "locate"]


def load(location: Location) -> Processor:
    """The processor in a folder. This imports transformers, which takes seconds; raises ``ProcessorUnavailable``."""
    from lint_dataset.processors.loading import load as load_processor

    return load_processor(location)
