"""The S and M rules: what they find, what they say, and what they leave alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.finding import QUALITY, find

USER = {"role": "user", "content": "2+2?"}
ANSWER = {"role": "assistant", "content": "4"}

#: What old loaders make of contents that are written as text here and as parts there.
LOADING = ("J019", "J022", QUALITY)


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def chat(*messages: Any, **columns: Any) -> dict[str, Any]:
    return {"messages": list(messages), **columns}


def calling(function: Any) -> dict[str, Any]:
    return chat(USER, {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]})


@pytest.mark.parametrize(
    ("row", "code", "severity", "message", "remedy"),
    [
        ({"messages": "[]"}, "S003", "error", '"messages" is a string, expected an array', "json.loads"),
        ({"message": [USER, ANSWER]}, "S001", "error", '"message"', "messages"),
        ({"instruction": "Add."}, "S001", "error", 'alpaca lacks "output"', '"output"'),
        ({"prompt": "2+2?"}, "S001", "error", 'prompt-completion lacks "completion"', '"completion"'),
        ({"question": "2+2?", "answer": "4"}, "S001", "error", "question and answer", "Rename question to prompt"),
        ({"prompt": "2+2?", "chosen": "4", "rejected": "5"}, "S014", "note", "by the longer one", "preference trainer"),
        ({"audio": "a.wav", "text": "hello"}, "S008", "note", "TRL does not read asr-pair rows", "as messages"),
        ({"image": "a.png", "text": "hello"}, "S001", "error", "captions", "image part"),
        ({}, "S001", "error", "no keys", "messages"),
        (
            {"prompt": "a", "completion": "b", "messages": [USER, ANSWER]},
            "S002",
            "warning",
            "read as prompt-comp",
            "drop",
        ),
        ({"text": "a", "messages": [USER, ANSWER]}, "S002", "note", "read as messages", "drop"),
        ({"text": ["a"]}, "S003", "error", '"text" is an array, expected a string', "string"),
        ({"prompt": [USER], "completion": "4"}, "S003", "error", '"completion" is a string', "list"),
        (chat(), "S004", "error", '"messages" is an empty list', "Delete"),
        (chat(USER, ANSWER, tools="weather()"), "S005", "error", "no valid JSON", "JSON"),
        (chat(USER, ANSWER, tools={"name": "f"}), "S005", "error", "an object, expected an array", "list"),
        (
            chat({**USER, "content": "<audio>What?"}, ANSWER, audios=["a.wav"]),
            "S006",
            "warning",
            "<audio> is trained on",
            "part",
        ),
        (chat(USER, ANSWER, images="a.png"), "S003", "error", '"images" is a string', "list"),
        (chat(USER, ANSWER, label=False), "S009", "warning", "bad one", "KTO"),
        (chat(USER, ANSWER, system="Add."), "S010", "warning", "not trained with", '"role": "system"'),
        (chat(USER, ANSWER, chat_template_kwargs="x"), "S012", "error", "is a string, expected an object", "{}"),
        (chat(USER, ANSWER, chat_template_kwargs={"tools": []}), "S012", "error", 'holds "tools"', "Drop"),
        (chat("hi", ANSWER), "M001", "error", "message 1 is a string", "object"),
        (chat({"content": "hi"}, ANSWER), "M002", "error", 'message 1 has no "role"', "who speaks"),
        (chat({"role": None, "content": "hi"}, ANSWER), "M002", "error", '"role" of message 1 is null', "who speaks"),
        (chat({"role": "user", "text": "hi"}, ANSWER), "M003", "error", 'message 1 has no "content"', "Write"),
        (chat(USER, {"role": "assistant", "content": None}), "M004", "error", "message 2 is null", "null"),
        (chat(USER, {"role": "assistant", "content": 4}), "M005", "error", "message 2 is a number", "string"),
        (chat(USER, ANSWER, {"role": "model", "content": "4"}), "M006", "error", 'the role "model"', '"assistant"'),
        (
            chat({"role": "narrator", "content": "x"}, USER, ANSWER),
            "M006",
            "error",
            'the role "narrator"',
            "system, user",
        ),
        (chat(USER), "M007", "error", "roles: user", "Add the answer"),
        (chat(USER, ground_truth="4"), "M007", "error", '"ground_truth"', '"ground_truth"'),
        ({"prompt": [USER, ANSWER], "completion": [USER]}, "M007", "error", "no message is from the assistant", "Add"),
        (chat(USER, ANSWER, USER, USER), "M008", "warning", "2 messages after the last answer", "Delete"),
        (
            chat(USER, {"role": "assistant", "content": " \n"}),
            "M009",
            "error",
            "message 2 is an empty answer",
            "Delete",
        ),
        ({"prompt": "2+2?", "completion": ""}, "M009", "error", '"completion" is empty', "Delete"),
        ({"instruction": "2+2?", "output": None}, "S003", "error", '"output" is null', "as a string"),
        (chat(USER, ANSWER, images="a.png"), "S003", "error", '"images" is a string', '"images": [PATH]'),
        ({"text": " "}, "M009", "error", '"text" is empty', "Delete"),
        (chat({"role": "user", "content": ["hi"]}, ANSWER), "M010", "error", "message 1, part 1 is a string", "type"),
        (chat({"role": "user", "content": [{"text": "hi"}]}, ANSWER), "M010", "error", 'no "type"', '"type": "text"'),
        (
            chat({"role": "user", "content": [{"type": "text"}]}, ANSWER),
            "M010",
            "error",
            "part 1 is text without",
            "text",
        ),
        (
            chat({"role": "user", "content": [{"type": "text", "value": "a"}]}, ANSWER),
            "S008",
            "error",
            "for LLaMA-Factory; their parts have their words under value",
            "as messages",
        ),
        (
            chat({"role": "user", "content": [{"type": "tool_result", "content": "4"}]}, ANSWER),
            "S008",
            "error",
            "leave out their tool_use, tool_result",
            "as messages",
        ),
        (
            chat({"role": "user", "content": [{"type": "citation"}, {"type": "text", "text": "a"}]}, ANSWER),
            "M010",
            "warning",
            "citation",
            "text",
        ),
        (chat(USER, {**ANSWER, "weight": 0}), "M011", "warning", "the only answer", "Switch"),
        (calling({"arguments": {}}), "M012", "error", "names no function", '"name"'),
        (calling({"name": "f", "arguments": [1]}), "M012", "error", "are an array", "object"),
        (calling({"name": "f", "arguments": "{x}"}), "M012", "warning", "no valid JSON", "valid JSON"),
        (calling({"name": "f", "arguments": json.dumps("{}")}), "M012", "error", "encoded twice", "json.loads"),
        (
            chat({"role": "user", "content": ""}, ANSWER),
            "M013",
            "warning",
            "message 1, from the user, is empty",
            "asked",
        ),
    ],
)
def test_one_finding_that_says_what_and_what_to_do(
    tmp_path: Path, row: dict[str, Any], code: str, severity: str, message: str, remedy: str
) -> None:
    (finding,) = find(tmp_path, lines(row), ignore=LOADING)
    assert (finding.code, finding.severity, finding.line) == (code, severity, 1)
    assert message in finding.message
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    "row",
    [
        chat(USER, ANSWER),
        chat({"role": "system", "content": "Add."}, USER, ANSWER, USER, ANSWER, id=1, source="web", label=True),
        chat({"role": "developer", "content": "Add."}, USER, ANSWER),
        # What the template makes of two turns in a row depends on the template.
        chat(USER, USER, ANSWER, ANSWER),
        chat({"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "?"}]}, ANSWER, images=["a.png"]),
        chat(USER, {"role": "assistant", "content": "", "reasoning_content": "Two and two."}),
        calling({"name": "now", "arguments": ""}),
        calling({"name": "now"}),
        {"messages": [USER, ANSWER], "text": None, "tools": None},
        {"prompt": "2+2=", "completion": "4", "id": "x"},
        {"prompt": "", "completion": "4"},
        {"prompt": [USER], "completion": [ANSWER]},
        {"text": "Once upon a time.", "url": "https://x", "meta": {}},
        {"conversations": [{"from": "user", "value": "hi"}, {"from": "assistant", "value": "hello"}]},
    ],
)
def test_good_rows_have_no_findings(tmp_path: Path, row: dict[str, Any]) -> None:
    assert find(tmp_path, lines(row), ignore=LOADING) == []


@pytest.mark.parametrize(("loss_on", "severity"), [("last", "error"), ("all", "warning")])
def test_a_question_that_mlx_lm_would_train_on_is_an_error(tmp_path: Path, loss_on: str, severity: str) -> None:
    (found,) = find(tmp_path, lines(chat(USER, ANSWER, USER)), "mlx-lm", loss_on=loss_on)
    assert (found.code, found.severity) == ("M008", severity)
    assert ("mlx-lm with --mask-prompt is on that message" in found.message) == (loss_on == "last")


def test_what_depends_on_the_trainer_is_said_once_a_file(tmp_path: Path) -> None:
    sharegpt = {"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]}
    alpaca = {"instruction": "Add.", "input": "2+2", "output": "4"}
    content = lines(*[sharegpt] * 3, *[alpaca] * 2)
    said = [(f.line, f.code, f.severity) for f in find(tmp_path, content, "trl")]
    assert said == [(1, "S007", "warning"), (4, "S008", "note"), (4, "S015", "error")]
    assert "3 rows" in find(tmp_path, content, "trl")[0].message
    assert [f.code for f in find(tmp_path, content, "hf")] == ["S015"]


def test_trl_reads_an_image_column(tmp_path: Path) -> None:
    content = lines(chat(USER, ANSWER, images=["a.png"]))
    assert find(tmp_path, content, "trl") == []
    assert [f.code for f in find(tmp_path, content, "hf")] == ["S006"]


def test_a_prompt_beside_messages_breaks_trl_alone(tmp_path: Path) -> None:
    content = lines(*[chat(USER, ANSWER, prompt="2+2?")] * 3)
    assert [(f.line, f.code, f.severity) for f in find(tmp_path, content, "trl")] == [(1, "S011", "error")]
    assert find(tmp_path, content, "hf") == []


def test_alpaca_with_its_rendered_text_is_a_note(tmp_path: Path) -> None:
    row = {"instruction": "Add.", "input": "2+2", "output": "4", "text": "### Instruction: Add. 2+2 ### Response: 4"}
    assert [(f.code, f.severity) for f in find(tmp_path, lines(row))] == [("S002", "note")]


def test_long_names_are_shortened(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, lines(chat({"role": "x" * 5000, "content": "a"}, USER, ANSWER)))
    assert len(finding.message) < 200
    (finding,) = find(tmp_path, lines({f"{i}" * 60: i for i in range(1, 100)}))
    assert len(finding.message) < 1000


def test_variables_that_are_null_break_trl_alone(tmp_path: Path) -> None:
    content = lines(chat(USER, ANSWER, chat_template_kwargs=None), chat(USER, ANSWER))
    assert [(f.line, f.code, f.severity) for f in find(tmp_path, content, "trl")] == [(1, "S012", "error")]
    assert find(tmp_path, content, "hf") == []


def test_axolotl_takes_the_roles_of_sharegpt_in_chat_messages(tmp_path: Path) -> None:
    content = lines(chat({"role": "human", "content": "hi"}, {"role": "gpt", "content": "hello"}))
    assert find(tmp_path, content, "axolotl", ignore=LOADING) == []
    assert [f.code for f in find(tmp_path, content, "hf", ignore=LOADING)] == ["M006"] * 2
    content = lines(chat(USER, {"role": "bot", "content": "hello"}))
    assert "M006" in [f.code for f in find(tmp_path, content, "axolotl", ignore=LOADING)]
