"""A conversation as it will be tokenized: texts to estimate, tokens that are known, and where its turns stand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from lint_dataset.conversations import Conversation
from lint_dataset.estimates.families import Family, Template
from lint_dataset.faults import Fault
from lint_dataset.media import Library
from lint_dataset.processors.audio import grouped, listen
from lint_dataset.processors.slots import Ear

ASSISTANTS = ("assistant", "model")
#: What Gemma 3n hears: 30 s at 16 kHz.
_EAR = Ear(16000, 480000)


@dataclass
class Layout:
    """One example in order. A place is the number of texts and of known tokens that stand before it.

    ``turns`` are (role, start, end, end of the marker, trained) with places, ``media`` (kind, start, seconds, tokens).
    ``slack`` is how many more tokens there may be than are counted: what explains tools to the model.
    """

    texts: list[str] = field(default_factory=list)
    known: int = 0
    turns: list[tuple[str, Place, Place, Place, bool | None]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    completion: int | None = None
    media: list[tuple[str, Place, float | None, int]] = field(default_factory=list)
    slack: int = 0
    faults: list[Fault] = field(default_factory=list)

    def here(self) -> Place:
        """The place behind what was added."""
        return len(self.texts), self.known


Place = tuple[int, int]


def lay_out(conversation: Conversation, family: Family, folder: str, library: Library | None = None) -> Layout | None:
    """The layout of a conversation; None where it has media whose tokens are not known without the processor.

    ``folder`` is where relative paths of media start, ``library`` where clips are looked up.
    """
    library = library or Library()
    if conversation.text is not None:
        return _plain(conversation, conversation.text, family.template)
    template, messages = family.template, conversation.messages
    layout = Layout(known=template.begin)
    roles = [message.role for message in messages]
    system = bool(roles) and roles[0] in ("system", "developer")
    layout.known += template.system_extra if system else template.no_system
    if conversation.tools:
        layout.texts.append(json.dumps(conversation.tools, ensure_ascii=False))
        layout.slack += template.tools
    last_question = max((i for i, role in enumerate(roles) if role == "user"), default=-1)
    for index, message in enumerate(messages):
        answers = message.role in ASSISTANTS
        inside = system and index == 0 and template.system != "turn"
        # A system message that is no turn stands inside the first user's, behind its header.
        if not inside:
            layout.known += template.before if not answers or template.answer is None else template.answer
        elif template.system == "user":
            layout.known += template.before
        if answers and index > last_question:
            layout.known += template.last_answer
        if system and index == 1 and template.system == "user" and message.role == "user":
            layout.known -= template.before  # it was opened for the system message
        start = layout.here()
        if not _say(layout, message, index + 1, family, folder, library):
            return None
        end = layout.here()
        if not inside:
            layout.known += template.marker if answers or template.user_marker is None else template.user_marker
        layout.turns.append((message.role, start, end, layout.here(), message.trained))
        if not inside:
            layout.known += template.after
        if answers and index >= (conversation.completion or 0):
            layout.answers.append(index)
    if conversation.completion is not None and conversation.completion < len(messages):
        layout.completion = conversation.completion
    layout.faults = grouped(layout.faults)
    return layout


def _say(layout: Layout, message: Any, number: int, family: Family, folder: str, library: Library) -> bool:
    """Add what a message says; False where it holds a medium that cannot be counted."""
    for key in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(message.template.get(key), str):
            layout.texts.append(message.template[key])
    clips = 0
    for part in message.parts:
        if part.kind == "text":
            layout.texts.append(part.text)
        elif part.kind != "other":
            medium = family.media.get(part.kind)
            if medium is None:
                return False
            seconds = None
            if part.kind == "audio":
                clips += 1
                clip = listen(part.source, folder, _EAR, {"message": number, "clip": clips}, library=library)
                layout.faults += clip.faults
                seconds = clip.seconds
            layout.known += medium.before
            layout.media.append((part.kind, layout.here(), seconds, medium.soft))
            layout.known += medium.soft + medium.after
    calls = message.template.get("tool_calls")
    if calls:
        layout.texts.append(json.dumps(calls, ensure_ascii=False, default=str))
        layout.slack += 10 * len(calls) if isinstance(calls, list) else 10
    return True


def _plain(conversation: Conversation, text: str, template: Template) -> Layout:
    """A row that is one text: the trainer ends it with the end-of-sequence token."""
    layout = Layout(known=template.text_begin)
    if conversation.completion is None:
        # The text is one answer, with all that the tokenizer puts around it.
        starts = [(0, 0)]
        layout.texts.append(text)
        roles = ["text"]
    else:
        starts = [layout.here()]
        layout.texts.append(text[: conversation.completion])
        starts.append(layout.here())
        layout.texts.append(text[conversation.completion :])
        roles = ["prompt", "completion"]
        layout.completion = 1
    ends = [*starts[1:], layout.here()]
    layout.known += template.text_end
    markers = [*starts[1:], layout.here()]
    layout.turns = [(role, s, e, m, None) for role, s, e, m in zip(roles, starts, ends, markers, strict=True)]
    layout.answers = [len(roles) - 1]
    return layout
