"""Formats that are no conversation for supervised fine-tuning, or not one that is read here, by their names.

Each is recognised by keys alone. A row of one of these would otherwise be taken for the nearest family and trained on
as something it is not (the caption of an image without the image).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Format(NamedTuple):
    """A format by its keys: all of ``keys``, and one of ``one_of`` if there are any.

    ``mistaken_for`` names the families whose keys such a row has as well, without being one of them (None: any).
    """

    name: str
    keys: tuple[str, ...]
    remedy: str
    one_of: tuple[str, ...] = ()
    mistaken_for: tuple[str, ...] | None = ()

    def matches(self, present: set[str]) -> bool:
        """Whether a row with these keys is in the format."""
        return present.issuperset(self.keys) and (not self.one_of or not present.isdisjoint(self.one_of))


_IMAGE = ("image", "images", "image_path", "video", "videos")

FORMATS = (
    Format(
        "tokenized rows (input_ids)",
        ("input_ids",),
        "Lint the file that the tokens were made from: their text, turns and answers can no longer be seen.",
    ),
    Format(
        "captions (an image or video and its text)",
        ("text",),
        "Write it as messages: a user message with the image part, and the text as the assistant's content.",
        _IMAGE,
        mistaken_for=("text",),
    ),
    Format(
        "one message per line",
        ("role", "content"),
        "Gather the messages of each conversation into one row: a messages list.",
    ),
    Format(
        "one turn per line",
        ("from", "value"),
        "Gather the turns of each conversation into one row: a conversations list.",
    ),
    Format(
        "question and answer pairs",
        ("question",),
        "Rename question to prompt and the answer to completion.",
        ("answer", "answers", "response"),
    ),
)

_BY_NAME = {known.name: known for known in FORMATS}


def looks_like(present: set[str], families: Collection[str]) -> str | None:
    """The name of the foreign format of a row with the keys ``present``, or None.

    ``families`` are the families whose keys the row has: it is one of those unless the format is mistaken for them.
    """
    for known in FORMATS:
        if known.matches(present) and (known.mistaken_for is None or set(families) <= set(known.mistaken_for)):
            return known.name
    return None


def remedy_for(name: str) -> str | None:
    """What to do about a row in the foreign format ``name``."""
    known = _BY_NAME.get(name)
    return known.remedy if known else None
