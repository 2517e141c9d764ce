"""Rows of the five families become one shape; whatever else a row holds is a fault, never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lint_dataset.conversations import Conversation, Part, convert


def clean(row: dict[str, Any], *expected: str) -> Conversation:
    """The conversation of a row whose faults are these and no others."""
    conversation, faults = convert(row)
    assert [fault.code for fault in faults] == list(expected)
    assert conversation is not None
    return conversation


def turns(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


ASKED = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]


def test_messages_go_to_the_template_as_they_are() -> None:
    row = {"messages": [{"role": "system", "content": "Add.", "name": None}, *ASKED], "id": 7}
    conversation = clean(row)
    assert conversation.family == "messages"
    assert [message.template for message in conversation.messages] == row["messages"]
    assert turns(conversation) == [("system", "Add."), ("user", "2+2?"), ("assistant", "4")]
    assert (conversation.tools, conversation.text, conversation.completion) == (None, None, None)


@pytest.mark.parametrize(
    ("part", "kind", "source"),
    [
        ({"type": "audio", "audio": "a.wav"}, "audio", "a.wav"),
        ({"type": "audio", "url": "https://x/a.wav"}, "audio", "https://x/a.wav"),
        ({"type": "audio", "audio": None, "path": "a.wav"}, "audio", "a.wav"),
        (
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
            "audio",
            {"data": "UklG", "format": "wav"},
        ),
        ({"type": "audio_url", "audio_url": {"url": "a.mp3"}}, "audio", "a.mp3"),
        ({"type": "image"}, "image", None),
        ({"type": "image", "image": "a.png"}, "image", "a.png"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}, "image", "data:image/png;base64,AA"),
        ({"type": "image_url", "image_url": "a.png"}, "image", "a.png"),
        ({"type": "video", "video": "a.mp4"}, "video", "a.mp4"),
    ],
)
def test_media_parts_in_every_spelling(part: dict[str, Any], kind: str, source: Any) -> None:
    content = [part, {"type": "text", "text": "What is it?", "audio": None}]
    conversation = clean({"messages": [{"role": "user", "content": content}, ASKED[1]]})
    assert conversation.messages[0].parts == (Part(kind, "", source, part["type"]), Part("text", "What is it?"))


def test_tool_calls_need_no_content() -> None:
    call = {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    messages = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "rain"},
        {"role": "assistant", "content": "Rain."},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "tool_calls": [call]},
    ]
    tools = [{"type": "function", "function": {"name": "weather"}}]
    for column in (tools, json.dumps(tools)):
        conversation = clean({"messages": messages, "tools": column})
        assert conversation.tools == tools
        assert [message.has_tool_calls for message in conversation.messages] == [False, True, False, False, False, True]
    assert clean({"messages": ASKED, "tools": None}).tools is None
    assert clean({"messages": ASKED, "tools": "[]"}).tools is None


@pytest.mark.parametrize(
    ("switch", "trained"),
    [
        ({}, None),
        ({"weight": 0}, False),
        ({"weight": 1}, True),
        ({"train": False}, False),
        ({"training": True}, True),
        ({"loss": False}, False),
        ({"loss_weight": 0.0}, False),
        ({"weight": None, "loss": True}, True),
        ({"loss": "no"}, None),
        ({"loss_scale": 0.5}, True),
        ({"mask": True}, False),
        ({"masked": False}, True),
        ({"training_detail": [{"begin_offset": 0, "end_offset": 1, "train": False}]}, False),
        ({"training_detail": [{"begin_offset": 0, "end_offset": 0, "train": True}]}, True),
    ],
)
def test_training_switches(switch: dict[str, Any], trained: bool | None) -> None:
    messages = [*ASKED, ASKED[0], {**ASKED[1], **switch}]
    codes = ["M014"] if trained is False else []
    assert [m.trained for m in clean({"messages": messages}, *codes).messages] == [None, None, None, trained]


def test_sharegpt_roles_and_tools() -> None:
    row = {
        "system": "Be brief.",
        "conversations": [
            {"from": "human", "value": "Weather?"},
            {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Oslo"}}'},
            {"from": "observation", "value": "rain"},
            {"from": "gpt", "value": "Rain."},
        ],
        "tools": "[]",
    }
    conversation = clean(row, "S007", "S010")
    assert conversation.family == "sharegpt"
    assert [message.template for message in conversation.messages] == [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}],
        },
        {"role": "tool", "content": "rain"},
        {"role": "assistant", "content": "Rain."},
    ]
    assert [message.has_tool_calls for message in conversation.messages] == [False, True, False, False]


def test_sharegpt_with_the_roles_of_templates() -> None:
    row = {"conversations": [{"from": "user", "value": "2+2?"}, {"from": "assistant", "value": "4"}]}
    assert turns(clean(row)) == [("user", "2+2?"), ("assistant", "4")]
    assert turns(clean({"conversations": ASKED}, "S008")) == [("user", "2+2?"), ("assistant", "4")]


def test_alpaca_joins_the_instruction_and_the_input() -> None:
    row = {"instruction": "Add.", "input": "2+2", "output": "4", "system": "s", "history": [["1+1?", "2"]]}
    conversation = clean(row)
    assert conversation.family == "alpaca"
    assert [message.template for message in conversation.messages] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "Add.\n2+2"},
        {"role": "assistant", "content": "4"},
    ]
    for empty in ({}, {"input": ""}, {"input": None, "history": None, "system": ""}):
        conversation = clean({"instruction": "Add.", "response": "4", **empty})
        assert turns(conversation) == [("user", "Add."), ("assistant", "4")]


def test_prompt_and_completion() -> None:
    strings = clean({"prompt": "2+2=", "completion": " 4"})
    assert (strings.family, strings.text, strings.completion) == ("prompt-completion", "2+2= 4", 4)
    assert strings.messages == ()
    lists = clean({"prompt": [*ASKED, ASKED[0]], "completion": [ASKED[1]]})
    assert (lists.family, lists.text, lists.completion) == ("prompt-completion", None, 3)
    assert len(lists.messages) == 4


def test_text() -> None:
    conversation = clean({"text": "Once.", "meta": {"n": 1}})
    assert (conversation.family, conversation.text, conversation.messages) == ("text", "Once.", ())


def test_columns_of_nulls_are_no_schema() -> None:
    assert clean({"messages": ASKED, "conversations": None, "text": None, "tools": None}).family == "messages"
    conversation, faults = convert({"messages": None, "text": None})
    assert conversation is None
    assert [(fault.code, fault.data["got"]) for fault in faults] == [("S003", "null")]


def test_the_same_fault_in_many_messages_is_said_once() -> None:
    messages = [{"role": "human", "content": "a"}, {"role": "gpt", "content": "b"}] * 50
    _, faults = convert({"messages": messages})
    assert [(fault.code, fault.data["message"], fault.data["role"], fault.data["times"]) for fault in faults] == [
        ("M006", 1, "human", 50),
        ("M006", 2, "gpt", 50),
    ]


COLUMNS = ["messages", "conversations", "prompt", "completion", "instruction", "input", "output", "response", "system"]
COLUMNS += ["history", "text", "tools", "audios", "images", "label", "chosen", "rejected", "image", "audio"]
COLUMNS += ["conversation", "query", "contents", "source", "target", "key", "rejected_response", "ground_truth"]
COLUMNS += ["audio_filepath", "systemInstruction", "schemaVersion", "rejected_messages", "toolConfig", "context"]
FIELDS = ["role", "content", "from", "value", "type", "url", "weight", "tool_calls", "function", "name", "arguments"]
FIELDS += ["parts", "text", "human", "assistant", "message_type", "author", "input", "fileData", "toolUse", "thinking"]
FIELDS += ["parameters", "properties", "functionCall", "functionResponse", "tool_use_id", "media_type", "mimeType"]
KEYS = st.sampled_from(COLUMNS + FIELDS)
WORDS = ["", " ", "user", "assistant", "human", "gpt", "function_call", "text", "audio", "[]", "{}", '"x"', "model"]
WORDS += ["tool_use", "tool_result", "thinking", "reasoning", "tool_call", "image", "<image> <audio>", "audio-text"]
WORDS += ['{"name": "f"}', "<|startofspeech|>!a.wav<|endofspeech|>", "<img>a.png</img>", "bedrock-conversation-2024"]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5))
PARTS = st.lists(
    st.fixed_dictionaries({"type": LEAVES}, optional={"text": VALUES, "audio": VALUES}) | VALUES, max_size=3
)
TURN = st.fixed_dictionaries(
    {},
    optional={"role": LEAVES, "content": VALUES | PARTS, "from": LEAVES, "value": VALUES | PARTS, "tool_calls": VALUES}
    | {"parts": VALUES | st.lists(VALUES, max_size=3), "message_type": LEAVES, "human": LEAVES, "assistant": LEAVES},
)
ROWS = st.dictionaries(KEYS, VALUES | st.lists(TURN, max_size=4), max_size=6)


@settings(max_examples=500, deadline=None)
@given(ROWS)
def test_any_row_gives_a_conversation_or_faults(row: dict[str, Any]) -> None:
    before = repr(row)
    conversation, faults = convert(row)
    assert repr(row) == before
    assert conversation is not None or faults
    json.dumps([fault.data for fault in faults], allow_nan=False)
    if conversation is not None:
        assert (conversation.text is None) == bool(conversation.messages)
        for message in conversation.messages:
            assert message.template["role"] == message.role


SECRET = "zebra-quince-7"


@settings(max_examples=300, deadline=None)
@given(ROWS)
def test_faults_hold_no_text_of_the_data(row: dict[str, Any]) -> None:
    def hide(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: hide(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [hide(item) for item in value]
        return SECRET if isinstance(value, str) and key not in ("role", "from", "type") else value

    _, faults = convert(hide(row))
    assert SECRET not in json.dumps([fault.data for fault in faults])
