"""Findings of the rules that need no processor, from the bytes of a file: read, parsed, converted and judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lint_dataset import sources
from lint_dataset.conversations import convert, parse
from lint_dataset.diagnostics import Diagnostic
from lint_dataset.faults import Fault
from lint_dataset.judge import judge, look
from lint_dataset.measure import measure
from lint_dataset.plan import Plan
from lint_dataset.rules import all_rules


def faults_of(path: str) -> Iterator[tuple[int, list[Fault]]]:
    """Each row's line and faults."""
    for example in sources.read(path):
        faults = list(example.faults)
        if example.raw is not None:
            value, found = parse(example.raw)
            faults += found
            if value is not None:
                faults += convert(value)[1]
        yield example.line, faults


#: Rows that are alike are how most tests are written.
QUALITY = "J03"


def find(
    folder: Path, content: bytes, trainer: str = "trl", ignore: tuple[str, ...] = (QUALITY,), **plan: Any
) -> list[Diagnostic]:
    """The findings in a file with this content, but those of some codes (or their beginnings)."""
    path = folder / "train.jsonl"
    path.write_bytes(content)
    return find_in(str(path), trainer, ignore, **plan)


def find_in(path: str, trainer: str = "trl", ignore: tuple[str, ...] = (QUALITY,), **plan: Any) -> list[Diagnostic]:
    """The findings in a file, but those of some codes (or their beginnings)."""
    codes = [code for code in all_rules() if code[0] in "JSM" and not code.startswith(ignore)]
    return judge(look(measure(sources.read(path), None), Plan(trainer=trainer, **plan), None), codes)
