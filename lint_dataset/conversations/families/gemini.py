"""Gemini on Vertex AI: ``{"systemInstruction": {"parts": […]}, "contents": [{"role": "user", "parts": […]}]}``.

Media are ``{"fileData": {"mimeType", "fileUri"}}`` or ``{"inlineData": {"mimeType", "data"}}``; keys may be written in
snake case as well.
"""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import as_text, build, by_mime, call_of, tool_of
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.faults import key_names, name_of, type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message, Part
from lint_dataset.faults import Fault

_ROLES = {"user": "user", "model": "assistant", "function": "tool", "system": "system"}


@family(
    "gemini",
    keys=(("contents",),),
    order=34,
    where=lambda row: isinstance(row.get("contents"), list),
    read_by=("Vertex AI",),
)
def convert(row: dict[str, Any]) -> Converted:
    """Chat messages: the model is the assistant, the system instruction the first message."""
    items = row["contents"]
    if not items:
        return None, [Fault("S004", {"field": "contents"})]
    messages: list[Message] = []
    faults: list[Fault] = []
    instruction = _either(row, "systemInstruction")
    if isinstance(instruction, dict):
        found, problems = _messages({**instruction, "role": "system"}, 1)
        messages += found
        faults += problems
    for number, item in enumerate(items, start=len(messages) + 1):
        found, problems = _messages(item, number)
        messages += found
        faults += problems
    if any(fault.code != "M010" or fault.data["problem"] != "unknown_type" for fault in faults):
        return None, faults
    return Conversation("gemini", tuple(messages), _tools(row.get("tools"))), faults + turn_faults(tuple(messages), row)


def _messages(item: Any, number: int) -> tuple[list[Message], list[Fault]]:
    """The messages of one content: what functions answered is said by a tool, each answer in a message of its own."""
    if not isinstance(item, dict):
        return [], [Fault("M001", {"message": number, "got": type_name(item)})]
    role, parts = item.get("role", "user"), item.get("parts")
    if not isinstance(role, str) or role not in _ROLES:
        return [], [Fault("M006", {"message": number, "role": name_of(role), "meant": None})]
    if not isinstance(parts, list):
        return [], [Fault("M003", {"message": number, "key": "parts", "keys": key_names(item)})]
    said: list[Part] = []
    calls: list[dict[str, Any]] = []
    answers: list[Message] = []
    faults: list[Fault] = []
    for place, part in enumerate(parts, start=1):
        if not isinstance(part, dict):
            faults.append(
                Fault("M010", {"message": number, "part": place, "problem": "not_object", "got": type_name(part)})
            )
        elif isinstance(part.get("text"), str):
            said += [Part("text", part["text"])] if part["text"] else []
        elif isinstance(medium := _either(part, "fileData"), dict):
            said.append(by_mime(_either(medium, "mimeType"), _either(medium, "fileUri")))
        elif isinstance(medium := _either(part, "inlineData"), dict):
            said.append(by_mime(_either(medium, "mimeType"), {"data": medium.get("data")}))
        elif isinstance(call := _either(part, "functionCall"), dict):
            calls.append(call_of(str(call.get("name")), call.get("args")))
        elif isinstance(answer := _either(part, "functionResponse"), dict):
            answers.append(build("tool", as_text(answer.get("response")), name=str(answer.get("name"))))
        else:
            kind = name_of(next(iter(part), "nothing"))
            faults.append(Fault("M010", {"message": number, "part": place, "problem": "unknown_type", "type": kind}))
    if answers and not said and not calls:
        return answers, faults
    return [*answers, build(_ROLES[role], said, calls=calls)], faults


def _either(item: dict[str, Any], name: str) -> Any:
    """A field in camel case or in snake case."""
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
    return item.get(name, item.get(snake))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _tools(groups: Any) -> list[Any] | None:
    """The functions of all groups of declarations."""
    declared = [
        function
        for group in _listed(groups)
        if isinstance(group, dict)
        for function in _listed(_either(group, "functionDeclarations"))
        if isinstance(function, dict)
    ]
    tools = [tool_of(one.get("name"), one.get("description"), one.get("parameters")) for one in declared]
    return tools or None
