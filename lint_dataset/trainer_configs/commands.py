"""The commands of a shell script that have options: as much of the shell as training scripts use.

Lines joined by a backslash, quotes, comments, variables that the script itself sets, and launchers in front of the
program are understood. Nothing is run, and no variable of the machine is looked up.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import NamedTuple

_ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(\S*|\"[^\"]*\"|'[^']*')\s*(?:#.*)?")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})")
#: Programs that start another one, with options of their own before its name.
_LAUNCHERS = ("accelerate", "torchrun", "deepspeed")
#: Programs of trainers that have sub-commands, as the first word after them.
_WITH_COMMANDS = ("trl", "axolotl", "llamafactory-cli", "lmf", "mlx_lm")
_CONFIG_SUFFIXES = (".yml", ".yaml", ".json")


class Command(NamedTuple):
    """One command: its options (a list where several words follow one), and the configuration files that it names."""

    program: str
    command: str
    launcher: str
    options: dict[str, str | bool | list[str]]
    files: list[str]


def commands(text: str) -> list[Command]:
    """The commands of a script that have options or name a configuration file, in its order."""
    variables: dict[str, str] = {}
    found = []
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        line = _VARIABLE.sub(lambda match: _variable(match, variables), line.strip())
        assignment = _ASSIGNMENT.fullmatch(line)
        if assignment:
            variables[assignment[1]] = assignment[2].strip("\"'")
            continue
        for words in _simple_commands(line):
            command = _command(words)
            if command.options or command.files:
                found.append(command)
    return found


def _variable(match: re.Match[str], variables: dict[str, str]) -> str:
    """What a variable holds, else the default written with it, else the variable as it stands."""
    value = variables.get(match[1] or match[2], match[3])
    return match[0] if value is None else value


def _simple_commands(line: str) -> Iterable[list[str]]:
    """The words of each command of a line. A line whose quotes do not close is no command."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    for word in [*words, ";"]:
        if not set(word) <= set(";&|"):
            command.append(word)
        elif command:
            yield command
            command = []


def _command(words: list[str]) -> Command:
    start = next((i for i, word in enumerate(words) if not re.match(r"[A-Za-z_]\w*=", word)), len(words))
    words = words[start:]
    launcher, program, rest = _program(words)
    command = ""
    if program in _WITH_COMMANDS and rest and not rest[0].startswith("-"):
        command, rest = rest[0], rest[1:]
    options: dict[str, str | bool | list[str]] = {}
    files = []
    while rest and not rest[0].startswith("-"):
        word, rest = rest[0], rest[1:]
        files += [word] if word.endswith(_CONFIG_SUFFIXES) else []
    while rest:
        option, rest = rest[0], rest[1:]
        name, equals, value = option.lstrip("-").partition("=")
        values = [value] if equals else []
        while rest and not re.match(r"--?[A-Za-z]", rest[0]) and not equals:
            values.append(rest[0])
            rest = rest[1:]
        key = name.replace("-", "_")
        if key in ("config", "c") and len(values) == 1:
            files += values
        elif not values:
            options[key.removeprefix("no_")] = not key.startswith("no_")
        else:
            options[key] = values if len(values) > 1 else values[0]
    return Command(program, command, launcher, options, files)


def _program(words: list[str]) -> tuple[str, str, list[str]]:
    """The launcher with its options, the program (a script's or module's name), and the words after it."""
    for i, word in enumerate(words):
        name = word.rsplit("/", 1)[-1]
        module = i > 0 and words[i - 1] == "-m" and not word.startswith("torch.distributed")
        if name.endswith(".py") or name in _WITH_COMMANDS or name.startswith("mlx_lm.") or module:
            used = any(launcher in words[:i] for launcher in (*_LAUNCHERS, "torch.distributed.run"))
            return " ".join(words[:i]) if used else "", name, words[i + 1 :]
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    return "", "", words[first:]
