"""``[tool.lint-dataset]`` of pyproject.toml: every option of the command line, under its own name."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lint_dataset.usage import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


_WANTED: dict[type, str] = {int: "a whole number", bool: "true or false"}


class ConfigError(UsageError):
    """A configuration that cannot be used: one line that names the file and the key."""


def read(start: Path) -> tuple[dict[str, Any], Path | None]:
    """The table ``[tool.lint-dataset]`` of the nearest pyproject.toml that has one, and that file.

    Looks in ``start`` and the folders above it, up to the root of a git work tree. Keys come back with underscores.
    Raises ``ConfigError`` where the file is not TOML.
    """
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file():
            try:
                data = tomllib.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as problem:
                raise ConfigError(f"{path}: cannot be read as TOML: {problem}") from None
            table = data.get("tool", {}).get("lint-dataset") if isinstance(data.get("tool", {}), dict) else None
            if table is not None:
                if not isinstance(table, dict):
                    raise ConfigError(f"{path}: [tool.lint-dataset] must be a table")
                return {key.replace("-", "_"): value for key, value in table.items()}, path
        if (folder / ".git").exists():
            break
    return {}, None


def defaults(start: Path, options: Collection[str], kinds: Mapping[str, type]) -> dict[str, Any]:
    """What the configuration of a folder gives, as the command line would give it.

    ``options`` are the names that may stand there, ``kinds`` says which of them are whole numbers (``int``) and which
    are on or off (``bool``). Raises ``ConfigError``.
    """
    table, path = read(start)
    for key in sorted(table.keys() - set(options)):
        raise ConfigError(
            f"{path}: [tool.lint-dataset] has no option {key.replace('_', '-')!r}: see lint-dataset --help"
        )
    for key in sorted(table.keys() & kinds.keys()):
        if type(table[key]) is not kinds[key]:
            name, wanted = key.replace("_", "-"), _WANTED[kinds[key]]
            raise ConfigError(f"{path}: {name} in [tool.lint-dataset] must be {wanted}, not {table[key]!r}")
    return {key: _as_given(value) for key, value in table.items()}


def _as_given(value: Any) -> Any:
    """Lists and pairs are joined by commas."""
    if isinstance(value, dict):
        value = [f"{name}={theirs}" for name, theirs in value.items()]
    return ",".join(map(str, value)) if isinstance(value, list) else value
