"""What a processor is, as a hash: its files, the libraries that decide how they count, and how we ask."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from lint_dataset import measurements
from lint_dataset.processors.location import files_of

if TYPE_CHECKING:
    from lint_dataset.cache import Cache

#: Packages whose version can change a count, a span or what is heard of a clip, and our own.
PACKAGES = ("transformers", "tokenizers", "jinja2", "soundfile", "mistral-common", "lint-dataset")

#: How rows are rendered. It is part of the fingerprint: other options give other measurements.
RENDERING = {"add_generation_prompt": False, "date": "2025-01-01"}


def of(folder: Path, cache: Cache | None, chat_template: str | None = None) -> str:
    """The fingerprint of the processor in a folder, in hexadecimal.

    The content of every file counts, chat template included, and ``chat_template`` where it takes its place. So do
    the revisions of a repository: they are told apart by what is in them, and equal ones share measurements. Where a
    cache is given, the hash of a file is remembered for as long as its path, size, time of change and inode stay the
    same.
    """
    digest = hashlib.sha256(libraries().encode())
    for path in files_of(folder):
        digest.update(f"\n{path.relative_to(folder).as_posix()} ".encode())
        digest.update((cache.digest_of(path) if cache else hash_file(path)).encode())
    if chat_template is not None:
        digest.update(b"\nchat template ")
        digest.update(hashlib.sha256(chat_template.encode("utf-8", "surrogatepass")).hexdigest().encode())
    return digest.hexdigest()


def libraries() -> str:
    """The versions of all that takes part in a measurement, and the rendering options."""
    parts = [f"measurement {measurements.VERSION}", *(f"{name} {_version(name)}" for name in PACKAGES)]
    return "\n".join([*parts, *(f"{key}={value}" for key, value in sorted(RENDERING.items()))])


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
