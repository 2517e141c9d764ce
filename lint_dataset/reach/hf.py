"""transformers' Trainer: rows are cut where the tokenizer was told to cut, and none is dropped.

The Trainer itself never looks at lengths; ``max_length`` stands for the ``tokenizer(..., truncation=True,
max_length=...)`` that people map over their dataset, which cuts at the tokenizer's ``truncation_side``.
"""

from __future__ import annotations

from lint_dataset.reach.none import reach

__all__ = ["reach"]
