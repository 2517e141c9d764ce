"""T: what nobody asked for and happens all the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lint_dataset.rules import Finding, Judged, rule
from lint_dataset.summary import by_default


@rule(
    "T010",
    "default-max-length",
    "warning",
    what="No max_length is given, and the one that the trainer takes by itself would cut answers or drop rows.",
    why="TRL cuts at 1,024 tokens, axolotl drops rows beyond 512, and neither says which rows that were.",
    remedy="Name the max_length of your training with --max-length; then every row is judged by it.",
    example='{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "… 1,400 tokens …"}]}',
)
def default_max_length(judged: Judged) -> Iterator[Finding]:
    """Once a file, at its first row that is longer than the trainer's own max_length."""
    cuts = by_default(judged)
    if cuts is None or not (cuts.cut or cuts.unseen or cuts.dropped):
        return
    paths = judged.rows.table.column("path").to_numpy(zero_copy_only=False)
    release = judged.plan.preset.release
    long = np.flatnonzero(judged.rows.tokens > cuts.max_length)
    for path in dict.fromkeys(paths[long]):
        mine = long[paths[long] == path]
        yield Finding(
            int(mine[0]),
            f"no max_length is given, and {release} takes {cuts.max_length:,}: {judged.figure(len(mine))} examples of "
            f"this file are longer, this one {judged.figure(int(judged.rows.tokens[mine[0]]))} tokens",
            "Set max_length in your training, and say it here with --max-length: every row is then judged by it.",
            {"max_length": cuts.max_length, "longer": len(mine), "tokens": int(judged.rows.tokens[mine[0]])},
        )
