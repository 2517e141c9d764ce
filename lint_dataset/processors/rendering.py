"""A conversation as text: what the template rendered, with media expanded, and where each turn stands in it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from lint_dataset.conversations import Conversation, Part
from lint_dataset.conversations.faults import collapse
from lint_dataset.faults import Fault
from lint_dataset.media import Library, parts_of
from lint_dataset.media.picture import look
from lint_dataset.processors import guard
from lint_dataset.processors.arguments import arguments
from lint_dataset.processors.audio import grouped, listen
from lint_dataset.processors.prompts import prompt_of
from lint_dataset.processors.refusals import refusals
from lint_dataset.processors.spans import common_prefix
from lint_dataset.processors.speech import answers_of, speech_faults
from lint_dataset.processors.texts import Texts, locate

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor


class Turn(NamedTuple):
    """One message, in characters: ``[start, end)`` is what it says, ``marker_end`` where its end marker ends."""

    role: str
    start: int
    end: int
    marker_end: int
    trained: bool | None


class Medium(NamedTuple):
    """One clip or image: the characters of its soft tokens, the number of its message, the seconds that are heard."""

    kind: str
    start: int
    end: int
    seconds: float | None
    message: int


class Rendered(NamedTuple):
    """One example, ready to be tokenized. ``said`` is where people's own texts stand: (number of message, start, end).

    All places are characters of ``text``. ``answers`` number the turns that are answers. ``prompt`` is the prompt of a
    prompt/completion row as the trainer tokenizes it by itself; the completion starts where its tokens part from those
    of ``text``.
    """

    text: str
    add_special_tokens: bool
    turns: list[Turn]
    answers: list[int]
    media: list[Medium]
    said: list[tuple[int, int, int]]
    completion: int | None
    prompt: str | None = None


def render(
    conversation: Conversation, processor: Processor, folder: str, library: Library
) -> tuple[Rendered | None, list[Fault]]:
    """Render one example as the trainer would. ``folder`` is where its relative media paths start.

    Returns None, and the faults that say why, where the processor would refuse the row. Never raises.
    """
    if conversation.text is not None:
        return _plain(conversation, conversation.text, processor), []
    if type(processor.whole).__name__ == "WhisperProcessor" and conversation.messages:
        return _labels(conversation, processor, folder, library)
    if processor.template is None:
        return None, [Fault("M112", {})]
    messages = [message.template for message in conversation.messages]
    try:
        text = processor.render(messages, conversation.tools, conversation.variables)
    except Exception as error:  # a template raises whatever it likes
        return None, refusals(error, conversation, messages, processor)
    texts = locate(conversation, messages, text, processor)
    unsaid = guard.check(conversation, messages, text, texts, processor)
    faults = collapse([*texts.faults, *unsaid, *arguments(conversation, messages, text, processor)])
    if texts.merged:
        faults.append(Fault("M116", {}))
    expanded = _expand(conversation, text, texts, processor, folder, library, faults)
    if expanded is None:
        return None, faults
    longer, moved, found = expanded
    turns = [
        Turn(message.role, moved(start), moved(end), moved(marker_end), message.trained)
        for message, (start, end, marker_end) in zip(conversation.messages, texts.turns, strict=True)
    ]
    turns = [_with_media(number, turn, found) for number, turn in enumerate(turns, start=1)]
    completion = conversation.completion
    prompt = prompt_of(conversation, messages, processor, faults)
    if prompt is not None:
        shared = common_prefix(prompt, text)
        prompt = longer[: moved(shared)] + prompt[shared:]
    return (
        Rendered(
            text=longer,
            add_special_tokens=processor.adds_special_tokens(longer),
            turns=turns,
            # What an assistant says in the prompt of a prompt/completion row is not learnt.
            answers=[
                i for i, turn in enumerate(turns) if turn.role in ("assistant", "model") and i >= (completion or 0)
            ],
            media=found,
            said=[(number, moved(start), moved(end)) for number, start, end in texts.said],
            completion=turns[completion].start if completion is not None and completion < len(turns) else None,
            prompt=prompt,
        ),
        faults,
    )


def _labels(
    conversation: Conversation, processor: Processor, folder: str, library: Library
) -> tuple[Rendered, list[Fault]]:
    """A row under Whisper: no text but the transcript, with the decoder's own markers around it."""
    faults: list[Fault] = []
    queues = {
        kind: [(n, part) for n, part in parts_of(conversation) if part.kind == kind] for kind in ("audio", "image")
    }
    _sizes(conversation, queues, processor, folder, library, faults)
    text = "".join(message.text for message in conversation.messages if message.role in ("assistant", "model"))
    return Rendered(text, True, [Turn("text", 0, len(text), len(text), None)], [0], [], [], None), faults


def _plain(conversation: Conversation, text: str, processor: Processor) -> Rendered:
    """A row that is one text: the trainer ends it with the end-of-sequence token unless it ends so already."""
    end = len(text)
    prompt = None
    if processor.eos and text.endswith(processor.eos):
        end -= len(processor.eos)
    elif processor.eos:
        text += processor.eos
    completion = conversation.completion
    if completion is None:
        turns = [Turn("text", 0, end, len(text), None)]
    else:
        prompt = text[:completion]
        completion = min(completion, end)
        turns = [
            Turn("prompt", 0, completion, completion, None),
            Turn("completion", completion, end, len(text), None),
        ]
    return Rendered(text, True, turns, [len(turns) - 1], [], [], completion, prompt)


def _expand(
    conversation: Conversation,
    text: str,
    texts: Texts,
    processor: Processor,
    folder: str,
    library: Library,
    faults: list[Fault],
) -> tuple[str, Any, list[Medium]] | None:
    """Put the soft tokens of each medium where the template printed its placeholder.

    Returns the longer text, a function from places in the old text to places in the new, and the media; None where
    the processor would refuse the row or its count is not known. Adds to ``faults``.
    """
    slots = processor.expansion.slots
    parts = [(number, part) for number, part in parts_of(conversation) if (number, part) not in texts.lost_media]
    placeholders = {slot.placeholder: kind for kind, slot in slots.items()}
    found = guard.occurrences(text, placeholders)
    in_text = collapse(guard.placeholder_faults(texts.said, found))
    faults += in_text
    queues = {kind: [(n, part) for n, part in parts if part.kind == kind] for kind in ("audio", "image", "video")}
    printed = {kind: sum(k == kind for _, _, k in found) for kind in queues}
    sizes, seconds = _sizes(conversation, queues, processor, folder, library, faults)
    if in_text:
        return None
    if uncounted := [kind for kind, queue in queues.items() if len(queue) != printed[kind]]:
        faults += [Fault("A008", guard.uncounted(kind, len(queues[kind]), printed[kind], slots)) for kind in uncounted]
        return None
    longest = {kind: max((size for size in own if size is not None), default=None) for kind, own in sizes.items()}
    pieces: list[str] = []
    ends, gains = [], [0]
    result: list[Medium] = []
    last = length = 0
    reasons: dict[str, str] = {}
    taken = dict.fromkeys(queues, 0)
    for start, end, kind in found:
        at = taken[kind]
        taken[kind] += 1
        slot, size = slots[kind], sizes[kind][at]
        try:
            replacement = slot.replacement(size, longest[kind])
        except Exception as error:  # the processor refuses this size, in its own way
            replacement, size = None, None
            reasons[kind] = guard.first_line(error)
        if replacement is None:
            if size is not None:
                reasons.setdefault(kind, "its processor has no count that is known here")
            elif kind not in reasons:
                reasons[kind] = ""
            continue
        pieces += [text[last:start], replacement]
        length += start - last
        first, behind = replacement.find(slot.soft), replacement.rfind(slot.soft) + len(slot.soft)
        span = (length + max(first, 0), length + max(behind, 0))
        result.append(Medium(kind, *span, seconds[kind][at], queues[kind][at][0]))
        length += len(replacement)
        ends.append(end)
        gains.append(length - end)
        last = end
    if reasons:
        # Where there is no size, its own fault says why.
        faults += [Fault("A008", {"kind": kind, "media": 1, "why": why}) for kind, why in reasons.items() if why]
        return None
    pieces.append(text[last:])
    return "".join(pieces), lambda place: place + gains[bisect_right(ends, place)], result


def _sizes(
    conversation: Conversation,
    queues: dict[str, list[tuple[int, Part]]],
    processor: Processor,
    folder: str,
    library: Library,
    faults: list[Fault],
) -> tuple[dict[str, list[Any]], dict[str, list[float | None]]]:
    """The size of each medium, and the seconds that are heard of it, by kind. Adds to ``faults``."""
    sizes: dict[str, list[Any]] = {kind: [None] * len(queue) for kind, queue in queues.items()}
    seconds: dict[str, list[float | None]] = {kind: [None] * len(queue) for kind, queue in queues.items()}
    answers = answers_of(conversation)
    heard: list[Fault] = []
    ear = processor.expansion.ear
    for at, (message, part) in enumerate(queues["audio"]):
        place = {"message": message, "clip": at + 1}
        clip = listen(part.source, folder, ear, place, answers.get(message, 0), library)
        sizes["audio"][at], seconds["audio"][at] = clip.samples, clip.seconds
        heard += clip.faults
    faults += grouped([*heard, *speech_faults(conversation, folder, library)])
    for at, (message, part) in enumerate(queues["image"]):
        picture = look(part.source, folder, {"message": message})
        faults += picture.faults
        sizes["image"][at] = picture.size
    return sizes, seconds


def _with_media(number: int, turn: Turn, found: list[Medium]) -> Turn:
    """A turn says its media too."""
    own = [medium for medium in found if medium.message == number]
    if not own:
        return turn
    spans = [(medium.start, medium.end) for medium in own]
    if turn.end > turn.start:
        spans.append((turn.start, turn.end))
    end = max(end for _, end in spans)
    return turn._replace(start=min(start for start, _ in spans), end=end, marker_end=max(end, turn.marker_end))
