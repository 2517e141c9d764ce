"""Processors on the Hugging Face Hub: taken from its cache on this machine, downloaded only where they are not there.

The cache is read without huggingface_hub (its import costs more than the rest of a cached run); what has to be
downloaded is downloaded by it, so that tokens, endpoints, proxies and resumption work as everywhere else.
"""

from __future__ import annotations

import json
import os
import re
import socket
import urllib.request
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from lint_dataset.processors.location import FILES, NoSuchRepository, ProcessorUnavailable, has_tokenizer

_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_OFF = ("", "0", "false", "no", "off")
#: A machine that cannot be reached in so many seconds is taken as not reachable: huggingface_hub would try for long.
_PATIENCE = 3


def is_id(name: str) -> bool:
    """Whether a name can be a repository on the Hub: ``owner/name``, or a bare name of the early days."""
    return _ID.fullmatch(name) is not None and ".." not in name and "--" not in name


def find(repository: str, mirror: str | None, revision: str | None = None) -> Path:
    """The folder with the processor of a repository, from the cache or the Hub.

    ``mirror`` is a repository with the same processor that asks for no licence click: its cached copy will do, and
    it is named as the way out. ``revision`` is a branch, tag or commit (None: the main branch). Raises
    ``ProcessorUnavailable``.
    """
    candidates = [name for name in (repository, mirror) if name]
    found = {name: folder for name in candidates if (folder := cached(name, revision)) is not None}
    for folder in found.values():
        if _complete(folder):
            return folder
    try:
        return download(repository, mirror, revision)
    except ProcessorUnavailable:
        # A tokenizer without its processor's configuration still measures text.
        for folder in found.values():
            return folder
        raise


def cached(repository: str, revision: str | None = None) -> Path | None:
    """The snapshot of a repository's revision in the Hub's cache, where it holds a tokenizer.

    One whose download was interrupted does not count: what of it has arrived may not be all of it.
    """
    commit = _commit(repository, revision)
    snapshot = _cached_folder(repository) / "snapshots" / commit
    whole = commit and has_tokenizer(snapshot) and not _unfinished(repository, commit).exists()
    return snapshot if whole else None


def _commit(repository: str, revision: str | None) -> str:
    """The commit that the cache knows a revision by, empty where it knows none."""
    name = revision or "main"
    try:
        return (_cached_folder(repository) / "refs" / name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return name if _COMMIT.fullmatch(name) else ""


def _cached_folder(repository: str) -> Path:
    return cache_folder() / f"models--{repository.replace('/', '--')}"


def _unfinished(repository: str, commit: str) -> Path:
    """What lies in the cache while we download a commit.

    huggingface_hub names a revision before it has its files: a download that was killed looks like one that is done.
    """
    return _cached_folder(repository) / f"lint-dataset.{commit}.unfinished"


def cache_folder() -> Path:
    """Where huggingface_hub keeps what it downloads, by its own environment variables."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(name):
            return Path(os.environ[name]).expanduser()
    home = os.environ.get("HF_HOME")
    if home:
        return Path(home).expanduser() / "hub"
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface" / "hub"


def offline() -> bool:
    """Whether the environment forbids the network."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").casefold() not in _OFF for name in names)


def download(repository: str, mirror: str | None, revision: str | None = None) -> Path:
    """Download the processor's files of a repository, never weights or code. Raises ``ProcessorUnavailable``."""
    command = f"lint-dataset --prefetch --model {repository}{f' --revision {revision}' if revision else ''}"
    if offline():
        commit = _commit(repository, revision)
        there = "is not whole in" if commit and _unfinished(repository, commit).exists() else "is not in"
        raise ProcessorUnavailable(
            f"the processor of {repository}{_at(revision)} {there} the Hugging Face cache, and --offline (or "
            "HF_HUB_OFFLINE) forbids to fetch it",
            f"run `{command}` where there is network, or give a folder with --tokenizer FOLDER (in a hook: "
            'tokenizer = "FOLDER" in [tool.lint-dataset] of pyproject.toml)',
        )
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    # It tells of every try; the last one is told by us.
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    from huggingface_hub import errors

    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    instead = f"--tokenizer {mirror} (the same processor, no licence click) or " if mirror else ""
    try:
        _knock(endpoint)
        folder = _fetch(repository, revision)
    except errors.GatedRepoError:
        raise ProcessorUnavailable(
            f"{repository} is gated: its licence has to be accepted first",
            f"accept it at {endpoint}/{repository} and run `hf auth login` (or set HF_TOKEN), or use {instead}"
            "--tokenizer FOLDER",
        ) from None
    except errors.RevisionNotFoundError:
        raise ProcessorUnavailable(
            f"{repository} has no revision {revision}",
            f"look for its branches, tags and commits at {endpoint}/{repository}/commits",
        ) from None
    except errors.RepositoryNotFoundError:
        raise NoSuchRepository(
            f"there is no model {repository} on the Hub, or it is private",
            f"check the name at {endpoint}/{repository}, run `hf auth login` if it is yours, or use {instead}"
            "--tokenizer FOLDER",
        ) from None
    except Exception as error:  # no network, a proxy, a full disk: whatever it is, the way out is the same
        raise ProcessorUnavailable(
            f"the processor of {repository}{_at(revision)} is not in the Hugging Face cache and could not be "
            f"downloaded ({_first_line(error)})",
            f"run `{command}` where there is network, or use {instead}--tokenizer FOLDER",
        ) from None
    if not has_tokenizer(folder):
        raise ProcessorUnavailable(
            f"{repository}{_at(revision)} holds no tokenizer",
            f"name the model that it was made from, or use {instead}--tokenizer FOLDER",
        )
    return folder


def _knock(endpoint: str) -> None:
    """Connect to the Hub, or to the proxy on the way to it. Raises ``OSError`` where nobody answers."""
    address = urlsplit(endpoint)
    if not urllib.request.proxy_bypass(address.hostname or ""):
        proxies = urllib.request.getproxies()
        proxy = proxies.get(address.scheme) or proxies.get("all")
        address = urlsplit(proxy if "//" in proxy else f"http://{proxy}") if proxy else address
    port = address.port or {"http": 80, "socks5": 1080, "socks5h": 1080}.get(address.scheme, 443)
    socket.create_connection((address.hostname or "", port), timeout=_PATIENCE).close()


def _fetch(repository: str, revision: str | None) -> Path:
    """Download every file that matters. Raises what huggingface_hub raises, and ``OSError`` where a file is missing."""
    from huggingface_hub import HfApi, errors, snapshot_download

    # Where the Hub cannot be reached, snapshot_download is content with what it has: this call is not.
    info = HfApi().model_info(repository, revision=revision)
    files = [file.rfilename for file in info.siblings or ()]
    wanted = [name for name in files if any(fnmatchcase(name, pattern) for pattern in FILES)]
    unfinished = _unfinished(repository, info.sha or "main")
    begun = unfinished.exists()
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    try:
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=list(FILES)))
    except errors.GatedRepoError:
        if not begun:
            unfinished.unlink()
        raise
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise OSError(f"{missing[0]} did not arrive")
    unfinished.unlink()
    return folder


def _at(revision: str | None) -> str:
    return f" at {revision}" if revision else ""


def _complete(folder: Path) -> bool:
    """Whether a snapshot holds all that its model needs: one that hears or sees also needs a preprocessor."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True
    multimodal = isinstance(config, dict) and any(key in config for key in ("audio_config", "vision_config"))
    processors = ("processor_config.json", "preprocessor_config.json")
    return not multimodal or any((folder / name).is_file() for name in processors)


def _first_line(error: Exception) -> str:
    """The reason in one line: the innermost message says more than the wrapper's advice."""
    inner: BaseException = error
    while inner.__cause__ is not None or (inner.__context__ is not None and not inner.__suppress_context__):
        inner = inner.__cause__ or inner.__context__ or inner
    text = str(inner).strip() or type(inner).__name__
    return text.splitlines()[0][:200]
