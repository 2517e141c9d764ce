"""A: does the model hear and see what the row wants it to?"""

from __future__ import annotations

from typing import Any

from lint_dataset.rules import fault_rule

Data = dict[str, Any]


def _clip(data: Data) -> str:
    return f"clip {data['clip']} (message {data['message']})"


fault_rule(
    "A001",
    "audio-cut",
    "error",
    what="A clip is longer than the processor hears.",
    why="It cuts the rest off without a word, while the answer still speaks of the whole clip.",
    remedy="Split the clip, and its transcript with it, or leave the row out.",
    example="a clip of 45 s under Gemma 3n, which hears 30 s",
    message=lambda data: (
        f"{_clip(data)} is {data['seconds']:.1f} s long and the processor hears {data['heard']:.0f} s: the last "
        f"{data['dropped']:.1f} s are dropped"
    ),
)

fault_rule(
    "A002",
    "audio-missing",
    "error",
    what="There is no file where a clip should be.",
    why="Training stops when it comes to this row.",
    remedy="Give the path from the dataset's folder or from where training runs, and check that the file is there.",
    example='{"type": "audio", "audio": "clips/no_such_file.wav"}',
    message=lambda data: (
        f"{_clip(data)} is not there: neither beside the dataset nor in the working directory"
        if data["named"]
        else f"{_clip(data)} names no file"
    ),
)

fault_rule(
    "A003",
    "audio-unreadable",
    "error",
    what="The file of a clip is no audio that the processor can read.",
    why="Training stops when it comes to this row.",
    remedy="Convert it to WAV or FLAC; m4a, mp4 and webm are only read where torchcodec is installed.",
    example="a text file named clip.wav",
    message=lambda data: f"{_clip(data)} cannot be read ({data['reason']})",
)

fault_rule(
    "A004",
    "audio-empty",
    "error",
    what="A clip has no samples.",
    why="Feature extraction fails on it, or the model learns to answer to nothing.",
    remedy="Record it again, or leave the row out.",
    example="a WAV file that is only its header",
    message=lambda data: f"{_clip(data)} is empty",
)

fault_rule(
    "A005",
    "audio-not-fetched",
    "note",
    what="A clip is an address on the network. Nothing is fetched from an address found in data.",
    why="Its length is not known, so it was not checked.",
    remedy="Download it beside the dataset and name the file.",
    example='{"type": "audio", "url": "https://example.org/clip.wav"}',
    message=lambda data: f"{_clip(data)} is an address, which is not fetched: its length was not checked",
)

fault_rule(
    "A006",
    "image-unreadable",
    "error",
    what="There is no readable image where one should be.",
    why="Training stops when it comes to this row.",
    remedy="Check the path (from the dataset's folder or from where training runs) and the file.",
    example='{"type": "image", "image": "pictures/no_such_file.png"}',
    message=lambda data: f"the image of message {data['message']} cannot be read ({data['reason']})",
)

fault_rule(
    "A007",
    "image-not-fetched",
    "note",
    what="An image is an address on the network. Nothing is fetched from an address found in data.",
    why="It was not checked.",
    remedy="Download it beside the dataset and name the file.",
    example='{"type": "image", "url": "https://example.org/picture.png"}',
    message=lambda data: f"the image of message {data['message']} is an address, which is not fetched",
)

fault_rule(
    "A008",
    "media-uncounted",
    "error",
    what="The row's media cannot be counted: the template prints another number of placeholders than there are media, "
    "or how many tokens they take under this processor is not known.",
    why="Without its tokens the row cannot be judged; the processor itself may refuse it.",
    remedy="Check that each clip or image is a part of its own, of a kind that the model takes.",
    example='{"type": "video", "video": "film.mp4"}',
    message=lambda data: f"the row's {data['kind']} cannot be counted, so the row was not judged",
)
