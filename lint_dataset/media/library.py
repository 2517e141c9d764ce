"""The clips of a dataset: each header read once, many at a time, and remembered while the file stays the same."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lint_dataset.media.decoding import decode
from lint_dataset.media.finding import Medium, find
from lint_dataset.media.sound import Sound, read, read_bytes, reason_of

if TYPE_CHECKING:
    from lint_dataset.cache import Cache

#: Threads that wait for headers: a few more than cores, since most of their time is the disk's.
_THREADS = 8
#: What may be opened of an address, if anything may, by fsspec.
_PROTOCOLS = ("https", "http", "s3", "gs", "gcs", "hf")


class Library:
    """Where clips are looked up. ``decode`` reads them whole, ``fetch`` opens the addresses that rows name.

    Without a ``cache`` nothing is remembered between runs.
    """

    def __init__(self, cache: Cache | None = None, *, decode: bool = False, fetch: bool = False) -> None:
        """An empty one."""
        self._cache = cache
        self._decode = decode
        self._fetch = fetch
        self._known: dict[tuple[str, str], Sound] = {}

    def sound(self, source: Any, folder: str) -> tuple[Medium, Sound]:
        """A clip: where it is, and what it is. A clip that is nowhere has an empty description. Never raises."""
        medium = find(source, folder)
        if medium.samples is not None:
            return medium, _of_samples(medium)
        if medium.content is not None:
            return medium, self._of_bytes(medium.content)
        key = _key(medium)
        if key is None or (key[0] == "" and not self._fetch):
            return medium, Sound()
        if key not in self._known:
            self._known[key] = self._look(key)
        found = self._known[key]
        return (medium._replace(problem="") if key[0] == "" else medium), found

    def prepare(self, sources: Iterable[tuple[Any, str]]) -> None:
        """Read the headers of many clips (source and folder), several at a time; what was known before is dropped."""
        wanted: dict[tuple[str, str], None] = {}
        for source, folder in sources:
            key = _key(find(source, folder))
            if key is not None and (key[0] or self._fetch):
                wanted[key] = None
        self._known = {key: sound for key, sound in self._known.items() if key in wanted}
        new = [key for key in wanted if key not in self._known]
        if self._cache is not None:
            names = {key: self._name(key, self._cache) for key in new}
            facts = self._cache.facts(names.values())
            self._known |= {key: Sound(*json.loads(facts[name])) for key, name in names.items() if name in facts}
            new = [key for key in new if key not in self._known]
        if not new:
            return
        with ThreadPoolExecutor(_THREADS) as pool:
            found = dict(zip(new, pool.map(self._look, new), strict=True))
        self._known |= found
        if self._cache is not None:
            self._cache.remember((names[key], json.dumps(sound)) for key, sound in found.items() if key[0])

    def identity(self, source: Any, folder: str) -> str:
        """What a clip is, as far as a measurement can tell: another text whenever it could be measured differently."""
        medium, sound = self.sound(source, folder)
        return json.dumps([medium.problem, medium.outside, medium.samples is not None, *sound])

    def _name(self, key: tuple[str, str], cache: Cache) -> str:
        """What a clip is remembered by: its content where it is read whole anyway, else its place and its stat.

        A header is read again sooner than a file is hashed. Measurements do not hang on either: they are remembered
        by what the clips are (``identity``), so a checkout that touches every file costs their headers and no more.
        """
        if self._decode and key[0]:
            return f"decoded {cache.digest_of(Path(key[0]))}"
        return hashlib.sha256(f"{key[0]} {key[1]}".encode("utf-8", "surrogateescape")).hexdigest()

    def _look(self, key: tuple[str, str]) -> Sound:
        """Open a clip and read it. The key is the path and the stat of a file, or nothing and an address."""
        path, rest = key
        if not path:
            return self._of_address(rest)
        try:
            with open(path, "rb", buffering=0) as file:
                return self._read(file, os.fstat(file.fileno()).st_size, path)
        except OSError as error:
            return Sound(problem="unreadable", reason=reason_of(error, path))

    def _read(self, file: Any, size: int, name: str) -> Sound:
        sound = read(file, size, name)
        if not self._decode or sound.problem:
            return sound
        return decode(file, sound, name)

    def _of_bytes(self, content: bytes) -> Sound:
        sound = read_bytes(content)
        return decode(io.BytesIO(content), sound) if self._decode and not sound.problem else sound

    def _of_address(self, address: str) -> Sound:
        """Open an address, which was allowed: only what is needed of it is read."""
        try:
            import fsspec

            protocol = urlsplit(address).scheme.lower()
            if protocol not in _PROTOCOLS:
                return Sound(problem="unreadable", reason=f"{protocol}:// is not a place that is opened")
            with fsspec.filesystem(protocol).open(address, "rb") as file:
                return self._read(file, int(file.size or 0), address)
        except Exception as error:  # every file system has its own
            return Sound(problem="unreadable", reason=reason_of(error, address))


def _key(medium: Medium) -> tuple[str, str] | None:
    """What names a clip: its file as it is at this moment, or its address; None for one that is neither."""
    if medium.path is not None:
        from lint_dataset.cache import identity

        return str(Path(os.path.abspath(medium.path))), identity(medium.path)
    return ("", medium.address) if medium.address is not None else None


def _of_samples(medium: Medium) -> Sound:
    """A clip that a row holds as samples. One without a rate is taken at the rate that it is wanted at."""
    frames = medium.samples or 0
    return Sound(frames, medium.rate or 0, medium.channels, "" if frames else "empty")
