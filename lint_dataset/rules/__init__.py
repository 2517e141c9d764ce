"""The rules: one check each, with a code, that turn what was measured into findings.

A rule file registers its rules when it is imported, and every file of this package is imported by :func:`all_rules`,
so adding a rule touches nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lint_dataset.diagnostics import Severity
from lint_dataset.loading.loaders import sentence, severity_of
from lint_dataset.usage import UsageError

if TYPE_CHECKING:
    from lint_dataset.memory import Verdicts
    from lint_dataset.plan import Plan
    from lint_dataset.reach import Losses, Reach
    from lint_dataset.rows import Rows


class Finding(NamedTuple):
    """What one check found in one row: the index of the row, the sentence, what to do, and the numbers."""

    row: int
    message: str
    remedy: str
    data: dict[str, Any]
    severity: Severity | None = None  # where it differs from the rule's own


@dataclass(frozen=True)
class Judged:
    """What the rules look at: the measured rows as columns, the plan, and what follows from both."""

    rows: Rows
    plan: Plan
    #: What of each row reaches the device.
    reach: Reach
    #: What the answers lose on the way.
    losses: Losses
    #: The peak memory of each row; None where it is not known or not asked for.
    memory: Verdicts | None
    #: The faults met while measuring, by code: (row, data).
    faults: Mapping[str, Iterable[tuple[int, dict[str, Any]]]]
    #: Whether tokens were estimated, for want of a processor: then every figure that follows from them is marked.
    estimated: bool = False
    #: The chat template as text; None where it is not known.
    template: str | None = None
    #: The class of the model's processor (``Gemma3nProcessor``); None where it is not known.
    processor: str | None = None

    def figure(self, tokens: int | str) -> str:
        """A number of tokens, or a size that follows from it, as messages write it: ``≈`` before an estimate."""
        text = tokens if isinstance(tokens, str) else f"{tokens:,}"
        return f"≈{text}" if self.estimated else text


Check = Callable[[Judged], Iterable[Finding]]


@dataclass(frozen=True)
class Rule:
    """One check, and all that a person needs to know about it."""

    code: str
    name: str
    severity: Severity
    #: What the rule looks for, why that matters, and what to do about it: whole sentences.
    what: str
    why: str
    remedy: str
    #: A row (or a file) that it finds.
    example: str
    check: Check


_registry: dict[str, Rule] = {}
#: What concerns a file as a whole, though it is told at the first line that shows it.
ABOUT_FILES = frozenset(
    {f"J{number:03}" for number in (1, 2, 3, 4, 5, 6, 7, 16, 19, 20, 21, 22, 23, 25, 32)}
    | {"S006", "S007", "S012", "S015", "M116"}
)


def rule(
    code: str, name: str, severity: Severity, *, what: str, why: str, remedy: str, example: str
) -> Callable[[Check], Check]:
    """Register the decorated check as a rule."""

    def register(check: Check) -> Check:
        if code in _registry:
            raise ValueError(f"two rules have the code {code}: {_registry[code].name} and {name}")
        _registry[code] = Rule(code, name, severity, what, why, remedy, example, check)
        return check

    return register


def fault_rule(
    code: str,
    name: str,
    severity: Severity,
    *,
    what: str,
    why: str,
    remedy: str,
    example: str,
    message: Callable[[dict[str, Any]], str],
    advice: Callable[[dict[str, Any]], str] | None = None,
    loading: str | None = None,
) -> None:
    """Register a rule that reports the faults of its own code, one finding each.

    ``message`` makes the sentence from a fault's data. ``advice`` makes the remedy where the general one can be
    bettered by the data. ``loading`` names what loaders do with it (``loading.loaders.CLAIMS``): it is said in ``why``,
    and decides the severity by the loader of the plan's trainer.
    """
    if loading is not None:
        why = f"{why} {sentence(loading)[:1].upper()}{sentence(loading)[1:]}."

    def check(judged: Judged) -> Iterator[Finding]:
        for row, data in judged.faults.get(code, ()):
            by_loader = severity_of(loading, judged.plan.trainer) if loading is not None else None
            yield Finding(row, message(data), advice(data) if advice else remedy, data, by_loader)

    rule(code, name, severity, what=what, why=why, remedy=remedy, example=example)(check)


def first_of_each_file(judged: Judged, code: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The first fault of this code in each file, with how many rows of the file have one (``rows``)."""
    paths = judged.rows.table.column("path")
    first: dict[str, tuple[int, dict[str, Any]]] = {}
    for row, data in judged.faults.get(code, ()):
        path = paths[row].as_py()
        if path not in first:
            first[path] = (row, {**data, "rows": 0})
        first[path][1]["rows"] += 1
    yield from first.values()


def all_rules() -> dict[str, Rule]:
    """Every rule by its code, in the order of the codes."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_registry.items()))


class UnknownRule(UsageError):
    """A code or prefix in a selection that no rule has."""


def selected(select: Collection[str], ignore: Collection[str]) -> frozenset[str]:
    """The codes of the rules to run: those with a prefix of ``select`` (all if empty) and none of ``ignore``.

    Raises ``UnknownRule`` for a prefix that no rule has, and where no rule is left: nothing would be found in anything.
    """
    codes = all_rules()
    for prefix in (*select, *ignore):
        if not prefix or not any(code.startswith(prefix) for code in codes):
            raise UnknownRule(f"no rule has a code that starts with {prefix!r}: see --list-rules")
    left = frozenset(
        code
        for code in codes
        if (not select or code.startswith(tuple(select))) and not (ignore and code.startswith(tuple(ignore)))
    )
    if not left:
        raise UnknownRule("no rule is left to run: --ignore leaves out all that --select chooses")
    return left
