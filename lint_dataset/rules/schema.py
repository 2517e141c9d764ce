"""S: is the row in a schema that the trainer reads, and do its columns hold what their names say?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lint_dataset.conversations.elsewhere import remedy_for
from lint_dataset.rules import Finding, Judged, fault_rule, first_of_each_file, rule
from lint_dataset.rules.by_file import rows_of

Data = dict[str, Any]

_FAMILIES = (
    "messages, conversations (ShareGPT), prompt and completion, instruction and output (Alpaca), or text"
)  # fmt: skip
_SHAPES = {
    "messages": '{"messages": [{"role": …, "content": …}, …]}',
    "sharegpt": '{"conversations": [{"from": …, "value": …}, …]}',
    "prompt-completion": '{"prompt": …, "completion": …}',
    "alpaca": '{"instruction": …, "input": …, "output": …}',
    "text": '{"text": …}',
}


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}" if name != "null" else name


def _unknown(data: Data) -> str:
    if data["looks_like"]:
        return f"not a conversation that is read here: the keys are those of {data['looks_like']}"
    keys = f"keys {_quoted(data['keys'])}" if data["keys"] else "no keys"
    nearest = f" ({data['nearest']} lacks {_quoted(data['missing'])})" if data["nearest"] else ""
    return f"no known schema: the row has {keys}{nearest}"


def _unknown_remedy(data: Data) -> str:
    if data["looks_like"]:
        return remedy_for(data["looks_like"]) or f"Bring the row to one of: {_FAMILIES}."
    if data["nearest"]:
        return (
            f"Bring the row to the shape {_SHAPES.get(data['nearest'], data['nearest'])}, or to {_SHAPES['messages']}."
        )
    return f"Rename its columns to one of: {_FAMILIES}."


fault_rule(
    "S001",
    "unknown-schema",
    "error",
    what=f"The row's keys are of no schema that is read: {_FAMILIES}.",
    why="A trainer fails on it, drops it, or takes the wrong column for the text: a transcript without its recording.",
    remedy=f"Rename its columns to one of: {_FAMILIES}.",
    example='{"question": "2+2?", "answer": "4"}',
    message=_unknown,
    advice=_unknown_remedy,
)


@rule(
    "S002",
    "several-schemas",
    "warning",
    what="The row has the keys of several schemas at once.",
    why="Which of them is trained on depends on the trainer, and the others are dropped without a word.",
    remedy="Keep the columns of one schema, and drop or rename the others.",
    example='{"messages": […], "prompt": "2+2?", "completion": "4"}',
)
def _several(judged: Judged) -> Iterator[Finding]:
    for row, data in judged.faults.get("S002", ()):
        others = [name for name in data["families"] if name != data["read_as"]]
        message = f"the row has the keys of {' and '.join(data['families'])}; read as {data['read_as']}"
        remedy = f"Keep the columns of {data['read_as']}, and drop or rename those of {' and '.join(others)}."
        # A text column beside another schema is nearly always the same conversation, rendered.
        rendered = "text" in data["families"] and len(others) == 1
        yield Finding(row, message, remedy, data, "note" if rendered else None)


fault_rule(
    "S003",
    "wrong-type",
    "error",
    what="A column of the schema holds a value of the wrong type.",
    why="Trainers fail on it, or take a string apart into characters (one 'image' for each letter of the path).",
    remedy="Write the value in the type that the schema asks for.",
    example='{"messages": "[{\\"role\\": \\"user\\", …}]"}',
    message=lambda data: f'"{data["field"]}" is {_article(data["got"])}, expected {_article(data["expected"])}',
    advice=lambda data: (
        f'Wrap it in a list ("{data["field"]}": [PATH]), or decode it (json.loads) where it is the text of one.'
        if data["got"] == "string" and data["field"] in ("audios", "images", "videos")
        else f'Decode "{data["field"]}" (json.loads) before writing the row, or wrap it in a list.'
        if data["got"] == "string"
        else f'Write "{data["field"]}" as {_article(data["expected"])}.'
    ),
)

fault_rule(
    "S004",
    "no-messages",
    "error",
    what="The list of messages is empty.",
    why="Most chat templates fail on an empty conversation, and there is nothing to learn from it.",
    remedy="Delete the row.",
    example='{"messages": []}',
    message=lambda data: f'"{data["field"]}" is an empty list',
)


def _tools(data: Data) -> str:
    if data["problem"] == "not_json":
        return '"tools" is an empty string' if data["empty"] else '"tools" is a string but no valid JSON'
    if data["problem"] == "not_list":
        return f'"tools" is {_article(data["got"])}, expected an array'
    return '"tools" holds something that is no object'


fault_rule(
    "S005",
    "unreadable-tools",
    "error",
    what="The tools column is neither a list of tool schemas nor the JSON text of one.",
    why="Trainers decode it (json.loads) and fail on this row.",
    remedy="Write tools as a list of JSON schemas, as the JSON text of such a list, or as null where there are none.",
    example='{"messages": […], "tools": "get_weather(city)"}',
    message=_tools,
)


@rule(
    "S007",
    "sharegpt-roles",
    "warning",
    what="ShareGPT turns are from human and gpt, which TRL hands to the chat template as they are. Once a file.",
    why="Templates know user and assistant alone: many leave other turns out without an error, some raise one.",
    remedy="Rename the roles (human to user, gpt to assistant) before training: the rows are judged as if you had.",
    example='{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]}',
)
def _sharegpt_roles(judged: Judged) -> Iterator[Finding]:
    if judged.plan.trainer != "trl":
        return
    for row, data in first_of_each_file(judged, "S007"):
        roles = ", ".join(data["roles"])
        message = f"TRL keeps the roles {roles} as they are, which chat templates do not know ({rows_of(data)})"
        remedy = "Rename human to user and gpt to assistant before training; the rows are judged as if you had."
        yield Finding(row, message, remedy, data)


fault_rule(
    "S009",
    "rejected-answer",
    "warning",
    what="The row has a label that is false, as in files for KTO: its answer is marked as a bad one.",
    why="Supervised fine-tuning does not look at the label, and trains on the bad answer as on a good one.",
    remedy="Drop the rows whose label is false, or train with KTO.",
    example='{"messages": […], "label": false}',
    message=lambda data: f'"{data["column"]}" is false: the answer is marked as a bad one',
)


@rule(
    "S010",
    "system-column",
    "warning",
    what="A system prompt stands in a column beside the messages.",
    why="Trainers that render messages do not read it, so the model is trained without its system prompt.",
    remedy='Put it in front of the messages: {"role": "system", "content": …}.',
    example='{"system": "Be brief.", "messages": [{"role": "user", "content": "hi"}, …]}',
)
def _system_column(judged: Judged) -> Iterator[Finding]:
    reads = judged.plan.trainer == "ms-swift"
    for row, data in judged.faults.get("S010", ()):
        message = f'the system prompt in "{data["column"]}" is not part of the messages and is not trained with'
        remedy = 'Put it in front of the messages: {"role": "system", "content": …}.'
        if reads:
            message = f'the system prompt in "{data["column"]}", which ms-swift puts in front, was not counted'
        yield Finding(row, message, remedy, data, "note" if reads else None)


@rule(
    "S011",
    "prompt-without-completion",
    "error",
    what="A prompt column without a completion stands beside the conversation, and the trainer is TRL. Once a file.",
    why="TRL takes every row with a prompt column for prompt/completion, and stops at the missing completion.",
    remedy='Drop or rename the column before training: dataset.remove_columns("prompt").',
    example='{"prompt": "2+2?", "messages": [{"role": "user", "content": "2+2?"}, …]}',
)
def _prompt_without_completion(judged: Judged) -> Iterator[Finding]:
    if judged.plan.trainer != "trl":
        return
    for row, data in first_of_each_file(judged, "S011"):
        message = f'TRL takes the row for prompt/completion because of "prompt", and fails ({rows_of(data)})'
        yield Finding(row, message, 'Drop or rename the column: dataset.remove_columns("prompt").', data)


@rule(
    "S012",
    "template-variables",
    "error",
    what="chat_template_kwargs is no object, or holds a name that the trainer itself gives to apply_chat_template.",
    why="TRL passes the column on (**kwargs): it stops at a null or a string, and at a name that is given twice.",
    remedy="Write an object of variables that the chat template knows, and {} where a row has none.",
    example='{"messages": […], "chat_template_kwargs": "enable_thinking"}',
)
def _template_variables(judged: Judged) -> Iterator[Finding]:
    for row, data in judged.faults.get("S012", ()):
        if data["problem"] == "reserved":
            message = f'"chat_template_kwargs" holds {_quoted(data["names"])}, which the trainer sets itself'
            yield Finding(row, message, "Drop it: only variables of the chat template may stand there.", data)
        elif data["got"] != "null" or judged.plan.trainer == "trl":  # the others take a null for no variables
            got = "null" if data["got"] == "null" else _article(data["got"])
            message = f'"chat_template_kwargs" is {got}, expected an object'
            yield Finding(row, message, 'Write an object such as {"enable_thinking": false}, or {} for none.', data)
