"""Models that hear a clip of any length: Phi-4-multimodal, Granite speech, Voxtral, Ultravox; and Whisper.

Sources: transformers 5.24, ``Phi4MultimodalFeatureExtractor`` and ``GraniteSpeechFeatureExtractor``
(``_get_num_audio_features``), ``VoxtralProcessor`` (padding to whole windows of 30 s, 375 soft tokens each),
``WhisperFeatureExtractor``; Ultravox's own ``ultravox_processing.py`` on the Hub (read, not run: it is remote code).
"""

from __future__ import annotations

import math

from lint_dataset.processors.formulas import Token, formula
from lint_dataset.processors.formulas.qwen_audio import ear_of
from lint_dataset.processors.settings import Settings, whole
from lint_dataset.processors.slots import Ear, Expansion, run


@formula("Phi4MultimodalProcessor")
def phi4(settings: Settings, token: Token) -> Expansion:
    """A soft token for each 80 ms: frames of 25 ms every 10 ms, by eight. A clip shorter than a frame is refused."""
    audio = settings.audio
    frame, hop = whole(audio, "win_length", 400), whole(audio, "hop_length", 160)
    group = whole(audio, "audio_compression_rate", 8)
    soft = token("audio_token", "<|audio|>")

    def tokens(samples: int) -> int:
        return math.ceil(((samples - frame) // hop + 1) / group)

    return Expansion({"audio": run(soft, soft, tokens)}, Ear(whole(audio, "sampling_rate", 16000), None, frame))


@formula("GraniteSpeechProcessor")
def granite(settings: Settings, token: Token) -> Expansion:
    """3 soft tokens for each block of 15 pairs of frames. A clip shorter than half a window is refused."""
    audio = settings.audio
    given = audio.get("melspec_kwargs")
    mel = given if isinstance(given, dict) else {}
    hop, window = whole(mel, "hop_length", 160), whole(audio, "projector_window_size", 15)
    each = window // whole(audio, "projector_downsample_rate", 5)
    soft = token("audio_token", "<|audio|>")

    def tokens(samples: int) -> int:
        return math.ceil((samples // hop + 1) // 2 / window) * each

    ear = Ear(whole(mel, "sample_rate", 16000), None, whole(mel, "n_fft", 512) // 2 + 1)
    return Expansion({"audio": run(soft, soft, tokens)}, ear)


@formula("VoxtralProcessor")
def voxtral(settings: Settings, token: Token) -> Expansion:
    """375 soft tokens for each 30 s begun, behind the token that begins audio."""
    window = 480_000
    slot = run("[AUDIO]", "[AUDIO]", lambda samples: 375 * max(math.ceil(samples / window), 1), "[BEGIN_AUDIO]")
    return Expansion({"audio": slot}, Ear(whole(settings.audio, "sampling_rate", 16000), None))


@formula("UltravoxProcessor")
def ultravox(settings: Settings, token: Token) -> Expansion:
    """A soft token for each eight pairs of Whisper frames."""
    hop, group = 160, whole(settings.own, "stack_factor", 8)
    soft = str(settings.own.get("audio_placeholder") or "<|audio|>")

    def tokens(samples: int) -> int:
        return math.ceil(round(samples / (2 * hop) + 1e-4) / group)

    return Expansion({"audio": run(soft, soft, tokens)}, Ear(whole(settings.audio, "sampling_rate", 16000), None))


@formula("WhisperProcessor")
def whisper(settings: Settings, token: Token) -> Expansion:
    """No token of the text stands for the clip: the encoder always hears 30 s, and what is beyond them is dropped."""
    return Expansion({}, ear_of(settings, 30))
