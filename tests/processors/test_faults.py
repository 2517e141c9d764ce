"""What a template leaves out, or prints that nobody wrote: said, with the message and its role."""

from __future__ import annotations

from typing import Any

import pytest

from tests.processors.exact import chat, decoded, ids_of, measured

CALL = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object"}}}]


def one(processor, messages: list[dict[str, Any]], **row: Any) -> dict[str, Any]:
    return measured(processor, [{"messages": messages, **row}])[0]


def parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def test_a_template_that_raises_is_quoted(gemma3n) -> None:
    row = one(gemma3n, [*chat("hi"), *chat("again", "yes")])
    (fault,) = [fault for fault in row["faults"] if fault.code == "M101"]
    assert "alternate" in fault.data["says"]
    assert row["tokens"] is None
    assert row["turns"] == row["answers"] == []


def test_text_of_an_unknown_role_is_lost(with_template) -> None:
    processor = with_template(
        "{% for m in messages %}{% if m.role == 'user' or m.role == 'assistant' %}<|im_start|>{{ m.role }}\n"
        "{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
    )
    row = one(processor, [{"role": "developer", "content": "be nice"}, *chat("hi", "hello")])
    lost = [fault.data for fault in row["faults"] if fault.code == "M102"]
    assert lost == [{"message": 1, "role": "developer", "why": "role"}]
    assert row["tokens"] == len(ids_of(processor, [{"role": "developer", "content": "be nice"}, *chat("hi", "hello")]))


def test_the_same_text_elsewhere_does_not_hide_a_loss(with_template) -> None:
    processor = with_template("{% for m in messages if m.role == 'user' %}[{{ m.content }}]{% endfor %}")
    row = one(processor, chat("yes", "yes", "yes", "yes"))
    (fault,) = row["faults"]
    assert (fault.code, fault.data) == ("M102", {"message": 2, "role": "assistant", "why": "role", "times": 2})


@pytest.mark.parametrize(
    "template",
    ["{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
     "{% for m in messages %}{{ m.role }}: {{ m.content | tojson }}\n{% endfor %}"],
)  # fmt: skip
def test_parts_printed_as_a_list(with_template, template: str) -> None:
    processor = with_template(template)
    messages = [{"role": "user", "content": parts('say "hi"\n')}, {"role": "assistant", "content": parts("hi")}]
    row = one(processor, messages)
    assert row["codes"] == ["M104", "M104"]
    assert [fault.data for fault in row["faults"]] == [
        {"message": 1, "role": "user"},
        {"message": 2, "role": "assistant"},
    ]
    assert row["tokens"] == len(ids_of(processor, messages))


def test_text_printed_as_json_is_no_list(with_template) -> None:
    row = one(with_template("{% for m in messages %}{{ m.content | tojson }}\n{% endfor %}"), chat('a "b"', "c"))
    assert row["codes"] == []


def test_none_printed(with_template) -> None:
    processor = with_template("{% for m in messages %}{{ m.role }}: {{ m.get('content') }}\n{% endfor %}")
    answer = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    row = one(processor, [*chat("None is a word"), answer])
    assert {"M105", "M107"} <= set(row["codes"])
    assert "M105" not in one(processor, chat("None is a word", "None"))["codes"]


def test_tools_and_calls_that_are_ignored(gemma3n, loaded) -> None:
    messages = [*chat("weather?"), {"role": "assistant", "content": "", "tool_calls": [CALL]}]
    ignored = one(gemma3n, messages, tools=TOOLS)
    assert {"M106", "M107"} <= set(ignored["codes"])
    rendered = one(loaded("qwen3"), messages, tools=TOOLS)
    assert not {"M106", "M107"} & set(rendered["codes"])


def test_a_tool_call_is_the_answer(loaded) -> None:
    processor = loaded("qwen3")
    messages = [
        *chat("weather?"),
        {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]},
        {"role": "tool", "content": "sun"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "content": "rain"},
        {"role": "assistant", "content": "Rain."},
    ]
    row = one(processor, messages, tools=TOOLS)
    ids = ids_of(processor, messages, TOOLS)
    assert row["tokens"] == len(ids)
    first, second, last = (decoded(processor, ids, answer) for answer in row["answers"])
    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>'
    assert first == "Let me look.\n" + call
    assert second.endswith(call)
    assert "sun" not in second
    assert last == "Rain.<|im_end|>"


def test_audio_that_the_template_does_not_know(gemma3n) -> None:
    for kind in ("input_audio", "audio_url"):
        content = [{"type": kind, kind: "x.wav"}, *parts("what?")]
        row = one(gemma3n, [{"role": "user", "content": content}, *chat("", "hello")[1:]])
        (fault,) = row["faults"]
        assert fault.code == "M103"
        assert fault.data == {"message": 1, "role": "user", "kind": "audio", "type": kind, "supported": True}
        assert row["media"] == []
        assert row["tokens"] is not None


def test_audio_for_a_model_of_text(with_template) -> None:
    processor = with_template(
        "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for p in m.content if p.type == 'text' %}{{ p.text }}{% endfor %}{% endif %}<|im_end|>{% endfor %}"
    )
    content = [{"type": "audio", "audio": "x.wav"}, *parts("what?")]
    row = one(processor, [{"role": "user", "content": content}, *chat("", "hello")[1:]])
    (fault,) = row["faults"]
    assert (fault.code, fault.data["supported"]) == ("M103", False)


def test_one_of_two_clips_is_lost(gemma3n) -> None:
    content = [{"type": "audio", "audio": "x.wav"}, {"type": "input_audio", "input_audio": "y.wav"}, *parts("?")]
    row = one(gemma3n, [{"role": "user", "content": content}, *chat("", "hello")[1:]])
    assert row["codes"] == ["M103", "A002"]
    assert len(row["media"]) == 1


def test_placeholder_in_text(gemma3n) -> None:
    row = one(gemma3n, chat("what is in <audio_soft_token>?", "nothing"))
    (fault,) = row["faults"]
    assert (fault.code, fault.data) == ("M111", {"message": 1, "kind": "audio"})
    assert row["tokens"] is None


def test_control_tokens_in_text(gemma3n, loaded) -> None:
    messages = chat("what does <end_of_turn> mean?", "the end")
    row = one(gemma3n, messages)
    (fault,) = row["faults"]
    assert (fault.code, fault.data) == ("M108", {"message": 1, "tokens": ["<end_of_turn>"]})
    assert row["tokens"] == len(ids_of(gemma3n, messages))
    assert one(loaded("qwen3"), messages)["codes"] == []


def test_begin_of_sequence_twice(gemma3n) -> None:
    assert measured(gemma3n, [{"text": "<bos>hello"}])[0]["codes"] == ["M109"]
    assert measured(gemma3n, [{"text": "hello"}])[0]["codes"] == []


def test_reasoning(loaded) -> None:
    processor = loaded("qwen3")
    thought = "<think>\nlet me see\n</think>\n\n"
    messages = chat("one?", f"{thought}1", "two?", f"{thought}2")
    row = one(processor, messages)
    ids = ids_of(processor, messages)
    assert row["tokens"] == len(ids)
    (fault,) = row["faults"]
    assert (fault.code, fault.data) == ("M110", {"messages": [2], "count": 1, "usual": True})
    first, second = (decoded(processor, ids, answer) for answer in row["answers"])
    assert first == "1<|im_end|>"
    assert second.startswith("<think>\nlet me see\n</think>")
    assert second.endswith("2<|im_end|>")


def test_a_template_that_looks_at_how_a_text_begins(loaded) -> None:
    """Qwen3's takes a user's text in tags for the answer of a tool: markers in front of it change what is rendered."""
    processor = loaded("qwen3")
    messages = chat("a", "s", "<tool_response>\nsun\n</tool_response>", "<think>\nhm\n</think>\n\nend")
    row = one(processor, messages)
    ids = ids_of(processor, messages)
    assert row["tokens"] == len(ids)
    assert decoded(processor, ids, row["answers"][0]) == "s<|im_end|>"
    assert decoded(processor, ids, row["answers"][1]).endswith("end<|im_end|>")
    assert "M102" not in row["codes"]


def test_no_template(with_template) -> None:
    row = one(with_template(""), chat("hi", "hello"))
    assert row["codes"] == ["M112"]
    assert measured(with_template(""), [{"text": "hi"}])[0]["tokens"] == 2


def test_the_date_of_a_template_stands_still(with_template, tmp_path) -> None:
    from lint_dataset.processors.loading import _fix_date

    template = "{{ strftime_now('%Y-%m-%d') }} {% for m in messages %}{{ m.content }}{% endfor %}"
    processor = with_template(template)
    _fix_date(template)
    assert processor.render(chat("hi")) == "2025-01-01 hi"


def test_a_row_that_is_broken_does_not_touch_the_others(gemma3n) -> None:
    good = {"messages": chat("hi", "hello")}
    rows = measured(gemma3n, [b"{", good, b"\xff\xfe", {"messages": 3}, b"[]", good, b"null", {"what": "else"}])
    assert [row["tokens"] for row in rows] == [None, 13, None, None, None, 13, None, None]
    assert all(row["faults"] for row in rows if row["tokens"] is None)
