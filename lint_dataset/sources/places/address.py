"""Addresses on the network, opened through fsspec and only when asked to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from lint_dataset.faults import Fault
from lint_dataset.sources.contents import contents
from lint_dataset.sources.example import RawExample, about_file
from lint_dataset.sources.registry import place
from lint_dataset.sources.stream import Input

#: What is opened, and the package that fsspec does it with.
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "https": "aiohttp", "http": "aiohttp", "hf": "huggingface_hub"}
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


@place(lambda path: _ADDRESS.match(path) is not None)
def _read(path: str, fetch: bool) -> Iterator[RawExample]:
    protocol, _, rest = path.partition("://")
    protocol = protocol.lower()
    shown = _without_secrets(path) if protocol in ("https", "http") else path
    if protocol not in PACKAGES:
        yield _problem(shown, "no_protocol", protocol=protocol, known=", ".join(f"{name}://" for name in PACKAGES))
        return
    if not fetch:
        yield _problem(shown, "not_fetched")
        return
    line = 1
    try:
        import fsspec

        # The one file system that the address names: fsspec.open would also follow chains of them.
        with fsspec.filesystem(protocol).open(f"{protocol}://{rest}", "rb") as file:
            for row in contents(urlsplit(shown).path if shown != path else shown, Input(shown, file)):
                line = row.line
                yield row
    except ImportError:
        yield _problem(shown, "no_package", package=PACKAGES[protocol], protocol=protocol)
    except FileNotFoundError:
        yield _problem(shown, "not_found")
    except Exception as error:  # Every file system has its own.
        reason = f"{type(error).__name__}: {error}".replace(path, shown).splitlines()[0][:160]
        yield about_file(shown, Fault("J001", {"problem": "unreadable", "reason": reason}), line)


def _problem(path: str, problem: str, **data: Any) -> RawExample:
    return about_file(path, Fault("J001", {"problem": problem, **data}))


def _without_secrets(address: str) -> str:
    """The address without what gives access to it: a user before the host, a signature behind the path."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
