"""Plain text: ``{"text": …}``, trained on as it is."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation
from lint_dataset.faults import Fault


@family(
    "text",
    keys=(("text",),),
    order=40,
    read_by=("trl", "hf", "unsloth", "axolotl", "ms-swift", "torchtune", "nemo", "mlx-lm"),
    wrongly="supervised fine-tuning leaves out rows without an answer (pre-training reads them)",
)
def convert(row: dict[str, Any]) -> Converted:
    """The text itself."""
    text = row["text"]
    if not isinstance(text, str):
        return None, [Fault("S003", {"field": "text", "got": type_name(text), "expected": "string"})]
    faults = [] if text.strip() else [Fault("M009", {"message": None, "field": "text"})]
    return Conversation("text", text=text), faults
