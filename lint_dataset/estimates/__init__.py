"""Tokens without a processor: counted by what is known of a family of tokenizers, as an interval.

A tokenizer cuts text into words, digits, signs and line breaks, and each of these into tokens. The cutting is done
here as it is there; what a piece costs comes from tables fitted to the family's real tokenizer
(``tests/estimates/calibrate.py`` makes them). No vocabulary is shipped, and nothing but numpy is needed.
"""

from __future__ import annotations

from lint_dataset.estimates.families import Family, family_of

__all__ = ["Family", "family_of"]
