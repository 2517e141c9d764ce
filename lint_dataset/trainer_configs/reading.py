"""A configuration file as keys and values: YAML, JSON, or the arguments of a command line in a script."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from lint_dataset.trainer_configs.commands import Command, commands
from lint_dataset.trainer_configs.draft import TrainerConfigError

#: No configuration is that long, and a data file named by mistake is not worth parsing.
LONGEST = 2**20


class Source(NamedTuple):
    """The keys of one training. ``program``, ``command`` and ``launcher`` are empty unless a command line starts it."""

    keys: dict[str, Any]
    program: str = ""
    command: str = ""
    launcher: str = ""


def sources(path: Path) -> list[Source]:
    """The trainings that a file describes: one, or, for a script, one for every command that has options.

    Raises ``TrainerConfigError`` for a file that is missing, no text, broken, or holds neither keys nor options.
    """
    text = _text(path)
    suffix = path.suffix.casefold()
    if suffix == ".json":
        return [Source(_mapping(path, _json(path, text)))]
    if suffix in (".yml", ".yaml"):
        return [Source(_mapping(path, _yaml(path, text)))]
    found = commands(text) if suffix in (".sh", ".bash") or re.search(r"(?m)(^|\s)--[A-Za-z]", text) else []
    if found:
        return [_source(path, command) for command in found]
    return [Source(_mapping(path, _yaml(path, text)))]


def mapping_of(path: Path) -> dict[str, Any]:
    """The keys of a YAML or JSON file. Raises ``TrainerConfigError``."""
    return _mapping(path, (_json if path.suffix == ".json" else _yaml)(path, _text(path)))


def _source(path: Path, command: Command) -> Source:
    """A command's options over those of the configuration files that it names."""
    keys: dict[str, Any] = {}
    for name in command.files:
        near = [each for each in (Path(name), path.parent / name) if each.is_file()]
        if not near:
            raise TrainerConfigError(f"{path}: {command.program or 'a command'} reads {name}, which is not there")
        keys |= mapping_of(near[0])
    options = {key: _value(value) for key, value in command.options.items()}
    return Source({**keys, **options}, command.program, command.command, command.launcher)


def _value(value: str | bool | list[str]) -> Any:
    """An option's value as YAML would read it: a number, a switch, a text, or a mapping in braces."""
    if isinstance(value, list):
        return [_value(each) for each in value]
    if isinstance(value, bool):
        return value
    import yaml

    try:
        read = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, RecursionError):
        return value
    if value in ("None", "null"):
        return None
    return read if isinstance(read, (bool, int, float, dict, list)) else value


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise TrainerConfigError(f"{path}: {'is no file' if path.exists() else 'there is no such file'}")
        if path.stat().st_size > LONGEST:
            raise TrainerConfigError(f"{path}: is too large for a trainer's configuration")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TrainerConfigError(f"{path}: is not UTF-8 text") from None
    except (OSError, ValueError) as problem:
        if isinstance(problem, TrainerConfigError):
            raise
        raise TrainerConfigError(f"{path}: cannot be read: {problem}") from None


def _yaml(path: Path, text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        what = getattr(problem, "problem", None) or ("nested too deeply" if isinstance(problem, RecursionError) else "")
        raise TrainerConfigError(f"{path}: cannot be read as YAML: {where}{what or problem}") from None


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        what = "nested too deeply" if isinstance(problem, RecursionError) else problem
        raise TrainerConfigError(f"{path}: cannot be read as JSON: {what}") from None


def _mapping(path: Path, data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise TrainerConfigError(f"{path}: is not a trainer's configuration: no mapping of keys to values")
    return {str(key): value for key, value in data.items()}
