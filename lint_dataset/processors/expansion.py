"""What a processor puts in the place of each medium: one placeholder becomes the soft tokens and their markers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from lint_dataset.processors.audio import Ear

#: Processors that cut a clip at the length of Whisper's window; their extractor's own signature does not say so.
_CUT_AT_WINDOW = ("Qwen2AudioProcessor", "Qwen2_5OmniProcessor", "WhisperProcessor")


class Slot(NamedTuple):
    """How one kind of medium enters the text.

    ``placeholder`` is what the template prints for it, ``soft`` the token whose embedding the encoder replaces.
    ``fixed`` is the replacement where it is always the same, else ``measured`` makes it from the size (samples of a
    clip; height and width of an image), or gives None where it is not known how.
    """

    placeholder: str
    soft: str
    fixed: str | None
    measured: Callable[[Any], str | None]

    def replacement(self, size: Any | None) -> str | None:
        """What takes the placeholder's place, None where that is not known."""
        if self.fixed is not None:
            return self.fixed
        return None if size is None else self.measured(size)


class Expansion(NamedTuple):
    """How a processor expands media: a slot per kind that it takes (``audio``, ``image``), and its ear."""

    slots: dict[str, Slot]
    ear: Ear

    @classmethod
    def of(cls, whole: Any | None, tokenizer: Any, extractor: Any | None) -> Expansion:
        """Read it off a processor; off its tokenizer and feature extractor where it could not be loaded whole."""
        if whole is None:
            return _without_processor(tokenizer, extractor)
        template = whole.chat_template if isinstance(whole.chat_template, str) else ""
        slots = {}
        for kind, begin in (("audio", "boa_token"), ("image", "boi_token")):
            soft = getattr(tokenizer, f"{kind}_token", None) or getattr(whole, f"{kind}_token", None)
            names = [getattr(whole, f"{kind}_token", None), getattr(whole, begin, None)]
            known = [name for name in names if isinstance(name, str)]
            if not isinstance(soft, str) or not known:
                continue
            placeholder = next((name for name in known if name in template), known[0])
            fixed = getattr(whole, f"full_{kind}_sequence", None)
            slots[kind] = Slot(placeholder, soft, fixed, lru_cache(4096)(_measure(whole, kind, soft)))
        heard = getattr(whole, "audio_processor", None) or getattr(whole, "feature_extractor", None)
        return cls(slots, _ear(heard, type(whole).__name__))


def _measure(whole: Any, kind: str, soft: str) -> Callable[[Any], str | None]:
    """A function from a medium's size to its replacement, asked of the processor itself."""

    def by_processing(size: Any) -> str | None:
        # The processor's own expansion, given silence of that length or a black image of that size.
        import numpy as np

        options = whole._merge_kwargs(tokenizer_init_kwargs=whole.tokenizer.init_kwargs)
        if kind == "audio":
            found = whole._process_audio([np.zeros(size, np.float32)], **options["audio_kwargs"])[1]
        else:
            found = whole._process_images([np.zeros((*size, 3), np.uint8)], **options["images_kwargs"])[1]
        return str(found[0]) if found else None

    def by_counting(size: Any) -> str | None:
        asked = {"audio_lengths" if kind == "audio" else "image_sizes": [size]}
        counted = getattr(whole._get_num_multimodal_tokens(**asked), f"num_{kind}_tokens", None)
        return soft * int(counted[0]) if counted else None

    def measured(size: Any) -> str | None:
        for ask in (by_processing, by_counting):
            try:
                if found := ask(size):
                    return found
            except Exception:  # the next way may know; if none does, the row is said to be uncounted
                continue
        return None

    return measured


def _ear(extractor: Any | None, processor: str) -> Ear:
    """Rate and longest clip of a feature extractor, by its own defaults."""
    rate = int(getattr(extractor, "sampling_rate", None) or 16000)
    if extractor is None:
        return Ear(rate, None)
    options = inspect.signature(type(extractor).__call__).parameters
    longest = options["max_length"].default if "max_length" in options else None
    cuts = options["truncation"].default if "truncation" in options else False
    if cuts is True and isinstance(longest, int):
        return Ear(rate, longest)
    window = getattr(extractor, "n_samples", None)
    return Ear(rate, int(window) if window and processor in _CUT_AT_WINDOW else None)


def _without_processor(tokenizer: Any, extractor: Any | None) -> Expansion:
    """Gemma 4's audio by its formula: its processor needs torchvision for video, hearing needs none of it."""
    ear = _ear(extractor, "")
    tokens = [getattr(tokenizer, f"{name}_token", None) for name in ("boa", "audio", "eoa")]
    if type(extractor).__name__ != "Gemma4AudioFeatureExtractor" or not all(isinstance(token, str) for token in tokens):
        return Expansion({}, ear)
    begin, soft, end = (str(token) for token in tokens)

    def measured(samples: int) -> str:
        return begin + soft * gemma4_audio_tokens(samples, ear) + end

    return Expansion({"audio": Slot(soft, soft, None, measured)}, ear)


def gemma4_audio_tokens(samples: int, ear: Ear) -> int:
    """Soft tokens of a clip under Gemma 4: frames of 20 ms every 10 ms, halved by two convolutions of stride 2."""
    if ear.longest is not None:
        samples = min(samples, ear.longest)
    hop, frame = ear.rate // 100, ear.rate // 50
    # Half a frame of padding in front; a frame takes one sample more than its length.
    frames = (samples + frame // 2 - (frame + 1)) // hop + 1
    for _ in range(2):
        frames = (frames + 1) // 2
    return max(frames, 0)
