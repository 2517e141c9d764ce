"""What the rules say about themselves, and that the page in docs/ says the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lint_dataset.report import explain
from lint_dataset.rules import Rule, all_rules

ROOT = Path(__file__).parents[2]
RULES = list(all_rules().values())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_is_explained_in_full(rule: Rule) -> None:
    text = " ".join(explain.explain(rule).split())
    assert text.startswith(f"{rule.code} {rule.name} ({rule.severity})")
    for part in (rule.what, rule.why, rule.remedy, rule.example):
        assert " ".join(part.split()) in text


def test_the_list_has_one_line_a_rule() -> None:
    lines = explain.list_rules(RULES).splitlines()
    assert [line.split()[:3] for line in lines] == [[rule.code, rule.name, rule.severity] for rule in RULES]


def test_the_reference_is_up_to_date() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert page == explain.reference(RULES), "run: python -m lint_dataset.report.explain > docs/rules.md"


@pytest.mark.parametrize("path", sorted((ROOT / "lint_dataset" / "report").glob("*.py")), ids=lambda path: path.name)
def test_a_report_imports_no_rule(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [
        name
        for node in tree.body  # a module started as a program may import what it likes inside its main function
        for child in ast.walk(node)
        if not (isinstance(node, ast.FunctionDef) and node.name == "_main")
        for name in (
            [alias.name for alias in child.names]
            if isinstance(child, ast.Import)
            else [child.module or ""]
            if isinstance(child, ast.ImportFrom)
            else []
        )
    ]
    assert not [name for name in imported if name.startswith("lint_dataset.rules")]
