"""The trainer's own configuration file, read as a plan, so that nobody retypes its options.

One file a format in ``formats/``: it says which keys it is known by and which setting each of its keys is. What a plan
cannot hold, what nobody knows and what cannot be understood is never guessed at: it is listed.
"""

from __future__ import annotations

from pathlib import Path

from lint_dataset.trainer_configs.draft import Draft, TrainerConfig, TrainerConfigError
from lint_dataset.trainer_configs.reading import Source, sources
from lint_dataset.trainer_configs.registry import Format, all_formats, candidates

__all__ = ["TrainerConfig", "TrainerConfigError", "load"]


def load(file: str) -> TrainerConfig:
    """What a configuration file says, as settings of a plan, paths of its training data, and remarks.

    ``file`` is a path, or the name of a format, a colon and a path, where the keys alone do not tell the format. Raises
    ``TrainerConfigError`` where the file cannot be read, is of no known format, or could be of several.
    """
    name, colon, rest = file.partition(":")
    forced = all_formats().get(name) if colon and not Path(file).exists() else None
    path = Path(rest if forced else file)
    found = [(source, [forced] if forced else candidates(source)) for source in sources(path)]
    known = [(source, choices) for source, choices in found if choices]
    if not known:
        names = ", ".join(f"{each.name} ({each.example})" for each in all_formats().values())
        raise TrainerConfigError(f"{path}: has no key by which a trainer's configuration is known: {names}")
    if len(known) > 1:
        raise TrainerConfigError(f"{path}: starts {len(known)} trainings: give each a file of its own")
    [(source, choices)] = known
    if len(choices) > 1:
        either = " or ".join(f"--config {each.name}:{path}" for each in choices)
        raise TrainerConfigError(f"{path}: its keys do not tell the trainer: use {either}")
    return _read(path, source, choices[0])


def _read(path: Path, source: Source, chosen: Format) -> TrainerConfig:
    draft = Draft(path, chosen.name, chosen.release, source.keys)
    if source.launcher:
        draft.unmodelled(source.launcher, "its processes may share out weights, states and batches")
    if source.command and source.command not in chosen.commands:
        draft.note(source.command, "another kind of training: judged as supervised fine-tuning")
    chosen.read(draft)
    return draft.finish()
