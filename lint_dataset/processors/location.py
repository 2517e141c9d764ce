"""Where a model's processor is on this machine, and what it is: a folder and a fingerprint. Nothing is loaded here."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lint_dataset import models
from lint_dataset.cache import Cache
from lint_dataset.usage import UsageError

#: The files that say how text, audio and images become tokens; a model's weights and code are never among them.
FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "tokenizer.model.v*",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.tiktoken",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "chat_template.json",
    "chat_template.jinja",
    "additional_chat_templates/*.jinja",
)
#: A folder without any of these holds no tokenizer.
_VOCABULARIES = ("tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "tekken.json")
_OTHER_VOCABULARIES = ("vocab.json", "vocab.txt", "*.tiktoken", "tokenizer.model.v*")


class ProcessorUnavailable(Exception):
    """There is no processor to measure with.

    ``message`` is one line that says why, ``remedy`` one line that says which command to run or which option to give.
    """

    def __init__(self, message: str, remedy: str) -> None:
        """Keep both lines; they are also the exception's text."""
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}: {self.remedy}"


class NoSuchRepository(ProcessorUnavailable):
    """The Hub has no repository of that name, or none that it shows."""


class Location(NamedTuple):
    """A processor on this machine.

    ``name`` is what the user calls it. ``fingerprint`` changes whenever the processor, or a library that decides how
    it counts, could give another measurement of the same row. ``chat_template`` is the text of a template that takes
    the place of the processor's own.
    """

    name: str
    folder: str
    fingerprint: str
    chat_template: str | None = None


def locate(
    model: str | None,
    tokenizer: str | None,
    cache_dir: str | None = None,
    *,
    revision: str | None = None,
    chat_template: str | None = None,
) -> Location:
    """Find the processor of a model.

    ``tokenizer``, else ``model``, is a local folder, an alias of ``lint_dataset.models`` or an id on the Hugging Face
    Hub; ``revision`` is a branch, tag or commit there. ``chat_template`` is a file that is used instead of the
    processor's own template. Nothing is downloaded that is already here. The hashes of the files are remembered in
    the cache of ``cache_dir``. Neither transformers nor a tokenizer is imported. Raises ``ProcessorUnavailable``, and
    ``UsageError`` for a revision or a template that cannot be.
    """
    from lint_dataset.processors import fingerprint

    template = _read_template(chat_template) if chat_template else None
    name = tokenizer or model
    if not name:
        raise ProcessorUnavailable("no model is named", "name one with --model, or a folder with --tokenizer")
    folder = _folder(name, revision)
    with Cache(cache_dir) as cache:
        return Location(name, str(folder), fingerprint.of(folder, cache, template), template)


def _folder(name: str, revision: str | None) -> Path:
    """The folder of a processor: on this machine, in the Hub's cache, or downloaded into it."""
    from lint_dataset.processors import hub

    path = Path(name).expanduser()
    if path.is_dir():
        if revision:
            raise UsageError(f"--revision {revision} is a version on the Hub, and {name} is a folder: leave it out")
        if not has_tokenizer(path):
            raise ProcessorUnavailable(
                f"the folder {name} holds no tokenizer",
                "it needs at least tokenizer.json and tokenizer_config.json: save them there with "
                "`AutoProcessor.from_pretrained(...).save_pretrained(FOLDER)`",
            )
        return path.resolve()
    if path.is_file():
        raise ProcessorUnavailable(f"{name} is a file", "name the folder that it lies in")
    known = models.find(name)
    if known is None and not hub.is_id(name):
        raise ProcessorUnavailable(
            f"{name} is neither a known model, nor an id on the Hugging Face Hub, nor a folder"
            f"{models.did_you_mean(name)}",
            "the known models are those of --list-models; an id looks like owner/name",
        )
    repository, mirror = _repository(name, known)
    # A name without an owner that is nearly one of ours is a slip of the pen: the Hub need not be asked.
    if known is None and "/" not in name and models.near_misses(name) and hub.cached(name, revision) is None:
        raise ProcessorUnavailable(
            f"there is no model {name}{models.did_you_mean(name)}",
            "--list-models prints the names that are known; an id on the Hub looks like owner/name",
        )
    try:
        return hub.find(repository, None if revision else mirror, revision)
    except NoSuchRepository as problem:
        if known is not None:
            raise
        raise NoSuchRepository(f"{problem.message}{models.did_you_mean(name)}", problem.remedy) from None


def _repository(name: str, known: models.Model | None) -> tuple[str, str | None]:
    """The repository to ask for, and its mirror. One that is named is the one that is meant, be it a base model."""
    if known is None:
        return name, None
    if "/" in name and name.casefold() != known.hub_id.casefold():
        own = known.mirror is not None and name.casefold() == known.mirror.casefold()
        return (known.mirror or name if own else name), None
    return known.hub_id, known.mirror


def _read_template(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UsageError(f"--chat-template {path} cannot be read: {reason}") from None


def files_of(folder: Path) -> list[Path]:
    """The files of a folder that matter to a processor, sorted."""
    return sorted({path for pattern in FILES for path in folder.glob(pattern) if path.is_file()})


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds the vocabulary of a tokenizer."""
    if any((folder / name).is_file() for name in _VOCABULARIES):
        return True
    return any(path.is_file() for pattern in _OTHER_VOCABULARIES for path in folder.glob(pattern))
