"""Tokens without a processor: counted by what is known of a family of tokenizers, as an interval.

A tokenizer cuts text into words, digits, signs and line breaks, and each of these into tokens of its vocabulary. The
cutting is done here as it is there; which strings are tokens is told by a sketch of the family's real vocabulary
(``tests/estimates/calibrate.py`` makes it): fingerprints, no strings. Nothing but numpy is needed.
"""

from __future__ import annotations

from lint_dataset.estimates.families import Family, family_of, mismatch

__all__ = ["Family", "family_of", "mismatch"]
