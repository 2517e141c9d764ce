"""The loaders that trainers use, and what each does with what can be wrong with a file or a line.

One table, which the messages of the rules and ``--explain`` repeat. ``tests/data/loaders.json`` holds what the loaders
really did.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from lint_dataset.diagnostics import Severity

Does = Literal["loads", "fails", "fails on reading", "split", "changed"]
Release = Literal["lines", "old", "new"]

#: Trainers that parse each line of a file on its own; the others load files with the datasets library.
_LINES = frozenset(("mlx-lm", "nemo", "openai", "none"))
#: Which releases of the datasets library a trainer asks for, where not for any: TRL 1.16 for 4.7 or newer,
#: LLaMA-Factory for 4.0 or older.
_RELEASES: dict[str, tuple[Release, ...]] = {"trl": ("new",), "llama-factory": ("old",)}


class Claim(NamedTuple):
    """What the loaders do with one kind of fault.

    ``lines`` is ``json.loads`` on each line (mlx-lm, most scripts); ``old``, ``middle`` and ``new`` are the datasets
    library before 4.7, from 4.7 to 4.8.3, and since; ``pandas`` is ``read_json(lines=True)``.
    """

    lines: Does
    old: Does
    middle: Does
    new: Does
    pandas: Does


CLAIMS: dict[str, Claim] = {
    "byte_order_mark": Claim("fails", "loads", "fails", "loads", "fails"),
    "blank_line": Claim("fails", "loads", "fails", "loads", "loads"),
    "not_lines": Claim("fails", "loads", "fails", "loads", "fails"),
    "array_file": Claim("fails", "loads", "loads", "loads", "changed"),
    "array_on_a_line": Claim("fails", "fails", "fails", "fails", "changed"),
    "syntax": Claim("fails", "fails", "fails", "fails", "fails"),
    "raw_line_break": Claim("fails", "fails", "fails", "fails", "loads"),
    "not_utf_8": Claim("fails", "fails on reading", "fails", "fails on reading", "fails"),
    "lone_surrogate": Claim("loads", "fails", "fails", "fails", "loads"),
    "duplicate_key": Claim("loads", "fails", "fails", "fails", "loads"),
    "only_row_refused": Claim("loads", "split", "split", "split", "loads"),
    "nan": Claim("loads", "loads", "loads", "loads", "loads"),
    "long_integer": Claim("loads", "loads", "fails", "loads", "fails"),
    "nested_deep": Claim("loads", "fails", "fails", "fails", "loads"),
    "empty": Claim("fails", "fails", "fails", "fails", "loads"),
    "windows_line_ends": Claim("loads", "loads", "loads", "loads", "loads"),
}
_WORDS: dict[Does, str] = {
    "loads": "read it",
    "fails": "fail",
    "fails on reading": "fail when the row is read, not before",
    "split": "make a row of each message",
    "changed": "read something else",
}
_NAMES = {
    "lines": "readers of lines (mlx-lm, json.loads)",
    "old": "datasets before 4.7",
    "middle": "datasets 4.7 to 4.8.3",
    "new": "datasets since",
    "pandas": "pandas",
}


def releases_of(trainer: str) -> tuple[Release, ...]:
    """The loaders that a trainer may read files with: releases of the datasets library, or a reader of lines."""
    return ("lines",) if trainer in _LINES else _RELEASES.get(trainer, ("old", "new"))


def severity_of(kind: str, trainer: str) -> Severity:
    """An error where a loader of the trainer refuses the file or reads something else."""
    claim = CLAIMS[kind]._asdict()
    return "warning" if all(claim[release] == "loads" for release in releases_of(trainer)) else "error"


def sentence(kind: str) -> str:
    """What each loader does with a kind of fault, in one line: those that do the same together, the failing first."""
    groups: dict[Does, list[str]] = {}
    claim = CLAIMS[kind]
    datasets = {claim.old, claim.middle, claim.new}
    for name, does in claim._asdict().items():
        if name in ("old", "middle", "new") and len(datasets) == 1:
            if name == "old":
                groups.setdefault(does, []).append("every release of datasets")
            continue
        groups.setdefault(does, []).append(_NAMES[name])
    order = sorted(groups, key=lambda does: does == "loads")
    return "; ".join(f"{_joined(groups[does])} {_WORDS[does]}" for does in order)


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
