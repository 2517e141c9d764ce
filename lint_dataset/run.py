"""A run of the command line: from its options to reports, files and an exit status. ``api`` does the work."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import click

from lint_dataset import __version__
from lint_dataset.report import formats
from lint_dataset.usage import UsageError

if TYPE_CHECKING:
    from lint_dataset.plan import Plan
    from lint_dataset.result import Result

#: Options that name a file to be written.
_OUTPUTS = ("output", "measurements", "write_kept", "write_rejected", "write_baseline")


def run(paths: Sequence[str], plan: Plan, options: dict[str, Any], notes: Sequence[str], unread: Sequence[str]) -> int:
    """Lint ``paths`` by the plan and write what the options ask for.

    ``notes`` are said with the report; ``unread`` is what a trainer's configuration names and is not judged.
    """
    if options["offline"]:
        os.environ["HF_HUB_OFFLINE"] = "1"
    from lint_dataset import baseline, kept, sources
    from lint_dataset.api import lint
    from lint_dataset.report import measurements

    if options["measurements"]:
        measurements.check(options["measurements"])
    files = sources.expand(paths)
    copies = [options[name] for name in ("write_kept", "write_rejected") if options[name]]
    _check_outputs(options, files)
    if copies:
        kept.check(files, copies)
    accepted = baseline.read(options["baseline"]) if options["baseline"] else None
    with _progress(files) as progress:
        result = lint(
            files,
            plan,
            select=_codes(options["select"]),
            ignore=_codes(options["ignore"]),
            cache_dir=options["cache_dir"],
            use_cache=options["cache"] is not False,
            fetch=bool(options["fetch"]) and not options["offline"],
            decode=bool(options["decode"]),
            tokens=options["tokens"] or "auto",
            format=options["format"],
            columns=options["columns"],
            progress=progress,
        )
    result = replace(result, notes=(*notes, *result.notes), unjudged=(*unread, *result.unjudged))
    if options["write_baseline"]:
        number = baseline.write(result, options["write_baseline"], files)
        click.echo(f"lint-dataset: {number:,} findings are accepted in {options['write_baseline']}", err=True)
    if accepted is not None:
        result = baseline.without(result, accepted, options["baseline"])
    if options["output_format"] == "jsonl":
        # One diagnostic a line has no place for what concerns the run as a whole.
        for sentence in (*result.notes, *(f"not judged: {sentence}" for sentence in result.unjudged)):
            click.echo(f"lint-dataset: {sentence}", err=True)
    _report(result, options, files)
    if options["measurements"]:
        measurements.write(result.rows, options["measurements"], files)
    if copies:
        split = kept.write(result, files, options["write_kept"], options["write_rejected"])
        told = f"lines that pass: {split.kept:,}, rejected: {split.rejected:,}"
        if split.uncounted:
            told += f"; not measured, and passed for want of an error: {split.uncounted:,}"
        moved = _moved_from_media(result, files, options["write_kept"])
        if moved:
            told += f"; clips and images are looked for beside the file of their row: write {moved} there too"
        click.echo(f"lint-dataset: {told}", err=True)
    return exit_status(result, options["fail_on"] or "error")


def without_data(plan: Plan, options: dict[str, Any], notes: Sequence[str], unread: Sequence[str]) -> int:
    """Without a dataset: the memory of the plan's step. Status 2 where a configuration names one that is not here."""
    if options["measurements"]:
        raise click.UsageError("--measurements writes a row an example: name the files to check, such as train.jsonl")
    if options["output_format"] not in (None, "text", "json", "jsonl"):
        raise click.UsageError(f"--output-format {options['output_format']} is for findings: name the files to check")
    if options["offline"]:
        os.environ["HF_HUB_OFFLINE"] = "1"
    from lint_dataset.ladder import ladder
    from lint_dataset.memory import NoStepProgram
    from lint_dataset.report import ladder as report

    try:
        found = ladder(plan, options["cache_dir"])
    except NoStepProgram as problem:
        raise UsageError(f"memory: {problem}") from None
    found = replace(found, notes=(*notes, *found.notes))

    def write(out: TextIO) -> None:
        if options["output_format"] == "json":
            report.write_json(found, __version__, out, unread)
        elif options["output_format"] == "jsonl":
            report.write_jsonl(found, out)
        else:
            report.write(found, out, unread)

    place(write, options, ())
    return 2 if unread else 0


def exit_status(result: Result, fail_on: str) -> int:
    """2 where something asked for could not be judged, 1 for findings at or above the failing severity, else 0."""
    if result.unjudged:
        return 2
    failing = {"error": ("error",), "warning": ("error", "warning"), "never": ()}[fail_on]
    found = (
        *(diagnostic.severity for diagnostic in result.diagnostics),
        *(severity for _, severity in result.unlisted),
    )
    return int(any(severity in failing for severity in found))


def _moved_from_media(result: Result, files: Sequence[str], kept: str | None) -> str | None:
    """``kept``, where rows with media are copied to another folder than they came from."""
    import pyarrow.compute as pc

    folders = {os.path.realpath(os.path.dirname(file)) for file in files}
    if kept is None or folders == {os.path.realpath(os.path.dirname(kept))}:
        return None
    media = pc.sum(pc.list_value_length(result.rows.column("media"))).as_py()
    return kept if media else None


def _check_outputs(options: dict[str, Any], files: Sequence[str]) -> None:
    """Nothing is written over a file to check, nor two things to one place."""
    from lint_dataset.report.place import check, distinct

    outputs = {f"--{name.replace('_', '-')}": options[name] for name in _OUTPUTS}
    for option, path in outputs.items():
        if path == "-" and option != "--output":
            raise UsageError(f"{option} - is no place to write to, since the report goes there: name a file")
    if options["write_rejected"]:
        from lint_dataset.kept import CODES

        outputs["the codes of --write-rejected"] = options["write_rejected"] + CODES
    distinct(outputs)
    for path in outputs.values():
        if path is not None and path != "-":
            check(path, files)


def _report(result: Result, options: dict[str, Any], files: Sequence[str]) -> None:
    """Write the report where and as the options say, wrapped and coloured for a terminal."""
    from lint_dataset.rules import all_rules

    terminal = options["output"] in (None, "-") and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    color = terminal and "NO_COLOR" not in os.environ
    name = options["output_format"] or "text"
    rules = all_rules()
    place(lambda out: formats.write(name, result, rules, __version__, out, color=color, width=width), options, files)


def place(write: Callable[[TextIO], None], options: dict[str, Any], files: Sequence[str]) -> None:
    """Write to the file that the options name, whole or not at all, else to standard output."""
    from lint_dataset.report.place import writing

    if options["output"] in (None, "-"):
        write(sys.stdout)
        return
    page = io.StringIO()
    write(page)
    with writing(options["output"], files) as file:
        file.write(page.getvalue().encode("utf-8", errors="backslashreplace"))


@contextmanager
def _progress(files: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """A bar of the bytes read, on standard error, if that is a terminal."""
    from tqdm import tqdm

    size = sum(os.path.getsize(path) for path in files if os.path.isfile(path))
    with tqdm(total=size, unit="B", unit_scale=True, desc="measuring", disable=None, leave=False) as bar:
        yield lambda read: bar.update(read) and None


def _codes(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip().upper() for part in (text or "").split(",") if part.strip())
