"""The one kind of error that a person sees as one line: something that was asked for cannot be."""

from __future__ import annotations


class UsageError(ValueError):
    """One line that names what cannot be, and what can. The command line prints it and exits with status 2."""


class PlanError(UsageError):
    """A setting that cannot be: one line that names the setting, the value and what it may be."""
