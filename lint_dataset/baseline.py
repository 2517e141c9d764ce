"""A baseline: the findings of today are accepted by what their rows hold, and only new ones are reported.

A finding of a row is known by its code, its severity and the hash of the row, so rows may move and others come and go.
A finding of a file as a whole is known by the file's path, and the place in its rows where it has one.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lint_dataset.diagnostics import Diagnostic, Severity
from lint_dataset.report.place import writing
from lint_dataset.result import Accepted, Result
from lint_dataset.rules import ABOUT_FILES
from lint_dataset.usage import UsageError

#: It grows when an older program could not read the file right.
VERSION = 1
KIND = "lint-dataset baseline"


def write(result: Result, path: str, inputs: Iterable[str] = ()) -> int:
    """Write every finding of a run as accepted, and say how many. Raises ``UsageError`` where the place cannot be."""
    found = Counter(key for _, key in _keys(result))
    page = {"version": VERSION, "kind": KIND, "accepted": dict(sorted(found.items()))}
    with writing(path, inputs) as file:
        file.write((json.dumps(page, indent=1) + "\n").encode())
    return sum(found.values())


def read(path: str) -> Counter[str]:
    """The accepted findings, and how often each. Raises ``UsageError`` for what is no baseline."""
    try:
        with open(path, encoding="utf-8") as file:
            page = json.load(file)
    except (OSError, ValueError, RecursionError) as problem:
        reason = getattr(problem, "strerror", None) or "it is no JSON"
        raise UsageError(f"the baseline {path} cannot be read ({reason}): write it with --write-baseline") from None
    if not isinstance(page, dict) or page.get("kind") != KIND or not isinstance(page.get("accepted"), dict):
        raise UsageError(f"{path} is no baseline: write one with --write-baseline")
    if page.get("version") != VERSION:
        raise UsageError(f"the baseline {path} is of version {page.get('version')!r}: write it again")
    return Counter({str(key): count for key, count in page["accepted"].items() if isinstance(count, int)})


def without(result: Result, accepted: Counter[str], path: str) -> Result:
    """The result without the accepted findings. Of equal ones as many are accepted as there were."""
    left = Counter(accepted)
    diagnostics: list[Diagnostic] = []
    unlisted: dict[tuple[str, Severity], list[tuple[str, int]]] = {}
    counts: Counter[str] = Counter()
    for found, key in _keys(result):
        if left[key] > 0:
            left[key] -= 1
            continue
        counts[found.code] += 1
        if found.message:
            diagnostics.append(found)
        else:
            unlisted.setdefault((found.code, found.severity), []).append((found.path, found.line))
    stale = sum(left.values())
    said = Accepted(path, sum(accepted.values()) - stale, stale)
    note = f"baseline {path}: {said.findings:,} findings were accepted and are not reported" + (
        f"; {stale:,} of its entries are not found any more: --write-baseline drops them" if stale else ""
    )
    return replace(
        result,
        notes=(*result.notes, note),
        diagnostics=tuple(diagnostics),
        unlisted=unlisted,
        summary=replace(result.summary, counts={code: counts[code] for code in sorted(counts)}),
        baseline=said,
    )


def _keys(result: Result) -> Iterator[tuple[Diagnostic, str]]:
    """Every finding and its key; those that are only counted come without a message."""
    rows = result.rows.select(["path", "line", "hash"])
    found = {(diagnostic.path, diagnostic.line) for diagnostic in result.diagnostics}
    found.update(place for places in result.unlisted.values() for place in places)
    hashes: dict[tuple[str, int], str] = {}
    for batch in rows.to_batches(max_chunksize=10_000):
        for path, line, digest in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if (path, line) in found:
                hashes[path, line] = digest
    for diagnostic in result.diagnostics:
        yield diagnostic, _key(diagnostic, hashes.get((diagnostic.path, diagnostic.line)))
    for (code, severity), places in result.unlisted.items():
        for path, line in places:
            counted = Diagnostic(code, severity, path, line, "", "")
            yield counted, _key(counted, hashes.get((path, line)))


def _key(found: Diagnostic, row: str | None) -> str:
    known = row if row is not None and found.code not in ABOUT_FILES else f"{found.path} {found.data.get('place', '')}"
    return f"{found.code} {found.severity} {hashlib.sha256(known.encode()).hexdigest()[:20]}"
