"""A013 and on: is what a clip holds what the model takes, and what the row says of it?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from lint_dataset.rules import Finding, Judged, fault_rule, rule
from lint_dataset.rules.audio import clip

Data = dict[str, Any]

#: ``max_target_positions`` of every Whisper model (transformers ``WhisperConfig``).
_WHISPER_LABELS = 448
#: As people call the models, for a run without their processor's files.
_WHISPER = re.compile(r"whisper", re.IGNORECASE)
_GEMMA_3N = re.compile(r"gemma[-_]?3n", re.IGNORECASE)


fault_rule(
    "A013",
    "audio-too-short",
    "error",
    what="A clip is shorter than the least that the model hears.",
    why="Its feature extractor refuses it, or makes no frame of it: the row teaches to answer to nothing.",
    remedy="Leave the row out, or put silence around the clip.",
    example="a clip of 400 samples under Gemma 3n, whose windows are of 513",
    message=lambda data: (
        f"{clip(data)} has {data['samples']:,} samples at {data['rate']:,} Hz, and this model hears nothing of fewer "
        f"than {data['shortest']:,}"
    ),
)


@rule(
    "A014",
    "audio-outside",
    "note",
    what="Clips lie outside the folder of the dataset. Said once a file.",
    why="Whoever gets the dataset does not get them, and no commit of it holds them.",
    remedy="Put them beneath the dataset's folder and name them from there.",
    example='{"type": "audio", "audio": "/home/me/recordings/1.wav"}',
)
def outside(judged: Judged) -> Iterator[Finding]:
    """The first such row of each file, and how many there are."""
    remedy = "Put them beneath the dataset's folder and name them from there."
    for row, found in _by_file(judged, "A014"):
        clips = sum(data.get("times", 1) for data in found)
        what = "a clip lies" if clips == 1 else f"{clips:,} clips lie"
        yield Finding(row, f"{what} outside the dataset's folder and the working directory", remedy, {"clips": clips})


@rule(
    "A015",
    "audio-rate",
    "note",
    what="Clips have another sampling rate than the model hears, or several channels. Said once a file and rate.",
    why="transformers' load_audio resamples files and mixes their channels, and so do the processors' chat templates "
    "and datasets.Audio(sampling_rate=…). A feature extractor that is given arrays does not: it raises, or hears the "
    "clip slower or faster where it is not told the rate.",
    remedy="Let load_audio read the files, or convert them once; cast a column of arrays with "
    "Audio(sampling_rate=16000).",
    example="a clip of 44,100 Hz in stereo under Gemma 3n, which hears 16,000 Hz",
)
def rates(judged: Judged) -> Iterator[Finding]:
    """Each combination of rate and channels once a file. Samples in the rows themselves are a warning."""
    for path_row, found in _by_file(judged, "A015"):
        kinds: dict[tuple[int, int, bool], int] = {}
        for data in found:
            kind = (data["rate"], data["channels"], data["array"])
            kinds[kind] = kinds.get(kind, 0) + data.get("times", 1)
        wanted = found[0]["wanted"]
        for (rate, channels, array), clips in sorted(kinds.items()):
            many = "a clip has" if clips == 1 else f"{clips:,} clips have"
            sound = f"{rate:,} Hz" + (f" in {channels} channels" if channels > 1 else "")
            if array:
                text = f"{many} samples at {sound} in the row, and the model hears {wanted:,} Hz in one channel"
                text += ": nothing resamples an array"
                remedy = f"Cast the column with Audio(sampling_rate={wanted}), or give the files."
            else:
                text = f"{many} {sound}; the model hears {wanted:,} Hz in one channel: load_audio of transformers "
                text += "resamples and mixes files, a feature extractor given their arrays does not"
                remedy = "Let load_audio read the files, or convert them once."
            data = {"rate": rate, "channels": channels, "wanted": wanted, "clips": clips}
            yield Finding(path_row, text, remedy, data, "warning" if array else None)


fault_rule(
    "A016",
    "speech-too-fast",
    "warning",
    what="A transcript has more words than anybody speaks in the time of its clip: over 8 a second.",
    why="Transcript and clip do not belong together, or the clip was cut: the model learns to invent.",
    remedy="Check that the row names the right clip, and that the clip is whole.",
    example="1,000 words for a clip of 3 s",
    message=lambda data: (
        f"the transcript has {data['words']:,} words for {data['length']:.1f} s of audio (clip {data['clip']}, message "
        f"{data['message']}): {data['words'] / data['length']:,.0f} a second"
    ),
)


fault_rule(
    "A019",
    "segment-beyond-clip",
    "error",
    what="A row names a part of a clip that the clip does not have: its offset and duration end behind the clip.",
    why="What is loaded is shorter than the row says, or nothing, while the transcript speaks of all of it.",
    remedy="Correct the offset and the duration, or the file that the row names.",
    example='{"audio_filepath": "episode.wav", "offset": 600, "duration": 30, "text": "…"}, a clip of 500 s',
    message=lambda data: (
        f"{clip(data)} is {data['length']:.2f} s long, and the row names a part of it that ends at {data['end']:.2f} s"
    ),
)


@rule(
    "A020",
    "transcript-too-long",
    "error",
    what="The transcript has more tokens than Whisper's decoder has positions for: 448.",
    why="transformers raises, or an index runs out of its table on the device, when training comes to this row.",
    remedy="Split the clip and its transcript, or leave the row out: 30 s of speech are about 100 words.",
    example='{"audio": "clip.wav", "text": "… 500 words …"} under whisper-large-v3',
)
def whisper_labels(judged: Judged) -> Iterator[Finding]:
    """Rows under a Whisper model that are longer than its labels may be."""
    rows = judged.rows
    if not _hears_as(judged, "WhisperProcessor", _WHISPER):
        return
    for row in np.flatnonzero(rows.tokens > _WHISPER_LABELS).tolist():
        tokens = int(rows.tokens[row])
        yield Finding(
            row,
            f"the transcript has {judged.figure(tokens)} tokens, its markers among them, and Whisper's decoder takes "
            f"{_WHISPER_LABELS}",
            "Split the clip and its transcript, or leave the row out.",
            {"tokens": tokens, "limit": _WHISPER_LABELS},
        )


@rule(
    "A017",
    "max-length-of-samples",
    "note",
    what="max_length given to this processor itself is taken as samples by its feature extractor too. Said once.",
    why="Gemma3nProcessor(…, max_length=2048, truncation=True) hands both to the audio: every clip is cut to 2,048 "
    "samples, an eighth of a second, and nothing says so.",
    remedy='Give it to the text alone: processor(…, text_kwargs={"max_length": …, "truncation": True}).',
    example="processor(text=…, audio=…, max_length=2048, truncation=True)",
)
def flat_max_length(judged: Judged) -> Iterator[Finding]:
    """The first row with a clip, where the plan has a max_length that a collator of one's own would pass on."""
    plan, media = judged.plan, judged.rows.media
    limit = plan.max_length
    if limit is None or plan.trainer not in ("hf", "none") or not media.audio.any():
        return
    if not _hears_as(judged, "Gemma3nProcessor", _GEMMA_3N):
        return
    yield Finding(
        int(media.row[media.audio][0]),
        f"a max_length of {limit:,} given to this processor itself cuts every clip to {limit:,} samples "
        f"({limit / 16000:.2f} s) as well",
        'Give it to the text alone: processor(…, text_kwargs={"max_length": …, "truncation": True}).',
        {"max_length": limit, "heard": round(limit / 16000, 3)},
    )


@rule(
    "A018",
    "audio-in-some-rows",
    "warning",
    what="Some rows of a file have clips and some have none, and batches hold several rows.",
    why="The default collator of transformers takes the keys of the batch's first row: it raises where another lacks "
    "the audio, and leaves the audio out where the first has none.",
    remedy="Train with a batch of 1, sort the rows into batches of one kind, or use a collator that calls the "
    "processor on the whole batch.",
    example="900 rows with a clip and 100 without, --batch-size 4",
)
def mixed(judged: Judged) -> Iterator[Finding]:
    """Once a file, at the first row of the rarer kind."""
    plan, rows = judged.plan, judged.rows
    if plan.batch_size < 2 or plan.trainer not in ("hf", "none"):
        return
    clips = np.zeros(len(rows), np.bool_)
    clips[rows.media.row[rows.media.audio]] = True
    paths = np.array(rows.table.column("path").to_pylist(), object)
    for path in dict.fromkeys(paths.tolist()):
        own = (paths == path) & rows.measured
        with_audio, without = np.flatnonzero(own & clips), np.flatnonzero(own & ~clips)
        if not len(with_audio) or not len(without):
            continue
        rarer, first = ("no clip", without[0]) if len(without) <= len(with_audio) else ("a clip", with_audio[0])
        number = min(len(with_audio), len(without))
        yield Finding(
            int(first),
            f"{number:,} of {int(own.sum()):,} rows have {rarer}, and a batch holds {plan.batch_size} rows: "
            "transformers' default collator cannot put both kinds into one",
            "Train with a batch of 1, or use a collator that calls the processor on the whole batch.",
            {"with_audio": len(with_audio), "without": len(without)},
        )


def _hears_as(judged: Judged, processor: str, called: re.Pattern[str]) -> bool:
    """Whether the model's processor is of this class: by its files, without them by what the model is called."""
    if judged.processor is not None:
        return judged.processor == processor
    return any(called.search(name) for name in (judged.plan.model, judged.plan.tokenizer) if name)


def _by_file(judged: Judged, code: str) -> Iterator[tuple[int, list[Data]]]:
    """The faults of a code by file, each with the first row that has one."""
    paths = judged.rows.table.column("path")
    files: dict[str, tuple[int, list[Data]]] = {}
    for row, data in judged.faults.get(code, ()):
        files.setdefault(paths[row].as_py(), (row, []))[1].append(data)
    yield from files.values()
