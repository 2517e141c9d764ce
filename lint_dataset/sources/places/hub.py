"""Datasets of the Hugging Face Hub, as the datasets library gives them to a trainer: ``hf:user/name[:config][:split]``.

They are read as stored: no clip or image is decoded. Code of a dataset is never run: the library has given that up with
version 4, which is why it is required.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from lint_dataset.faults import Fault
from lint_dataset.sources.example import RawExample, about_file
from lint_dataset.sources.registry import place
from lint_dataset.sources.tables import BATCH_ROWS, examples

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = re.compile(r"hf:(?P<name>\w[\w.-]*(?:/\w[\w.-]*)?)(?::(?P<first>[^:]*))?(?::(?P<second>[^:]+))?")
_SPLITS = re.compile(r"(?:Unknown|Bad) split.*?(\[.*\])", re.DOTALL)
_CONFIGS = re.compile(r"(?:BuilderConfig .* not found|Config name is missing).*?(\[.*?\])", re.DOTALL)


class _Problem(NamedTuple):
    problem: str
    details: dict[str, Any]


@place(lambda path: path.startswith("hf:") and not path.startswith("hf://"))
def _read(path: str, fetch: bool) -> Iterator[RawExample]:
    match = _NAME.fullmatch(path)
    if match is None:
        yield about_file(path, Fault("J001", {"problem": "hub_name"}))
        return
    name = match["name"]
    try:
        dataset = load(name, match["first"] or "", match["second"])
    except Exception as error:  # The datasets library lets through what its builders and the network raise.
        problem, details = _problem(error)
        yield about_file(path, Fault("J001", {"problem": problem, "name": name, **details}))
        return
    yield from examples(path, _batches(dataset))


class NoSplit(ValueError):
    """Several splits, none of them ``train``, and none was named."""


def load(name: str, first: str, second: str | None) -> Any:
    """A split of a dataset. ``first`` names a configuration, or, where there is no ``second``, a split if it is none.

    Without a split it is ``train``, or the only one. Raises what the datasets library raises, and ``NoSplit``.
    """
    # A card without metadata is no news; what is wrong is told by us.
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    import datasets

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    config, split = first or None, second
    if first and second is None and first not in datasets.get_dataset_config_names(name):
        config, split = None, first
    if split is not None:
        return datasets.load_dataset(name, config, split=split)
    splits = datasets.load_dataset(name, config)
    chosen = "train" if "train" in splits else next(iter(splits))
    if chosen != "train" and len(splits) > 1:
        raise NoSplit(", ".join(splits))
    return splits[chosen]


def _batches(dataset: Any) -> Iterator[pa.RecordBatch]:
    for table in dataset.with_format("arrow").iter(BATCH_ROWS):
        yield from table.to_batches()


def _problem(error: Exception) -> _Problem:
    """What kept a dataset from being loaded, from what the datasets library says."""
    from datasets.exceptions import DatasetNotFoundError

    text = str(error)
    if isinstance(error, NoSplit):
        return _Problem("hub_no_split", {"known": text})
    if isinstance(error, DatasetNotFoundError):
        return _Problem("hub_gated" if "gated" in text else "hub_not_found", {})
    if isinstance(error, (ConnectionError, TimeoutError)) or "Offline" in type(error).__name__:
        return _Problem("hub_offline" if _offline() else "hub_unreachable", {})
    if found := _SPLITS.search(text):
        return _Problem("hub_split", {"known": _names(found[1])})
    if found := _CONFIGS.search(text):
        return _Problem("hub_config", {"known": _names(found[1])})
    if "scripts are no longer supported" in text:
        return _Problem("hub_script", {})
    reason = (text.strip().splitlines() or [""])[0][:160]
    return _Problem("hub_failed", {"reason": f"{type(error).__name__}: {reason}"})


def _offline() -> bool:
    from datasets import config

    return bool(config.HF_HUB_OFFLINE)


def _names(listed: str) -> str:
    return ", ".join(re.findall(r"[\w.+-]+", listed)[:20])
