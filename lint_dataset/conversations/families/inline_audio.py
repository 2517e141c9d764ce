"""FunASR's Fun-ASR-Nano: messages with the clip in the text, ``<|startofspeech|>!1.wav<|endofspeech|>``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lint_dataset.conversations.families import messages
from lint_dataset.conversations.media_columns import with_parts
from lint_dataset.conversations.media_tags import SPEECH, split_tags
from lint_dataset.conversations.registry import Converted, family


def _is_one(row: dict[str, Any]) -> bool:
    items = row.get("messages")
    contents = [item.get("content") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return any(isinstance(content, str) and SPEECH.search(content) for content in contents)


@family(
    "inline-audio",
    keys=(("messages",),),
    order=17,
    where=_is_one,
    like="messages",
    read_by=("FunASR",),
    wrongly="the clip is named in the text, and its name is trained on",
)
def convert(row: dict[str, Any]) -> Converted:
    """Chat messages with the clips as parts."""
    conversation, faults = messages.convert(row)
    if conversation is None:
        return None, faults
    heard = tuple(with_parts(one, split_tags(one.parts, "audio", SPEECH)) for one in conversation.messages)
    return replace(conversation, family="inline-audio", messages=heard), faults
