"""libmpg123, inside libsndfile, writes to standard error where the Xing header of an MP3 does not fit: not here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from lint_dataset.media.promises import xing_bytes

#: It speaks up from a difference of 1 % on, and knows tags that are not looked for here.
_TOLERATED = 0.005
_ERRORS = 2
_one_at_a_time = Lock()


@contextmanager
def quiet(head: bytes, size: int) -> Iterator[None]:
    """While an MP3 of ``size`` bytes is open that begins with ``head`` and counts other bytes, nothing is written.

    Whatever else the process writes to standard error in that moment is lost too: it is only done for such files, and
    what is wrong with them is said as a finding.
    """
    xing = xing_bytes(head, size)
    if xing is None or abs(xing.counted - xing.there) <= _TOLERATED * xing.there:
        yield
        return
    with _one_at_a_time:
        try:
            kept = os.dup(_ERRORS)
        except OSError:  # a process without standard error
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, _ERRORS)
            yield
        finally:
            os.dup2(kept, _ERRORS)
            os.close(kept)
            os.close(nowhere)
