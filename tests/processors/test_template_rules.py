"""What each template refuses, drops or misprints is found and named: by the matrix, and in sentences for people."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from lint_dataset.diagnostics import Diagnostic
from lint_dataset.judge import judge, look
from lint_dataset.plan import Plan
from lint_dataset.processors.loading import Processor
from lint_dataset.rules import all_rules
from tests.processors.exact import chat, ids_of, measured, measured_batch
from tests.processors.matrix import PROBES, Probe, calling, disagreements, part, prompt_alone, say

PUBLISHED = ("gemma3n", "gemma3", "gemini", "qwen3", "llama3_1", "deepseek_v3")

#: ChatML as Qwen2.5 has it, as far as tool calls go: a string of JSON is encoded again.
ENCODES = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}"
    '\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{% endfor %}<|im_end|>\n'
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
#: The same with the arguments as they are: an object is printed as Python prints it.
PRINTS = ENCODES.replace(" | tojson", "")
#: The generation prompt closes an empty block of thought, which a row does not have.
THINKS_NOT = ENCODES.replace("assistant\n{% endif", "assistant\n<think>\n\n</think>\n\n{% endif")


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_said_is_what_happens(name: str, probe: Probe, loaded) -> None:
    assert disagreements(loaded(name), probe) == []


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_completion_starts_where_the_tokens_part(name: str, loaded) -> None:
    assert prompt_alone(loaded(name)) == ("fine", [])


def found(processor: Processor, *rows: dict[str, Any]) -> list[Diagnostic]:
    """The findings of the M rules in a file of these rows."""
    table = pa.Table.from_batches([measured_batch(processor, list(rows))])
    return judge(look(table, Plan(tokenizer="x", trainer="hf"), None), [code for code in all_rules() if code[0] == "M"])


def test_a_template_for_another_tokenizer_is_not_blamed_on_the_row(with_template) -> None:
    other = with_template("{{ bos_token + '' }}" + ENCODES)
    (finding,) = found(other, {"messages": chat("a", "b")})
    assert (finding.code, "'bos_token' is undefined" in finding.message) == ("M101", True)
    assert "or set bos_token in its tokenizer_config.json" in finding.remedy


@pytest.mark.parametrize(
    ("name", "messages", "said", "remedy"),
    [
        ("gemma3n", chat("a", "b", "c") + chat("d"), "message 4 (user) follows another one of its role", "answer"),
        ("gemma3n", [say("system", "s"), say("assistant", "b")], "before message 2 (assistant)", "Add what the user"),
        ("gemini", chat("a", "b", system="s"), "message 1 (system): it has no system role", "first message"),
        ("gemma3n", [*chat("a", "b"), say("system", "s"), *chat("c", "d")], "message 3 (system) is not the", "beg"),
        ("gemma3n", calling({"x": 1}), 'the role "tool" (message 3)', "tools"),
        ("deepseek_v3", [say("user", part("a")), say("assistant", "b")], "(user) is a list of parts", "string"),
        ("qwen3", calling({"x": 1}, None), "message 2 (assistant) is null", '""'),
    ],
)  # fmt: skip
def test_a_refusal_names_the_message_the_cause_and_the_remedy(
    name: str, messages: list[dict[str, Any]], said: str, remedy: str, loaded
) -> None:
    refusals = [one for one in found(loaded(name), {"messages": messages}) if one.code == "M101"]
    assert len(refusals) == 1
    assert said in refusals[0].message
    assert remedy in refusals[0].remedy


def test_a_role_that_is_dropped_is_named_with_what_it_means(loaded) -> None:
    row = {"messages": [say("customer", "capital of Peru?"), say("agent", "Lima")]}
    lost = [one for one in found(loaded("qwen3"), row) if one.code == "M102"]
    assert [one.message.rpartition(": ")[2] for one in lost] == [
        'it renders nothing for the role "customer"',
        'it renders nothing for the role "agent"',
    ]
    assert [one.remedy for one in lost] == [
        'Rename the role "customer" to "user".',
        'Rename the role "agent" to "assistant".',
    ]


def test_a_system_message_in_the_users_turn_is_a_note_once_a_file(loaded) -> None:
    rows = [{"messages": chat("a", "b", system="s")}] * 3 + [{"messages": chat("a", "b")}]
    (note,) = found(loaded("gemma3n"), *rows)
    assert (note.code, note.severity, note.line) == ("M116", "note", 1)
    assert "(3 rows)" in note.message
    assert found(loaded("llama3_1"), *rows) == []


@pytest.mark.parametrize(
    ("template", "arguments", "said", "form"),
    [
        (ENCODES, '{"city": "Oslo"}', ("text", "escapes", True), "object"),
        (ENCODES, {"city": "Oslo"}, None, None),
        (PRINTS, {"city": {"name": "Oslo"}}, ("object", "prints", True), "JSON text"),
        (PRINTS, '{"city": "Oslo"}', None, None),
        (ENCODES, "{}", ("text", "escapes", True), "object"),
        (ENCODES, "", None, None),
        (PRINTS, {}, None, None),
    ],
)
def test_arguments_in_the_form_that_the_template_needs(template, arguments, said, form, with_template) -> None:
    from lint_dataset.rules.template import _arguments_remedy

    (row,) = measured(with_template(template), [{"messages": calling(arguments)}])
    faults = [fault.data for fault in row["faults"] if fault.code == "M113"]
    assert [(fault["form"], fault["does"], fault["other"]) for fault in faults] == ([said] if said else [])
    for fault in faults:
        assert (fault["message"], fault["role"]) == (2, "assistant")
        assert form in _arguments_remedy(fault)


def test_the_same_words_in_a_question_are_no_misprint(with_template) -> None:
    messages = calling('{"city": "Oslo"}')
    messages[0]["content"] = messages[1]["content"] = json.dumps('{"city": "Oslo"}')
    (row,) = measured(with_template(PRINTS), [{"messages": messages}])
    assert "M113" not in row["codes"]


def test_a_prompt_that_is_not_how_the_row_begins(with_template) -> None:
    """The completion starts where TRL 1.16 starts it: at the end of what both sequences share."""
    processor = with_template(THINKS_NOT)
    prompt, completion = chat("hi"), [say("assistant", "hello")]
    (row,) = measured(processor, [{"prompt": prompt, "completion": completion}])
    alone = ids_of(processor, prompt, add_generation_prompt=True)
    whole = ids_of(processor, [*prompt, *completion])
    assert alone[:-4] == whole[: len(alone) - 4]
    (fault,) = row["faults"]
    assert (fault.code, fault.data["tokens"], fault.data["start"]) == ("M114", 4, len(alone) - 4)
    assert row["completion"] == len(alone) - 4


def test_an_empty_thought_that_only_the_row_has_belongs_to_the_completion(loaded) -> None:
    """Qwen3's template puts it before the last answer; the prompt that asks for an answer ends before it."""
    processor = loaded("qwen3")
    prompt, completion = chat("hi"), [say("assistant", "hello")]
    (row,) = measured(processor, [{"prompt": prompt, "completion": completion}])
    whole = ids_of(processor, [*prompt, *completion])
    assert processor.tokenizer.decode(whole[row["completion"] :]).startswith("<think>\n\n</think>\n\nhello")
    assert row["codes"] == []


@pytest.mark.parametrize("name", ["qwen3", "gemma3", "llama3_1"])
def test_a_prompt_that_ends_with_a_space_shares_a_token(name: str, loaded) -> None:
    processor = loaded(name)
    good, bad = {"prompt": "Is it?\nAnswer:", "completion": " yes"}, {"prompt": "Is it?\nAnswer: ", "completion": "yes"}
    clean, shared = measured(processor, [good, bad])
    assert clean["codes"] == []
    alone = processor.tokenizer(bad["prompt"])["input_ids"]
    whole = processor.tokenizer(bad["prompt"] + bad["completion"])["input_ids"]
    start = next(i for i, (one, other) in enumerate(zip(alone, whole, strict=False)) if one != other)
    assert shared["completion"] == start
    (fault,) = shared["faults"]
    assert (fault.code, fault.data) == (
        "M114",
        {"tokens": len(alone) - start, "start": start, "strings": True, "space": True},
    )


def test_a_prompt_that_the_template_refuses_alone(with_template) -> None:
    processor = with_template(
        "{% if 'user' not in messages | map(attribute='role') %}{{ raise_exception('No user query.') }}{% endif %}"
        + ENCODES
    )
    row = {"prompt": [say("system", "s")], "completion": chat("a", "b")}
    (found,) = measured(processor, [row])
    assert [fault.data["says"] for fault in found["faults"] if fault.code == "M115"] == ["No user query."]
    assert found["tokens"] == len(ids_of(processor, [*row["prompt"], *row["completion"]]))


def test_reasoning_of_earlier_turns_is_a_note_and_of_the_last_a_warning(loaded) -> None:
    thought = "<think>\nhm\n</think>\n\n"
    rows = {"messages": chat("a", f"{thought}1", "b", f"{thought}2", "c", f"{thought}3")}
    (note,) = found(loaded("qwen3"), rows)
    assert (note.code, note.severity) == ("M110", "note")
    assert "messages 2 and 4: it keeps that of the last answer" in note.message
    last = {"messages": [*chat("a"), say("assistant", "1", reasoning_content="hm")]}
    (warning,) = found(loaded("llama3_1"), last)
    assert (warning.code, warning.severity) == ("M110", "warning")
    assert warning.message.endswith("the reasoning of message 2")
