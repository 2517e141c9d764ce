"""The reports for other programs: GitHub's annotations, SARIF, and a page for a browser."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from lint_dataset.diagnostics import Diagnostic
from lint_dataset.plan import Plan
from lint_dataset.report import github, html, sarif
from lint_dataset.result import Result
from lint_dataset.rules import Rule
from tests.report.made import PLAN, RULES, cut, over, result

AWKWARD = Diagnostic(
    "J001", "error", "a b/x,y:é%.jsonl", 3, "50 % of\nit::is <b>gone</b>", "Mend\r\nit & go.", {"n": 1}
)


def made(*diagnostics: Diagnostic, **changes: Any) -> Result:
    rows = pa.table({"path": ["t"] * 4, "line": [1, 2, 3, 4], "tokens": [10, 500, 3000, None]})
    return result(*diagnostics, rows=rows, **changes)


def as_github(run: Result) -> list[str]:
    out = io.StringIO()
    github.write(run, RULES, out)
    return out.getvalue().splitlines()


def unescaped(text: str) -> str:
    return re.sub("%([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), text)


def test_a_workflow_command_a_finding_the_worst_first() -> None:
    lines = as_github(made(cut(1), over(2, 5), Diagnostic("J001", "note", "t", 9, "m", "r"), unjudged=("no model",)))
    assert lines[:4] == [
        "::error title=lint-dataset%3A not judged::no model",
        "::error file=train.jsonl,line=2,title=O001 out-of-memory::2,310 tokens need 36.0 GB%0Ashorten or split it",
        "::warning file=train.jsonl,line=1,title=T003 prompt-is-cut::the first 7 tokens are cut%0Araise it",
        "::notice file=t,line=9,title=J001 not-json::m%0Ar",
    ]


def test_no_name_or_message_can_end_a_command() -> None:
    line, _ = as_github(made(AWKWARD))
    match = re.fullmatch(r"::error file=([^,:]*),line=3,title=([^,:]*)::(.*)", line)
    assert match is not None
    assert unescaped(match[1]) == AWKWARD.path
    assert unescaped(match[3]) == f"{AWKWARD.message}\n{AWKWARD.remedy}"


def as_sarif(run: Result) -> dict[str, Any]:
    rules = [
        Rule(code, name, severity, "what", "why", "remedy", "example", lambda judged: [])
        for code, (name, severity) in RULES.items()
    ]
    out = io.StringIO()
    sarif.write(run, rules, "1.2.3", out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_sarif_has_what_its_schema_requires() -> None:
    """The required properties of version 2.1.0, and the words it knows for levels."""
    log = as_sarif(made(over(2, 5), cut(1), AWKWARD, notes=("assumed",), unjudged=("no model",)))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("lint-dataset", "1.2.3")
    assert all(rule["id"] and rule["shortDescription"]["text"] for rule in driver["rules"])
    assert {rule["defaultConfiguration"]["level"] for rule in driver["rules"]} <= {"none", "note", "warning", "error"}
    for one in run["results"]:
        assert one["message"]["text"]
        assert one["level"] in ("none", "note", "warning", "error")
        assert driver["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
        (place,) = one["locations"]
        assert place["physicalLocation"]["region"]["startLine"] >= 1
        assert re.fullmatch(r"[\w\-./%~]+", place["physicalLocation"]["artifactLocation"]["uri"])
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [one["level"] for one in invocation["toolExecutionNotifications"]] == ["error", "note"]
    assert as_sarif(made())["runs"][0]["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("data/a b,é%.jsonl", "data/a%20b%2C%C3%A9%25.jsonl"),
        ("/data/x y.jsonl", "file:///data/x%20y.jsonl"),
        ("s3://bucket/x y.jsonl", "s3://bucket/x%20y.jsonl"),
        ("a:b.jsonl", "a%3Ab.jsonl"),
    ],
)
def test_sarif_names_files_as_uris(path: str, uri: str) -> None:
    (found,) = as_sarif(made(Diagnostic("J001", "error", path, 1, "m", "r")))["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


class _Page(HTMLParser):
    """The tags that are open, the words, and every address that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.addresses: list[str | None] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value for key, value in attributes if key in ("src", "href", "action", "data")]
        if tag not in ("meta", "rect", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect",) or self.open[-1:] == ["rect"]:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def as_html(run: Result) -> _Page:
    out = io.StringIO()
    html.write(run, RULES, out)
    page = _Page()
    page.feed(out.getvalue())
    page.close()
    return page


def test_the_page_is_whole_by_itself_and_says_all() -> None:
    page = as_html(made(over(317, 5), AWKWARD, notes=("an assumption",), unjudged=("no program",), plan=PLAN))
    assert page.open == []
    assert page.addresses == []
    assert not {"script", "link", "img", "iframe", "b"} & set(page.tags)
    said = "".join(page.words)
    for words in ("Found 2 errors", "an assumption", "not judged: no program", "train.jsonl:317", "<b>gone</b>"):
        assert words in said
    assert "@import" not in said
    assert "url(" not in said


def test_the_histogram_counts_every_row_and_marks_the_limits() -> None:
    page = as_html(made(plan=Plan(model="gemma-3n-E2B", budget="36GB", max_length=2048)))
    said = "".join(page.words)
    assert page.tags.count("rect") == 3
    assert sum(int(number) for number in re.findall(r"tokens: (\d+) examples", said)) == 3
    assert "max_length 2,048: 1 longer" in said
    assert "longest that fits the budget 1,020: 1 longer" in said


def test_a_run_without_tokens_has_no_histogram() -> None:
    rows = pa.table({"path": ["t"], "line": [1], "tokens": pa.array([None], pa.int64())})
    assert "svg" not in as_html(result(rows=rows)).tags
