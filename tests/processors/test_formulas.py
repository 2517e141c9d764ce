"""Closed formulas against what the real processors counted, as ``tests.processors.prove --record`` kept it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lint_dataset.processors import expansion
from lint_dataset.processors.settings import Settings
from lint_dataset.processors.slots import Ear, Expansion
from tests.processors.prove import RECORD

KNOWN = json.loads(RECORD.read_text(encoding="utf-8"))


class Words:
    """A tokenizer that has no names for the media's tokens: they are what the formulas call them."""


def read(kind: str, model: str) -> Expansion:
    return expansion.read(None, Words(), Settings.of(KNOWN[kind][model]["settings"]))


def soft_tokens(found: Expansion, kind: str, size: Any) -> int | None:
    slot = found.slots[kind]
    try:
        text = slot.replacement(size)
    except ValueError:
        return None
    return None if text is None else text.count(slot.soft)


#: Tokens around the soft ones that the recorded counts hold: markers, blank lines, the begin of the sequence.
MARKERS = {"Gemma 3n": 5, "Gemma 4": 2, "Gemma 4 unified": 2, "Voxtral": 1}


@pytest.mark.parametrize("model", sorted(KNOWN["audio"]))
def test_clips_count_as_the_real_processor_counted(model: str) -> None:
    found, counts = read("audio", model), KNOWN["audio"][model]["counts"]
    assert len(counts) >= 40
    for samples, theirs in counts.items():
        if theirs is None:
            assert int(samples) < found.ear.shortest, "refused for another reason than that it is short"
        else:
            assert soft_tokens(found, "audio", int(samples)) == theirs - MARKERS.get(model, 0), samples
        if theirs == MARKERS.get(model, 0):
            assert int(samples) < found.ear.shortest, "nothing is heard of it"


@pytest.mark.parametrize("model", [m for m in sorted(KNOWN["images"]) if m not in ("Gemma 3", "LLaVA 1.5", "SmolVLM")])
def test_images_count_as_the_real_processor_counted(model: str) -> None:
    found, counts = read("images", model), KNOWN["images"][model]["counts"]
    slot = found.slots["image"]
    llama = ("<|image_start|>", "<|image|>", "<|image_end|>", "<|tile_x_separator|>", "<|tile_y_separator|>")
    extra = {"Llama 4": llama, **dict.fromkeys(("Pixtral", "Mistral 3"), ("[IMG_BREAK]", "[IMG_END]"))}
    for size, theirs in counts.items():
        height, width = map(int, size.split("x"))
        try:
            text = slot.replacement((height, width))
        except ValueError:
            assert theirs is None, size
            continue
        assert text is not None
        more = sum(text.count(token) for token in extra[model]) if model in extra else MARKERS.get(model, 0)
        soft = text.count(slot.soft)
        if model == "Llama 4":
            # Its markers are several tokens each in the vocabulary that was used, fewer in all than a tile has.
            assert soft + more <= theirs <= soft + 7 * more, size
        else:
            assert soft + more == theirs, size


@pytest.mark.parametrize(
    ("name", "rate", "longest", "shortest"),
    [
        ("Gemma3nProcessor", 16000, 480_000, 513),
        ("Gemma4Processor", 16000, 480_000, 161),
        ("Qwen2AudioProcessor", 16000, 480_000, 321),
        ("Qwen2_5OmniProcessor", 16000, 4_800_000, 321),
        ("Qwen3OmniMoeProcessor", 16000, None, 201),
        ("VoxtralProcessor", 16000, None, 1),
        ("Phi4MultimodalProcessor", 16000, None, 400),
        ("GraniteSpeechProcessor", 16000, None, 257),
        ("AudioFlamingo3Processor", 16000, 9_600_000, 321),
        ("GlmAsrProcessor", 16000, 10_080_000, 961),
        ("UltravoxProcessor", 16000, None, 1),
        ("WhisperProcessor", 16000, 480_000, 1),
    ],
)
def test_what_a_model_hears_without_a_word_in_its_settings(
    name: str, rate: int, longest: int | None, shortest: int
) -> None:
    found = expansion.read(None, Words(), Settings.of({"processor_class": name}))
    assert (found.ear.rate, found.ear.longest, found.ear.shortest) == (rate, longest, shortest)


@pytest.mark.parametrize(("samples", "tokens"), [(1, 375), (480_000, 375), (480_001, 750), (1_440_000, 1125)])
def test_voxtral_pads_to_whole_windows(samples: int, tokens: int) -> None:
    found = expansion.read(None, Words(), Settings.of({"processor_class": "VoxtralProcessor"}))
    text = found.slots["audio"].replacement(samples)
    assert text is not None
    assert text.startswith("[BEGIN_AUDIO]")
    assert text.count("[AUDIO]") == tokens


def test_a_clip_beside_a_longer_one_may_take_one_more_token_under_qwen3_omni() -> None:
    """As measured with transformers: 16,001 samples are 13 tokens alone and 14 in a batch with a longer clip."""
    slot = expansion.read(None, Words(), Settings.of({"processor_class": "Qwen3OmniMoeProcessor"})).slots["audio"]
    texts = [str(slot.replacement(16_001, longest)) for longest in (None, 16_001, 32_000)]
    assert [text.count(slot.soft) for text in texts] == [13, 13, 14]


def test_a_class_without_a_formula_and_without_a_processor_hears_nothing() -> None:
    found = expansion.read(None, Words(), Settings.of({"processor_class": "Unheard"}))
    assert found == Expansion({}, Ear(16000, None))
