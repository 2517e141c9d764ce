"""Where step programs are kept: one archive per model, one entry per recipe.

An archive is an ordinary zip. An entry is named after the recipe's key and holds that recipe's programs, one per class
of steps, packed with xz: a line of JSON, then the events of each program as little-endian 32-bit integers. Nothing in
it is code, so an archive from elsewhere can at worst be wrong.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lint_dataset.memory.program import ParameterGroup, StepProgram
from lint_dataset.memory.recipe import Recipe

#: Changes when programs of older versions must not be read any more.
FORMAT = 1

#: The programs that come with the package.
SHIPPED = Path(__file__).with_name("programs")

_UNREADABLE = (OSError, zipfile.BadZipFile, lzma.LZMAError, EOFError, LookupError, ValueError, TypeError)


def cache_folder(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the user's own traces: under ``cache_dir``, ``$LINT_DATASET_CACHE``, or the system's cache."""
    base = cache_dir or os.environ.get("LINT_DATASET_CACHE")
    if not base:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        base = os.path.join(home, "lint-dataset")
    return Path(base) / "programs"


def save(recipe: Recipe, programs: Sequence[StepProgram], folder: str | os.PathLike[str] = SHIPPED) -> Path:
    """Write the programs of a recipe into its model's archive, replacing what the recipe had; return the archive.

    The archive is replaced in one step, so a reader sees the old one or the new one. Of two processes that write to
    the same archive at once one may lose its entry, which then is traced again. Raises OSError.
    """
    path = archive(recipe.model, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = dict(_entries(path))
    entries[recipe.key] = _pack(programs)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".zip")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as written:
            for key in sorted(entries):
                # A fixed date, so that the same programs make the same bytes.
                written.writestr(zipfile.ZipInfo(key + ".xz", (1980, 1, 1, 0, 0, 0)), entries[key])
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return path


def load(recipe: Recipe, cache_dir: str | os.PathLike[str] | None = None) -> tuple[StepProgram, ...] | None:
    """The programs of a recipe: the shipped ones, else the user's own traces, else its twin's, else None.

    An archive that cannot be read counts as absent. Of twins only what is shipped counts, and no model that hears: on
    CUDA a softmax from fp16 to fp32 is one kernel, from bf16 two, which shows in Gemma 3n's audio tower.
    """
    programs = _read(recipe, SHIPPED) or _read(recipe, cache_folder(cache_dir))
    if programs is None and recipe.twin is not None:
        programs = _read(recipe.twin, SHIPPED)
        if programs is not None and any(program.bounds.get("clips", (0, None))[1] != 0 for program in programs):
            return None
    return programs


def _read(recipe: Recipe, folder: Path) -> tuple[StepProgram, ...] | None:
    try:
        with zipfile.ZipFile(archive(recipe.model, folder)) as opened:
            return _unpack(opened.read(recipe.key + ".xz"))
    except _UNREADABLE:
        return None


def keys(model: str, folder: str | os.PathLike[str] = SHIPPED) -> frozenset[str]:
    """The keys of the recipes that the archive of a model in ``folder`` holds."""
    return frozenset(key for key, _ in _entries(archive(model, folder)))


def models(folder: str | os.PathLike[str] = SHIPPED) -> tuple[str, ...]:
    """The models whose programs ``folder`` holds, as their archives are named: by alias where they have one."""
    return tuple(sorted(path.stem for path in Path(folder).glob("*.zip")))


def archive(model: str, folder: str | os.PathLike[str] = SHIPPED) -> Path:
    """The path of a model's archive. A model that is a folder on this machine is told apart by its configuration."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", model)
    config = Path(model) / "config.json"
    if config.is_file():
        name = f"{name[-60:]}-{hashlib.sha256(config.read_bytes()).hexdigest()[:16]}"
    elif name != model:
        name = f"{name[-60:]}-{hashlib.sha256(model.encode()).hexdigest()[:16]}"
    return Path(folder) / f"{name}.zip"


def _entries(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as opened:
            yield from [(name.removesuffix(".xz"), opened.read(name)) for name in opened.namelist()]
    except _UNREADABLE:
        return


def _pack(programs: Sequence[StepProgram]) -> bytes:
    """Programs as bytes. What a program shares with an earlier one is written once: see ``_unpack``."""
    described: list[dict[str, Any]] = []
    streams: list[bytes] = []
    for program in programs:
        events = np.asarray(program.events).astype("<i4").tobytes()
        groups: Any = [[g.name, g.numbers, g.bytes_per_element, g.trained] for g in program.groups]
        same = next(
            (i for i, earlier in enumerate(programs[: len(described)]) if earlier.groups == program.groups), None
        )
        described.append(
            {
                "bounds": {name: list(bound) for name, bound in program.bounds.items()},
                "powers": program.powers.tolist(),
                "coefficients": program.coefficients.tolist(),
                "events": -1 - streams.index(events) if events in streams else len(program.events),
                "marks": dict(program.marks),
                "groups": groups if same is None else same,
                "made_with": dict(program.made_with),
            }
        )
        streams.append(events)
    header = json.dumps({"format": FORMAT, "programs": described}, sort_keys=True, separators=(",", ":"))
    written = b"".join(stream for stream, one in zip(streams, described, strict=True) if one["events"] >= 0)
    # Events are 32-bit: telling xz so makes an entry about a tenth smaller.
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 2, "pb": 2}]
    return lzma.compress(header.encode() + b"\n" + written, filters=filters)


def _unpack(packed: bytes) -> tuple[StepProgram, ...]:
    """Programs from bytes.

    ``groups`` is a number where they are those of the program of that index, and ``events``, otherwise how many follow,
    is negative where they are those of program ``-1 - events``.
    """
    header, _, stream = lzma.decompress(packed).partition(b"\n")
    read: dict[str, Any] = json.loads(header)
    if read["format"] != FORMAT:
        raise ValueError("written by another version")
    numbers = np.frombuffer(stream, "<i4").astype(np.int32)
    programs: list[StepProgram] = []
    start = 0
    for one in read["programs"]:
        count, groups = one["events"], one["groups"]
        events = programs[-1 - count].events if count < 0 else numbers[start : start + count]
        start += max(count, 0)
        programs.append(
            StepProgram(
                bounds={name: (least, most) for name, (least, most) in one["bounds"].items()},
                powers=np.array(one["powers"], np.int64),
                coefficients=np.array(one["coefficients"], np.int64),
                events=events,
                marks=one["marks"],
                groups=programs[groups].groups if isinstance(groups, int) else _groups(groups),
                made_with=one["made_with"],
            )
        )
    return tuple(programs)


def _groups(described: Any) -> tuple[ParameterGroup, ...]:
    return tuple(
        ParameterGroup(name, tuple((constant, per_rank) for constant, per_rank in numbers), width, trained)
        for name, numbers, width, trained in described
    )
