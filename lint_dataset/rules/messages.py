"""M: can every message be rendered, and is there an answer to learn from?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lint_dataset.rules import Finding, Judged, fault_rule, first_of_each_file, rule
from lint_dataset.rules.by_file import rows_of
from lint_dataset.switches import READ

Data = dict[str, Any]


def _place(data: Data) -> str:
    """``message 2``, ``message 2, part 1``, with how many more there are like it."""
    place = f"message {data['message']}"
    if "part" in data:
        place += f", part {data['part']}"
    more = data.get("times", 1) - 1
    return f"{place} (and {more:,} more)" if more else place


def _a(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}" if name != "null" else name


def _keys(data: Data) -> str:
    return ", ".join(f'"{key}"' for key in data["keys"]) or "none"


fault_rule(
    "M001",
    "message-not-object",
    "error",
    what="An item of the message list is no object.",
    why="Chat templates fail on it.",
    remedy='Write every message as an object: {"role": …, "content": …}.',
    example='{"messages": ["hi", "hello"]}',
    message=lambda data: f"{_place(data)} is {_a(data['got'])}, not an object",
)


def _no_role_remedy(data: Data) -> str:
    if data.get("key") != "from" and {"human", "assistant"} <= set(data["keys"]):
        return 'Write each pair as two messages: {"role": "user", …} and {"role": "assistant", …}.'
    return 'Say who speaks: {"role": "user" or "assistant", "content": …}.'


fault_rule(
    "M002",
    "no-role",
    "error",
    what="A message does not say who speaks: its role is missing or no string.",
    why="Chat templates fail on it, or leave the message out.",
    remedy='Say who speaks: {"role": "user" or "assistant", "content": …}.',
    example='{"messages": [{"content": "hi"}]}',
    message=lambda data: (
        f'"{data.get("key", "role")}" of {_place(data)} is {_a(data["got"])}, not a string'
        if data["got"]
        else f'{_place(data)} has no "{data.get("key", "role")}" (its keys: {_keys(data)})'
    ),
    advice=_no_role_remedy,
)

fault_rule(
    "M003",
    "no-content",
    "error",
    what="A message has no content and calls no tools.",
    why="Chat templates fail on it, or leave the turn empty.",
    remedy="Write what is said in this turn, or delete the turn.",
    example='{"messages": [{"role": "user", "text": "hi"}]}',
    message=lambda data: f'{_place(data)} has no "{data["key"]}" (its keys: {_keys(data)})',
)

fault_rule(
    "M004",
    "null-content",
    "error",
    what="The content of a message is null, and it calls no tools.",
    why='Some templates raise an error; others print the word "None" and the model learns to say it.',
    remedy='Write what is said in this turn, or delete the turn; an empty text is "", not null.',
    example='{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null}]}',
    message=lambda data: f'"{data["key"]}" of {_place(data)} is null, and the message calls no tools',
)

fault_rule(
    "M005",
    "content-type",
    "error",
    what="The content of a message is neither a string nor a list of parts.",
    why="Some templates raise an error; others print it as Python would, and the model learns that.",
    remedy="Write the content as a string (json.dumps for structured answers), or as a list of parts.",
    example='{"messages": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": 4}]}',
    message=lambda data: (
        f'"{data["key"]}" of {_place(data)} is {_a(data["got"])}, not {data.get("wanted", "a string")}'
    ),
)


@rule(
    "M006",
    "unknown-role",
    "error",
    what="A message has a role that chat templates do not know. axolotl takes human and gpt for user and assistant.",
    why="Most templates leave such a turn out without an error, so that the question or the answer is never seen. "
    "Turns of human and gpt are counted here as if they were named user and assistant.",
    remedy="Use the roles system, user, assistant and tool.",
    example='{"messages": [{"role": "human", "content": "hi"}, {"role": "gpt", "content": "hello"}]}',
)
def unknown_role(judged: Judged) -> Iterator[Finding]:
    """Roles that neither templates nor the plan's trainer know."""
    for row, data in judged.faults.get("M006", ()):
        if judged.plan.trainer == "axolotl" and data.get("read_as"):
            continue
        message = f'{_place(data)} has the role "{data["role"]}", which chat templates do not know'
        meant = data["meant"]
        advice = f'Rename it to "{meant}".' if meant else "Use the roles system, user, assistant and tool."
        yield Finding(row, message, advice, data)


def _no_answer(data: Data) -> str:
    roles = ", ".join(data["roles"])
    columns = data["answer_columns"]
    elsewhere = f'; the answer seems to be in "{columns[0]}" (an RL or evaluation file?)' if columns else ""
    return f"no message is from the assistant (roles: {roles}){elsewhere}"


fault_rule(
    "M007",
    "no-answer",
    "error",
    what="No message is from the assistant; in a row of prompt and completion lists, none of the completion.",
    why=(
        "There is no answer to learn: a loss on the answers fails or drops the row, and a loss on everything trains "
        "the model to write the user's questions. Files for reinforcement learning and evaluation look like this."
    ),
    remedy="Add the answer as a message of the assistant, or leave the row out.",
    example='{"messages": [{"role": "user", "content": "48 / 2?"}], "ground_truth": "24"}',
    message=_no_answer,
    advice=lambda data: (
        f'Add "{data["answer_columns"][0]}" as a message of the assistant, or leave the file out of fine-tuning.'
        if data["answer_columns"]
        else "Add the answer as a message of the assistant, or leave the row out."
    ),
)


@rule(
    "M008",
    "ends-without-answer",
    "warning",
    what="Messages follow the last answer.",
    why=(
        "They take memory and length, and no answer is learned from them; mlx-lm with --mask-prompt trains on the "
        "last message whoever says it, which is an error. Often the last answer has the wrong role."
    ),
    remedy="Delete what follows the last answer, or correct the role if it is the answer.",
    example='{"messages": [{"role": "user", …}, {"role": "assistant", …}, {"role": "user", "content": "thanks"}]}',
)
def _ends_without_answer(judged: Judged) -> Iterator[Finding]:
    """Rows whose last message is not the assistant's."""
    remedy = "Delete what follows the last answer, or correct the role if it is the answer."
    learned = judged.plan.trainer == "mlx-lm" and judged.plan.loss_on == "last"
    for row, data in judged.faults.get("M008", ()):
        trailing = f"{data['trailing']} message{'' if data['trailing'] == 1 else 's'} after the last answer: "
        ends = f'the row ends with "{data["role"]}"'
        if learned:
            ends += ", and the loss of mlx-lm with --mask-prompt is on that message, not on an answer"
        yield Finding(row, trailing + ends, remedy, data, "error" if learned else None)


def _empty(data: Data) -> str:
    if data["message"] is None:
        return f'"{data["field"]}" is empty'
    return f"{_place(data)} is an empty answer: only its end marker would be learned"


fault_rule(
    "M009",
    "empty-answer",
    "error",
    what="An answer has no words, no tool calls and no media: it is empty or holds only white space.",
    why="Only the end-of-turn marker is trained: the model learns to stop at once. Failed generations leave such rows.",
    remedy="Delete the row or write the answer.",
    example='{"messages": [{"role": "user", "content": "Explain."}, {"role": "assistant", "content": ""}]}',
    message=_empty,
)

_PARTS = {
    "not_object": ("is {got}, not an object", 'Write it as {"type": "text", "text": …}.'),
    "no_type": ('has no "type"', 'Add "type": "text" (or "audio", "image"): templates tell parts apart by it.'),
    "no_text": ('is text without a "text" string', 'Put the words under the key "text".'),
    "value_key": (
        'has its words under "value", which only LLaMA-Factory reads',
        'Rename the key "value" to "text"; write reasoning and tool calls as fields of the message.',
    ),
    "unknown_type": (
        'has the type "{type}", which chat templates do not know',
        "Write it as text, or as a field of the message that the template reads (tool_calls, reasoning_content).",
    ),
}


@rule(
    "M010",
    "unreadable-part",
    "error",
    what="A content part is no object, has no type, has no text, or has a type that chat templates do not know.",
    why="Templates fail on such a part, or leave it out without an error: its words are never trained on.",
    remedy='Write parts as {"type": "text", "text": …}, {"type": "audio", "audio": PATH} or {"type": "image", …}.',
    example='{"messages": [{"role": "user", "content": [{"type": "text", "value": "hi"}]}]}',
)
def _unreadable_part(judged: Judged) -> Iterator[Finding]:
    for row, data in judged.faults.get("M010", ()):
        message, remedy = _PARTS[data["problem"]]
        got = _a(data["got"]) if "got" in data else ""
        said = f"{_place(data)} {message.format(got=got, type=data.get('type'))}"
        yield Finding(row, said, remedy, data, "warning" if data["problem"] == "unknown_type" else None)


fault_rule(
    "M011",
    "answers-switched-off",
    "warning",
    what="The data switches training off for every answer of the row (weight 0, train false, loss false).",
    why="A trainer that honours the switch learns nothing from the row; one that does not (TRL) trains on all of it.",
    remedy="Switch the answer on that should be learned, or delete the row.",
    example='{"messages": [{"role": "user", …}, {"role": "assistant", "content": "hello", "weight": 0}]}',
    message=lambda data: (
        "the only answer is switched off" if data["answers"] == 1 else f"all {data['answers']} answers are switched off"
    ),
)

_CALLS = {
    "not_list": ('"tool_calls" of {place} is {got}, not a list', "Write tool_calls as a list of calls."),
    "call_not_object": ("a tool call of {place} is {got}, not an object", "Write each call as an object."),
    "no_name": (
        "a tool call of {place} names no function",
        'Write each call as {{"type": "function", "function": {{"name": …, "arguments": …}}}}.',
    ),
    "arguments_type": (
        "the arguments of a tool call of {place} are {got}, not an object",
        "Write the arguments as an object by name, or as the JSON text of one.",
    ),
    "arguments_encoded_twice": (
        "the arguments of a tool call of {place} are JSON text encoded twice",
        "Decode them once (json.loads): the model would learn to escape its quotes.",
    ),
    "arguments_not_json": (
        "the arguments of a tool call of {place} are a string but no valid JSON",
        "Write the arguments as an object, or as valid JSON text.",
    ),
    "call_value": (
        "a tool call of {place} is not the JSON of one, and is left out",
        'Write it as {{"name": …, "arguments": {{…}}}}.',
    ),
    "call_text": (
        "{place} is a function call but not the JSON of one; it is taken as an answer",
        'Write it as {{"name": …, "arguments": {{…}}}}.',
    ),
}
_CALLS_MAY_PASS = ("arguments_not_json", "call_text")


@rule(
    "M012",
    "malformed-tool-call",
    "error",
    what="A tool call is not in the form that chat templates print: a function's name, and its arguments by name.",
    why="Templates fail on it, or print something else than a call, and the model learns that.",
    remedy='Write each call as {"type": "function", "function": {"name": …, "arguments": {…}}}.',
    example='{"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}',
)
def _malformed_call(judged: Judged) -> Iterator[Finding]:
    for row, data in judged.faults.get("M012", ()):
        message, remedy = (
            text.format(place=_place(data), got=_a(data.get("got", ""))) for text in _CALLS[data["problem"]]
        )
        yield Finding(row, message, remedy, data, "warning" if data["problem"] in _CALLS_MAY_PASS else None)


fault_rule(
    "M013",
    "empty-question",
    "warning",
    what="A message of the user has no words and no media.",
    why="The answer is learned as an answer to nothing, often because a column of the source was mapped wrongly.",
    remedy="Write what was asked, or delete the row.",
    example='{"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": "Sure!"}]}',
    message=lambda data: f"{_place(data)}, from the user, is empty",
)


@rule(
    "M014",
    "switch-not-read",
    "warning",
    what="The data switches training off for an answer, with a field that the trainer does not read. Once a file.",
    why=(
        "The answer is trained on like any other. LLaMA-Factory v1 reads loss_weight, OpenAI and Mistral read weight, "
        "axolotl train and training (where its config names them), ms-swift loss and loss_scale, NeMo mask."
    ),
    remedy="Write the switch that the trainer reads, end the row before such an answer, or leave the row out.",
    example='{"messages": [{"role": "user", …}, {"role": "assistant", "content": "5", "weight": 0}, …]}',
)
def _switch_not_read(judged: Judged) -> Iterator[Finding]:
    reads = READ.get(judged.plan.trainer)
    if reads is None:
        return
    for row, data in first_of_each_file(judged, "M014"):
        unread = [switch for switch in data["switches"] if switch not in reads]
        if unread:
            names = " and ".join(f'"{switch}"' for switch in unread)
            message = (
                f"{judged.plan.preset.release} does not read {names}: "
                f"answers that it switches off are trained on ({rows_of(data)})"
            )
            remedy = "End the row before such an answer, or leave the row out."
            if reads:
                remedy = f"Write {' or '.join(reads)} instead."
            yield Finding(row, message, remedy, {**data, "unread": unread})


def _padded(data: Data) -> str:
    names = ", ".join(f'"{name}"' for name in data["names"])
    if data["where"] == "tools":
        return f"the tools have null parameters ({names}), as a table fills in for the parameters of other tools"
    return f"a tool call of {_place(data)} has null arguments that its function does not take ({names})"


fault_rule(
    "M015",
    "null-padded",
    "warning",
    what="A tool has parameters without a schema, or a call null arguments that its function does not take.",
    why=(
        "Parquet and Arrow give every object the fields of all the others, as nulls. Templates print them, and the "
        "model learns to write them: they are counted as well. ms-swift drops them from tools, TRL drops none."
    ),
    remedy="Keep tools and arguments as JSON text in such files, or take the nulls out before training.",
    example='{"tools": [{"function": {"name": "f", "parameters": {"properties": {"city": {…}, "x": null}}}}], …}',
    message=_padded,
)
