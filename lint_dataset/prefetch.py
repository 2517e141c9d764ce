"""Fetch now what a run without network needs later: the processor of the plan's model, and nothing else of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lint_dataset.plan import Plan
from lint_dataset.processors import ProcessorUnavailable, locate
from lint_dataset.processors.location import files_of
from lint_dataset.usage import UsageError

if TYPE_CHECKING:
    import os


def prefetch(plan: Plan, cache_dir: str | os.PathLike[str] | None = None) -> str:
    """Download the processor of a plan unless it is here, and say where it is: one line, and one a file.

    Raises ``UsageError`` where it cannot be had, or where the plan names no model.
    """
    if plan.model is None and plan.tokenizer is None:
        raise UsageError("--prefetch fetches the processor of a model: name it with --model")
    try:
        location = locate(
            plan.model,
            plan.tokenizer,
            None if cache_dir is None else str(cache_dir),
            revision=plan.revision,
            chat_template=plan.chat_template,
        )
    except ProcessorUnavailable as problem:
        raise UsageError(str(problem)) from None
    folder = Path(location.folder)
    files = files_of(folder)
    sizes = [path.stat().st_size for path in files]
    width = max(len(f"{size:,}") for size in sizes)
    lines = [f"the processor of {location.name} is in {folder}"]
    lines += [f"  {size:>{width},}  {path.relative_to(folder)}" for size, path in zip(sizes, files, strict=True)]
    return "\n".join(lines)
