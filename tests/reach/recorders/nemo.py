"""NeMo's GPTSFTChatDataset: ``pip install --no-deps nemo-toolkit==2.4.0``.

Megatron and what else NeMo imports around it is not used: ``data/core.py`` and ``data/utils.py`` are loaded alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

from tests.reach import made
from tests.reach.record import outcome, versions

RUNS: list[tuple[dict[str, Any], str]] = [
    ({"loss_on": "assistant"}, "conversations"),
    ({"loss_on": "assistant"}, "with_tools"),
]
_EMPTY = {
    "nemo.collections.common.tokenizers": ("TokenizerSpec",),
    "nemo.collections.common.tokenizers.tokenizer_spec": ("TokenizerSpec",),
    "nemo.core.classes": ("Dataset",),
    "nemo.lightning.base": ("NEMO_DATASETS_CACHE",),
    "nemo.utils": ("AppState",),
}


def record(folder: str) -> dict[str, Any]:
    """Every run: the sequence that a row becomes. Its loss mask is that of the tokens to predict, as NeMo keeps it."""
    import torch
    import transformers

    core = _load("nemo.collections.llm.gpt.data.core")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    spec = types.SimpleNamespace(tokenizer=tokenizer, eos_id=tokenizer.eos_token_id)
    data = core.GPTSFTChatDataset.__new__(core.GPTSFTChatDataset)
    data.tokenizer, data.max_seq_length, data.tokens_to_generate = spec, made.LIMIT, 0
    data.use_hf_tokenizer_chat_template, data.tool_schemas, data.output_original_text = True, None, False
    data.pad_to_max_length, data.ceil_to_power_2, data.get_attention_mask_from_fusion = False, False, True
    runs = []
    for plan, kind in RUNS:
        outcomes = []
        for row in getattr(made, kind)():
            example = data._process_example(row)
            batch = data.collate_fn([example])
            length = min(len(example["input_ids"]) - 1, made.LIMIT)
            # What is predicted, behind the first token: the sequence as the other trainers have it.
            ids = torch.cat([batch["tokens"][0, :1], batch["labels"][0, :length]]).tolist()
            mask = [0, *batch["loss_mask"][0, :length].tolist()]
            if ids[-1] == spec.eos_id:  # NeMo's own, behind the row
                ids, mask = ids[:-1], mask[:-1]
            labels = [token if on else -100 for token, on in zip(ids, mask, strict=True)]
            outcomes.append([outcome(ids, labels)])
        runs.append({"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes})
    return {"versions": versions("nemo-toolkit", "transformers", "torch"), "runs": runs}


def _load(name: str) -> Any:
    """A module of NeMo without the modules around it."""
    import torch

    root = Path(next(iter(importlib.util.find_spec("nemo").submodule_search_locations)))  # type: ignore[union-attr, arg-type]
    for package in ("nemo", *(name.rsplit(".", depth)[0] for depth in range(4, 0, -1))):
        module = types.ModuleType(package)
        module.__path__ = [str(root.joinpath(*package.split(".")[1:]))]
        sys.modules[package] = module
    for package, names in _EMPTY.items():
        module = types.ModuleType(package)
        for each in names:
            setattr(module, each, torch.utils.data.Dataset if each == "Dataset" else type(each, (), {}))
        sys.modules[package] = module
    sys.modules["nemo.lightning.base"].NEMO_DATASETS_CACHE = Path()  # type: ignore[attr-defined]
    return importlib.import_module(name)
