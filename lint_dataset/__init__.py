"""lint-dataset: before a fine-tuning run, the examples that would run out of memory or lose their answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lint_dataset.api import lint
    from lint_dataset.plan import Plan

__version__ = "0.1.0"
__all__ = ["Plan", "__version__", "lint"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: ``import lint_dataset`` itself stays instant."""
    if name == "lint":
        from lint_dataset.api import lint

        return lint
    if name == "Plan":
        from lint_dataset.plan import Plan

        return Plan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
