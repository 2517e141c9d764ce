"""mlx-lm's data sets, batches and loss: ``pip install mlx-lm==0.32.2 "mlx[cpu]"``.

Each row is a batch of one. Its loss also counts the padding token that follows a row, which is no token of the row.
"""

from __future__ import annotations

from typing import Any

from tests.reach import made
from tests.reach.record import shown, versions

RUNS: list[tuple[dict[str, Any], str]] = [
    ({"loss_on": "all"}, "conversations"),
    ({"loss_on": "last"}, "conversations"),
    ({"loss_on": "last"}, "unanswered"),
    ({"loss_on": "last"}, "with_tools"),
    ({"loss_on": "all"}, "texts"),
]


def record(folder: str) -> dict[str, Any]:
    """Every run: the batch that a row becomes; ``nan`` where its loss is."""
    import math

    import mlx.core as mx
    import transformers
    from mlx_lm.tuner.datasets import create_dataset
    from mlx_lm.tuner.trainer import default_loss, iterate_batches

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    runs = []
    for plan, kind in RUNS:
        outcomes = []
        for row in getattr(made, kind)():
            arguments = type("Arguments", (), {"mask_prompt": plan["loss_on"] == "last"})
            data = create_dataset([row], tokenizer, arguments)
            try:
                ready = data.process(row)
            except ValueError as error:
                outcomes.append(type(error).__name__)
                continue
            ((batch, lengths),) = iterate_batches([ready], 1, made.LIMIT)
            loss, tokens = default_loss(lambda ids: mx.zeros((*ids.shape, len(tokenizer))), batch, lengths)
            length = int(lengths[0, 1].item())
            padding = int(batch.shape[1] > length >= int(lengths[0, 0].item()))
            sequence = {"ids": shown(batch[0, :length].tolist()), "trained": int(tokens.item()) - padding}
            outcomes.append([{**sequence, **({"nan": True} if math.isnan(loss.item()) else {})}])
        runs.append({"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes})
    return {"versions": versions("mlx-lm", "mlx", "transformers"), "runs": runs}
