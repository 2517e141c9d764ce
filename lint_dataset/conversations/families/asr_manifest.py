"""Manifests for speech recognition: ``{"audio_filepath": "1.wav", "duration": 3.2, "text": …}`` (NeMo's), and the same
with the clip in ``audio`` (the scripts of Whisper and Qwen3-ASR) or ``file_name`` (folders for ``datasets``).
"""

from __future__ import annotations

import mimetypes
from typing import Any

from lint_dataset.conversations.building import build
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Part, PartKind
from lint_dataset.faults import Fault

_PATHS = ("audio_filepath", "audio_path", "audio_file", "wav", "wav_path", "speech")
_PAIRED = ("audio", "file_name")
_TRANSCRIPTS = ("text", "transcript", "transcription", "sentence")


@family("asr-manifest", keys=(_PATHS, _TRANSCRIPTS), order=31, read_by=("nemo",))
def from_manifest(row: dict[str, Any]) -> Converted:
    """The clip is what the user says, the transcript the answer."""
    return transcribed("asr-manifest", row, _PATHS, _TRANSCRIPTS)


@family("asr-pair", keys=(_PAIRED, _TRANSCRIPTS), order=32, read_by=("scripts for Whisper and Qwen3-ASR",))
def from_pair(row: dict[str, Any]) -> Converted:
    """The clip is what the user says, the transcript the answer, with whatever names its language in front of it."""
    return transcribed("asr-pair", row, _PAIRED, _TRANSCRIPTS)


def transcribed(family: str, row: dict[str, Any], clips: tuple[str, ...], transcripts: tuple[str, ...]) -> Converted:
    """A row of a clip and its transcript, each in the first of these columns that holds one.

    Where the row says what part of the clip is meant, the clip's source says so too.
    """
    clip, column = (
        max(names, key=lambda name: (row.get(name) is not None, name in row)) for names in (clips, transcripts)
    )
    source, transcript = row[clip], row[column]
    wrong = [
        Fault("S003", {"field": name, "got": type_name(value), "expected": expected})
        for name, value, kinds, expected in (
            (clip, source, (str, dict, bytes), "path or object"),
            (column, transcript, (str,), "string"),
        )
        if not isinstance(value, kinds)
    ]
    if wrong:
        return None, wrong
    faults = [] if transcript.strip() else [Fault("M009", {"message": None, "field": column})]
    seconds = {
        name: row[name]
        for name in ("offset", "duration")
        if isinstance(row.get(name), (int, float)) and not isinstance(row[name], bool)
    }
    if isinstance(source, str) and seconds:
        source = {"path": source, **seconds}
    # A folder of pictures has the same columns.
    named = mimetypes.guess_type(source)[0] if isinstance(source, str) else None
    kind: PartKind = "image" if (named or "").startswith("image/") else "audio"
    said = build("user", [Part(kind, "", source, kind)])
    return Conversation(family, (said, build("assistant", transcript))), faults
