"""Amazon Nova on Bedrock: ``{"system": [{"text": …}], "messages": [{"role": …, "content": [{"text": …}]}]}``.

Parts have no type: their only key says what they are.
"""

from __future__ import annotations

from typing import Any

from lint_dataset.conversations.building import as_text, build, call_of, tool_of
from lint_dataset.conversations.chat import ROLES, role_meant
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.faults import key_names, name_of, type_name
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message, Part, PartKind
from lint_dataset.faults import Fault

_MEDIA: dict[str, PartKind] = {"image": "image", "video": "video", "audio": "audio"}
_PARTS = frozenset({"text", "toolUse", "toolResult", "reasoningContent", *_MEDIA})


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and "type" not in part and len(part) >= 1 and _PARTS.issuperset(_filled(part))


def _filled(part: dict[str, Any]) -> list[str]:
    """The keys of a part that hold something: a table fills the others with nulls."""
    return [key for key, value in part.items() if value is not None]


def _is_one(row: dict[str, Any]) -> bool:
    items = row.get("messages")
    contents = [item.get("content") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    parts = [part for content in contents if isinstance(content, list) for part in content]
    if isinstance(row.get("schemaVersion"), str) and str(row["schemaVersion"]).startswith("bedrock-conversation"):
        return isinstance(items, list)
    return bool(parts) and all(isinstance(content, list) for content in contents) and all(map(_is_part, parts))


@family(
    "nova",
    keys=(("messages",),),
    order=11,
    where=_is_one,
    also=("system",),
    like="messages",
    read_by=("Amazon Bedrock",),
    wrongly="their parts have no type, and templates print nothing of them or raise an error",
)
def convert(row: dict[str, Any]) -> Converted:
    """Chat messages, the system prompt in front."""
    messages: list[Message] = []
    faults: list[Fault] = []
    system = row.get("system")
    blocks = [block for block in system if isinstance(block, dict)] if isinstance(system, list) else []
    if said := "".join(str(block["text"]) for block in blocks if isinstance(block.get("text"), str)):
        messages.append(build("system", said))
    for item in row["messages"]:
        found, problems = _messages(item, len(messages) + 1)
        messages += found
        faults += problems
    if not row["messages"]:
        faults.append(Fault("S004", {"field": "messages"}))
    if any(fault.code != "M006" for fault in faults):
        return None, faults
    return Conversation("nova", tuple(messages), _tools(row.get("toolConfig"))), faults + turn_faults(
        tuple(messages), row
    )


def _messages(item: Any, number: int) -> tuple[list[Message], list[Fault]]:
    """The messages of one message: results of tools become messages of their own."""
    if not isinstance(item, dict):
        return [], [Fault("M001", {"message": number, "got": type_name(item)})]
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str):
        got = type_name(role) if "role" in item else None
        return [], [Fault("M002", {"message": number, "keys": key_names(item), "got": got})]
    if not isinstance(content, list):
        return [], [
            Fault("M005", {"message": number, "key": "content", "got": type_name(content), "wanted": "a list of parts"})
        ]
    faults = []
    if role not in ROLES:
        faults.append(Fault("M006", {"message": number, "role": name_of(role), "meant": role_meant(role)}))
    results: list[Message] = []
    calls: list[dict[str, Any]] = []
    parts: list[Part] = []
    reasoning = ""
    for place, block in enumerate(content, start=1):
        kind = _filled(block)[0] if isinstance(block, dict) and _filled(block) else None
        value = block[kind] if kind is not None else None
        if kind == "text" and isinstance(value, str):
            parts += [Part("text", value)] if value else []
        elif kind in _MEDIA and isinstance(value, dict):
            parts.append(Part(_MEDIA[kind], "", _source(value.get("source")), kind))
        elif kind == "toolUse" and isinstance(value, dict):
            calls.append(call_of(str(value.get("name")), value.get("input"), value.get("toolUseId")))
        elif kind == "toolResult" and isinstance(value, dict):
            results.append(build("tool", _result(value.get("content")), tool_call_id=value.get("toolUseId")))
        elif kind == "reasoningContent" and isinstance(value, dict):
            said = value.get("reasoningText")
            reasoning += str(said.get("text") or "") if isinstance(said, dict) else ""
        else:
            problem = {"problem": "no_text"} if kind == "text" else {"problem": "not_object", "got": type_name(block)}
            faults.append(Fault("M010", {"message": number, "part": place, **problem}))
    if results and not parts and not calls:
        return results, faults
    return [*results, build(role, parts, calls=calls, reasoning=reasoning)], faults


def _source(source: Any) -> Any:
    """The address in S3, or the bytes."""
    if not isinstance(source, dict):
        return source
    place = source.get("s3Location")
    return place.get("uri") if isinstance(place, dict) else source


def _result(content: Any) -> str:
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return "".join(as_text(block["text"] if "text" in block else block.get("json")) for block in blocks)


def _tools(config: Any) -> list[Any] | None:
    tools = config.get("tools") if isinstance(config, dict) else None
    specs = [tool.get("toolSpec") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    made = []
    for spec in specs:
        if isinstance(spec, dict):
            schema = spec.get("inputSchema")
            parameters = schema.get("json") if isinstance(schema, dict) else None
            made.append(tool_of(spec.get("name"), spec.get("description"), parameters))
    return made or None
