"""What was measured before: measurements by the content of a row and the processor, hashes of files by their stat.

One SQLite file that several processes may use at once, and that survives being killed at any moment. It only saves
work: a cache that is broken or cannot be written is said in a line and done without. It holds numbers, spans and
codes, never text of the data.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import quote

from lint_dataset import measurements

_SCHEMA = """
CREATE TABLE IF NOT EXISTS measured (row BLOB, media TEXT, measurement TEXT, PRIMARY KEY (row, media)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hashed (path TEXT PRIMARY KEY, stat TEXT, digest TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, facts TEXT) WITHOUT ROWID;
"""
#: A name per shape of the file: another shape is another file, and an older program keeps using its own.
_FILE = f"measurements-{measurements.VERSION}.sqlite"
#: How long to wait for another process that writes.
_BUSY_SECONDS = 20.0
#: SQLite allows at least 999 values in one statement.
_CHUNK = 900


class Entry(NamedTuple):
    """One remembered measurement: as JSON, and what its media were (empty for a row without media)."""

    media: str
    measurement: str


class Cache:
    """The cache in a folder. It is a context manager; every method works, and remembers nothing, without a file.

    ``folder`` is, where it is None, ``LINT_DATASET_CACHE``, else ``lint-dataset`` under ``XDG_CACHE_HOME``, else
    under ``~/.cache``. ``say`` is given the one line about a cache that cannot be used (default: standard error).
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, say: Callable[[str], None] | None = None) -> None:
        """Open the cache, making its folder if it is not there."""
        self.path = folder_of(folder) / _FILE
        self._say = say or (lambda line: print(line, file=sys.stderr))
        self._connection: sqlite3.Connection | None = None
        self._writable = True
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError as error:
            self._recover(error)
        except OSError as error:
            self._only_read(error)

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. What was remembered is on the disk."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, list[Entry]]:
        """What is remembered of each key. A row has an entry for every set of media that it was measured with."""
        found: dict[bytes, list[Entry]] = {}
        every = list(dict.fromkeys(keys))
        for start in range(0, len(every), _CHUNK):
            chunk = every[start : start + _CHUNK]
            query = f"SELECT row, media, measurement FROM measured WHERE row IN ({','.join('?' * len(chunk))})"
            for key, media, measurement in self._read(query, chunk):
                found.setdefault(key, []).append(Entry(media, measurement))
        return found

    def put(self, entries: Iterable[tuple[bytes, Entry]]) -> None:
        """Remember measurements by their keys, all or none of them. What is there already is replaced."""
        rows = [(key, entry.media, entry.measurement) for key, entry in entries]
        self._write("INSERT OR REPLACE INTO measured VALUES (?, ?, ?)", rows)

    def facts(self, names: Iterable[str]) -> dict[str, str]:
        """What is remembered under names (hashes of a file as it is), as JSON: what the headers of clips say."""
        found: dict[str, str] = {}
        every = list(names)
        for start in range(0, len(every), _CHUNK):
            chunk = every[start : start + _CHUNK]
            query = f"SELECT name, facts FROM facts WHERE name IN ({','.join('?' * len(chunk))})"
            found.update(self._read(query, chunk))
        return found

    def remember(self, facts: Iterable[tuple[str, str]]) -> None:
        """Remember facts by their names, all or none of them."""
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(facts))

    def digest_of(self, path: Path) -> str:
        """The SHA-256 of a file, remembered while its path, size, time of change and inode stay the same."""
        from lint_dataset.processors.fingerprint import hash_file

        target = path.resolve()
        stat = identity(target)
        for known, digest in self._read("SELECT stat, digest FROM hashed WHERE path = ?", [str(target)]):
            if known == stat:
                return str(digest)
        digest = hash_file(target)
        # The stat is from before reading: a file that changes meanwhile is read again next time.
        self._write("INSERT OR REPLACE INTO hashed VALUES (?, ?, ?)", [(str(target), stat, digest)])
        return digest

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # The last transactions may be lost when the machine itself goes down, the file stays whole.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection

    def _read(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            self._recover(error)
            return []

    def _write(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        if self._connection is None or not self._writable or not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(statement, rows)
            self._connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            self._recover(error)

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        """Set a broken file aside and begin a new one; do without where the file is only out of reach."""
        self.close()
        if isinstance(error, sqlite3.OperationalError):
            self._only_read(error)
            return
        aside = self.path.with_suffix(f".broken-{os.getpid()}-{threading.get_ident()}")
        try:
            os.replace(self.path, aside)
            for ending in ("-wal", "-shm"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
            self._connection = self._open()
        except (sqlite3.DatabaseError, OSError) as again:
            self._give_up(again)
            return
        self._say(f"lint-dataset: the cache {self.path} was broken ({error}); it is set aside as {aside.name}")

    def _only_read(self, error: Exception) -> None:
        """Use what is remembered where nothing can be written: in a folder that others share, on a read-only disk."""
        try:
            if not self._writable or "locked" in str(error):  # Others are writing: what is read would be half of it.
                raise error
            self._writable = False
            # Immutable: where not even the lock files can be made, nobody writes.
            address = f"file:{quote(str(self.path))}?mode=ro&immutable=1"
            self._connection = sqlite3.connect(address, timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
            self._connection.execute("SELECT row, media, measurement FROM measured LIMIT 1").fetchall()
        except (sqlite3.Error, OSError):
            self.close()
            self._give_up(error)
            return
        self._say(f"lint-dataset: the cache {self.path} cannot be written ({error}); what is in it is used")

    def _give_up(self, error: Exception) -> None:
        self._say(f"lint-dataset: the cache {self.path} cannot be used ({error}); everything is measured anew")


def folder_of(folder: str | os.PathLike[str] | None) -> Path:
    """Where the cache is, absolute."""
    if folder is None:
        folder = os.environ.get("LINT_DATASET_CACHE") or None
    if folder is not None:
        return Path(folder).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "lint-dataset"


def key_of(row_hash: str, fingerprint: str) -> bytes:
    """The key of a row under a processor."""
    return hashlib.sha256(f"{row_hash} {fingerprint}".encode()).digest()[:16]


def identity(path: str | os.PathLike[str]) -> str:
    """What a file is without reading it: size, time of change and inode, or that it is not there."""
    try:
        stat = os.stat(path)
    except OSError:
        return "missing"
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
