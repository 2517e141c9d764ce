"""M101 and on: what the model's own chat template and tokenizer make of a row that is well formed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lint_dataset.conversations.chat import role_meant
from lint_dataset.rules import Finding, Judged, fault_rule, first_of_each_file, rule

Data = dict[str, Any]


def _place(data: Data) -> str:
    """``message 2 (user)``, with how many more there are like it."""
    role = f" ({data['role']})" if data.get("role") else ""
    more = data.get("times", 1) - 1
    return f"message {data['message']}{role}" + (f" and {more:,} more" if more else "")


#: What a template may not take: how the message goes on, and what to do.
_CAUSES = {
    "null": ("because the content of {place} is null", 'Write "" instead of null.'),
    "parts": (
        "because the content of {place} is a list of parts, and it takes text alone",
        "Give the content as one string.",
    ),
    "media": (
        "because {place} has clips or images, and it takes text alone",
        "Train a model that takes them, or take them out of the row.",
    ),
    "text": (
        "because the content of {place} is text, and it takes a list of parts alone",
        'Give the content as [{{"type": "text", "text": …}}].',
    ),
    "tool name": (
        "because {place} does not name its tool",
        'Add "name" to what a tool says: the name of the function.',
    ),
    "call id": (
        "because of the ids of tool calls, first in {place}",
        'Give each call an "id" of nine letters and digits, and its answer the same "tool_call_id".',
    ),
    "role": (
        'because of the role "{role}" (message {message}), which it does not know',
        "Use the roles that this template knows, or one with a turn for tools where tools are called.",
    ),
    "later system": (
        "because {place} is not the first: it takes a system message only at the beginning",
        "Move it to the beginning, or put its text at the head of the user's message that follows.",
    ),
    "system": (
        "because of {place}: it has no system role",
        "Put its text at the head of the first message of the user.",
    ),
    "order": (
        "because {place} follows another one of its role, and roles have to alternate",
        "Merge the two messages, or correct the role of the one that is mislabelled.",
    ),
    "no question": (
        "because no message of the user comes before {place}",
        "Add what the user said first, or leave the row out.",
    ),
    "no answer at the end": (
        "because the row does not end with an answer but with {place}",
        "Delete what follows the last answer.",
    ),
    "tools": ("because of the row's tools", "Use a chat template that takes tools, or take them out of the row."),
    "no tools": ("because the row has no tools", 'Add "tools" to the row, or use a template that needs none.'),
}
_REFUSED = "Change the row to what the template takes: usually the order of the roles, or text instead of parts."

_UNDEFINED_TOKEN = re.compile(r"'(\w+_token)' is undefined")


def _raises(data: Data) -> str:
    said = f"the chat template raises {data['error']}: {data['says']}"
    if "cause" not in data:
        return said
    place = {"place": _place(data), **data} if "message" in data else {}
    why = _CAUSES[data["cause"]][0].format(**place)
    return f"the chat template refuses the row {why} ({data['error']}: {data['says']})"


def _raises_remedy(data: Data) -> str:
    cause = data.get("cause")
    if cause == "order" and data["last"] and data["role"] == "user":
        return 'Correct its role if it is the answer: a row ends with "assistant". Else delete it or merge the two.'
    if cause == "role" and role_meant(data["role"]) not in (None, data["role"]):
        return f'Rename the role "{data["role"]}" to "{role_meant(data["role"])}".'
    if cause is None and (missing := _UNDEFINED_TOKEN.search(data["says"])):
        return (
            f"The template was written for a tokenizer with a {missing[1]}, and this one has none: take its own "
            f"template, or set {missing[1]} in its tokenizer_config.json."
        )
    return _CAUSES[cause][1].format() if cause is not None else _REFUSED


fault_rule(
    "M101",
    "template-raises",
    "error",
    what="The model's chat template refuses the row. The cause is what has to change for it to be rendered.",
    why="Training stops with the same error when it comes to this row, or when the dataset is prepared.",
    remedy=_REFUSED,
    example='{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}',
    message=_raises,
    advice=_raises_remedy,
)

_LOST_FOR = {
    "role": ': it renders nothing for the role "{role}"',
    "parts": ": it renders nothing of a list of parts",
}


def _lost_remedy(data: Data) -> str:
    if data.get("why") == "parts":
        return "Give the content as one string: this template renders no parts."
    if data.get("why") != "role":
        return "Use the roles and the form of content (text or parts) that this model's template renders."
    meant = role_meant(data["role"])
    if meant is not None and meant != data["role"]:
        return f'Rename the role "{data["role"]}" to "{meant}".'
    if data["role"] == "system":
        return "Move it to the beginning of the row, or put its text into a message of the user."
    return f'Give its text under a role that this template renders, or use a template with a turn for "{data["role"]}".'


fault_rule(
    "M102",
    "text-lost",
    "error",
    what="The text of a message is nowhere in what the chat template renders.",
    why="The model never sees it, and nothing says so: templates leave out the roles and forms that they do not know.",
    remedy="Use the roles and the form of content (text or parts) that this model's template renders.",
    example='{"messages": [{"role": "human", "content": "hi"}, {"role": "assistant", "content": "hello"}]}',
    message=lambda data: (
        f"the chat template leaves out the text of {_place(data)}"
        + _LOST_FOR.get(data.get("why") or "", "").format(role=data.get("role"))
    ),
    advice=_lost_remedy,
)


def _media_remedy(data: Data) -> str:
    if data["supported"] and data["type"] != data["kind"]:
        return f'Write {{"type": "{data["kind"]}", "{data["kind"]}": …}} instead of "{data["type"]}".'
    if not data["supported"]:
        return f"Train a model that takes {data['kind']}, or take it out of the row."
    return "Change the message to a form of which the template renders the media."


fault_rule(
    "M103",
    "media-lost",
    "error",
    what="A clip or an image of the row leaves no trace in what the chat template renders.",
    why="The model learns to answer without hearing or seeing anything.",
    remedy='Use the part type that the template knows, such as {"type": "audio", "audio": …}.',
    example='{"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {…}}]}, …]}',
    message=lambda data: (
        f'the {data["kind"]} of {_place(data)} is ignored: the chat template renders nothing for type "{data["type"]}"'
        if data["supported"]
        else f"the {data['kind']} of {_place(data)} is ignored: this processor takes no {data['kind']}"
    ),
    advice=_media_remedy,
)

fault_rule(
    "M104",
    "content-printed",
    "error",
    what="The chat template prints the list of a message's parts as it is, brackets and quotes included.",
    why="The model learns to read and write Python or JSON lists instead of text.",
    remedy="Give the content as one string: this template does not take parts.",
    example='{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}, …]}',
    message=lambda data: f"the content of {_place(data)} is printed as a list, with its brackets and quotes",
)

fault_rule(
    "M105",
    "none-printed",
    "error",
    what='The chat template prints the word "None" for a message without content.',
    why="The model learns to say it.",
    remedy='Write "" instead of null.',
    example='{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, …}]}',
    message=lambda data: f'the chat template prints "None" for {_place(data)}, which has no content',
)

fault_rule(
    "M106",
    "tools-ignored",
    "warning",
    what="The row has tools, and the chat template renders none of them.",
    why="The model learns to call tools that it was never told of, or that it will not be told of.",
    remedy="Use a chat template that renders tools, or describe them in the system message.",
    example='{"messages": […], "tools": [{"type": "function", …}]}',
    message=lambda data: (
        f"the chat template renders none of the row's {data['tools']} tools"
        if data["tools"] != 1
        else "the chat template does not render the row's tool"
    ),
)

fault_rule(
    "M107",
    "tool-calls-ignored",
    "error",
    what="An answer calls tools, and the chat template renders none of the calls.",
    why="What the model should learn to say in this turn is not there.",
    remedy="Use a chat template that renders tool calls, or write the call into the content.",
    example='{"messages": [{"role": "user", …}, {"role": "assistant", "tool_calls": [{…}]}]}',
    message=lambda data: f"the chat template leaves out the tool calls of {_place(data)}",
)

fault_rule(
    "M108",
    "control-token",
    "warning",
    what="A text holds one of the model's control tokens, spelled out.",
    why="The tokenizer makes the real control token of it: a turn ends, or another begins, in the middle of a message.",
    remedy="Take it out, or break it up with a space, unless it is meant.",
    example='{"messages": [{"role": "user", "content": "what does <end_of_turn> mean?"}, …]}',
    message=lambda data: f"the text of {_place(data)} holds {', '.join(data['tokens'])}, which becomes a control token",
)

fault_rule(
    "M109",
    "double-begin",
    "warning",
    what="The row begins with two beginning-of-sequence tokens.",
    why="The text holds one and the tokenizer adds another; the model was never trained on that.",
    remedy="Take it out of the text: the trainer's tokenizer puts it there.",
    example='{"text": "<bos><start_of_turn>user\\nhi<end_of_turn>"}',
    message=lambda data: f"the row begins with {data['token']} twice: in its text and by the tokenizer",
)


def _reasoning_of(data: Data) -> str:
    numbers = [str(number) for number in data["messages"]]
    more = data["count"] - len(numbers)
    if more:
        numbers.append(f"{more:,} more")
    named = f"{', '.join(numbers[:-1])} and {numbers[-1]}" if numbers[1:] else numbers[0]
    return f"message{'s' if numbers[1:] else ''} {named}"


@rule(
    "M110",
    "reasoning-lost",
    "warning",
    what=(
        "The reasoning of an answer is not in what the chat template renders. A note where the template keeps the "
        "reasoning of the last answer alone, as Qwen3's does."
    ),
    why="It is never trained on, and the answers before the last one are learnt as answers without reasoning.",
    remedy="Split the conversation so that each answer with reasoning is the last of a row.",
    example='{"messages": [{"role": "user", …}, {"role": "assistant", "content": "<think>…</think>…"}, …]}',
)
def _reasoning_lost(judged: Judged) -> Iterator[Finding]:
    for row, data in judged.faults.get("M110", ()):
        message = f"the chat template leaves out the reasoning of {_reasoning_of(data)}"
        if data["usual"]:
            remedy = (
                "Usual for this template; to train on it, split the row so that each such answer is the last of one."
            )
            yield Finding(row, f"{message}: it keeps that of the last answer", remedy, data, "note")
        else:
            remedy = "Use a chat template that renders reasoning, or write it into the answer's text."
            yield Finding(row, message, remedy, data)


fault_rule(
    "M111",
    "placeholder-in-text",
    "error",
    what="A text holds the placeholder that stands for a clip or an image, spelled out.",
    why="The processor looks for media that are not there and stops with an error.",
    remedy="Take it out of the text, and add the clip or image as a part of its own.",
    example='{"messages": [{"role": "user", "content": "<audio_soft_token> what is said?"}, …]}',
    message=lambda data: f"the text of {_place(data)} holds the placeholder for {data['kind']}",
)

fault_rule(
    "M112",
    "no-template",
    "error",
    what="The tokenizer has no chat template, and the row is a conversation.",
    why="No trainer can tell how its turns become text; base models are published without a template.",
    remedy="Name the instruction-tuned model, or a folder with a chat template by --tokenizer.",
    example='{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}',
    message=lambda data: "the tokenizer has no chat template to render the conversation with",
)

_FORMS = {"text": "JSON text", "object": "an object"}
_DOES = {
    "raises": "this template raises {error}: {says}",
    "escapes": 'this template encodes them a second time, as "{{\\"key\\": …}}"',
    "prints": "this template prints them as Python would, {{'key': …}}",
}


def _arguments_remedy(data: Data) -> str:
    if not data["other"]:
        return "This template takes arguments in neither form: use one that renders tool calls."
    if data["form"] == "text":
        return "Write the arguments as an object (json.loads), in all rows."
    return "Write the arguments as JSON text (json.dumps), in all rows."


fault_rule(
    "M113",
    "tool-arguments",
    "error",
    what="The arguments of a tool call are in a form (JSON text, or an object) that this template misprints.",
    why=(
        "Templates disagree: some raise an error for one of the two, some encode JSON text a second time, some print "
        "an object as Python does. The model then learns calls that no parser reads."
    ),
    remedy="Write the arguments in the form that this template needs: an object for most, JSON text for some.",
    example='{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\\"x\\": 1}"}}]}',
    message=lambda data: (
        f"the tool-call arguments of {_place(data)} are {_FORMS[data['form']]}: {_DOES[data['does']].format(**data)}"
    ),
    advice=_arguments_remedy,
)


def _not_prefix(data: Data) -> str:
    tokens = f"{data['tokens']:,} token{'' if data['tokens'] == 1 else 's'}"
    if data["strings"]:
        return (
            f"the prompt ends within a token of the row: its last {tokens} by itself are not there, and the completion "
            f"is taken to start at token {data['start']:,}"
        )
    return (
        f"the prompt does not render as the row begins: its last {tokens} are not in the row, and the completion is "
        f"taken to start at token {data['start']:,}"
    )


def _not_prefix_remedy(data: Data) -> str:
    if data["strings"]:
        return (
            "Move the white space at the end of the prompt to the beginning of the completion."
            if data["space"]
            else "End the prompt where a word ends, so that prompt and completion share no token."
        )
    return "Use a chat template that renders the prompt the same way with and without its answer."


fault_rule(
    "M114",
    "prompt-not-prefix",
    "warning",
    what="The tokens of a prompt by itself, with the header that asks for an answer, are not how the whole row begins.",
    why=(
        "At inference the model sees what it was not trained on. TRL 1.16 lets the completion start where they part; "
        "a trainer that masks as many tokens as the prompt has hides the beginning of the answer."
    ),
    remedy="Use a chat template that renders the prompt the same way with and without its answer.",
    example='{"prompt": "Question: is it so?\\nAnswer: ", "completion": "yes"}',
    message=_not_prefix,
    advice=_not_prefix_remedy,
)

fault_rule(
    "M115",
    "prompt-refused",
    "error",
    what="The chat template renders the whole row, and refuses its prompt by itself.",
    why="TRL renders the prompt alone to know where the completion starts, and stops with this error.",
    remedy='Give the row as one list of "messages", or let the prompt hold what the template asks for.',
    example='{"prompt": [{"role": "system", …}], "completion": [{"role": "user", …}, {"role": "assistant", …}]}',
    message=lambda data: f"the chat template refuses the prompt by itself ({data['error']}: {data['says']})",
)


@rule(
    "M116",
    "system-merged",
    "note",
    what="The chat template has no system role: it puts the system message at the head of the user's. Once a file.",
    why="It is rendered, but not as a turn of its own: the model does not tell it from what the user says.",
    remedy="Nothing to do, as long as the system message is given in the same way when the model is used.",
    example='{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}, …]}',
)
def _system_merged(judged: Judged) -> Iterator[Finding]:
    for row, data in first_of_each_file(judged, "M116"):
        rows = f"{data['rows']:,} row{'' if data['rows'] == 1 else 's'}"
        message = f"the chat template has no system role and puts the system message into the user's turn ({rows})"
        yield Finding(row, message, "Nothing to do, if the model will get its system message in the same way.", data)
