"""Processors on the Hugging Face Hub: taken from its cache on this machine, downloaded only where they are not there.

The cache is read without huggingface_hub (its import costs more than the rest of a cached run); what has to be
downloaded is downloaded by it, so that tokens, endpoints, proxies and resumption work as everywhere else.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from lint_dataset.processors.location import FILES, ProcessorUnavailable, has_tokenizer

_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_OFF = ("", "0", "false", "no", "off")


def is_id(name: str) -> bool:
    """Whether a name can be a repository on the Hub: ``owner/name``, or a bare name of the early days."""
    return _ID.fullmatch(name) is not None and ".." not in name and "--" not in name


def find(repository: str, mirror: str | None) -> Path:
    """The folder with the processor of a repository, from the cache or the Hub.

    ``mirror`` is a repository with the same processor that asks for no licence click: its cached copy will do, and
    it is named as the way out. Raises ``ProcessorUnavailable``.
    """
    candidates = [name for name in (repository, mirror) if name]
    found = {name: folder for name in candidates if (folder := cached(name)) is not None}
    for folder in found.values():
        if _complete(folder):
            return folder
    try:
        return download(repository, mirror)
    except ProcessorUnavailable:
        # A tokenizer without its processor's configuration still measures text.
        for folder in found.values():
            return folder
        raise


def cached(repository: str) -> Path | None:
    """The snapshot of a repository's main branch in the Hub's cache, where it holds a tokenizer."""
    folder = cache_folder() / f"models--{repository.replace('/', '--')}"
    try:
        commit = (folder / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    snapshot = folder / "snapshots" / commit
    return snapshot if commit and has_tokenizer(snapshot) else None


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


def download(repository: str, mirror: str | None) -> Path:
    """Download the processor's files of a repository, never weights or code. Raises ``ProcessorUnavailable``."""
    if offline():
        raise ProcessorUnavailable(
            f"the processor of {repository} is not in the Hugging Face cache, and HF_HUB_OFFLINE forbids to fetch it",
            f"run `{_command(repository)}` where there is network, or give a folder with --tokenizer FOLDER",
        )
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from huggingface_hub import errors, snapshot_download

    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    instead = f"--tokenizer {mirror} (the same processor, no licence click) or " if mirror else ""
    try:
        folder = Path(snapshot_download(repository, allow_patterns=list(FILES)))
    except errors.GatedRepoError:
        raise ProcessorUnavailable(
            f"{repository} is gated: its licence has to be accepted first",
            f"accept it at {endpoint}/{repository} and run `hf auth login` (or set HF_TOKEN), or use {instead}"
            "--tokenizer FOLDER",
        ) from None
    except errors.RepositoryNotFoundError:
        raise ProcessorUnavailable(
            f"there is no model {repository} on the Hub, or it is private",
            f"check the name at {endpoint}/{repository}, run `hf auth login` if it is yours, or use {instead}"
            "--tokenizer FOLDER",
        ) from None
    except Exception as error:  # no network, a proxy, a full disk: whatever it is, the way out is the same
        raise ProcessorUnavailable(
            f"the processor of {repository} is not in the Hugging Face cache and could not be downloaded "
            f"({_first_line(error)})",
            f"run `{_command(repository)}` where there is network, or use {instead}--tokenizer FOLDER",
        ) from None
    if not has_tokenizer(folder):
        raise ProcessorUnavailable(
            f"{repository} holds no tokenizer",
            f"name the model that it was made from, or use {instead}--tokenizer FOLDER",
        )
    return folder


def _complete(folder: Path) -> bool:
    """Whether a snapshot holds all that its model needs: one that hears or sees also needs a preprocessor."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True
    multimodal = isinstance(config, dict) and any(key in config for key in ("audio_config", "vision_config"))
    processors = ("processor_config.json", "preprocessor_config.json")
    return not multimodal or any((folder / name).is_file() for name in processors)


def _command(repository: str) -> str:
    return f'hf download {repository} --include "*.json" "*.jinja" "tokenizer.model" --exclude "*.index.json"'


def _first_line(error: Exception) -> str:
    """The reason in one line: the innermost message says more than the wrapper's advice."""
    inner: BaseException = error
    while inner.__cause__ is not None or (inner.__context__ is not None and not inner.__suppress_context__):
        inner = inner.__cause__ or inner.__context__ or inner
    text = str(inner).strip() or type(inner).__name__
    return text.splitlines()[0][:200]
