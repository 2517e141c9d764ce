"""Chat messages as the templates take them ({role, content, …}), read and checked one by one."""

from __future__ import annotations

import json
from typing import Any

from lint_dataset.conversations.content import parts_of
from lint_dataset.conversations.faults import key_names, name_of, type_name
from lint_dataset.conversations.shape import Message
from lint_dataset.faults import Fault

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "ipython"})
#: What other formats call the roles. Chat templates do not know these names.
ROLE_MEANT = {
    "human": "user",
    "customer": "user",
    "prompter": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "ai": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "agent": "assistant",
    "observation": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "function_call": "assistant",
    "tool_call": "assistant",
}

#: ShareGPT's two names, which axolotl takes in chat messages too (``ChatTemplatePrompter``). Messages are counted under
#: the roles that they stand for, whoever trains; for other trainers the name stays an error.
READ_AS = {"human": "user", "gpt": "assistant"}


def role_meant(role: str) -> str | None:
    """The known role that this name means, or None."""
    plain = role.strip().lower()
    return plain if plain in ROLES else ROLE_MEANT.get(plain)


def messages_of(items: list[Any], first: int = 1) -> tuple[tuple[Message, ...] | None, list[Fault]]:
    """Read a list of chat messages; None where one could not be rendered. ``first`` is the number of the first one."""
    messages: list[Message] = []
    faults: list[Fault] = []
    broken = False
    for number, item in enumerate(items, start=first):
        message, found = message_of(item, number)
        faults += found
        if message is None:
            broken = True
        else:
            messages.append(message)
    return (None if broken else tuple(messages)), faults


def message_of(item: Any, number: int) -> tuple[Message | None, list[Fault]]:
    """Read one chat message. ``number`` is its place in the row, from 1."""
    if not isinstance(item, dict):
        return None, [Fault("M001", {"message": number, "got": type_name(item)})]
    role = item.get("role")
    if not isinstance(role, str):
        return None, [Fault("M002", {"message": number, "keys": key_names(item), "got": _got(item, "role")})]
    faults: list[Fault] = []
    if role not in ROLES:
        data: dict[str, Any] = {"message": number, "role": name_of(role), "meant": role_meant(role)}
        if role in READ_AS:
            data["read_as"] = READ_AS[role]
            item = {**item, "role": READ_AS[role]}
        faults.append(Fault("M006", data))
    calls = item.get("tool_calls") or item.get("function_call")
    faults += _call_faults(item.get("tool_calls"), number)
    parts, found = content_of(item, "content", number, needed=not calls)
    if parts is None:
        return None, faults + found
    return Message(item["role"], parts, item, bool(calls), *switch_of(item)), faults + found


def content_of(item: dict[str, Any], key: str, number: int, *, needed: bool) -> tuple[Any, list[Fault]]:
    """The parts under ``key`` of a message, or None with the fault that says why not.

    Null or no content is fine where it is not ``needed`` (a message that only calls tools).
    """
    content = item.get(key)
    if content is None:
        if not needed:
            return (), []
        if key in item:
            return None, [Fault("M004", {"message": number, "key": key})]
        return None, [Fault("M003", {"message": number, "key": key, "keys": key_names(item)})]
    if isinstance(content, (str, list)):
        return parts_of(content, number)
    return None, [Fault("M005", {"message": number, "key": key, "got": type_name(content)})]


#: The fields that switch training on a message: ``weight`` is OpenAI's and Mistral's, ``train``, ``training`` and
#: ``training_detail`` are axolotl's, ``loss`` and ``loss_scale`` ms-swift's, ``loss_weight`` LLaMA-Factory's.
_SWITCHES = ("weight", "train", "training", "training_detail", "loss", "loss_scale", "loss_weight")
#: Fields that switch it off: torchtune's messages have the second.
_MASKS = ("mask", "masked")


def switch_of(item: dict[str, Any]) -> tuple[bool | None, str | None]:
    """What a message's own switch says about training on it, and which switch; None and None where there is none.

    A message of which ``training_detail`` trains any part is trained on.
    """
    for key in _SWITCHES:
        switch = item.get(key)
        if isinstance(switch, (bool, int, float)):
            return bool(switch), key
        if key == "training_detail" and isinstance(switch, list) and switch:
            trained = [detail.get("train") is not False for detail in switch if isinstance(detail, dict)]
            return any(trained), key
    for key in _MASKS:
        if isinstance(item.get(key), bool):
            return not item[key], key
    return None, None


def says_nothing(message: Message) -> bool:
    """Whether a message has no words, no media, no tool calls and no reasoning."""
    if message.has_tool_calls or any(part.kind != "text" or part.text.strip() for part in message.parts):
        return False
    reasoning = (message.template.get(key) for key in ("reasoning_content", "reasoning", "thinking"))
    return not any(isinstance(text, str) and text.strip() for text in reasoning)


def _got(item: dict[str, Any], key: str) -> str | None:
    return type_name(item[key]) if key in item else None


def _call_faults(calls: Any, number: int) -> list[Fault]:
    if calls is None:
        return []
    if not isinstance(calls, list):
        return [Fault("M012", {"message": number, "problem": "not_list", "got": type_name(calls)})]
    problems = filter(None, map(_call_problem, calls))
    return [Fault("M012", {"message": number, **problem}) for problem in problems]


def _call_problem(call: Any) -> dict[str, Any] | None:
    if not isinstance(call, dict):
        return {"problem": "call_not_object", "got": type_name(call)}
    function = call.get("function", call)  # Some data leaves the inner object out; templates accept both.
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return {"problem": "no_name"}
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return _arguments_problem(arguments)
    if arguments is None or isinstance(arguments, dict):
        return None
    return {"problem": "arguments_type", "got": type_name(arguments)}


def _arguments_problem(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return None  # OpenAI writes an empty string for a call without arguments.
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return {"problem": "arguments_not_json"}
    if isinstance(inner, str):
        return {"problem": "arguments_encoded_twice"}
    return None if isinstance(inner, (dict, type(None))) else {"problem": "arguments_type", "got": type_name(inner)}
