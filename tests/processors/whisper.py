"""A Whisper processor with the parameters of whisper-large-v2, and its labels held against our count of them.

    python -m tests.processors.whisper FILE.tiktoken    # a published vocabulary: openai-whisper's assets hold it

The tests make a small vocabulary of their own: how many tokens a transcript has depends on it, what is around them and
how long a clip is heard do not.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

Merges = list[tuple[str, str]]
_LANGUAGES = ("<|en|>", "<|zh|>", "<|de|>", "<|es|>")
_MARKERS = ("<|endoftext|>", "<|startoftranscript|>", *_LANGUAGES, "<|translate|>", "<|transcribe|>", "<|startoflm|>",
            "<|startofprev|>", "<|nocaptions|>", "<|notimestamps|>")  # fmt: skip
_SENTENCES = (
    "The rain in Spain stays mainly in the plain.", "She sells sea shells by the sea shore.", "Straße, déjà vu, naïve",
    "Peter Piper picked a peck of pickled peppers, 1,250 of them in 2024!", "red lorry, yellow lorry", "你好，世界",
)  # fmt: skip


def small() -> tuple[dict[str, int], Merges]:
    """A byte-level vocabulary with a few hundred merges, made of our own sentences."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(_SENTENCES * 3, trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet))
    model = json.loads(made.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def published(path: Path) -> tuple[dict[str, int], Merges]:
    """The vocabulary of a file of OpenAI's tiktoken."""
    from transformers.convert_slow_tokenizer import TikTokenConverter

    vocabulary, merges = TikTokenConverter(str(path)).extract_vocab_merges_from_model(str(path))
    return vocabulary, merges


def processor(vocabulary: dict[str, int], merges: Merges) -> Any:
    """The processor as whisper-large-v2 has it, for English transcripts without timestamps."""
    import transformers as t

    words = t.WhisperTokenizer(vocabulary, merges, additional_special_tokens=list(_MARKERS))
    words.set_prefix_tokens(language="english", task="transcribe", predict_timestamps=False)
    words.language, words.task = "english", "transcribe"
    ear = t.WhisperFeatureExtractor(feature_size=80, sampling_rate=16000, hop_length=160, chunk_length=30, n_fft=400)
    return t.WhisperProcessor(ear, words)


def transcripts(number: int) -> list[str]:
    """Transcripts of one word to over the limit of the decoder."""
    draw = random.Random(3)
    words = " ".join(_SENTENCES).split()
    return [" ".join(draw.choices(words, k=draw.choice((1, 3, 20, 100, 440, 600)))) for _ in range(number)]


def labels(whole: Any, folder: Path, texts: list[str]) -> list[tuple[int, int | None]]:
    """For each transcript how many labels the processor makes of it, and how many tokens we say that it has."""
    from lint_dataset.measure import measure
    from lint_dataset.processors import locate
    from lint_dataset.sources import read

    whole.save_pretrained(folder / "whisper")
    data = folder / "asr.jsonl"
    data.write_text("".join(json.dumps({"audio": "a.wav", "text": text}) + "\n" for text in texts))
    ours = measure(read(str(data)), locate(None, str(folder / "whisper"))).column("tokens").to_pylist()
    return [(len(whole(text=text)["input_ids"]), own) for text, own in zip(texts, ours, strict=True)]


def main(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        both = labels(processor(*published(Path(path))), Path(folder), transcripts(300))
    wrong = sum(theirs != own for theirs, own in both)
    print(f"{len(both)} transcripts, {sum(theirs > 448 for theirs, _ in both)} over 448 labels, {wrong} mismatches")


if __name__ == "__main__":
    main(sys.argv[1])
