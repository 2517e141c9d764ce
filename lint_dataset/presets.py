"""The trainers: what each does where nobody says otherwise, in the release that is named."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from lint_dataset.usage import PlanError


class Preset(NamedTuple):
    """What a trainer does where nobody says otherwise."""

    #: The release that is modelled, as it is shown.
    release: str
    settings: Mapping[str, Any]
    #: The ``max_length`` that the trainer applies when none is given. It is said, not applied.
    max_length: int | None
    #: What it can do with a row longer than ``max_length``: its own way first.
    overlong: tuple[str, ...] = ("cut",)
    #: The ends that it can cut off: its own first.
    sides: tuple[str, ...] = ("right",)
    #: The ways it can put several rows into one sequence, by its own names.
    packing: tuple[str, ...] = ()
    #: A length that it pads to is rounded up to a multiple of so many tokens.
    pad_multiple: int = 1
    #: Whether it trains transformers' own models with PyTorch, whose memory can be traced.
    traceable: bool = True


def _loop(checkpointing: bool, autocast: str, loss: str, loss_on: str) -> dict[str, Any]:
    return {
        "gradient_checkpointing": checkpointing,
        "mixed_precision": autocast,
        "loss": loss,
        "loss_on": loss_on,
    }


_BOTH = ("right", "left")

PRESETS: dict[str, Preset] = {
    # SFTConfig of TRL 1.16: bf16 autocast, gradient checkpointing, a language-modelling head that never holds all
    # logits, the loss on the completion of prompt/completion rows and on every token of the others.
    "trl": Preset(
        "TRL 1.16",
        _loop(True, "bf16", "chunked", "completion"),
        1024,
        sides=_BOTH,
        packing=("bfd", "bfd_split", "wrapped"),
    ),
    # TrainingArguments of transformers 5: no checkpointing, no autocast; causal models upcast all logits for the loss.
    "hf": Preset("transformers 5.24 Trainer", _loop(False, "no", "logits", "all"), None, sides=_BOTH),
    # axolotl's schema: bf16 autocast where the card has it, no checkpointing, answers alone, sequence_len 512, and
    # rows beyond it dropped (excess_length_strategy).
    "axolotl": Preset(
        "axolotl 0.19",
        _loop(False, "bf16", "logits", "assistant"),
        512,
        overlong=("drop", "cut", "raise"),
        packing=("sample_packing",),
        pad_multiple=64,
    ),
    # Its argument classes: checkpointing unless disabled, no autocast, answers alone, cutoff_len 2048.
    "llama-factory": Preset(
        "LLaMA-Factory 0.9.5",
        _loop(True, "no", "logits", "assistant"),
        2048,
        packing=("packing", "neat_packing"),
    ),
    # FastLanguageModel.from_pretrained: max_seq_length 2048, checkpointing, its own loss without all logits; TRL's
    # configuration for the rest.
    "unsloth": Preset(
        "unsloth 2026.10.9",
        _loop(True, "bf16", "chunked", "completion"),
        2048,
        sides=_BOTH,
        packing=("bfd", "bfd_split", "wrapped"),
    ),
    # TrainingArguments of ms-swift: checkpointing, bf16, answers alone; max_length is the model's own, and rows beyond
    # it are deleted (truncation_strategy).
    "ms-swift": Preset(
        "ms-swift 4.6",
        _loop(True, "bf16", "logits", "assistant"),
        None,
        overlong=("drop", "cut", "split"),
        sides=_BOTH,
        packing=("packing",),
    ),
    # Its recipes: bf16 without autocast, logits in chunks, max_seq_len null, checkpointing from 3B parameters on.
    "torchtune": Preset(
        "torchtune 0.6.1",
        _loop(True, "no", "chunked", "assistant"),
        None,
        packing=("packed",),
        traceable=False,
    ),
    # Its command line: max_seq_length 2048, no checkpointing, the loss on every token unless --mask-prompt.
    "mlx-lm": Preset("mlx-lm 0.32.2", _loop(False, "no", "logits", "all"), 2048, traceable=False),
    # FineTuningDataModule: seq_length 2048; the loss is where the template's generation tags are.
    "nemo": Preset("NeMo 2.4", _loop(False, "bf16", "logits", "assistant"), 2048, traceable=False),
    # The published cookbook counts up to 16,385 tokens an example; newer models take more.
    "openai": Preset("OpenAI's API", _loop(False, "no", "logits", "assistant"), 16_385, traceable=False),
    "none": Preset("a plain loop", _loop(False, "no", "logits", "all"), None, sides=_BOTH),
}


def preset(trainer: str, release: str | None = None) -> Preset:
    """The preset of a trainer, in another release of it (``1.4``) where one is named. Raises ``PlanError``.

    Only TRL's releases since 1.0 are told apart: until 1.6 the loss held all logits.
    """
    if trainer not in PRESETS:
        near = difflib.get_close_matches(str(trainer), PRESETS, 1, 0.7)
        meant = f", did you mean {near[0]}" if near else ""
        raise PlanError(f"trainer {trainer!r} is not known{meant}: choose one of {', '.join(PRESETS)}")
    if release is None:
        return PRESETS[trainer]
    if trainer != "trl":
        raise PlanError(
            f"trainer {trainer!r} is judged by one release, {PRESETS[trainer].release}: name it without =={release}"
        )
    newest = PRESETS["trl"]
    loss = "logits" if version(release) < (1, 7) else newest.settings["loss"]
    return newest._replace(release=f"TRL {release}", settings={**newest.settings, "loss": loss})


#: The newest release of TRL whose code was read.
_NEWEST = (1, 16)


def version(release: str) -> tuple[int, int]:
    """Major and minor number of a release of TRL. Raises ``PlanError`` for one that is not modelled."""
    found = re.fullmatch(r"v?(\d{1,4})\.(\d{1,4})(\.\w{1,20})*", release)
    numbers = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (1, 0) <= numbers <= _NEWEST:
        raise PlanError(f"trainer trl=={release}: releases of TRL from 1.0 to 1.16 are modelled, such as trl==1.4")
    return numbers
