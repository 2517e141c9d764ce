"""Load a processor with transformers, and ask it the two things we need: render a conversation, encode texts."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lint_dataset.processors import expansion, mistral
from lint_dataset.processors.fingerprint import RENDERING
from lint_dataset.processors.location import Location, ProcessorUnavailable
from lint_dataset.processors.settings import Settings
from lint_dataset.processors.slots import Expansion
from lint_dataset.processors.spans import common_prefix
from lint_dataset.usage import UsageError

#: What transformers says where an image processor needs torchvision, which is not there.
_NO_IMAGES = "Could not load any image processor class"


@dataclass(frozen=True)
class Closers:
    """How a template closes a turn, learned from what it renders.

    ``markers`` are the texts of end-of-turn markers, longest first; ``header`` is what opens an assistant's turn.
    """

    markers: tuple[str, ...]
    header: str


class Processor:
    """A loaded processor.

    ``tokenizer`` is always there. ``whole`` is the multimodal processor around it, None for a model of text only.
    """

    def __init__(self, tokenizer: Any, whole: Any | None, expansion: Expansion) -> None:
        """Take a tokenizer of the tokenizers library: one without offsets cannot say where an answer is."""
        self.tokenizer = tokenizer
        self.whole = whole
        self.expansion = expansion
        self._backend = tokenizer.backend_tokenizer
        # A tokenizer.json may come with limits of its own; transformers drops them too.
        self._backend.no_truncation()
        self._backend.no_padding()

    @cached_property
    def template(self) -> str | None:
        """The chat template that conversations are rendered with, None where there is none."""
        for holder in (self.whole, self.tokenizer):
            template = getattr(holder, "chat_template", None)
            if isinstance(template, dict):
                template = template.get("default")
            if template:
                return str(template)
        return None

    @cached_property
    def bos(self) -> str:
        """The token that begins a sequence, empty where there is none."""
        return self.tokenizer.bos_token or ""

    @cached_property
    def eos(self) -> str:
        """The token that ends a sequence, empty where there is none."""
        return self.tokenizer.eos_token or ""

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """The ids of the special tokens: those that no text of a person should hold."""
        added = self.tokenizer.added_tokens_decoder.items()
        return frozenset(id_ for id_, token in added if token.special) | frozenset(self.tokenizer.all_special_ids)

    def render(
        self,
        messages: list[dict[str, Any]],
        tools: list[Any] | None = None,
        variables: dict[str, Any] | None = None,
        add_generation_prompt: bool = False,
    ) -> str:
        """The text of a conversation. ``variables`` are more for the template to know. Raises whatever that raises."""
        holder: Any = self.whole if getattr(self.whole, "chat_template", None) else self.tokenizer
        extra: dict[str, Any] = dict(variables or {})
        if tools is not None:
            extra["tools"] = tools
        text = holder.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=add_generation_prompt, **extra
        )
        if not isinstance(text, str):
            raise TypeError(f"the template gave {type(text).__name__}, not text")
        return text

    def adds_special_tokens(self, rendered: str) -> bool:
        """Whether ``apply_chat_template(tokenize=True)`` puts special tokens around a rendered conversation.

        A tokenizer never does. A processor does unless the text begins with the beginning-of-sequence token already.
        """
        if not getattr(self.whole, "chat_template", None):
            return False
        return not (self.bos and rendered.startswith(self.bos))

    def encode(self, texts: Sequence[str], add_special_tokens: bool) -> list[Any]:
        """The encodings (ids and offsets in characters) of texts, in one batch."""
        if not texts:
            return []
        return list(self._backend.encode_batch(list(texts), add_special_tokens=add_special_tokens))

    @cached_property
    def closers(self) -> Closers:
        """How the template closes a turn and opens an assistant's, read off a small conversation."""
        said = ["0one0", "0two0", "0three0", "0four0"]
        try:
            text = self._probe(said)
            starts = [text.index(word) for word in said]
        except Exception:  # a template may refuse anything: then only the tokenizer's own end is known
            return Closers((self.eos,) if self.eos else (), "")
        first, second, _, last = (start + len(word) for start, word in zip(starts, said, strict=True))
        at_the_end = text[last:]
        markers = {self._marker(text[second : starts[2]], at_the_end), at_the_end.strip(), self.eos} - {""}
        header = text[first : starts[1]]
        for marker in sorted(markers, key=len, reverse=True):
            if header.lstrip().startswith(marker):
                header = header.lstrip()[len(marker) :]
                break
        return Closers(tuple(sorted(markers, key=lambda marker: (-len(marker), marker))), header.lstrip())

    def _probe(self, said: list[str]) -> str:
        """A conversation of these words, rendered: as text, or as parts for a template that takes nothing else."""
        for content in (list(said), [[{"type": "text", "text": word}] for word in said]):
            roles = ("user", "assistant") * (len(said) // 2)
            messages: list[dict[str, Any]] = [
                {"role": role, "content": words} for role, words in zip(roles, content, strict=True)
            ]
            try:
                text = self.render(messages)
            except Exception:  # whatever the template does not like about it
                continue
            if all(word in text for word in said):
                return text
        raise ValueError("the template renders no simple conversation")

    def _marker(self, between: str, at_the_end: str) -> str:
        """What ends a turn that another follows: what stands ``between`` them and also ``at_the_end``, in whole tokens.

        Where only the last turn ends in its own way, the first token ends the others; where nothing ends it, nothing.
        """
        common = common_prefix(between, at_the_end)
        (encoding,) = self.encode([between], add_special_tokens=False)
        ends = [end for _, end in encoding.offsets]
        if not at_the_end.strip() or not ends:
            return ""
        return between[: max((end for end in ends if end <= common), default=ends[0])].strip()


def load(location: Location) -> Processor:
    """Load the processor in a folder: AutoProcessor where it has a processor's configuration, else AutoTokenizer.

    Where the whole processor needs a package that is not installed (torchvision for images and video), its tokenizer
    and its settings take its place. Remote code is never run. Raises ``ProcessorUnavailable``, and ``UsageError``
    where the chat template of the location is none.
    """
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        import transformers
    except ImportError as error:
        raise ProcessorUnavailable(
            f"transformers cannot be imported ({error})", "repair it with `pip install --upgrade transformers`"
        ) from None
    transformers.logging.set_verbosity_error()
    folder = Path(location.folder)
    only_tekken = mistral.has_only_tekken(folder)
    if only_tekken and find_spec("mistral_common") is None:
        raise ProcessorUnavailable(
            f"the tokenizer of {location.name} is Mistral's own (tekken.json), and mistral-common is not installed",
            "run `pip install mistral-common`, or give a folder with its tokenizer.json by --tokenizer FOLDER",
        )
    options = {"local_files_only": True, "trust_remote_code": False}
    whole: Any | None = None
    try:
        configured = any((folder / name).is_file() for name in ("processor_config.json", "preprocessor_config.json"))
        if configured and not only_tekken:
            try:
                whole = transformers.AutoProcessor.from_pretrained(folder, **options)
            except (ImportError, ValueError) as error:
                if isinstance(error, ValueError) and _NO_IMAGES not in str(error):
                    raise
        tokenizer = mistral.load(folder) if only_tekken else getattr(whole, "tokenizer", None)
        if tokenizer is None:
            # Some repositories hold an image processor beside a plain tokenizer: AutoProcessor gives either of them.
            tokenizer = (
                whole if hasattr(whole, "encode") else transformers.AutoTokenizer.from_pretrained(folder, **options)
            )
            whole = None
        if type(tokenizer).__name__ == "MistralCommonBackend":
            tokenizer, whole = mistral.load(folder), None
    except Exception as error:
        raise _unloadable(location, error) from None
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise ProcessorUnavailable(
            f"the tokenizer of {location.name} ({type(tokenizer).__name__}) does not say where its tokens stand in the "
            "text",
            "give a folder with its tokenizer.json by --tokenizer FOLDER",
        )
    if location.chat_template is not None:
        _use_template(location.chat_template, location, tokenizer, whole)
    processor = Processor(tokenizer, whole, expansion.read(whole, tokenizer, Settings.read(folder)))
    if processor.template and "strftime_now" in processor.template:
        _fix_date(processor.template)
    return processor


def _use_template(template: str, location: Location, tokenizer: Any, whole: Any | None) -> None:
    """Put a template in the place of a processor's own, as a trainer does that is given one."""
    from jinja2 import TemplateSyntaxError
    from transformers.utils import chat_template_utils

    if isinstance(tokenizer, mistral.MistralTokenizer):
        raise UsageError(
            f"--chat-template cannot be used with {location.name}: its tokenizer is Mistral's own, which needs none"
        )
    try:
        chat_template_utils._compile_jinja_template(template)
    except TemplateSyntaxError as error:
        raise UsageError(f"--chat-template is no Jinja template: {error.message} (line {error.lineno})") from None
    for holder in (tokenizer, whole):
        if holder is not None:
            holder.chat_template = template


def _fix_date(template: str) -> None:
    """Let the template print the same date every day: the same rows have to give the same counts."""
    from transformers.utils import chat_template_utils

    day = datetime.datetime.fromisoformat(str(RENDERING["date"]))
    compiled = chat_template_utils._compile_jinja_template(template)
    compiled.environment.globals["strftime_now"] = day.strftime


def _unloadable(location: Location, error: Exception) -> ProcessorUnavailable:
    text = str(error)
    if "trust_remote_code" in text:
        return ProcessorUnavailable(
            f"the processor of {location.name} is code from its repository, and remote code is never run",
            "give a folder with a processor that transformers itself knows by --tokenizer FOLDER",
        )
    reason = (text.strip() or type(error).__name__).splitlines()[0][:200]
    return ProcessorUnavailable(
        f"transformers cannot load the processor of {location.name} from {location.folder} ({reason})",
        "upgrade transformers, or save it anew with `save_pretrained(FOLDER)` and give --tokenizer FOLDER",
    )
