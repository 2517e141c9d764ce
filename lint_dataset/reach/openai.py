"""OpenAI's fine-tuning API: longer rows are cut, and the loss is on the assistant's messages of ``weight`` 1.

From the published cookbook; which end is cut is not said there, and taken to be the end of the row.
"""

from __future__ import annotations

from lint_dataset.reach.none import reach

__all__ = ["reach"]
