"""Anthropic's messages (Claude on Bedrock), with the blocks ``tool_use``, ``tool_result``, ``thinking`` and ``image``.

The system prompt stands at the top: ``{"system": …, "tools": [{"name", "input_schema"}], "messages": […]}``. Rows
without such blocks are chat messages as they are.
"""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import as_text, build, by_mime, call_of, tool_of
from lint_dataset.conversations.chat import ROLES, role_meant
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.content import parts_of
from lint_dataset.conversations.faults import key_names, name_of, type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message, Part
from lint_dataset.faults import Fault

_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking")
_MEDIA = ("image", "document")


def _is_block(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    kind, source = part.get("type"), part.get("source")
    return kind in _BLOCKS or (kind in _MEDIA and isinstance(source, dict) and "media_type" in source)


def _is_one(row: dict[str, Any]) -> bool:
    items = row.get("messages")
    if not isinstance(items, list):
        return False
    tools = row.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return True
    contents = [item.get("content") for item in items if isinstance(item, dict)]
    return any(_is_block(part) for content in contents if isinstance(content, list) for part in content)


@family(
    "anthropic",
    keys=(("messages",),),
    order=13,
    where=_is_one,
    also=("system", "tools"),
    like="messages",
    read_by=("Amazon Bedrock",),
    wrongly="templates leave out their tool_use, tool_result and thinking blocks",
)
def convert(row: dict[str, Any]) -> Converted:
    """Chat messages: blocks become tool calls, messages of the tool and reasoning."""
    messages: list[Message] = []
    faults: list[Fault] = []
    if system := _system(row.get("system")):
        messages.append(build("system", system))
    for item in row["messages"]:
        found, problems = _messages(item, len(messages) + 1)
        messages += found
        faults += problems
    if not row["messages"]:
        faults.append(Fault("S004", {"field": "messages"}))
    if any(fault.code != "M010" or fault.data["problem"] != "unknown_type" for fault in faults):
        return None, faults
    return Conversation("anthropic", tuple(messages), _tools(row)), faults + turn_faults(tuple(messages), row)


def _system(system: Any) -> str:
    """The system prompt: a string, or text blocks."""
    if isinstance(system, list):
        return "".join(
            block["text"] for block in system if isinstance(block, dict) and isinstance(block.get("text"), str)
        )
    return system if isinstance(system, str) else ""


def _messages(item: Any, number: int) -> tuple[list[Message], list[Fault]]:
    """The messages of one message: results of tools become messages of their own, in front of what the user says."""
    if not isinstance(item, dict):
        return [], [Fault("M001", {"message": number, "got": type_name(item)})]
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str):
        got = type_name(role) if "role" in item else None
        return [], [Fault("M002", {"message": number, "keys": key_names(item), "got": got})]
    if not isinstance(content, (str, list)):
        return [], [Fault("M005", {"message": number, "key": "content", "got": type_name(content)})]
    faults = []
    if role not in ROLES:
        faults.append(Fault("M006", {"message": number, "role": name_of(role), "meant": role_meant(role)}))
    if isinstance(content, str):
        return [build(role, content)], faults
    results: list[Message] = []
    calls: list[dict[str, Any]] = []
    parts: list[Part] = []
    reasoning = ""
    for place, block in enumerate(content, start=1):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_use":
            calls.append(call_of(str(block.get("name")), block.get("input"), block.get("id")))
        elif kind == "tool_result":
            results.append(build("tool", _result(block.get("content")), tool_call_id=block.get("tool_use_id")))
        elif kind == "thinking":
            reasoning += str(block.get("thinking") or "")
        elif kind == "redacted_thinking":
            continue
        elif _is_block(block):
            source = block["source"]
            parts.append(by_mime(source["media_type"], {key: source.get(key) for key in ("data", "url")}))
        else:
            found, problems = parts_of([block], number)
            parts += found or ()
            faults += [Fault(fault.code, {**fault.data, "part": place}) for fault in problems]
    if results and not parts and not calls:
        return results, faults
    return [*results, build(role, parts, calls=calls, reasoning=reasoning)], faults


def _result(content: Any) -> str:
    """What a tool answered: a string, or text blocks."""
    if isinstance(content, list) and all(isinstance(block, dict) and "text" in block for block in content):
        return "".join(str(block["text"]) for block in content)
    return as_text(content if content is not None else "")


def _tools(row: dict[str, Any]) -> list[Any] | None:
    tools = (
        [tool for tool in row.get("tools") or [] if isinstance(tool, dict)]
        if isinstance(row.get("tools"), list)
        else []
    )
    made = [
        tool_of(tool.get("name"), tool.get("description"), tool["input_schema"]) if "input_schema" in tool else tool
        for tool in tools
    ]
    return made or None
