"""A: are the clips and images of a row there, readable and whole, and is all of them heard and seen?"""

from __future__ import annotations

from typing import Any

from lint_dataset.rules import fault_rule

Data = dict[str, Any]

#: An answer of fewer words is no transcript that loses a part.
_SOME_WORDS = 8


def clip(data: Data) -> str:
    """``clip 2 (message 1)``, with how many more of the row are like it."""
    more = data.get("times", 1) - 1
    also = f" and {more:,} more like it" if more else ""
    return f"clip {data['clip']} (message {data['message']}){also}"


def _cut(data: Data) -> str:
    if data.get("times", 1) > 1:
        text = (
            f"{data['times']:,} clips are longer than the {data['heard']:.0f} s that the processor hears, the longest "
            f"(clip {data['clip']}, message {data['message']}) {data['seconds']:.1f} s: in all "
            f"{data['all_dropped']:,.1f} s are dropped"
        )
    else:
        text = (
            f"{clip(data)} is {data['seconds']:.1f} s long and the processor hears {data['heard']:.0f} s: the last "
            f"{data['dropped']:.1f} s are dropped"
        )
    if data.get("words", 0) < _SOME_WORDS:
        return text
    share = data["dropped"] / data["seconds"]
    return f"{text}, and with them what up to {share:.0%} of its answer of {data['words']:,} words may speak of"


fault_rule(
    "A001",
    "audio-cut",
    "error",
    what="A clip is longer than the processor hears.",
    why="It cuts the rest off without a word, while the answer still speaks of the whole clip.",
    remedy="Split the clip, and its transcript with it, or leave the row out.",
    example="a clip of 45 s under Gemma 3n, which hears 30 s",
    message=_cut,
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
        f"{clip(data)} is not there: neither beside the dataset nor in the working directory"
        if data["named"]
        else f"{clip(data)} names no file"
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
    message=lambda data: f"{clip(data)} cannot be read ({data['reason']})",
)

fault_rule(
    "A004",
    "audio-empty",
    "error",
    what="A clip has no samples.",
    why="Feature extraction fails on it, or the model learns to answer to nothing.",
    remedy="Record it again, or leave the row out.",
    example="a WAV file that is only its header",
    message=lambda data: f"{clip(data)} is empty",
)

fault_rule(
    "A005",
    "audio-not-fetched",
    "note",
    what="A clip is an address on the network. Nothing is fetched from an address found in data.",
    why="Its length is not known, so it was not checked.",
    remedy="Download it beside the dataset and name the file.",
    example='{"type": "audio", "url": "https://example.org/clip.wav"}',
    message=lambda data: f"{clip(data)} is an address, which is not fetched: its length was not checked",
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
    "the processor refuses one, or how many tokens they take is not known.",
    why="Without its tokens the row cannot be judged; the processor itself may refuse it.",
    remedy="Check that each clip or image is a part of its own, of a kind and a size that the model takes.",
    example='{"type": "video", "video": "film.mp4"}',
    message=lambda data: f"the row's {data['kind']} cannot be counted, so the row was not judged: {data['why']}",
)

fault_rule(
    "A009",
    "audio-truncated",
    "error",
    what="The header of a clip promises more than its file holds.",
    why="A full disk or a broken download cut it off. A WAV is then read as a shorter one, without a word, while the "
    "answer speaks of the whole; a FLAC fails when it is decoded.",
    remedy="Copy or record it again, or leave the row out.",
    example="a WAV file of 2.46 s of which only 2.3 s were written",
    message=lambda data: (
        f"{clip(data)} is cut off: its header promises {data['promised']:.2f} s, and its file holds "
        f"{data['held']:.2f} s"
        if data["promised"] > data["held"] + 0.005
        else f"{clip(data)} is cut off: its file ends before its last page"
    ),
)

fault_rule(
    "A010",
    "audio-silent",
    "warning",
    what="There is nothing but silence in a clip. Only seen with --decode.",
    why="The model learns to answer to nothing.",
    remedy="Record it again, or leave the row out.",
    example="a clip of a microphone that was switched off",
    message=lambda data: f"{clip(data)} is silent: no sample of its {data['length']:.1f} s is above -60 dB",
)

fault_rule(
    "A011",
    "audio-is-pointer",
    "error",
    what="In the place of a clip there is the pointer that Git LFS or git-annex keeps for it.",
    why="The clip itself was never fetched: training stops when it comes to this row.",
    remedy="Run `git lfs pull` (or `git annex get`) where the dataset is.",
    example="a clip of 130 bytes that begins with: version https://git-lfs.github.com/spec/v1",
    message=lambda data: f"{clip(data)} is only the pointer of Git LFS or git-annex to a file that was not fetched",
)

fault_rule(
    "A012",
    "audio-needs-ffmpeg",
    "warning",
    what="A clip is in a format that only FFmpeg decodes: m4a, mp4, aac, webm, amr or wma.",
    why="transformers loads audio by soundfile, which does not know it, unless torchcodec and FFmpeg are installed "
    "where training runs; without them it raises when it comes to this row.",
    remedy="Convert it to WAV or FLAC, or install torchcodec and FFmpeg where training runs.",
    example='{"type": "audio", "audio": "clip.m4a"}',
    message=lambda data: (
        f"{clip(data)} is {data['format']}, which is only decoded where torchcodec and FFmpeg are installed"
        + ("" if data["measured"] else "; its length is not known here (install lint-dataset[av] or ffprobe)")
    ),
)
