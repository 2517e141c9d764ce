"""Where the texts and turns of a conversation stand in what its template rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lint_dataset.conversations import Conversation, Part
from lint_dataset.faults import Fault
from lint_dataset.processors.causes import keeps_last_reasoning, left_out
from lint_dataset.processors.guard import place
from lint_dataset.processors.marks import Marked, Text, TooManyTexts
from lint_dataset.processors.spans import common_prefix

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor

ASSISTANTS = ("assistant", "model")
Span = tuple[int, int]
#: So many messages are named one by one.
_SHOWN = 5


@dataclass
class Texts:
    """What was found: for each message its turn as (start, end, end of marker), and the texts people wrote.

    ``said`` holds (number of the message, start, end). ``merged`` says that the system message is part of the user's
    turn. ``lost_media`` is filled by the guard: media of which the template rendered nothing.
    """

    turns: list[tuple[int, int, int]] = field(default_factory=list)
    said: list[tuple[int, int, int]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    merged: bool = False
    lost_media: list[tuple[int, Part]] = field(default_factory=list)


def locate(conversation: Conversation, messages: list[dict[str, Any]], plain: str, processor: Processor) -> Texts:
    """Find every text of a conversation in its render ``plain``, by markers; turns without text by their neighbours.

    Texts that are not in the render, or only as the printed form of a list, are faults.
    """
    found, printed, missing = _by_markers(conversation, messages, plain, processor)
    texts = Texts()
    spans: dict[int, list[Span]] = {}
    for text, span in found:
        spans.setdefault(text.message, []).append(_with_tags(plain, *span) if text.reasoning else span)
        texts.said.append((text.message + 1, *span))
    for index in sorted(printed):
        texts.faults.append(Fault("M104", place(conversation, index)))
    texts.faults += _left_out(conversation, messages, missing, processor)
    texts.merged = _merged(conversation, spans, plain, processor)
    before = 0
    for index in range(len(messages)):
        following = next((min(spans[i])[0] for i in range(index + 1, len(messages)) if i in spans), len(plain))
        turn = _turn(conversation, messages, plain, processor, index, spans.get(index), before, following)
        texts.turns.append(turn)
        before = max(before, turn[2])
    return texts


def _merged(conversation: Conversation, spans: dict[int, list[Span]], plain: str, processor: Processor) -> bool:
    """Whether the system message is printed at the head of the user's turn, as by a template without a system role."""
    roles = [message.role for message in conversation.messages[:2]]
    if roles[1:] != ["user"] or roles[0] not in ("system", "developer") or not {0, 1} <= spans.keys():
        return False
    between = plain[max(end for _, end in spans[0]) : min(spans[1])[0]]
    for slot in processor.expansion.slots.values():
        between = between.replace(slot.placeholder, "")
    return between.isspace()


def _left_out(
    conversation: Conversation, messages: list[dict[str, Any]], missing: list[Text], processor: Processor
) -> list[Fault]:
    """The faults of texts that are not in the render: one for each message, one for the reasoning of all of them."""
    faults = []
    for index in sorted({text.message for text in missing if not text.reasoning}):
        why = left_out(processor, messages, conversation.tools, conversation.variables, index)
        faults.append(Fault("M102", {**place(conversation, index), "why": why}))
    thought = sorted({text.message for text in missing if text.reasoning})
    if thought:
        # Many templates drop the reasoning of all turns but the last on purpose, as people chat with such a model.
        last = max(i for i, message in enumerate(conversation.messages) if message.role in ASSISTANTS)
        usual = last not in thought and keeps_last_reasoning(processor)
        numbers = [index + 1 for index in thought[:_SHOWN]]
        faults.append(Fault("M110", {"messages": numbers, "count": len(thought), "usual": usual}))
    return faults


def _by_markers(
    conversation: Conversation, messages: list[dict[str, Any]], plain: str, processor: Processor
) -> tuple[list[tuple[Text, Span]], set[int], list[Text]]:
    """The texts that were found, the messages whose content was printed as a list, and the texts that were not found.

    All texts are marked at once. Where the markers change what the template does (it looks at how a text begins), the
    messages are marked one at a time, and one that still cannot be marked is searched for.
    """
    found: list[tuple[Text, Span]] = []
    printed: set[int] = set()
    missing: list[Text] = []
    cursor = 0
    try:
        tries = [None, *range(len(messages))]
        for only in tries:
            marked = Marked(messages, plain, only)
            same, spans, lists = _render_marked(marked, conversation, plain, processor)
            if same:
                found += [(marked.texts[number], span) for number, span in sorted(spans.items())]
                printed |= {marked.texts[number].message for number in lists}
                missing += [text for number, text in enumerate(marked.texts) if number not in spans]
                if only is None:
                    break
            elif only is not None:
                cursor = max(cursor, _prompt_end(conversation, messages, plain, processor, only))
                for text in marked.texts:
                    start = plain.find(text.text, cursor)
                    if start >= 0:
                        found.append((text, (start, start + len(text.text))))
                    else:
                        missing.append(text)
            cursor = max((span[1] for _, span in found), default=0)
    except TooManyTexts:
        return [], set(), []
    printed |= {text.message for text, (start, _) in found if _in_json(messages[text.message], plain, start)}
    return found, printed, missing


def _render_marked(
    marked: Marked, conversation: Conversation, plain: str, processor: Processor
) -> tuple[bool, dict[int, Span], set[int]]:
    try:
        render = processor.render(marked.messages, conversation.tools, conversation.variables)
    except Exception:  # a template that counts characters may refuse the markers
        return False, {}, set()
    text, spans, printed = marked.read(render)
    return text == plain, spans, printed


def _in_json(message: dict[str, Any], plain: str, start: int) -> bool:
    """Whether the text of a part was printed inside the JSON of its list."""
    if not isinstance(message.get("content"), list):
        return False
    return plain[max(0, start - 12) : start].replace(" ", "").endswith('"text":"')


def _with_tags(plain: str, start: int, end: int) -> Span:
    """Reasoning together with the tags around it: they are part of what the model says."""
    before, behind = plain[:start].rstrip(), plain[end:]
    if before.endswith("<think>"):
        start = len(before) - len("<think>")
    if behind.lstrip().startswith("</think>"):
        end += behind.index("</think>") + len("</think>")
    return start, end


def _turn(
    conversation: Conversation,
    messages: list[dict[str, Any]],
    plain: str,
    processor: Processor,
    index: int,
    spans: list[Span] | None,
    before: int,
    following: int,
) -> tuple[int, int, int]:
    """The turn of one message: (start, end, end of its marker). ``before`` and ``following`` are its neighbours."""
    message = conversation.messages[index]
    if spans and not message.has_tool_calls:
        start, end = min(spans)[0], max(end for _, end in spans)
        return start, end, _marker_end(plain, end, processor)
    if message.role not in ASSISTANTS:
        return before, before, before
    start = _answer_start(conversation, messages, plain, processor, index, before)
    if spans:
        start = min(start, min(spans)[0]) if start >= before else min(spans)[0]
    said = max([start, *(end for _, end in spans or ())])
    if marker := _first_marker(plain, said, following, processor):
        return start, *marker
    end = max(said, _answer_end(conversation, messages, plain, processor, index, following))
    return start, end, end


def _answer_start(
    conversation: Conversation,
    messages: list[dict[str, Any]],
    plain: str,
    processor: Processor,
    index: int,
    before: int,
) -> int:
    """Where an answer without text begins: as far as the render agrees with a prompt that asks for this answer."""
    start = _prompt_end(conversation, messages, plain, processor, index)
    if start >= before and start > 0:
        return start
    header = processor.closers.header
    opened = plain.find(header, before) if header else -1
    return opened + len(header) if opened >= 0 else before


def _prompt_end(
    conversation: Conversation, messages: list[dict[str, Any]], plain: str, processor: Processor, index: int
) -> int:
    """How far the render agrees with the messages before one, asked for an answer if that is one."""
    answers = conversation.messages[index].role in ASSISTANTS
    try:
        asked = processor.render(messages[:index], conversation.tools, conversation.variables, answers)
        return common_prefix(asked, plain)
    except Exception:  # no message before it, or a shorter conversation that the template refuses
        return 0


def _answer_end(
    conversation: Conversation,
    messages: list[dict[str, Any]],
    plain: str,
    processor: Processor,
    index: int,
    following: int,
) -> int:
    """Where an answer without an end marker ends: as far as the render agrees with a conversation that ends here."""
    try:
        ending = processor.render(messages[: index + 1], conversation.tools, conversation.variables)
    except Exception:  # a shorter conversation that the template refuses
        return 0
    return len(plain[: min(following, common_prefix(ending, plain))].rstrip())


def _first_marker(plain: str, start: int, stop: int, processor: Processor) -> tuple[int, int] | None:
    """The first end-of-turn marker in a part of the render; the longest of those that begin there."""
    found = [(plain.find(marker, start, stop), -len(marker)) for marker in processor.closers.markers]
    at, length = min((one for one in found if one[0] >= 0), default=(-1, 0))
    return (at, at - length) if at >= 0 else None


def _marker_end(plain: str, end: int, processor: Processor) -> int:
    """The end of the end-of-turn marker behind a text; ``end`` where there is none."""
    begin = end
    while begin < len(plain) and plain[begin].isspace():
        begin += 1
    for marker in processor.closers.markers:
        if plain.startswith(marker, begin):
            return begin + len(marker)
    return end
