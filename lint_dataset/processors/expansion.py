"""What a processor puts in the place of each medium: one placeholder becomes the soft tokens and their markers."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from lint_dataset.processors.formulas import expansion_of
from lint_dataset.processors.settings import Settings
from lint_dataset.processors.slots import Ear, Expansion, Measure, Slot

#: A larger image is not made up to ask the processor about it: that would take gigabytes.
_MOST_PIXELS = 50_000_000
_REMEMBERED = 65_536


class TooLarge(ValueError):
    """An image that no processor is asked about."""


def read(whole: Any | None, tokenizer: Any, settings: Settings | None = None) -> Expansion:
    """How a processor expands media: by the formula of its class, else as ``whole``, the processor itself, does it.

    ``whole`` is None for a model of text only, and where the processor could not be loaded: its ``settings`` may
    still name a formula.
    """
    if settings is not None and (known := expansion_of(settings, tokenizer)) is not None:
        return Expansion(
            {
                kind: slot._replace(placeholder=_placeholder(whole, kind, slot), measured=_remembered(slot.measured))
                for kind, slot in known.slots.items()
            },
            known.ear,
        )
    return _of_processor(whole, tokenizer) if whole is not None else Expansion({}, Ear(16000, None))


def _of_processor(whole: Any, tokenizer: Any) -> Expansion:
    """Read off a processor of a class that no formula is known for."""
    slots = {}
    for kind in ("audio", "image"):
        soft = getattr(tokenizer, f"{kind}_token", None) or getattr(whole, f"{kind}_token", None)
        known = _names(whole, kind)
        if not isinstance(soft, str) or not known:
            continue
        fixed = getattr(whole, f"full_{kind}_sequence", None)
        slot = Slot(known[0], soft, fixed, _remembered(_asked(whole, kind, soft)))
        slots[kind] = slot._replace(placeholder=_placeholder(whole, kind, slot))
    heard = getattr(whole, "audio_processor", None) or getattr(whole, "feature_extractor", None)
    return Expansion(slots, _ear(heard))


def _names(whole: Any, kind: str) -> list[str]:
    """What a processor looks for in the text, in the place of a medium."""
    begin = "boa_token" if kind == "audio" else "boi_token"
    names = [getattr(whole, f"{kind}_token", None), getattr(whole, begin, None)]
    return [name for name in names if isinstance(name, str)]


def _placeholder(whole: Any | None, kind: str, slot: Slot) -> str:
    """Of the names of a placeholder the one that the template prints."""
    template = getattr(whole, "chat_template", None)
    if not isinstance(template, str) or slot.placeholder in template:
        return slot.placeholder
    return next((name for name in _names(whole, kind) if name in template), slot.placeholder)


def _remembered(measured: Measure) -> Measure:
    """The same, asked once for each size."""
    return lru_cache(_REMEMBERED)(measured)


def _asked(whole: Any, kind: str, soft: str) -> Measure:
    """From a medium's size to its replacement, asked of the processor itself.

    Where all its replacements are one run between the same markers, the processor only has to count.
    """
    ends = _ends(whole, kind, soft)

    def measured(size: Any, _: Any) -> str | None:
        if ends is not None and (counted := _counted(whole, kind, size)) is not None:
            return ends[0] + soft * counted + ends[1]
        return _processed(whole, kind, size)

    return measured


def _processed(whole: Any, kind: str, size: Any) -> str | None:
    """The processor's own expansion, given silence of that length or a black image of that size."""
    import numpy as np

    options = whole._merge_kwargs(tokenizer_init_kwargs=whole.tokenizer.init_kwargs)
    if kind == "audio":
        found = whole._process_audio([np.zeros(size, np.float32)], **options["audio_kwargs"])[1]
    else:
        if size[0] * size[1] > _MOST_PIXELS:
            raise TooLarge(f"the image has {size[0] * size[1]:,} pixels")
        from PIL import Image

        # Not an array: one of a single row would be taken for an image with its channels first.
        found = whole._process_images([Image.new("RGB", size[::-1])], **options["images_kwargs"])[1]
    return str(found[0]) if found else None


def _counted(whole: Any, kind: str, size: Any) -> int | None:
    """How many soft tokens the processor says that it makes of a size."""
    asked = {"audio_lengths" if kind == "audio" else "image_sizes": [size]}
    counted = getattr(whole._get_num_multimodal_tokens(**asked), f"num_{kind}_tokens", None)
    return int(counted[0]) if counted else None


def _ends(whole: Any, kind: str, soft: str) -> tuple[str, str] | None:
    """What stands before and behind the run in every replacement; None where that differs, or cannot be asked."""
    found = set()
    try:
        for size in (16000, 80000) if kind == "audio" else ((224, 448), (1000, 600)):
            text, counted = _processed(whole, kind, size), _counted(whole, kind, size)
            if text is None or counted is None or text.count(soft) != counted:
                return None
            before, _, behind = text.partition(soft * counted)
            found.add((before, behind))
    except Exception:  # this processor counts in another way
        return None
    return found.pop() if len(found) == 1 else None


def _ear(extractor: Any | None) -> Ear:
    """Rate and longest clip of a feature extractor, by its own defaults."""
    rate = int(getattr(extractor, "sampling_rate", None) or 16000)
    if extractor is None:
        return Ear(rate, None)
    options = inspect.signature(type(extractor).__call__).parameters
    longest = options["max_length"].default if "max_length" in options else None
    cuts = options["truncation"].default if "truncation" in options else False
    return Ear(rate, longest if cuts is True and isinstance(longest, int) else None)
