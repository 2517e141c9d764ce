"""Clips and images: where they are, and what their headers say of them. Nothing is decoded or fetched unless asked."""

from __future__ import annotations

from lint_dataset.media.finding import Medium, find, parts_of
from lint_dataset.media.library import Library
from lint_dataset.media.sound import Sound

__all__ = ["Library", "Medium", "Sound", "find", "parts_of"]
