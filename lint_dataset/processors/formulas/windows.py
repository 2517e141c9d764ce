"""Audio Flamingo 3 and GLM-ASR: a clip is taken apart into windows of 30 s, and their frames are counted together.

Source: transformers 5.24, ``AudioFlamingo3Processor`` and ``GlmAsrProcessor`` (``_process_audio``,
``_get_audio_token_length``). What is beyond ``max_audio_len`` seconds is dropped, with a line in the log, in whole
windows: 655 s of GLM-ASR are 21 windows, which are 630 s.
"""

from __future__ import annotations

import math

from lint_dataset.processors.formulas import Token, formula
from lint_dataset.processors.formulas.qwen_audio import halved
from lint_dataset.processors.settings import Settings, whole
from lint_dataset.processors.slots import Ear, Expansion, run


def _quartered(frames: int) -> int:
    """GLM-ASR: a convolution of stride 2, then groups of four."""
    return max(((frames - 1) // 2 + 1 - 4) // 4 + 1, 0)


@formula("AudioFlamingo3Processor", "GlmAsrProcessor")
def windows(settings: Settings, token: Token) -> Expansion:
    """Whole windows, then what the encoder makes of all their frames."""
    glm = settings.processor == "GlmAsrProcessor"
    rate, hop = whole(settings.audio, "sampling_rate", 16000), whole(settings.audio, "hop_length", 160)
    seconds = whole(settings.audio, "chunk_length", 30)
    window = rate * seconds
    longest = whole(settings.own, "max_audio_len", 655 if glm else 600) // seconds * window
    soft = str(settings.own.get("audio_token") or ("<|pad|>" if glm else "<sound>"))

    def tokens(samples: int) -> int:
        whole_windows, rest = divmod(min(samples, longest), window)
        frames = whole_windows * math.ceil(window / hop) + math.ceil(rest / hop)
        return _quartered(frames) if glm else halved(frames)

    # Seven frames make the first group of four, three the first pair.
    return Expansion({"audio": run(soft, soft, tokens)}, Ear(rate, longest, (6 if glm else 2) * hop + 1))
