"""Qwen2-Audio, Qwen2.5-Omni and Qwen3-Omni: frames of Whisper's spectrogram, then what their encoders make of them.

Source: transformers 5.24, ``Qwen2AudioProcessor._process_audio``, ``_get_feat_extract_output_lengths`` of both Omni
processors, and ``WhisperFeatureExtractor``, which keeps ``chunk_length`` seconds for the first two and all for Qwen3.
"""

from __future__ import annotations

import math

from lint_dataset.processors.formulas import Token, formula
from lint_dataset.processors.formulas.qwen_vision import image_slot
from lint_dataset.processors.settings import Settings, whole
from lint_dataset.processors.slots import Ear, Expansion, Slot, run


def ear_of(settings: Settings, seconds: int, shortest: int = 1) -> Ear:
    """The ear of a Whisper feature extractor that keeps ``chunk_length`` seconds."""
    rate = whole(settings.audio, "sampling_rate", 16000)
    longest = whole(settings.audio, "n_samples", rate * whole(settings.audio, "chunk_length", seconds))
    return Ear(rate, longest, shortest)


def halved(frames: int) -> int:
    """A convolution of stride 2, then pairs of what it gives: frames to soft tokens."""
    return max(((frames - 1) // 2 + 1 - 2) // 2 + 1, 0)


@formula("Qwen2AudioProcessor", "Qwen2_5OmniProcessor")
def qwen2(settings: Settings, token: Token) -> Expansion:
    """A soft token for each 40 ms of what is kept: 30 s, or 300 s for Omni."""
    omni = settings.processor == "Qwen2_5OmniProcessor"
    hop = whole(settings.audio, "hop_length", 160)
    # Three frames make the first soft token.
    ear = ear_of(settings, 300 if omni else 30, 2 * hop + 1)
    soft = token("audio_token", "<|AUDIO|>")

    def tokens(samples: int) -> int:
        return halved(math.ceil(min(samples, ear.longest or samples) / hop))

    slots = {"audio": run(soft, soft, tokens)}
    if omni:
        slots["image"] = image_slot(settings, token("image_token", "<|IMAGE|>"))
    return Expansion(slots, ear)


@formula("Qwen3OmniMoeProcessor")
def qwen3(settings: Settings, token: Token) -> Expansion:
    """13 soft tokens a second, without an end. A clip that is padded to a longer one may take one more.

    Alone, its last frame is whole samples of it; beside a longer one, the frame that its end stands in counts too.
    Windows reach 200 samples to either side, by reflection, which a shorter clip does not have.
    """
    hop = whole(settings.audio, "hop_length", 160)
    reach = whole(settings.audio, "n_fft", 400) // 2
    block = 2 * whole(settings.own, "n_window", 50)
    soft = token("audio_token", "<|audio_pad|>")

    def measured(samples: int, longest: int) -> str:
        frames = min(math.ceil(samples / hop), longest // hop)
        rest = frames % block
        for _ in range(3):
            rest = (rest - 1) // 2 + 1
        return soft * (rest + frames // block * 13)

    ear = Ear(whole(settings.audio, "sampling_rate", 16000), None, reach + 1)
    return Expansion(
        {
            "audio": Slot(soft, soft, None, measured),
            "image": image_slot(settings, token("image_token", "<|image_pad|>")),
        },
        ear,
    )
