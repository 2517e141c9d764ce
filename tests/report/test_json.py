"""The JSON and JSONL reports, as a program reads them."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import numpy as np

from lint_dataset.diagnostics import Diagnostic
from lint_dataset.plan import SETTINGS
from lint_dataset.report import json as json_report
from lint_dataset.report import jsonl as jsonl_report
from lint_dataset.result import Result
from tests.report.made import cut, over, result


def refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


def as_json(made: Result) -> str:
    out = io.StringIO()
    json_report.write(made, "1.2.3", out)
    return out.getvalue()


def as_jsonl(made: Result) -> str:
    out = io.StringIO()
    jsonl_report.write(made, out)
    return out.getvalue()


def test_the_object_has_the_keys_that_tools_rely_on() -> None:
    report = json.loads(as_json(result(over(1, 5), cut(2), notes=("n",), unjudged=("u",))))
    assert list(report) == [
        "version",
        "tool",
        "plan",
        "estimated",
        "notes",
        "unjudged",
        "summary",
        "baseline",
        "unlisted",
        "diagnostics",
    ]
    assert report["version"] == 1
    assert report["tool"]["version"] == "1.2.3"
    assert report["plan"].keys() == {*SETTINGS, "origins"}
    assert report["plan"]["budget"] == 36_000_000_000
    assert report["plan"]["origins"]["device"] == "assumed"
    assert (report["notes"], report["unjudged"]) == (["n"], ["u"])
    summary = report["summary"]
    assert (summary["examples"], summary["files"], summary["measured"]) == (1203, 2, 1200)
    assert summary["tokens"]["p99"] == 2011
    assert summary["counts"] == {"O001": 1, "T003": 1}
    assert summary["longest_row"] == {
        "path": "train.jsonl",
        "line": 317,
        "tokens": 2310,
        "peak_bytes": 47_100_000_000,
        "parts": {"weights": 10_900_000_000, "gradients": 0, "logits": 9_200_000_000},
    }
    fits = {"tokens": 1020, "cut": 37, "unseen": 4, "clips": 0, "seconds": 0.0, "dropped": 0, "lighter": {}}
    assert summary["longest_that_fits"] == fits


def test_what_was_not_judged_is_null() -> None:
    made = result()
    summary = dataclasses.replace(made.summary, longest_row=None, longest_that_fits=None)
    report = json.loads(as_json(dataclasses.replace(made, summary=summary)))
    assert report["summary"]["longest_row"] is None
    assert report["summary"]["longest_that_fits"] is None


def test_both_formats_hold_every_finding_in_order() -> None:
    made = result(*[over(line, line) for line in range(1, 3001)], cut(9))
    whole = json.loads(as_json(made))["diagnostics"]
    lines = [json.loads(line) for line in as_jsonl(made).splitlines()]
    assert len(whole) == 3001
    assert [{key: value for key, value in line.items() if key != "version"} for line in lines] == whole
    assert {line["version"] for line in lines} == {1}
    assert list(whole[0]) == ["code", "severity", "path", "line", "message", "remedy", "data"]
    assert whole[0]["data"] == {"tokens": 2310, "over_bytes": 1}


def test_no_finding_is_no_line() -> None:
    assert as_jsonl(result()) == ""


def test_hard_values_are_strict_json_in_utf8_on_one_line() -> None:
    data = {
        "nan": float("nan"),
        "inf": [float("inf"), -0.5],
        "count": np.int64(7),
        "share": np.float32(0.5),
        "spans": np.array([[1, 2], [3, 4]]),
        "on": np.bool_(True),
    }
    path = "données\udce9\u2028\x85/训练.jsonl"
    made = result(Diagnostic("J001", "error", path, 1, 'a "quoted"\nline', "mend it", data))
    for text in (as_json(made), as_jsonl(made)):
        text.encode("utf-8")
        assert "données" in text
        json.loads(text, parse_constant=refuse)
    (line,) = as_jsonl(made).splitlines()
    found = json.loads(line)
    assert found["path"] == path
    assert found["data"] == {
        "nan": None,
        "inf": [None, -0.5],
        "count": 7,
        "share": 0.5,
        "spans": [[1, 2], [3, 4]],
        "on": True,
    }


def test_the_same_run_is_the_same_bytes() -> None:
    assert as_json(result(over(1, 5), cut(2))) == as_json(result(over(1, 5), cut(2)))
