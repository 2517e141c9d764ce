"""What a run found: everything that a report needs, and nothing about how it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from lint_dataset.diagnostics import Diagnostic, Severity
    from lint_dataset.plan import Plan


@dataclass(frozen=True)
class LongestRow:
    """The row with the highest peak, and what that peak is made of (bytes by part, in the order to show)."""

    path: str
    line: int
    tokens: int
    peak: int
    parts: Mapping[str, int]


@dataclass(frozen=True)
class Fits:
    """The longest example that fits the budget, and what cutting there would do.

    ``tokens`` is None where not even the shortest step fits; otherwise it fits beside ``clips`` audio clips of up to
    ``seconds``, the most that one of the examples has. ``cut`` counts the examples that a ``max_length`` of
    ``tokens`` would cut inside an answer, ``unseen`` those that would lose a whole answer, ``dropped`` those that the
    trainer would leave out. ``lighter`` are the tokens that fit with other options, where rows are longer than
    ``tokens``.
    """

    tokens: int | None
    cut: int
    unseen: int
    clips: int = 0
    seconds: float = 0.0
    dropped: int = 0
    lighter: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Cuts:
    """What a ``max_length`` would do: examples cut inside an answer, losing a whole one, left out by the trainer."""

    max_length: int
    cut: int
    unseen: int
    dropped: int


@dataclass(frozen=True)
class Summary:
    """The run in numbers. ``tokens`` holds least, p50, p90, p99 and most of the measured examples, and their sum."""

    files: int
    examples: int
    measured: int
    tokens: Mapping[str, int]
    #: Findings by rule code, in the order of the codes.
    counts: Mapping[str, int]
    longest_row: LongestRow | None
    longest_that_fits: Fits | None
    #: What the trainer's own ``max_length`` would do where none is given; None where one is, or it has none.
    by_default: Cuts | None = None


@dataclass(frozen=True)
class Estimated:
    """Tokens were estimated: ``family`` of the tokenizer, mean ``width`` of the intervals as a share of the number.

    At least 95 of 100 rows have a number of tokens inside their interval.
    """

    family: str
    width: float


@dataclass(frozen=True)
class Accepted:
    """How many findings a baseline accepted, and how many of its entries were not found any more."""

    path: str
    findings: int
    stale: int


@dataclass(frozen=True)
class Result:
    """One run: the plan it judged, what must be said before anything else, the findings, the numbers, the rows."""

    plan: Plan
    #: Assumptions that change the verdicts and what could not be judged, a sentence each.
    notes: tuple[str, ...]
    #: What was asked for and could not be judged: a sentence each, with what to do. Not empty means exit status 2.
    unjudged: tuple[str, ...]
    #: Sorted by path, line and code.
    diagnostics: tuple[Diagnostic, ...]
    summary: Summary
    #: Path and line of further findings by code and severity: they are only counted.
    unlisted: Mapping[tuple[str, Severity], Sequence[tuple[str, int]]] = field(default_factory=dict, kw_only=True)
    #: What a baseline accepted of the findings; None where none was given.
    baseline: Accepted | None = field(default=None, kw_only=True)
    #: One row an example: the measurements, and ``tokens_low``, ``tokens_high``, ``reach_tokens``, ``peak_bytes`` and
    #: ``codes``.
    rows: pa.Table
    #: None where tokens were counted by the processor (or not at all).
    estimated: Estimated | None = None
