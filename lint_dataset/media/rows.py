"""The media of whole rows: what to look up ahead, and what they are at this moment."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from lint_dataset.cache import identity
from lint_dataset.conversations import Conversation
from lint_dataset.media.finding import find, parts_of
from lint_dataset.media.library import Library


def clips(conversations: Iterable[tuple[Conversation | None, str]]) -> Iterator[tuple[Any, str]]:
    """The sources of all clips of conversations, each with the folder that it is looked up in."""
    for conversation, folder in conversations:
        for one in conversation.alternatives if conversation is not None else ():
            yield from ((part.source, folder) for _, part in parts_of(one) if part.kind == "audio")


def identity_of(conversation: Conversation | None, folder: str, library: Library) -> str:
    """What the media of a row are, as a hash: another one where it could be measured differently; empty without any."""
    found = []
    for one in conversation.alternatives if conversation is not None else ():
        for _, part in parts_of(one):
            if part.kind == "audio":
                found.append(library.identity(part.source, folder))
                continue
            medium = find(part.source, folder)
            where = "" if medium.path is None else f"{medium.path.absolute()} {identity(medium.path)}"
            found.append(f"{medium.problem} {where}")
    return hashlib.sha256("\n".join(found).encode("utf-8", "surrogateescape")).hexdigest() if found else ""
