from __future__ import annotations

import numpy as np
import pytest

from lint_dataset.memory.audio import mel_frames, whole_frames


def test_frames_are_those_of_the_real_feature_extractor() -> None:
    transformers = pytest.importorskip("transformers")
    extractor = transformers.Gemma3nAudioFeatureExtractor()
    for samples in (480, 1600, 16_000, 16_001, 80_000, 123_456, 479_999, 480_000, 720_000):
        real = extractor([np.zeros(samples, np.float32)], return_tensors="np")["input_features"].shape[1]
        assert int(mel_frames(samples / 16_000)) == max(real, 1), samples


def test_a_clip_of_unknown_length_counts_as_the_longest() -> None:
    assert mel_frames([0.0, np.nan, 31.0]).tolist() == [2997] * 3


def test_frames_are_raised_to_the_middle_of_a_block() -> None:
    assert whole_frames(np.array([1, 24, 25, 72, 497, 2997, 3000])).tolist() == [24, 24, 72, 72, 504, 3000, 3000]
