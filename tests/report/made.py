"""A run made by hand, for the reports to write."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import pyarrow as pa

from lint_dataset.diagnostics import Diagnostic
from lint_dataset.plan import Plan
from lint_dataset.result import Fits, LongestRow, Result, Summary

RULES = {"J001": ("not-json", "error"), "O001": ("out-of-memory", "error"), "T003": ("prompt-is-cut", "warning")}
PLAN = Plan(model="gemma-3n-E2B", budget=36 * 10**9)


def over(line: int, over_bytes: int, path: str = "train.jsonl") -> Diagnostic:
    return Diagnostic(
        "O001",
        "error",
        path,
        line,
        f"2,310 tokens need {(36e9 + over_bytes) / 1e9:.1f} GB",
        "shorten or split it",
        {"tokens": 2310, "over_bytes": over_bytes},
    )


def cut(line: int) -> Diagnostic:
    return Diagnostic("T003", "warning", "train.jsonl", line, "the first 7 tokens are cut", "raise it", {"lost": 7})


def result(*diagnostics: Diagnostic, **changes: Any) -> Result:
    summary = Summary(
        files=2,
        examples=1203,
        measured=1200,
        tokens={"least": 12, "p50": 310, "p90": 1204, "p99": 2011, "most": 2310, "sum": 512_345},
        counts=dict(sorted(Counter(d.code for d in diagnostics).items())),
        longest_row=LongestRow(
            "train.jsonl",
            317,
            2310,
            47_100_000_000,
            {"weights": 10_900_000_000, "gradients": 0, "logits": 9_200_000_000},
        ),
        longest_that_fits=Fits(1020, 37, 4),
    )
    made = Result(PLAN, (), (), tuple(diagnostics), summary, pa.table({"path": ["train.jsonl"], "line": [317]}))
    return dataclasses.replace(made, **changes)
