"""The files of a folder that hold rows."""

from __future__ import annotations

import os

from lint_dataset.sources.registry import format_of, place_of
from lint_dataset.sources.stream import Input, decompress

#: Enough of a file to see whether it begins like one that holds rows.
_GLANCE = 2**16


def in_folder(folder: str) -> list[str]:
    """The files and saved datasets with rows, at any depth but in no hidden folder; or the folder, if it is one.

    A folder inside that cannot be read is given too, so that reading it says so.
    """
    if place_of(folder) is not None:
        return [folder]
    found: list[str] = []
    unreadable: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=unreadable.append):
        datasets = [name for name in folders if place_of(os.path.join(place, name)) is not None]
        found += [os.path.join(place, name) for name in datasets]
        folders[:] = [name for name in folders if not name.startswith(".") and name not in datasets]
        found += [path for name in names if _holds_rows(path := os.path.join(place, name), name)]
    return [*found, *(str(error.filename) for error in unreadable)]


def _holds_rows(path: str, name: str) -> bool:
    known, compression = format_of(name)
    if known is None or known.wanted is None:
        return known is not None
    try:
        with open(path, "rb") as file:
            source = Input(path, file)
            if compression is not None:
                source = decompress(source, compression)
            head = source.file.read(_GLANCE)
            # Reading a file without anything in it, or a damaged one, says what is wrong.
            return not head or known.wanted(head)
    except OSError:
        return True
