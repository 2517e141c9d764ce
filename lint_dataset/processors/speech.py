"""Clips and what is said about them: how many words there are for how many seconds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lint_dataset.conversations import Conversation, Message
from lint_dataset.faults import Fault
from lint_dataset.media import Library
from lint_dataset.processors.audio import declared_seconds

_ASSISTANTS = ("assistant", "model")
#: The fastest speakers reach six words a second for a moment.
_MOST_WORDS_A_SECOND = 8
#: The schema families whose answers are transcripts.
_TRANSCRIPTS = ("asr-manifest", "asr-pair", "funasr")
#: Who asks for this wants the words of the clip, not something about them: English and the Romance languages.
_ASKS_FOR_WORDS = re.compile(r"transcri|trascri|verbatim|word for word|speech[- ]to[- ]text", re.IGNORECASE)
#: A character of a script that puts no space between words is about a syllable: one and a half make a word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f\uac00-\ud7af]")


def words_in(text: str) -> int:
    """About how many words a text has."""
    unspaced = len(_UNSPACED.findall(text))
    return len(_UNSPACED.sub(" ", text).split()) + unspaced * 2 // 3


def answers_of(conversation: Conversation) -> dict[int, int]:
    """The words of the answer that follows each message, by the number of the message (from 1)."""
    found: dict[int, int] = {}
    following = 0
    for number in range(len(conversation.messages), 0, -1):
        message = conversation.messages[number - 1]
        if message.role in _ASSISTANTS:
            following = words_in(message.text)
        else:
            found[number] = following
    return found


def speech_faults(conversation: Conversation, folder: str, library: Library) -> Iterable[Fault]:
    """Transcripts that nobody can have spoken in the time of their clips."""
    answers = answers_of(conversation)
    clips = 0
    for number, message in enumerate(conversation.messages, start=1):
        own = [part for part in message.parts if part.kind == "audio"]
        clips += len(own)
        if not own or not _asks_for_words(conversation, message):
            continue
        seconds = sum(declared_seconds(part.source) or library.sound(part.source, folder)[1].seconds for part in own)
        words = answers.get(number, 0)
        if seconds and words > _MOST_WORDS_A_SECOND * seconds and words > _MOST_WORDS_A_SECOND:
            lengths = {"words": words, "length": round(seconds, 3)}
            yield Fault("A016", {"message": number, "clip": clips, **lengths})


def _asks_for_words(conversation: Conversation, message: Message) -> bool:
    """Whether the message, or the system prompt, asks for a transcript."""
    first = conversation.messages[0]
    system = first.text if first.role in ("system", "developer") else ""
    return conversation.family in _TRANSCRIPTS or _ASKS_FOR_WORDS.search(f"{system}\n{message.text}") is not None
