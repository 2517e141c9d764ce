"""Every fault of measuring has a rule, and every rule says its faults in one line with the numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lint_dataset
from lint_dataset.rules import Judged, all_rules

ROOMS = [Path(lint_dataset.__file__).parent / room for room in ("processors", "media")]

#: A fault of each kind as measuring gives it, and what has to be in the sentence.
FAULTS = [
    ("M101", {"error": "TemplateError", "says": "roles must alternate"}, ["TemplateError", "roles must alternate"]),
    (
        "M101",
        {"error": "E", "says": "s", "cause": "order", "message": 4, "role": "user", "last": True},
        ["message 4 (user) follows another one of its role", "E: s"],
    ),
    ("M101", {"error": "E", "says": "s", "cause": "system", "message": 1, "role": "system"}, ["no system role"]),
    ("M101", {"error": "E", "says": "s", "cause": "tools"}, ["because of the row's tools"]),
    ("M102", {"message": 2, "role": "tool", "times": 3, "why": None}, ["message 2 (tool)", "2 more"]),
    ("M102", {"message": 2, "role": "tool", "why": "role"}, ['renders nothing for the role "tool"']),
    ("M102", {"message": 2, "role": "user", "why": "parts"}, ["renders nothing of a list of parts"]),
    (
        "M103",
        {"message": 1, "role": "user", "kind": "audio", "type": "input_audio", "supported": True},
        ["input_audio"],
    ),
    ("M103", {"message": 1, "role": "user", "kind": "image", "type": "image", "supported": False}, ["takes no image"]),
    ("M104", {"message": 1, "role": "user"}, ["message 1 (user)"]),
    ("M105", {"message": 4, "role": "assistant"}, ["message 4 (assistant)", "None"]),
    ("M106", {"tools": 2}, ["2 tools"]),
    ("M106", {"tools": 1}, ["tool"]),
    ("M107", {"message": 2, "role": "assistant"}, ["message 2 (assistant)"]),
    ("M108", {"message": 1, "tokens": ["<eos>"]}, ["message 1", "<eos>"]),
    ("M109", {"token": "<bos>"}, ["<bos>"]),
    ("M110", {"messages": [2], "count": 1, "usual": False}, ["reasoning of message 2"]),
    ("M110", {"messages": [2, 4, 6], "count": 9, "usual": True}, ["messages 2, 4, 6 and 6 more", "that of the last"]),
    ("M111", {"message": 1, "kind": "audio"}, ["message 1", "audio"]),
    ("M112", {}, ["no chat template"]),
    (
        "M113",
        {"message": 2, "role": "assistant", "form": "text", "does": "escapes", "other": True},
        ["message 2 (assistant) are JSON text", "a second time"],
    ),
    ("M113", {"message": 2, "role": "assistant", "form": "object", "does": "prints", "other": True}, ["as Python"]),
    (
        "M113",
        {"message": 2, "role": "assistant", "form": "text", "does": "raises", "error": "E", "says": "s", "other": True},
        ["raises E: s"],
    ),
    ("M114", {"tokens": 4, "start": 1204, "strings": False, "space": False}, ["last 4 tokens", "token 1,204"]),
    ("M114", {"tokens": 1, "start": 9, "strings": True, "space": True}, ["its last 1 token by itself"]),
    ("M115", {"error": "E", "says": "no user query"}, ["by itself", "E: no user query"]),
    ("A001", {"message": 2, "clip": 1, "seconds": 41.5, "heard": 30.0, "dropped": 11.5}, ["41.5", "30 s", "11.5"]),
    ("A002", {"message": 2, "clip": 1, "named": True}, ["clip 1 (message 2)", "not there"]),
    ("A002", {"message": 2, "clip": 1, "named": False}, ["names no file"]),
    ("A003", {"message": 2, "clip": 1, "reason": "Format not recognised"}, ["Format not recognised"]),
    ("A004", {"message": 2, "clip": 3}, ["clip 3"]),
    ("A005", {"message": 2, "clip": 1}, ["not fetched"]),
    ("A006", {"message": 2, "reason": "there is no such file"}, ["message 2", "no such file"]),
    ("A007", {"message": 2}, ["not fetched"]),
    ("A008", {"kind": "video", "media": 1, "why": "the processor takes none"}, ["video", "takes none"]),
    ("A009", {"message": 2, "clip": 1, "promised": 2.46, "held": 2.3}, ["cut off", "2.46 s", "2.30 s"]),
    ("A010", {"message": 2, "clip": 1, "length": 3.0}, ["silent", "3.0 s"]),
    ("A011", {"message": 2, "clip": 1}, ["clip 1 (message 2)"]),
    ("A012", {"message": 2, "clip": 1, "format": "m4a", "measured": False}, ["m4a", "its length is not known"]),
    ("A013", {"message": 2, "clip": 1, "samples": 400, "shortest": 513, "rate": 16000}, ["400", "16,000 Hz", "513"]),
    ("A016", {"message": 2, "clip": 1, "words": 1000, "length": 3.0}, ["1,000 words", "3.0 s", "333 a second"]),
    ("A019", {"message": 2, "clip": 1, "end": 9.5, "length": 3.2}, ["9.50 s", "3.20 s"]),
]

#: Said once a file or a run, of all rows: see test_template_rules and test_audio.
OF_MANY = {"M116", "A014", "A015"}


def test_every_fault_of_measuring_is_here() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for room in ROOMS for path in room.glob("*.py"))
    codes = set(re.findall(r'"([AM]\d{3})"', source))
    assert codes - OF_MANY == {code for code, _, _ in FAULTS}


@pytest.mark.parametrize(("code", "data", "said"), FAULTS)
def test_it_is_said(code: str, data: dict, said: list[str]) -> None:
    rule = all_rules()[code]
    judged = Judged(None, None, None, None, None, faults={code: [(7, data)]})  # type: ignore[arg-type]
    (finding,) = rule.check(judged)
    assert finding.row == 7
    assert finding.data == data
    assert finding.remedy
    assert "\n" not in finding.message + finding.remedy
    for words in said:
        assert words in finding.message
