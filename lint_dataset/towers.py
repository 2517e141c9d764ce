"""Towers for clips and images whose memory is not known: said, so that nobody believes that they were judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lint_dataset.memory import StepMemory
    from lint_dataset.plan import Plan
    from lint_dataset.rows import Rows


def untraced(rows: Rows, plan: Plan, memory: StepMemory | None) -> list[str]:
    """A sentence for each tower that works on the rows' media while its memory is not known; none without a budget."""
    if memory is None or plan.budget is None:
        return []
    media, said = rows.media, []
    for kind, tower, mine in (
        ("clips", "audio tower", media.audio & (not memory.hears)),
        ("images", "vision tower", ~media.audio),
    ):
        count = len(np.unique(media.row[mine]))
        if count:
            those = f"{count:,} row{'' if count == 1 else 's'} with {kind} judged by tokens alone"
            said.append(f"memory: what the {tower} of {plan.model} takes is not traced yet: {those}")
    return said
