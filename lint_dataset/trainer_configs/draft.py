"""A plan in the making: takes the keys of a configuration one by one, and notes what became of each."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lint_dataset.models import find
from lint_dataset.usage import UsageError


class TrainerConfigError(UsageError):
    """A trainer's configuration that cannot be read: one line that names the file."""


class Remark(NamedTuple):
    """A key that is not simply a setting of the plan, and what is done about it."""

    #: ``note``, ``not modelled``, ``not understood``, ``unknown`` or ``not read``.
    kind: str
    key: str
    text: str


#: How a run's notes open the list of keys of one kind.
_LISTS = {
    "not modelled": "not modelled, so verdicts may differ",
    "unknown": "keys that are not known, and ignored",
}


@dataclass(frozen=True)
class TrainerConfig:
    """What a configuration says: settings of a plan with their origins, training data, remarks.

    A setting that is None was set to nothing by the configuration (no ``max_length``: rows stay whole).
    """

    path: str
    format: str
    settings: Mapping[str, Any]
    origins: Mapping[str, str]
    datasets: tuple[str, ...]
    remarks: tuple[Remark, ...]

    def show(self) -> str:
        """The format, the data and every remark, a line each."""
        lines = [f"{self.path} is read as a configuration of {self.format}"]
        lines += [f"  data: {path}" for path in self.datasets]
        lines += [f"  {remark.kind}: {remark.key}: {remark.text}" for remark in self.remarks]
        return "\n".join(lines)

    def notes(self) -> list[str]:
        """What a run's report says of it: a sentence a remark, or one for all keys of a kind that needs no words."""
        said = [self._sentence(remark) for remark in self.remarks if remark.kind in ("note", "not understood")]
        for kind, opening in _LISTS.items():
            keys = [remark.key for remark in self.remarks if remark.kind == kind]
            if keys:
                said.append(f"{os.path.basename(self.path)}: {opening}: {', '.join(keys)} (--show-plan says more)")
        return said

    def unread(self) -> list[str]:
        """The training data that it names and that is not here, a sentence each."""
        return [self._sentence(remark) for remark in self.remarks if remark.kind == "not read"]

    def _sentence(self, remark: Remark) -> str:
        return f"{os.path.basename(self.path)}: {remark.key}: {remark.text}"


def shown(value: Any) -> str:
    """A value as a remark shows it: short, on one line, and nothing of what a container holds."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list, tuple)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return _one_line(str(value), 60)


def _one_line(text: str, longest: int) -> str:
    """A text on one line of at most ``longest`` characters, all of them printable."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text[: 4 * longest].split()))
    return line if len(line) <= longest else line[: longest - 3] + "..."


#: Spellings of a switch: YAML reads most of them itself, a command line none.
_SWITCHES = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


#: A dataset on the Hub, and the endings of what can only be a file.
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_FILES = (".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".csv", ".txt", ".gz", ".zst")


def words(text: str) -> frozenset[str]:
    """The words of a text, for long lists of keys."""
    return frozenset(text.split())


class Draft:
    """Keys of one configuration on their way into a plan.

    A format's ``read`` takes every key it knows with one of the methods below; :meth:`finish` lists the others. A key
    that is there without a value (``lora_r:``) counts as not there.
    """

    def __init__(self, path: Path, name: str, release: str, keys: Mapping[str, Any]) -> None:
        """The keys of the file at ``path``, of the format ``name``, whose defaults are those of ``release``."""
        self.path = path
        self.name = name
        self._release = release
        self._keys = keys
        self._seen: set[str] = set()
        self._settings: dict[str, Any] = {}
        self._origins: dict[str, str] = {}
        self._datasets: list[str] = []
        self._remarks: list[Remark] = []

    # Taking keys.

    def has(self, key: str) -> bool:
        """Whether the key is there at all, with a value or without."""
        return key in self._keys

    def peek(self, key: str) -> Any:
        """The key's value as it is, or None, without taking it."""
        return self._keys.get(key)

    def get(self, setting: str) -> Any:
        """What a setting is so far, or None."""
        return self._settings.get(setting)

    def take(self, key: str) -> Any:
        """The key's value as it is, or None."""
        self._seen.add(key)
        return self._keys.get(key)

    def switch(self, key: str) -> bool | None:
        """True or false, or None."""
        value = self.take(key)
        if value is None or isinstance(value, bool):
            return value
        known = _SWITCHES.get(str(value).strip().casefold()) if isinstance(value, (str, int)) else None
        if known is None:
            self._odd(key, value, "true or false")
        return known

    def whole(self, key: str) -> int | None:
        """A whole number of 1 or more, or None."""
        value = self.take(key)
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 16:
            value = int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        self._odd(key, value, "a whole number of 1 or more")
        return None

    def text(self, key: str) -> str | None:
        """A text, or None. A shell variable that nothing in the file sets is not one."""
        value = self.take(key)
        if value is None or (isinstance(value, str) and value.strip() and "$" not in value):
            return value
        self._odd(key, value, "a text")
        return None

    def choice(self, key: str, choices: Mapping[str, str | None]) -> str | None:
        """What the key's value stands for, or None."""
        value = self.text(key)
        if value is None or value.strip().casefold() in choices:
            return None if value is None else choices[value.strip().casefold()]
        self._odd(key, value, f"one of {', '.join(choices)}")
        return None

    def names(self, key: str) -> list[str] | None:
        """A list of texts, which may be written as one text with commas, or None."""
        value = self.take(key)
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if value is None or (isinstance(value, list) and value and all(isinstance(each, str) for each in value)):
            return value
        self._odd(key, value, "a list of names")
        return None

    def mapping(self, key: str) -> dict[str, Any]:
        """A mapping; empty where there is none."""
        value = self.take(key)
        if value is None or isinstance(value, dict):
            return value or {}
        self._odd(key, value, "a mapping")
        return {}

    def ignore(self, keys: Iterable[str], prefixes: tuple[str, ...] = ()) -> None:
        """Take keys that change neither the tokens of a row nor the memory of a step."""
        self._seen.update(keys)
        self._seen.update(key for key in self._keys if prefixes and key.startswith(prefixes))

    # Filling the plan.

    def set(self, setting: str, value: Any, default: Any = None) -> Any:
        """Set a setting to what a key says, or, where that is None, to the trainer's ``default``; return it."""
        if value is not None or default is not None:
            self._settings[setting] = default if value is None else value
            self._origins[setting] = self.path.name if value is not None else f"{self.path.name} ({self._release})"
        return self._settings.get(setting)

    def clear(self, setting: str) -> None:
        """The configuration sets a setting to nothing."""
        self._settings[setting], self._origins[setting] = None, self.path.name

    def targets(self, names: list[str] | None, key: str) -> None:
        """Set ``lora_targets`` to module names, under the plan's own words for them where they are the same set."""
        if names is None:
            return
        if not all(re.fullmatch(r"[A-Za-z0-9_.\-]+", name) for name in names):
            self.unmodelled(key, "a pattern is no list of names: all-linear is assumed")
            return
        plain = {"all": "all-linear", "all-linear": "all-linear", "all_linear": "all-linear"}
        kind = find(str(self._settings.get("model"))) if self._settings.get("model") else None
        if len(names) == 1 and names[0] in plain:
            words = plain[names[0]]
        elif set(names) == _ATTENTION:
            words = "attention"
        elif set(names) == _ATTENTION | _MLP and kind and kind.config.get("model_type") in _SEVEN_LINEAR:
            words = "all-linear"
        else:
            words = ",".join(names)
        self.set("lora_targets", words)

    def data(self, key: str, path: str, config: Any = None, split: Any = None) -> None:
        """Add training data: a file or folder here, seen from where we are or from the configuration's folder.

        What is not here and can be a dataset of the Hub is one: its configuration, and its split (``train`` unless
        given), which trainers read through the ``datasets`` library as we do.
        """
        if path and self._near(path).exists():
            self._datasets.append(str(self._near(path)))
        elif not _HUB_ID.fullmatch(path) or path.casefold().endswith(_FILES):
            self.remark("not read", key, f"{shown(path)} is not on this machine")
        else:
            whole = re.match(r"\w*", split if isinstance(split, str) else "train")
            if isinstance(split, str) and whole and whole[0] != split:
                self.note(key, f"of {shown(path)} the split {shown(split)} is trained on: all of {whole[0]} is judged")
            parts = ["hf", path, *([config] if isinstance(config, str) else []), whole[0] if whole else "train"]
            self._datasets.append(":".join(parts))

    def dataset(self, key: str, entry: Mapping[Any, Any]) -> None:
        """Add training data named as ``datasets.load_dataset`` takes it: its ``data_files``, else its ``path``.

        A list, or the ``train`` of a mapping, may stand for ``data_files``; ``name`` is a configuration.
        """
        path, files = entry.get("path"), entry.get("data_files")
        files = files.get("train") if isinstance(files, dict) else files
        names = [files] if isinstance(files, str) else files or [path]
        for name in names if isinstance(names, list) else [names]:
            if not isinstance(name, str) or "$" in name:
                self._odd(key, name, "a path")
            elif files and isinstance(path, str) and (self._near(path) / name).exists():
                self.data(key, str(self._near(path) / name))
            elif files and isinstance(path, str) and _HUB_ID.fullmatch(path) and not self._near(name).exists():
                self._datasets.append(f"hf://datasets/{path}/{name}")
            else:
                self.data(key, name, entry.get("name"), entry.get("split"))

    def template(self, key: str, changes: str) -> None:
        """Take a chat template's file as the plan's; what is no file here is listed with what it ``changes``."""
        path = self.take(key)
        if isinstance(path, str) and len(path) < 1000 and "\n" not in path and self._near(path).is_file():
            self.set("chat_template", str(self._near(path)))
        elif path:
            self.unmodelled(key, f"{shown(path)}: changes {changes}")

    def _near(self, path: str) -> Path:
        """A path seen from where we are, or, where there is no such path, from the configuration's folder."""
        here = Path(path).expanduser()
        return here if here.exists() else self.path.parent / path

    # Saying what is not in the plan.

    def remark(self, kind: str, key: str, text: str) -> None:
        """Add a remark about a key: one line, whatever the file holds."""
        remark = Remark(kind, _one_line(key, 80), _one_line(text, 240))
        if remark not in self._remarks:
            self._remarks.append(remark)

    def note(self, key: str, text: str) -> None:
        """Say how a key is judged, where that is not all that the trainer does."""
        self.remark("note", key, text)

    def unmodelled(self, key: str, text: str) -> None:
        """Say that something changes what is judged, and that nothing accounts for it."""
        self.remark("not modelled", key, text)

    def unless(self, key: str, modelled: Collection[str], text: str) -> None:
        """Take a key whose value is not modelled unless it is one of ``modelled`` (a text, in any letter case)."""
        value = self.take(key)
        if value is not None and str(value).casefold() not in modelled:
            self.unmodelled(key, f"{shown(value)}: {text}")

    def list_unmodelled(self, keys: Mapping[str, str]) -> None:
        """Take keys that are not modelled when they are on: each with what it changes."""
        for key, changes in keys.items():
            value = self.take(key)
            off = not value or (isinstance(value, str) and _SWITCHES.get(value.strip().casefold(), True) is False)
            if not off:
                self.unmodelled(key, f"{shown(value)}: changes {changes}")

    def _odd(self, key: str, value: Any, wanted: str) -> None:
        self.remark("not understood", key, f"{shown(value)} is not {wanted}: taken as not given")

    def finish(self) -> TrainerConfig:
        """The configuration, with a remark for every key that was not taken."""
        for key in self._keys:
            if key not in self._seen:
                self.remark("unknown", key, f"not a key that {self.name} is known to have: ignored")
        order = {"note": 0, "not read": 1, "not understood": 2, "not modelled": 3, "unknown": 4}
        return TrainerConfig(
            path=str(self.path),
            format=self.name,
            settings=dict(self._settings),
            origins=dict(self._origins),
            datasets=tuple(self._datasets),
            remarks=tuple(sorted(self._remarks, key=lambda remark: order[remark.kind])),
        )


_ATTENTION = {"q_proj", "k_proj", "v_proj", "o_proj"}
_MLP = {"gate_proj", "up_proj", "down_proj"}
#: Architectures whose linear layers, the head aside, are exactly those seven.
_SEVEN_LINEAR = ("gemma2", "gemma3_text", "llama", "mistral", "qwen2", "qwen3")
