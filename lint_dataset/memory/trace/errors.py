"""What can be wrong with a recipe; no torch is needed to catch it."""

from __future__ import annotations


class TraceError(ValueError):
    """This recipe cannot be traced; the message says why in one sentence."""


class TraceUnavailable(TraceError):
    """This machine cannot trace; the message says what to install."""
