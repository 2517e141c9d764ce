"""What the header of an audio file says, without decoding it."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, NamedTuple

from lint_dataset.media.containers import foreign, measure
from lint_dataset.media.promises import missing
from lint_dataset.media.quiet import quiet

#: Longer is no clip of a dataset but a header that lies, or a bomb: a day.
LONGEST_SECONDS = 86_400
#: What of a file's begin is looked at: its magic, and where an MP3 has it, the Xing header.
HEAD = 4096
#: The begin of a file that stands for the real one until `git lfs pull` or `git annex get` brings it.
_POINTERS = (b"version https://git-lfs.github.com/spec/", b"/annex/objects/")


class Sound(NamedTuple):
    """A clip as its header describes it: frames at ``rate`` Hz in ``channels``.

    ``problem`` says why there is nothing to hear: ``"pointer"`` (of Git LFS), ``"unreadable"`` with the ``reason``,
    ``"empty"``, ``"foreign"`` (a format that only FFmpeg knows, measured or not). ``held`` are the seconds that the
    file really has where its header promises more. ``silent`` is only known of a clip that was decoded.
    """

    frames: int = 0
    rate: int = 0
    channels: int = 0
    problem: str = ""
    reason: str = ""
    held: float | None = None
    silent: bool | None = None

    @property
    def seconds(self) -> float:
        """Its length; 0 where that is not known."""
        return self.frames / self.rate if self.rate > 0 else 0.0


def read(file: BinaryIO, size: int, name: str = "the file") -> Sound:
    """Read the header of an open, seekable file of ``size`` bytes. Never raises. ``name`` is kept out of the reason.

    A file of the system has to be open without a buffer.
    """
    import soundfile

    try:
        head = file.read(HEAD)
        if head.startswith(_POINTERS[0]) or _POINTERS[1] in head[:200]:
            return Sound(problem="pointer")
        container = foreign(head)
        file.seek(0)
        if container is not None:
            frames, rate, channels = measure(file) or (0, 0, 0)
            return Sound(frames, rate, channels, "foreign", container)
        with quiet(head, size), soundfile.SoundFile(_handle(file), closefd=False) as opened:
            sound = Sound(opened.frames, opened.samplerate, opened.channels)
        if sound.seconds > LONGEST_SECONDS:
            return Sound(problem="unreadable", reason=f"its header claims {sound.seconds / 3600:,.0f} hours")
        lost = missing(file, size, head, sound.frames, sound.rate)
        if (sound.frames <= 0 and lost is None) or sound.rate <= 0:
            return sound._replace(problem="empty")
        if lost is None:
            return sound
        promised = min(lost.promised or sound.frames, LONGEST_SECONDS * sound.rate)
        return sound._replace(frames=promised, held=round(lost.held / sound.rate, 3))
    except Exception as error:  # libsndfile and the file system name their reasons, and there are many
        return Sound(problem="unreadable", reason=reason_of(error, name))


def _handle(file: BinaryIO) -> Any:
    """What libsndfile reads by itself, a number of the system; the file where there is none.

    The system's place in the file is then its own: that holds for a file that Python does not buffer.
    """
    try:
        return file.fileno()
    except OSError:
        return file


def read_bytes(content: bytes) -> Sound:
    """The header of a clip in memory."""
    return read(io.BytesIO(content), len(content))


def reason_of(error: Exception, name: str) -> str:
    """Why a clip cannot be read, in a line, without naming it."""
    text = getattr(error, "error_string", None) or getattr(error, "strerror", None) or str(error)
    lines = str(text).strip().rstrip(".").splitlines()
    first = lines[0] if lines else type(error).__name__
    return first.replace(name, "the file")[:120]
