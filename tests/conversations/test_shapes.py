"""Each schema family is recognised from its rows, and becomes the conversation that the row holds."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from lint_dataset.conversations import Conversation, Part, Reading, convert
from lint_dataset.conversations.registry import families
from lint_dataset.usage import UsageError
from tests.conversations.samples import ANSWER, ASKED, CALL, QUESTION, SAID, SAMPLES, Sample


def said(conversation: Conversation) -> list[tuple[str, str]]:
    if conversation.text is not None:
        return [("text", conversation.text)]
    return [(message.role, "".join(map(shown, message.parts))) for message in conversation.messages]


def shown(part: Part) -> str:
    return part.text if part.kind == "text" else f"[{part.kind} {part.source}]"


def codes(row: Any, *reading: Any) -> list[str]:
    return [fault.code for fault in convert(row, *reading)[1]]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.family)
def test_a_row_of_each_family(sample: Sample) -> None:
    conversation, faults = convert(sample.row)
    assert conversation is not None
    assert conversation.family == sample.family
    assert said(conversation) == sample.turns
    assert tuple(fault.code for fault in faults) == sample.faults


def test_no_family_is_without_a_sample() -> None:
    assert {family.name for family in families()} == {sample.family for sample in SAMPLES}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.family)
def test_columns_of_other_rows_are_nulls_in_a_table(sample: Sample) -> None:
    filled = {**dict.fromkeys(key for other in SAMPLES for key in other.row), **sample.row}
    conversation, faults = convert(filled)
    assert conversation is not None
    assert (conversation.family, said(conversation)) == (sample.family, sample.turns)
    assert {fault.code for fault in faults} <= {*sample.faults, "S011"}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.family)
def test_a_forced_format_reads_its_own_rows_and_no_others(sample: Sample) -> None:
    conversation, _ = convert(sample.row, Reading.of(sample.family))
    assert conversation is not None
    assert said(conversation) == sample.turns
    conversation, faults = convert({"nothing": 1}, Reading.of(sample.family))
    assert conversation is None
    assert [fault.code for fault in faults] == ["S016"]


def test_a_forced_format_says_what_the_row_is_instead() -> None:
    _, (fault,) = convert({"conversations": SAID}, Reading.of("messages"))
    assert (fault.code, fault.data["missing"], fault.data["is"]) == ("S016", ["messages"], "sharegpt")


TURNS = [{"who": "human", "says": QUESTION[1]}, {"who": "bot", "says": ANSWER[1]}]


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("messages=dialog", {"dialog": ASKED}),
        ("role=who, content=says, messages=turns", {"turns": TURNS}),
        ({"instruction": "frage", "output": "antwort"}, {"frage": QUESTION[1], "antwort": ANSWER[1], "output": None}),
        ("prompt=q,completion=a", {"q": ASKED[:1], "a": ASKED[1:]}),
    ],
)  # fmt: skip
def test_columns_of_other_names(columns: Any, row: dict[str, Any]) -> None:
    before = copy.deepcopy(row)
    conversation, faults = convert(row, Reading.of(None, columns))
    assert conversation is not None
    assert (said(conversation), faults, row) == ([QUESTION, ANSWER], [], before)


def test_columns_that_a_row_does_not_have() -> None:
    _, (fault,) = convert({"messages": ASKED}, Reading.of(None, "messages=dialog"))
    assert (fault.code, fault.data) == ("S017", {"columns": ["dialog"], "keys": ["messages"]})


@pytest.mark.parametrize(
    ("format", "columns", "says"),
    [
        ("share-gpt", None, "choose one of alpaca, anthropic"),
        (None, "mesages=dialog", "choose from role, content, messages"),
        (None, "messages", "is no pair"),
        (None, "messages=", "messages=NAME"),
        (None, "messages=a,messages=b", "named twice"),
    ],
)
def test_a_reading_that_cannot_be(format: str | None, columns: str | None, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Reading.of(format, columns)


def test_tool_calls_and_reasoning_go_where_templates_look_for_them() -> None:
    found = {}
    for sample in SAMPLES:
        conversation = convert(sample.row)[0]
        for message in conversation.messages if conversation else ():
            if message.has_tool_calls:
                call = message.template["tool_calls"][0]["function"]
                found[sample.family] = (call["name"], message.template.get("reasoning_content"))
                assert message.role == "assistant"
    assert found == {
        "llama-factory-v1": ("look_up", "Long legs."),
        "anthropic": ("look_up", "Long legs."),
        "nova": ("look_up", None),
        "gemini": ("look_up", None),
    }


def test_tools_become_functions() -> None:
    tools = {sample.family: convert(sample.row)[0].tools for sample in SAMPLES if "tools" in sample.row}
    assert tools["gemini"] == [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]
    assert tools["anthropic"][0]["function"]["parameters"]["properties"] == {"bird": {}}
    assert tools["llama-factory-v1"] == [{"name": "look_up"}]


DUCK = {"role": "assistant", "content": "A duck."}


@pytest.mark.parametrize(
    ("row", "text", "rejected", "completion"),
    [
        ({"prompt": "Q: ", "chosen": "yes", "rejected": "no"}, "Q: yes", "Q: no", 3),
        # The prompt is what both texts begin with, up to the space before they part.
        ({"chosen": "Q: what? A heron", "rejected": "Q: what? A duck"}, "Q: what? A heron", "Q: what? A duck", 10),
        ({"prompt": ASKED[:1], "chosen": ASKED[1:], "rejected": [DUCK]}, None, None, 1),
        ({"chosen": ASKED, "rejected": [ASKED[0], DUCK]}, None, None, 1),
        ({"prompt": "What is this?", "chosen": ASKED, "rejected": [ASKED[0], DUCK]}, None, None, 1),
        ({"prompt": "What is this?", "chosen": ASKED[1:], "rejected": [DUCK]}, None, None, 1),
        ({"chosen_messages": ASKED, "rejected_messages": [ASKED[0], DUCK]}, None, None, 1),
        ({"messages": ASKED, "rejected_messages": [ASKED[0], DUCK]}, None, None, 1),
        ({"messages": ASKED, "rejected_response": "A duck."}, None, None, 1),
        ({"query": "What is this?", "response": "A heron.", "rejected_response": "A duck."}, None, None, 1),
        ({"instruction": "What is this?", "input": "", "chosen": "A heron.", "rejected": "A duck."}, None, None, 1),
        ({"question": "What is this?", "chosen": "A heron.", "rejected": "A duck."}, None, None, 1),
        (
            {"input": {"messages": ASKED[:1]}, "preferred_output": ASKED[1:], "non_preferred_output": [DUCK]},
            None,
            None,
            1,
        ),
    ],
)  # fmt: skip
def test_preference_rows_hold_two_conversations(
    row: dict[str, Any], text: str | None, rejected: str | None, completion: int
) -> None:
    conversation, faults = convert(row)
    assert conversation is not None
    assert conversation.rejected is not None
    assert (conversation.family, faults) == ("preference", [])
    assert (conversation.completion, conversation.rejected.completion) == (completion, completion)
    assert (conversation.text, conversation.rejected.text) == (text, rejected)
    if text is None:
        assert said(conversation) == [QUESTION, ANSWER]
        assert said(conversation.rejected) == [QUESTION, ("assistant", "A duck.")]


def test_columns_that_only_have_the_names() -> None:
    extras: tuple[dict[str, Any], ...] = (
        {"chosen": True, "rejected": False},
        {"contents": "a summary"},
        {"label": 3},
        {"input": "raw", "output": "raw"},
    )
    for extra in extras:
        conversation, faults = convert({"messages": ASKED, **extra})
        assert conversation is not None
        assert (conversation.family, faults) == ("messages", [])


def test_preference_rows_that_cannot_be_read() -> None:
    assert codes({"prompt": "Q", "chosen": 1, "rejected": "no"}) == ["S003"]
    assert codes({"prompt": 1, "chosen": "yes", "rejected": "no"}) == ["S003"]
    assert codes({"prompt": "Q", "chosen": [], "rejected": "no"}) == ["S004"]
    assert codes({"prompt": "Q", "chosen": "no", "rejected": "no"}) == ["S018"]
    assert codes({"chosen": ASKED, "rejected": ASKED}) == ["S018"]


@pytest.mark.parametrize(
    ("content", "files", "turn", "faults"),
    [
        ("<image><image>Which?", ["a", "b"], "[image a][image b]Which?", ["S006"]),
        ("First <image>, then <image>.", ["a"], "First [image a], then <image>.", ["S006", "S013"]),
        ("<image>What?", ["a", "b"], "[image b][image a]What?", ["S006", "S013"]),
        ("What?", ["a"], "[image a]What?", ["S006", "S013"]),
        ("<image>What?", "a", "[image a]What?", ["S003", "S006"]),
        ([{"type": "image"}, {"type": "text", "text": "What?"}], ["a"], "[image a]What?", []),
        ([{"type": "image"}, {"type": "text", "text": "What?"}], ["a", "b"], "[image a]What?", ["S013"]),
        ([{"type": "image", "image": "c"}], ["a"], "[image c]", []),
        ([{"type": "text", "text": "<image>What?"}], ["a"], "[image a]What?", ["S006"]),
    ],
)
def test_media_columns_fill_the_places_in_order(content: Any, files: Any, turn: str, faults: list[str]) -> None:
    row = {"messages": [{"role": "user", "content": content}, ASKED[1]], "images": files}
    conversation, found = convert(row)
    assert conversation is not None
    assert said(conversation)[0] == ("user", turn)
    assert [fault.code for fault in found] == faults


def test_a_placeholder_becomes_a_part_for_the_template() -> None:
    row = {"messages": [{"role": "user", "content": "<audio>What?", "name": "n"}, ASKED[1]], "audios": ["a.wav"]}
    conversation = convert(row)[0]
    assert conversation is not None
    content = [{"type": "audio", "audio": "a.wav"}, {"type": "text", "text": "What?"}]
    assert conversation.messages[0].template == {"role": "user", "content": content, "name": "n"}


def test_nulls_that_a_table_fills_in() -> None:
    other = {"type": "function", "function": {"name": "g", "parameters": {"properties": {"bird": None, "city": {}}}}}
    mine = {
        "type": "function",
        "function": {"name": "look_up", "parameters": {"properties": {"bird": {}, "city": None}}},
    }
    call = {"function": {"name": "look_up", "arguments": {"bird": None, "city": None}}}
    messages = [ASKED[0], {"role": "assistant", "content": "", "tool_calls": [call]}]
    _, faults = convert({"messages": messages, "tools": [mine, other]})
    assert [(fault.code, fault.data["where"], fault.data["names"]) for fault in faults] == [
        ("M015", "tools", ["city", "bird"]),
        # bird is a parameter of it: a null is what was meant.
        ("M015", "call", ["city"]),
    ]
    assert codes({"messages": messages}) == []


def test_nemo_masks_a_speaker() -> None:
    row = {"mask": "gpt", "conversations": [*SAID, *SAID]}
    conversation, faults = convert(row)
    assert conversation is not None
    assert [message.trained for message in conversation.messages] == [None, False, None, False]
    assert [fault.code for fault in faults] == ["S007", "M011"]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a row."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in ((*path, key), *places(item, (*path, key)))]


ODD = [None, True, 0, 1.5, "", "x", [], {}, [[]], [{}], {"x": 1}, ["x"], [None], b"x", [CALL], ASKED, SAID]


def test_a_row_with_something_odd_in_it_never_raises() -> None:
    luck = random.Random(0)
    for sample in SAMPLES * 200:
        row = copy.deepcopy(sample.row)
        for _ in range(luck.randint(1, 3)):
            *above, last = luck.choice(places(row) or [("x",)])
            inside: Any = row
            for key in above:
                inside = inside[key]
            inside[last] = copy.deepcopy(luck.choice(ODD))
        before = repr(row)
        conversation, faults = convert(row)
        assert repr(row) == before
        assert conversation is not None or faults, before
        json.dumps([fault.data for fault in faults], allow_nan=False)
        for one in conversation.alternatives if conversation else ():
            assert (one.text is None) == bool(one.messages), before
            assert all(message.template["role"] == message.role for message in one.messages)
