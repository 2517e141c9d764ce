"""Why a template refuses a row or leaves a text out: the least change after which it does not.

No template says what it takes, and errors name neither a message nor a remedy. So the row is changed, one thing at a
time, until it renders. Only its form is tried, with other words in place of its texts: rows of one form have the same
causes, and each form is tried once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from lint_dataset.conversations.chat import role_meant
from lint_dataset.processors.marks import REASONING_KEYS

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor

#: A message with its index in the row: a change may merge messages.
Numbered = list[tuple[int, dict[str, Any]]]
#: What a change makes of messages, and the index of the first that it touched; None where there is nothing to change.
Change = Callable[[Numbered], "tuple[Numbered, int] | None"]

#: So many things at once can be wrong with a row; one with more is said to be refused, and not for what.
_MOST_CAUSES = 3
_ARGUMENTS = {"a": "b"}
_CALLERS = ("tool", "function", "ipython")


class Cause(NamedTuple):
    """One thing that a template does not take: what it is, and the index of the first message that it is in."""

    what: str
    message: int


def refused(
    processor: Processor,
    messages: list[dict[str, Any]],
    tools: list[Any] | None,
    variables: dict[str, Any] | None,
) -> list[Cause]:
    """What of the form of a row makes the template raise; empty where that cannot be told."""
    return _refused(processor, _form(messages, tools, variables))


def left_out(
    processor: Processor,
    messages: list[dict[str, Any]],
    tools: list[Any] | None,
    variables: dict[str, Any] | None,
    index: int,
) -> str | None:
    """Why the text of a message is not rendered: for its ``role``, for its ``parts``; None where neither is it."""
    return _left_out(processor, _form(messages, tools, variables), index)


@lru_cache(maxsize=4096)
def _refused(processor: Processor, form: str) -> list[Cause]:
    messages, tools, variables = json.loads(form)
    if _text(processor, messages, tools, variables) is not None:
        return []
    for other, what in ((None, "tools"), ([], "no tools")):
        if _text(processor, messages, other, variables) is not None:
            return [Cause(what, 0)]
    start = list(enumerate(messages))
    usable = [what for what, change in _CHANGES.items() if change(start) is not None]
    for size in range(1, _MOST_CAUSES + 1):
        for together in combinations(usable, size):
            current, causes = start, []
            for what in together:
                changed = _CHANGES[what](current)
                if changed is None:
                    break
                current = changed[0]
                causes.append(Cause(what, changed[1]))
            else:
                if _text(processor, [message for _, message in current], tools, variables) is not None:
                    return causes
    return []


@lru_cache(maxsize=4096)
def _left_out(processor: Processor, form: str, index: int) -> str | None:
    messages, tools, variables = json.loads(form)
    word = _word(index)
    message = messages[index]
    plain = _text(processor, messages, tools, variables)
    if plain is None or word in plain:
        return None
    role = message["role"]
    closest = "system" if role == "developer" else role_meant(role)
    others = [other for other in (closest, "user") if other not in (None, role)]
    tries = [("parts", _joined(message)), *(("role", {**message, "role": other}) for other in others)]
    for why, changed in tries:
        if changed is None:
            continue
        render = _text(processor, [*messages[:index], changed, *messages[index + 1 :]], tools, variables)
        if word in (render or ""):
            return why
    return None


@lru_cache(maxsize=64)
def keeps_last_reasoning(processor: Processor) -> bool:
    """Whether the template renders the reasoning of the last answer, however that is written."""
    asked = {"role": "user", "content": "0one0"}
    for answer in (
        {"content": "<think>\n0two0\n</think>\n\n0three0"},
        {"content": "0three0", **dict.fromkeys(REASONING_KEYS, "0two0")},
    ):
        if "0two0" in (_text(processor, [asked, {"role": "assistant", **answer}], None, None) or ""):
            return True
    return False


def _text(processor: Processor, messages: list[dict[str, Any]], tools: Any, variables: Any) -> str | None:
    try:
        return processor.render(messages, tools, variables)
    except Exception:  # a template raises whatever it likes
        return None


def _word(index: int) -> str:
    """What is said in the place of a message's text."""
    return f"0m{index}0"


def _form(messages: list[dict[str, Any]], tools: Any, variables: Any) -> str:
    """A row with other words in place of its texts and arguments, as JSON: equal for rows of one form."""
    form = [{key: _form_of(key, value, index) for key, value in one.items()} for index, one in enumerate(messages)]
    return json.dumps([form, tools, variables], sort_keys=True, default=str)


def _form_of(key: str, value: Any, index: int) -> Any:
    if key in ("content", *REASONING_KEYS):
        if isinstance(value, list):
            return [_part(part, index) for part in value]
        return _word(index) if isinstance(value, str) and value.strip() else value
    if key == "tool_calls" and isinstance(value, list):
        return [_with_arguments(call, _formal) for call in value]
    return value


def _part(part: Any, index: int) -> Any:
    if isinstance(part, str):
        return _word(index)
    if not isinstance(part, dict):
        return part
    words = {"text": _word(index)}
    return {key: value if key == "type" or value is None else words.get(key, "x") for key, value in part.items()}


def _formal(arguments: Any) -> Any:
    if isinstance(arguments, str):
        return json.dumps(_ARGUMENTS) if arguments.strip() else arguments
    return _ARGUMENTS if isinstance(arguments, dict) and arguments else arguments


def _with_arguments(call: Any, change: Callable[[Any], Any]) -> Any:
    """A call with other arguments, whichever of the two ways of writing one it follows."""
    if not isinstance(call, dict):
        return call
    function = call.get("function")
    if isinstance(function, dict):
        return {**call, "function": _with_arguments(function, change)}
    return {**call, "arguments": change(call["arguments"])} if "arguments" in call else call


def arguments_as(form: type, message: dict[str, Any]) -> dict[str, Any]:
    """A message whose tool calls have their arguments as JSON text (``str``) or as objects (``dict``)."""

    def change(arguments: Any) -> Any:
        if form is dict and isinstance(arguments, str):
            try:
                read = json.loads(arguments or "{}")
            except (ValueError, RecursionError):
                return arguments
            return read if isinstance(read, dict) else arguments
        if form is str and isinstance(arguments, dict):
            return json.dumps(arguments, ensure_ascii=False)
        return arguments

    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_with_arguments(call, change) for call in calls]}


def _each(change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Change:
    """A change of one message after the other; None from ``change`` leaves a message as it is."""

    def all_of(messages: Numbered) -> tuple[Numbered, int] | None:
        found = [(index, message, change(message)) for index, message in messages]
        touched = [index for index, message, new in found if new is not None and new != message]
        return ([(i, old if new is None else new) for i, old, new in found], touched[0]) if touched else None

    return all_of


def _filled(message: dict[str, Any]) -> dict[str, Any] | None:
    return {**message, "content": ""} if message.get("content") is None else None


def _joined(message: dict[str, Any]) -> dict[str, Any] | None:
    """Parts of text as one text."""
    content = message.get("content")
    only_text = isinstance(content, list) and all(isinstance(part, dict) and "text" in part for part in content)
    return _without_media(message) if only_text else None


def _without_media(message: dict[str, Any]) -> dict[str, Any] | None:
    """The text of the parts as one text, without the clips and images between."""
    content = message.get("content")
    if not isinstance(content, list):
        return None
    return {**message, "content": "".join(str(part["text"]) for part in content if "text" in part)}


def _parted(message: dict[str, Any]) -> dict[str, Any] | None:
    content = message.get("content")
    return {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else None


def _known_roles(messages: Numbered) -> tuple[Numbered, int] | None:
    """Other roles than system, user and assistant as what they come closest to; what tools said as one message."""
    result: Numbered = []
    touched = None
    for index, message in messages:
        role = message.get("role")
        if role in ("system", "user", "assistant"):
            result.append((index, message))
            continue
        touched = index if touched is None else touched
        meant = "system" if role == "developer" else role_meant(str(role))
        new = {"role": "user" if meant is None or meant in _CALLERS else meant, "content": message.get("content")}
        if role not in _CALLERS or not result or messages[len(result) - 1][1].get("role") != role:
            result.append((index, new))
    return None if touched is None else (result, touched)


def _identified(messages: Numbered) -> tuple[Numbered, int] | None:
    """Calls with ids of nine letters and digits, as Mistral's templates want them, and answers that name theirs."""
    result: Numbered = []
    calls = answers = 0
    for index, message in messages:
        if isinstance(message.get("tool_calls"), list):
            named = []
            for call in message["tool_calls"]:
                calls += 1
                named.append({**call, "id": f"call{calls:05}"} if isinstance(call, dict) else call)
            message = {**message, "tool_calls": named}
        elif message.get("role") == "tool":
            answers += 1
            message = {**message, "tool_call_id": f"call{answers:05}"}
        result.append((index, message))
    touched = [index for (index, new), (_, old) in zip(result, messages, strict=True) if new != old]
    return (result, touched[0]) if touched else None


def _named(message: dict[str, Any]) -> dict[str, Any] | None:
    return {**message, "name": "f"} if message.get("role") == "tool" and not message.get("name") else None


def _without_system(first: bool) -> Change:
    """The first message, or all others, left out where it is the system's."""

    def change(messages: Numbered) -> tuple[Numbered, int] | None:
        out = [at for at, (_, message) in enumerate(messages) if message.get("role") == "system" and (at == 0) is first]
        if not out:
            return None
        return [one for at, one in enumerate(messages) if at not in out], messages[out[0]][0]

    return change


def _alternating(messages: Numbered) -> tuple[Numbered, int] | None:
    """Messages of one role in a row as one. What is touched is the second of them."""
    result: Numbered = []
    touched = None
    for index, message in messages:
        if result and result[-1][1].get("role") == message.get("role") != "tool":
            touched = index if touched is None else touched
            continue
        result.append((index, message))
    return None if touched is None else (result, touched)


def _asked(messages: Numbered) -> tuple[Numbered, int] | None:
    """A question before the first answer."""
    roles = [message.get("role") for _, message in messages]
    if "assistant" not in roles or "user" in roles[: roles.index("assistant")]:
        return None
    at = roles.index("assistant")
    question = {"role": "user", "content": _word(0)}
    return [*messages[:at], (messages[at][0], question), *messages[at:]], messages[at][0]


def _answered(messages: Numbered) -> tuple[Numbered, int] | None:
    """Nothing behind the last answer."""
    last = max((at for at, (_, message) in enumerate(messages) if message.get("role") == "assistant"), default=None)
    if last is None or last == len(messages) - 1:
        return None
    return messages[: last + 1], messages[last + 1][0]


#: What is tried, the likeliest first: each alone, then two and three together in this order.
_CHANGES: dict[str, Change] = {
    "arguments are text": _each(lambda message: arguments_as(dict, message)),
    "arguments are objects": _each(lambda message: arguments_as(str, message)),
    "null": _each(_filled),
    "parts": _each(_joined),
    "media": _each(_without_media),
    "text": _each(_parted),
    "tool name": _each(_named),
    "call id": _identified,
    "role": _known_roles,
    "later system": _without_system(False),
    "order": _alternating,
    "no question": _asked,
    "system": _without_system(True),
    "no answer at the end": _answered,
}
