"""FunASR and SenseVoice: ``{"key": …, "source": "1.wav", "source_len": …, "target": …, "target_len": …}``."""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.families.asr_manifest import transcribed
from lint_dataset.conversations.registry import Converted, family


@family(
    "funasr",
    keys=(("source",), ("target",), ("key", "source_len", "target_len")),
    order=33,
    read_by=("FunASR",),
)
def convert(row: dict[str, Any]) -> Converted:
    """The source is what the user says, the target the answer. The lengths are frames and tokens of FunASR's own."""
    return transcribed("funasr", row, ("source",), ("target",))
