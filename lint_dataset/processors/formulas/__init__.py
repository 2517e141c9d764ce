"""Closed formulas: what a processor puts in the place of a medium, from the medium's size and the settings alone.

One file a family, each with its source. They spare a processor that pads every clip to minutes and computes its
spectrogram to count it, and they count where the processor cannot be loaded, for want of torch or torchvision.
docs/audio.md has the table that holds them against the processors themselves.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

from lint_dataset.processors.settings import Settings
from lint_dataset.processors.slots import Expansion

#: The text of a special token by its name in the tokenizer (``audio_token``), or what it is without that name.
Token = Callable[[str, str], str]
Formula = Callable[[Settings, Token], Expansion]

_registry: dict[str, Formula] = {}


def formula(*processors: str) -> Callable[[Formula], Formula]:
    """Register the decorated function as the formula of these processor classes."""

    def register(made: Formula) -> Formula:
        _registry.update(dict.fromkeys(processors, made))
        return made

    return register


@cache
def _formulas() -> dict[str, Formula]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return _registry


def expansion_of(settings: Settings, tokenizer: Any) -> Expansion | None:
    """How the processor of these settings expands media; None where no formula is known for its class."""
    made = _formulas().get(settings.processor)

    def token(name: str, default: str) -> str:
        found = getattr(tokenizer, name, None)
        return found if isinstance(found, str) else default

    return made(settings, token) if made is not None else None
