"""Gemma 4, and Gemma 4 unified: a soft token for each 40 ms of a clip, up to 280 for an image by its shape.

Source: transformers 5.24, ``Gemma4Processor.replace_audio_token`` over ``Gemma4AudioFeatureExtractor``, which keeps
480,000 samples; ``Gemma4UnifiedProcessor``, which cuts no clip; ``get_aspect_ratio_preserving_size`` for images.
"""

from __future__ import annotations

import math

from lint_dataset.processors.formulas import Token, formula
from lint_dataset.processors.settings import Settings, whole
from lint_dataset.processors.slots import Ear, Expansion, Slot, run


def audio_tokens(samples: int, ear: Ear, frame: int = 320, hop: int = 160) -> int:
    """Soft tokens of a clip: frames of 20 ms every 10 ms, halved by two convolutions of stride 2."""
    if ear.longest is not None:
        samples = min(samples, ear.longest)
    # Half a frame of padding in front; a frame takes one sample more than its length.
    frames = max((samples + frame // 2 - (frame + 1)) // hop + 1, 0)
    return math.ceil(math.ceil(frames / 2) / 2)


def image_tokens(size: tuple[int, int], patch: int, most: int, pool: int) -> int:
    """Soft tokens of an image: the largest size of its shape with at most ``most`` squares of ``pool`` patches a side.

    Raises ``ValueError`` for an image of which no side is left.
    """
    height, width = size
    side = patch * pool
    factor = math.sqrt(most * side**2 / (height * width))
    rows, columns = math.floor(factor * height / side), math.floor(factor * width / side)
    if rows == columns == 0:
        raise ValueError("the image would be resized to nothing")
    if rows == 0:
        rows, columns = 1, min(width // height, most)
    elif columns == 0:
        rows, columns = min(height // width, most), 1
    return rows * columns


def _image(settings: Settings, token: Token) -> Slot:
    image = settings.image
    patch, pool = whole(image, "patch_size", 16), whole(image, "pooling_kernel_size", 3)
    most, soft = whole(image, "max_soft_tokens", 280), token("image_token", "<|image|>")
    begin, end = token("boi_token", "<|image>"), token("eoi_token", "<image|>")
    return run(soft, soft, lambda size: image_tokens(size, patch, most, pool), begin, end)


@formula("Gemma4Processor")
def gemma4(settings: Settings, token: Token) -> Expansion:
    """Frames of a spectrogram, cut at 30 s."""
    rate = whole(settings.audio, "sampling_rate", 16000)
    frame, hop = whole(settings.audio, "frame_length", rate // 50), whole(settings.audio, "hop_length", rate // 100)
    # A clip of half a frame and a sample is the first with a frame.
    ear = Ear(rate, 480_000, frame // 2 + 1)
    soft, begin, end = token("audio_token", "<|audio|>"), token("boa_token", "<|audio>"), token("eoa_token", "<audio|>")
    audio = run(soft, soft, lambda samples: audio_tokens(samples, ear, frame, hop), begin, end)
    return Expansion({"audio": audio, "image": _image(settings, token)}, ear)


@formula("Gemma4UnifiedProcessor")
def unified(settings: Settings, token: Token) -> Expansion:
    """Blocks of 640 samples, however many."""
    block = whole(settings.audio, "audio_samples_per_token", 640)
    soft, begin, end = token("audio_token", "<|audio|>"), token("boa_token", "<|audio>"), token("eoa_token", "<audio|>")
    audio = run(soft, soft, lambda samples: math.ceil(samples / block), begin, end)
    ear = Ear(whole(settings.audio, "sampling_rate", 16000), None)
    return Expansion({"audio": audio, "image": _image(settings, token)}, ear)
