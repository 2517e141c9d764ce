"""M101 and on: what the model's own chat template and tokenizer make of a row that is well formed."""

from __future__ import annotations

from typing import Any

from lint_dataset.rules import fault_rule

Data = dict[str, Any]


def _place(data: Data) -> str:
    """``message 2 (user)``, with how many more there are like it."""
    role = f" ({data['role']})" if data.get("role") else ""
    more = data.get("times", 1) - 1
    return f"message {data['message']}{role}" + (f" and {more:,} more" if more else "")


fault_rule(
    "M101",
    "template-raises",
    "error",
    what="The model's chat template refuses the row.",
    why="Training stops with the same error when it comes to this row, or when the dataset is prepared.",
    remedy="Change the row to what the template takes: usually the order of the roles, or text instead of parts.",
    example='{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}',
    message=lambda data: f"the chat template raises {data['error']}: {data['says']}",
)

fault_rule(
    "M102",
    "text-lost",
    "error",
    what="The text of a message is nowhere in what the chat template renders.",
    why="The model never sees it, and nothing says so: templates leave out the roles and forms that they do not know.",
    remedy="Use the roles and the form of content (text or parts) that this model's template renders.",
    example='{"messages": [{"role": "human", "content": "hi"}, {"role": "assistant", "content": "hello"}]}',
    message=lambda data: f"the chat template leaves out the text of {_place(data)}",
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

fault_rule(
    "M110",
    "reasoning-lost",
    "warning",
    what="The reasoning of an answer is not in what the chat template renders.",
    why="Many templates keep the reasoning of the last turn only: that of the others is never trained on.",
    remedy="Split the conversation so that each answer with reasoning is the last of a row.",
    example='{"messages": [{"role": "user", …}, {"role": "assistant", "content": "<think>…</think>…"}, …]}',
    message=lambda data: f"the chat template leaves out the reasoning of {_place(data)}",
)

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
