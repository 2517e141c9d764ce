"""Gemma 3n: the same 188 soft tokens for every clip, 256 for every image.

Source: transformers 5.24, ``Gemma3nProcessor`` (``audio_seq_length``, ``image_seq_length``) and
``Gemma3nAudioFeatureExtractor`` (``max_length`` 480,000 samples, cut without a word). The extractor takes windows of
513 samples; a shorter clip gives it no frame at all.
"""

from __future__ import annotations

from lint_dataset.processors.formulas import Token, formula
from lint_dataset.processors.settings import Settings, whole
from lint_dataset.processors.slots import Ear, Expansion, Slot


@formula("Gemma3nProcessor")
def gemma3n(settings: Settings, token: Token) -> Expansion:
    """Constant runs between blank lines."""
    slots = {}
    for kind, count, begin, end in (("audio", 188, "boa", "eoa"), ("image", 256, "boi", "eoi")):
        soft = token(f"{kind}_token", f"<{kind}_soft_token>")
        begin = token(f"{begin}_token", f"<start_of_{kind}>")
        end = token(f"{end}_token", f"<end_of_{kind}>")
        run = begin + soft * whole(settings.own, f"{kind}_seq_length", count) + end
        slots[kind] = Slot(soft, soft, f"\n\n{run}\n\n", lambda size, longest: None)
    rate = whole(settings.audio, "sampling_rate", 16000)
    frame = whole(settings.audio, "frame_length", rate * 32 // 1000)
    return Expansion(slots, Ear(rate, 480_000, frame + 1))
