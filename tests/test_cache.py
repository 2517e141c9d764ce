"""The cache: shared by processes that are killed at any moment, and never in the way."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from lint_dataset.cache import Cache, Entry, folder_of, identity, key_of
from lint_dataset.processors.fingerprint import hash_file

REPOSITORY = Path(__file__).parent.parent


def writer(folder: Path, name: str, batches: int) -> subprocess.Popen[str]:
    """A process that remembers batches of ten rows and says each when it is on the disk."""
    program = f"""
        from lint_dataset.cache import Cache, Entry, key_of
        with Cache({str(folder)!r}) as cache:
            for batch in range({batches}):
                rows = [(key_of(f"{name}-{{batch}}-{{row}}", "p"), Entry("", f"{{batch}}")) for row in range(10)]
                cache.put(rows)
                print(batch, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)


def keys(name: str, batch: int) -> list[bytes]:
    return [key_of(f"{name}-{batch}-{row}", "p") for row in range(10)]


def test_remembers_by_row_processor_and_media(tmp_path: Path) -> None:
    key, other = key_of("row", "processor"), key_of("row", "another")
    with Cache(tmp_path) as cache:
        cache.put([(key, Entry("", "1")), (key, Entry("clip", "2"))])
    with Cache(tmp_path) as cache:
        assert sorted(cache.get([key, other, key])[key]) == [("", "1"), ("clip", "2")]
        assert other not in cache.get([other])
        cache.put([(key, Entry("", "3"))])
        assert Entry("", "3") in cache.get([key])[key]


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINT_DATASET_CACHE", str(tmp_path / "own"))
    assert folder_of(None) == tmp_path / "own"
    assert folder_of("given") == Path.cwd() / "given"
    monkeypatch.delenv("LINT_DATASET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder_of(None) == tmp_path / "xdg" / "lint-dataset"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_of(None) == tmp_path / ".cache" / "lint-dataset"


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    writers = [writer(tmp_path, name, 60) for name in ("one", "two", "three")]
    for process in writers:
        process.communicate(timeout=120)
        assert process.returncode == 0
    with Cache(tmp_path) as cache:
        for name in ("one", "two", "three"):
            for batch in range(60):
                assert len(cache.get(keys(name, batch))) == 10


def test_killed_while_writing(tmp_path: Path) -> None:
    """Whatever was said to be on the disk is there, no batch is there in part, and the file is whole."""
    for turn in range(4):
        process = writer(tmp_path, f"turn{turn}", 100_000)
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(5)]
        time.sleep(0.02 * turn)
        os.kill(process.pid, signal.SIGKILL)
        said += [int(line) for line in process.stdout.read().split("\n")[:-1] if line]
        process.wait(timeout=60)
        with Cache(tmp_path, say=pytest.fail) as cache:
            for batch in said:
                assert len(cache.get(keys(f"turn{turn}", batch))) == 10
            for batch in range(said[-1] + 1, said[-1] + 5):
                assert len(cache.get(keys(f"turn{turn}", batch))) in (0, 10)
    with Cache(tmp_path) as cache:
        connection = sqlite3.connect(cache.path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()


@pytest.mark.parametrize("damage", ["garbage", "cut", "middle"])
def test_a_broken_file_is_set_aside_and_made_anew(tmp_path: Path, damage: str) -> None:
    rows = [(key_of(f"{row}", "p"), Entry("", "x" * 500)) for row in range(2000)]
    with Cache(tmp_path) as cache:
        cache.put(rows)
        path = cache.path
    content = path.read_bytes()
    if damage == "garbage":
        path.write_bytes(b"no database " * 1000)
    elif damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    else:
        middle = len(content) // 4
        path.write_bytes(content[:middle] + os.urandom(len(content) // 2) + content[middle + len(content) // 2 :])
    said: list[str] = []
    with Cache(tmp_path, say=said.append) as cache:
        cache.get(key for key, _ in rows)
        cache.put(rows)
        assert len(cache.get(key for key, _ in rows)) == 2000
    assert len(said) == 1
    assert "set aside" in said[0]
    assert "\n" not in said[0]
    assert len(list(tmp_path.glob("*.broken-*"))) == 1
    with Cache(tmp_path, say=pytest.fail) as cache:
        assert len(cache.get(key for key, _ in rows)) == 2000


def test_does_without_where_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said: list[str] = []
    with Cache(tmp_path / "file" / "below", say=said.append) as cache:
        cache.put([(b"key", Entry("", "1"))])
        assert cache.get([b"key"]) == {}
        assert cache.digest_of(tmp_path / "file") == hash_file(tmp_path / "file")
    assert len(said) == 1
    assert "cannot be used" in said[0]


def test_a_cache_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cache(tmp_path) as cache:
        cache.put([(b"key", Entry("", "1"))])
    connect = sqlite3.connect

    def read_only(path: Any, **options: Any) -> sqlite3.Connection:
        """As on a read-only disk, which a test that runs as root cannot have."""
        if not options.get("uri"):
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return connect(path, **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    before = sorted(path.name for path in tmp_path.iterdir())
    said: list[str] = []
    with Cache(tmp_path, say=said.append) as cache:
        assert cache.get([b"key"]) == {b"key": [Entry("", "1")]}
        cache.put([(b"other", Entry("", "2"))])
        assert cache.get([b"other"]) == {}
        assert cache.digest_of(tmp_path / cache.path.name) == hash_file(tmp_path / cache.path.name)
    assert len(said) == 1
    assert "cannot be written" in said[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    said.clear()
    with Cache(tmp_path / "none", say=said.append) as cache:
        assert cache.get([b"key"]) == {}
    assert "cannot be used" in said[0]


def test_the_hash_of_a_file_is_remembered_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lint_dataset.processors import fingerprint

    path = tmp_path / "tokenizer.json"
    path.write_text("one")
    with Cache(tmp_path / "cache") as cache:
        first = cache.digest_of(path)
        assert first == hash_file(path)
        monkeypatch.setattr(fingerprint, "hash_file", lambda path: pytest.fail("read again"))
        assert cache.digest_of(path) == first
        monkeypatch.undo()
        path.write_text("two")
        os.utime(path, ns=(1, 1))
        second = cache.digest_of(path)
        assert second == hash_file(path) != first
        replaced = tmp_path / "new"
        replaced.write_text("six")
        os.utime(replaced, ns=(1, 1))
        replaced.replace(path)
        assert cache.digest_of(path) == hash_file(path) != second


def test_identity(tmp_path: Path) -> None:
    path = tmp_path / "clip.wav"
    assert identity(path) == "missing"
    path.write_bytes(b"1")
    before = identity(path)
    path.write_bytes(b"22")
    assert identity(path) != before
