"""Writing a file whole or not at all, and never over a dataset."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO

from lint_dataset.usage import UsageError


def distinct(outputs: Mapping[str, str | None]) -> None:
    """Raise ``UsageError`` where two options (by their names) would write one file."""
    places: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None or path == "-":
            continue
        other = places.setdefault(os.path.realpath(path), option)
        if other != option:
            raise UsageError(f"{option} and {other} both name {path}: one would overwrite the other")


def check(path: str, inputs: Iterable[str] = ()) -> None:
    """Raise ``UsageError`` when ``path`` is one of the ``inputs`` (by whatever name), or a folder."""
    target = os.path.realpath(path)
    for source in inputs:
        with suppress(OSError):
            if os.path.samefile(target, source):
                raise UsageError(f"{path} is one of the files to check: name another file, so that it is not lost")
    if os.path.isdir(target):
        raise UsageError(f"{path} is not a file: name a file to write")


@contextmanager
def writing(path: str, inputs: Iterable[str] = ()) -> Iterator[BinaryIO]:
    """A file to write that becomes ``path`` when the block ends without an error, and leaves nothing when it does not.

    It is written beside its place and moved there, so a reader sees the old file or the whole new one. Raises
    ``UsageError`` when ``path`` is one of the ``inputs`` (by whatever name) or cannot be written.
    """
    check(path, inputs)
    if os.path.exists(path) and not os.path.isfile(path):  # A pipe or a device, such as /dev/stdout.
        try:
            with open(path, "wb") as stream:
                yield stream
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
        return
    target = os.path.realpath(path)
    beside = ""
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target))
        with open(handle, "wb") as file:
            yield file
        os.chmod(beside, _mode(target))
        os.replace(beside, target)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            os.unlink(beside)


def _mode(target: str) -> int:
    """The permissions the file has, or a new one would get: a temporary file is readable by its owner only."""
    with suppress(OSError):
        return os.stat(target).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
