"""Questions to the command line that are no run: the rules, the machines, the models, the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

import click
from click.core import ParameterSource

from lint_dataset.run import place


def answer(context: click.Context, options: dict[str, Any], text: str, value: Callable[[], Any]) -> int:
    """Answer a question that is no run: as text, or its ``value`` as JSON. A configuration's format is for runs."""
    from lint_dataset.report.encode import dumps

    asked = {
        name: options[name] if context.get_parameter_source(name) is ParameterSource.COMMANDLINE else None
        for name in ("output_format", "output")
    }
    if asked["output_format"] not in (None, "text", "json"):
        raise click.UsageError(f"--output-format {asked['output_format']} is for findings: ask for text or json here")
    for name in ("measurements", "write_kept", "write_rejected", "write_baseline"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{name.replace('_', '-')} writes what a run finds, and this question runs nothing"
            )
    page = dumps(value(), indent=2) + "\n" if asked["output_format"] == "json" else text

    def write(out: TextIO) -> None:
        out.write(page)

    place(write, asked, ())
    return 0


def describe_rules(context: click.Context, options: dict[str, Any]) -> int:
    """Every rule in a line, or one of them in full."""
    from lint_dataset.report.explain import explain, list_rules, rule_object
    from lint_dataset.rules import all_rules

    rules, code = all_rules(), options["explain"]
    if code is None:
        return answer(context, options, list_rules(rules.values()), lambda: [*map(rule_object, rules.values())])
    if code.upper() not in rules:
        raise click.UsageError(f"no rule has the code {code}: see --list-rules")
    rule = rules[code.upper()]
    return answer(context, options, explain(rule), lambda: rule_object(rule))
