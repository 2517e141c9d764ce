"""The machines that people train on: what memory each really has, and which one this is.

``cards.py`` and ``apple.py`` are the data, ``present.py`` looks at this machine. Nothing heavy is imported.
"""

from __future__ import annotations

import difflib

from lint_dataset.machines import apple, cards
from lint_dataset.machines.machine import Machine
from lint_dataset.usage import UsageError

__all__ = ["Machine", "find", "named"]


def find(name: str) -> Machine | None:
    """The card or Apple machine of that name, however it is spelled (``rtx-4090``, ``RTX4090``, ``4090``), or None."""
    return cards.find(name) or apple.find(name)


def named(name: str) -> Machine:
    """The machine of that name; for ``auto`` the one that we are on, with the memory that is free there.

    Raises ``UsageError``, one line that says what could have been meant.
    """
    if name.casefold() == "auto":
        from lint_dataset.machines.present import present

        return present()
    machine = find(name)
    if machine is not None:
        return machine
    known = [card.name for card in cards.CARDS]
    meant = [each for each in known if each.startswith(f"{name.casefold()}-")]
    meant = meant or difflib.get_close_matches(name.casefold(), known, 3) or ["t4", "rtx-4090", "h100", "m3-36gb"]
    raise UsageError(
        f"device {name!r} is not known: choose cuda, mps, auto, or a machine "
        f"such as {', '.join(meant)} (--list-devices)"
    )
