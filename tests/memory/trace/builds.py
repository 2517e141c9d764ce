"""Every model of the table, built on the meta device: ``python -m tests.memory.trace.builds [PART OF A NAME]...``.

Prints the class and the parameters of each, or why its steps cannot be traced, and traces one step of each that can,
without making programs. Takes a minute or two. Status 1 where a model fails for a reason that the table does not give.
"""

from __future__ import annotations

import os
import sys

from lint_dataset.memory.trace import TraceError
from lint_dataset.memory.trace.model import numel
from lint_dataset.memory.trace.step import Point, Tracer
from lint_dataset.models import MODELS

from .seen import recipe


def main(names: list[str]) -> int:
    """See the module."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    failed = 0
    for model in MODELS:
        if names and not any(name.casefold() in model.alias.casefold() for name in names):
            continue
        if not model.config:
            print(f"{model.alias:30} no configuration in the table: that of its repository is traced", flush=True)
            continue
        try:
            tracer = Tracer(recipe(model.alias))
            made = type(tracer.model.get_base_model()).__name__
            births = len(tracer.trace(Point(3, 700, 16, 500)).sizes)
            said = f"{made} {numel(tracer.model) / 1e9:.2f} B, {births} births a step"
        except TraceError as error:
            known = bool(model.untraced) and str(error).endswith(model.untraced)
            failed += not known
            said = str(error) if known else f"FAILS: {error} ({error.__cause__!r})"
        print(f"{model.alias:30} {said}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
