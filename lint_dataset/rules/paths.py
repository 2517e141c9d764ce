"""J001: is there anything to read at all?"""

from __future__ import annotations

from typing import Any

from lint_dataset.rules import fault_rule

Data = dict[str, Any]

#: What is wrong with a path and what to do, filled in from the fault's data.
_UNREADABLE = {
    "not_found": ("there is no such file", "Check the path."),
    "no_match": ("the pattern matches no file", "Check the pattern; quote it so that the shell leaves it alone."),
    "folder": (
        "the folder holds no file with rows",
        "Name the files, or give them an ending that is read: .jsonl, .ndjson, .json, .parquet, .arrow.",
    ),
    "not_a_file": ("this is no regular file", "Write it to a file first, or pipe it to lint-dataset -."),
    "not_fetched": (
        "this is an address, which is opened only when asked",
        "Give --fetch (without --offline) to read it, or download it first.",
    ),
    "no_protocol": ("addresses of {protocol}:// are not opened", "Download it first. What is opened: {known}."),
    "no_package": ("{protocol}:// cannot be opened without the package {package}", "Run: pip install {package}"),
    "hub_name": ("this names no dataset", "Write hf:user/name, hf:user/name:split or hf:user/name:config:split."),
    "hub_not_found": (
        "the Hub has no dataset {name} that you may see",
        "Check the name; if it is private, log in with: hf auth login",
    ),
    "hub_gated": (
        "the dataset {name} is gated",
        "Ask for access at https://huggingface.co/datasets/{name} and log in with: hf auth login",
    ),
    "hub_offline": (
        "the dataset {name} is not in the cache, and nothing is downloaded offline",
        "Run once without --offline and HF_HUB_OFFLINE: the dataset then stays in the cache.",
    ),
    "hub_unreachable": (
        "the dataset {name} is not in the cache, and the Hub cannot be reached",
        "Check the network, or load the dataset on a machine that has it and copy it here with save_to_disk.",
    ),
    "hub_split": ("the dataset {name} has no such split", "Name one of its splits: {known}."),
    "hub_no_split": ("the dataset {name} has several splits, none called train", "Name one of its splits: {known}."),
    "hub_config": ("the dataset {name} has no such configuration", "Name one of its configurations: {known}."),
    "hub_script": (
        "the dataset {name} needs code of its own, which is never run",
        "Convert it to Parquet where you trust its code, and name the files.",
    ),
    "hub_failed": (
        "the dataset {name} cannot be loaded ({reason})",
        "See what load_dataset says of it in Python: a trainer would stop there too.",
    ),
}


def _unreadable(data: Data) -> tuple[str, str]:
    unknown = ("the file cannot be read ({reason})", "Check the path and its permissions.")
    message, advice = _UNREADABLE.get(data["problem"], unknown)
    return message.format_map(data), advice.format_map(data)


fault_rule(
    "J001",
    "unreadable-file",
    "error",
    what="The path is no file or dataset that can be read, or a folder or pattern without any file with rows in it.",
    why="Nothing in it was judged, and a training run would stop here, or silently train on the other files alone.",
    remedy="Check the path, the pattern and the permissions.",
    example="lint-dataset trian.jsonl",
    message=lambda data: _unreadable(data)[0],
    advice=lambda data: _unreadable(data)[1],
)
