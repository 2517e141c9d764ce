"""One run, end to end: measure the examples, judge them by the plan, and say what could not be judged."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from lint_dataset import models, sources
from lint_dataset.cache import Cache
from lint_dataset.conversations import Reading
from lint_dataset.estimates import mismatch
from lint_dataset.estimates.possible import possible
from lint_dataset.judge import LISTED, Findings, find, judge, look
from lint_dataset.machines.remarks import remarks
from lint_dataset.measure import measure
from lint_dataset.memory import NoStepProgram, StepMemory, not_traced
from lint_dataset.notes import notes
from lint_dataset.plan import Plan
from lint_dataset.processors import Location, ProcessorUnavailable, locate
from lint_dataset.processors.settings import class_of
from lint_dataset.processors.templates import template_of
from lint_dataset.result import Estimated, Result
from lint_dataset.rows import Rows
from lint_dataset.rules import Judged, selected
from lint_dataset.sources import RawExample
from lint_dataset.summary import summarise
from lint_dataset.towers import untraced
from lint_dataset.unused import unused

if TYPE_CHECKING:
    import pyarrow as pa

    from lint_dataset.estimates.measuring import Estimates

#: The rules that look at tokens, by how their codes begin: without a model none of them can find anything.
_OF_A_MODEL = ("T", "O", "A", "M1")


def lint(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    plan: Plan,
    *,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    cache_dir: str | None = None,
    use_cache: bool = True,
    fetch: bool = False,
    decode: bool = False,
    tokens: Literal["auto", "exact"] = "auto",
    format: str | None = None,
    columns: str | Mapping[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Measure the examples of some files, folders, globs and datasets, and judge them by a plan.

    What ``paths`` may be is told in docs/sources.md. An address, of a file or in a row, is opened only if ``fetch``
    says so. ``decode`` reads audio clips whole, not their headers alone.
    ``select`` and ``ignore`` are rule codes or their beginnings. Measurements are kept under ``cache_dir`` (None: the
    user's cache folder) unless ``use_cache`` is False. ``progress`` is told the bytes read since it was last told.
    Where the model's processor cannot be had, its tokens are estimated (``Result.estimated``), unless ``tokens`` is
    ``"exact"`` or no tokenizer like it is known. ``format`` is the schema that every row is to be read as, and
    ``columns`` maps names of columns and messages' fields to those that the data has in their place (docs/formats.md).

    Without a model only what is wrong with the files and the rows themselves is found. What was asked for and could
    not be judged is in ``Result.unjudged``. Raises ``rules.UnknownRule``, and ``UsageError`` where the
    plan is calibrated by a peak that cannot be, or ``format`` or ``columns`` names what is not known; bad input raises
    nothing.
    """
    codes = selected(select, ignore)
    reading = Reading.of(format, columns)
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files = sources.expand(os.fspath(path) for path in paths)
    unjudged: list[str] = []
    location, problem = _locate(plan, select, cache_dir, unjudged)
    table = None
    if problem is None:
        with ExitStack() as stack:
            cache = stack.enter_context(Cache(cache_dir)) if use_cache and location is not None else None
            try:
                read = _read(files, fetch, progress)
                table = measure(read, location, cache, reading=reading, decode=decode, fetch=fetch)
            except ProcessorUnavailable as unloadable:
                # Its files are there and transformers cannot load them: the rows themselves are still read.
                problem = unloadable
    estimates = None
    if problem is not None:
        # Rows that were read in vain are not read into the progress again.
        examples = _read(files, fetch, progress if location is None else None)
        estimates, table = _without_processor(
            examples, plan, tokens, problem, unjudged, reading, decode=decode, fetch=fetch
        )
    if plan.budget is None and plan.model is not None and any(prefix.startswith("O") for prefix in select):
        unjudged.append("memory: --select asks for it: say with --budget what the training process may use")
    plan, said = _trainer_for(table, plan)
    said += [other] if (other := mismatch(plan.model, plan.tokenizer)) else []
    counted = problem is None or estimates is not None
    memory = _memory(plan, counted, cache_dir, unjudged) if plan.preset.traceable else None
    if counted and not plan.preset.traceable and plan.budget is not None and (plan.model or plan.tokenizer):
        # A budget that came with the device was not asked to be kept.
        if plan.budget_of_machine:
            said.append(f"memory: {not_traced(plan)}")
        else:
            unjudged.append(f"memory: {not_traced(plan)}: leave --budget out")
    template = template_of(location) if location is not None else None
    processor = class_of(Path(location.folder)) if location is not None else None
    judged = look(table, plan, memory, estimates is not None, template, processor)
    unjudged += untraced(judged.rows, plan, memory)
    findings = find(judged, codes)
    if estimates is not None and problem is not None:
        asked = memory if plan.budget is not None else None
        ends = [judge(look(end, plan, asked, True), codes) for end in (estimates.low, estimates.high)]
        findings = findings.but(possible(ends[0], findings.diagnostics, ends[1]))
        guessed = models.find(plan.tokenizer or plan.model or "") is None
        said = [*([estimates.says(problem, guessed)] if estimates.measured() else []), *said]
    return Result(
        plan=plan,
        notes=(*said, *unused(plan), *remarks(plan), *notes(judged), *_not_listed(findings)),
        unjudged=tuple(unjudged),
        diagnostics=tuple(findings.diagnostics),
        unlisted=dict(sorted(findings.unlisted.items())),
        summary=summarise(judged, findings.counts(), memory, len(files)),
        rows=_example_rows(judged, findings, estimates),
        estimated=Estimated(estimates.family, estimates.width()) if estimates is not None else None,
    )


def _read(files: Iterable[str], fetch: bool, progress: Callable[[int], None] | None) -> Iterator[RawExample]:
    for path in files:
        for example in sources.read(path, fetch=fetch):
            yield example._replace(path=sources.shown(example.path))
            if progress is not None and example.raw is not None:
                progress(len(example.raw) + 1)


def _locate(
    plan: Plan, select: Collection[str], cache_dir: str | None, unjudged: list[str]
) -> tuple[Location | None, ProcessorUnavailable | None]:
    """Where the processor's files are, or why there are none; neither where no model is named."""
    if plan.model is None and plan.tokenizer is None:
        asked = any(prefix.startswith(_OF_A_MODEL) for prefix in select)
        if asked or plan.budget is not None or plan.max_length is not None:
            unjudged.append("tokens, truncation and memory: name the model that will be trained with --model")
        return None, None
    try:
        named = {"revision": plan.revision, "chat_template": plan.chat_template}
        return locate(plan.model, plan.tokenizer, cache_dir, **named), None
    except ProcessorUnavailable as problem:
        return None, problem


def _without_processor(
    examples: Iterable[RawExample],
    plan: Plan,
    tokens: str,
    problem: ProcessorUnavailable,
    unjudged: list[str],
    reading: Reading,
    *,
    decode: bool,
    fetch: bool,
) -> tuple[Estimates | None, pa.Table]:
    """The measurements of examples without a processor: estimated where that may be and can be, else without tokens.

    What is not estimated is said in ``unjudged``. ``decode`` and ``fetch`` are about clips, as in :func:`lint`.
    """
    from lint_dataset.estimates import family_of
    from lint_dataset.estimates.measuring import estimate

    family = family_of(plan.tokenizer or plan.model) if tokens == "auto" else None
    if family is None:
        unjudged.append(f"tokens, truncation and memory: {problem}")
        return None, measure(examples, None, reading=reading, decode=decode, fetch=fetch)
    estimates = estimate(examples, family, reading, decode=decode, fetch=fetch)
    if estimates.uncounted:
        unjudged.append(
            f"{estimates.uncounted:,} examples with clips or images: how many tokens these take is not known without "
            f"the processor: {problem.remedy}"
        )
    return estimates, estimates.likely


def _trainer_for(table: pa.Table, plan: Plan) -> tuple[Plan, list[str]]:
    """The plan, or, where its trainer has no path for the data, the same plan under one that has."""
    if plan.trainer != "trl" or not Rows.of(table).media.audio.any():
        return plan, []
    said = "TRL's SFTTrainer cannot train on audio, and some rows have clips: all rows are judged as --trainer hf"
    return plan.but(trainer="hf"), [said]


def _memory(plan: Plan, counted: bool, cache_dir: str | None, unjudged: list[str]) -> StepMemory | None:
    """The memory of the plan's steps; None where nobody asked, or where it is not known, said in ``unjudged``."""
    if not counted or (plan.model is None and plan.tokenizer is None):
        return None
    if plan.model is None:
        if plan.budget is not None:
            unjudged.append("memory: --tokenizer counts tokens; name the model whose step has to fit with --model")
        return None
    try:
        return StepMemory.of(plan, cache_dir, trace=plan.budget is not None)
    except NoStepProgram as problem:
        if plan.budget is not None:
            unjudged.append(f"memory: {problem}")
        return None


def _not_listed(findings: Findings) -> list[str]:
    """A sentence where findings are counted and not listed."""
    more: Counter[str] = Counter()
    for (code, _), places in sorted(findings.unlisted.items()):
        more[code] += len(places)
    if not more:
        return []
    told = ", ".join(f"{number:,} of {code}" for code, number in more.items())
    return [f"the first {LISTED:,} findings of a code in each file are listed, the others are only counted: {told}"]


def _example_rows(judged: Judged, findings: Findings, estimates: Estimates | None) -> pa.Table:
    """The measurements of the examples, and what was judged: ``reach_tokens``, ``peak_bytes`` and ``codes``.

    ``tokens_low`` and ``tokens_high`` are the ends of an estimate; they equal ``tokens`` where these were counted.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    table = judged.rows.table
    unmeasured = ~judged.rows.measured
    peaks = judged.memory.peak if judged.memory is not None else np.zeros(len(judged.rows), np.int64)
    nothing = unmeasured if judged.memory is not None else np.ones(len(judged.rows), np.bool_)
    for name, end in (("tokens_low", estimates and estimates.low), ("tokens_high", estimates and estimates.high)):
        table = table.append_column(name, (end or judged.rows.table).column("tokens").combine_chunks())
    table = table.append_column("reach_tokens", pa.array(judged.reach.tokens, pa.int64(), mask=unmeasured))
    table = table.append_column("peak_bytes", pa.array(peaks, pa.int64(), mask=nothing))
    table = table.append_column("codes", pa.array(_codes_of_rows(table, findings), pa.list_(pa.string())))
    return table.filter(pc.is_valid(table.column("hash")))


def _codes_of_rows(table: pa.Table, findings: Findings) -> list[tuple[str, ...]]:
    """The codes found in each row, sorted. Rows with the same ones share them: there may be millions of either."""
    listed: dict[tuple[str, int], set[str]] = {}
    for diagnostic in findings.diagnostics:
        listed.setdefault((diagnostic.path, diagnostic.line), set()).add(diagnostic.code)
    same: dict[tuple[str, ...], tuple[str, ...]] = {}
    found: list[tuple[str, ...]] = []
    for batch in table.select(["path", "line"]).to_batches(max_chunksize=10_000):
        for place in zip(batch.column("path").to_pylist(), batch.column("line").to_pylist(), strict=True):
            codes = tuple(sorted(listed.get(place, ())))
            found.append(same.setdefault(codes, codes))
    for (code, _), places in findings.unlisted.items():
        for row in places.rows:
            codes = tuple(sorted({*found[row], code}))
            found[row] = same.setdefault(codes, codes)
    return found
