"""Files, folders, datasets and addresses → numbered raw examples, byte for byte, in a stream.

What belongs to a file as a whole (it is missing, cut off, a pointer) is said once, in a row without bytes, on the way.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator

from lint_dataset.faults import Fault
from lint_dataset.sources.contents import contents
from lint_dataset.sources.example import RawExample, about_file, restore
from lint_dataset.sources.folders import in_folder
from lint_dataset.sources.registry import place_of
from lint_dataset.sources.stream import Input

__all__ = ["RawExample", "expand", "read", "restore", "shown"]


def expand(paths: Iterable[str]) -> list[str]:
    """What ``paths`` (files, folders, globs with ``**``, ``-``, ``hf:`` names, addresses) stand for: sorted, each once.

    Folders give the files in them that hold rows, at any depth, except in hidden folders. A path that matches nothing
    stays, so that reading it says so.
    """
    found: set[str] = set()
    for path in paths:
        if os.path.isdir(path):
            matches = in_folder(path)
        elif place_of(path) is not None:
            found.add(path)
            continue
        elif os.path.isfile(path):
            matches = [path]
        else:
            matches = []
            for match in glob.iglob(path, recursive=True):
                matches += in_folder(match) if os.path.isdir(match) else [match]
        found.update(_plain(match) for match in matches or [path])
    return sorted(found)


def shown(path: str) -> str:
    """A path as reports and columns hold it: one that is not Unicode with its bytes escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def read(path: str, *, fetch: bool = False) -> Iterator[RawExample]:
    """The rows of one file or dataset, in a stream. Never raises for what it holds.

    An address on the network is opened only where ``fetch`` says so.
    """
    line = 1
    place = place_of(path)
    try:
        for row in _local(path) if place is None else place.read(path, fetch):
            line = row.line
            yield row
    except FileNotFoundError:
        wildcard = glob.has_magic(path)
        yield about_file(path, Fault("J001", {"problem": "no_match" if wildcard else "not_found"}), line)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or ("not a valid path" if "\0" in path else str(error))
        yield about_file(path, Fault("J001", {"problem": "unreadable", "reason": reason}), line)


def _plain(path: str) -> str:
    """The path without detours, except where it would then be taken for something else, as a file named ``-``."""
    plain = os.path.normpath(path)
    return plain if os.path.isdir(path) or place_of(plain) is None else path


def _local(path: str) -> Iterator[RawExample]:
    # Opening a pipe or a device can wait for ever, and none of them can be linted twice alike.
    if not stat.S_ISREG(os.stat(path).st_mode):
        if os.path.isdir(path):
            os.listdir(path)  # says if it cannot be read
        problem = "folder" if os.path.isdir(path) else "not_a_file"
        yield about_file(path, Fault("J001", {"problem": problem}))
        return
    line = 1
    with open(path, "rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        for row in contents(path, Input(path, file, path)):
            line = row.line
            yield row
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        changed = {"size_before": before.st_size, "size_after": after.st_size}
        yield about_file(path, Fault("J016", changed), line)
