"""LLaVA: ``{"id": …, "image": "1.jpg", "conversations": [{"from": "human", "value": "<image>\\n…"}, …]}``."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.families import sharegpt
from lint_dataset.conversations.registry import Converted, family


@family(
    "llava",
    keys=(("conversations",), ("image", "video")),
    order=25,
    where=lambda row: any(isinstance(row.get(name), str) for name in ("image", "video")),
    like="sharegpt",
    read_by=("LLaVA's own scripts", "ms-swift", "llama-factory"),
)
def convert(row: dict[str, Any]) -> Converted:
    """ShareGPT turns, with the one image where the text has its placeholder."""
    conversation, faults = sharegpt.read(row, "llava")
    # Who does not read such rows reads neither their turns nor their image.
    return conversation, [fault for fault in faults if fault.code not in ("S006", "S007")]
