"""The one shape that every schema family is brought to: messages made of parts, tools, answer switches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

PartKind = Literal["text", "audio", "image", "video", "other"]


class Part(NamedTuple):
    """One piece of a message.

    ``kind`` is what it is, whatever the data calls it (``input_audio`` and ``audio_url`` are both audio), and ``type``
    is what the data calls it. ``text`` is empty unless ``kind`` is ``"text"``. ``source`` is where a medium comes from,
    as the data gives it: a path, an address, bytes, base64, a dict; None for text and for a bare placeholder.
    """

    kind: PartKind
    text: str = ""
    source: Any = None
    type: str = "text"


@dataclass(frozen=True)
class Message:
    """One turn.

    ``role`` is the role under which the chat template gets it. ``template`` is what ``apply_chat_template`` is given:
    for families that already hold chat messages it is the message of the data itself, None-valued keys included.
    ``trained`` is what the data says about training on this message, and None where it says nothing; ``switch`` is the
    field that says it.
    """

    role: str
    parts: tuple[Part, ...]
    template: dict[str, Any]
    has_tool_calls: bool = False
    trained: bool | None = None
    switch: str | None = None

    @property
    def text(self) -> str:
        """All text of the message, joined as it stands."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True)
class Conversation:
    """One example.

    ``family`` names the schema family. Rows that are plain text (family ``text``, and prompt/completion given as
    strings) have ``text`` and no messages: a trainer tokenizes the text as it is and appends the end-of-sequence token
    unless the text ends with it. ``completion`` is where the completion starts, where the row has one: the character
    for strings, the index of the message for message lists. ``variables`` are what the row itself gives its template to
    know (``chat_template_kwargs``), None where it gives nothing. ``rejected`` is the same conversation with the answer
    that a preference row rejects.
    """

    family: str
    messages: tuple[Message, ...] = ()
    tools: list[Any] | None = None
    text: str | None = None
    completion: int | None = None
    variables: dict[str, Any] | None = None
    rejected: Conversation | None = None

    @property
    def alternatives(self) -> tuple[Conversation, ...]:
        """The conversations that a trainer makes sequences of: this one, and the rejected one where there is one."""
        return (self,) if self.rejected is None else (self, self.rejected)
