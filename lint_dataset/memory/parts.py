"""What a peak is made of, and the arithmetic that needs no step program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lint_dataset.memory.allocator import rounded
from lint_dataset.memory.curve import kinds_of_events
from lint_dataset.memory.program import StepProgram

#: The parts of a peak, in the order to show them.
PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "overhead")

#: Bytes of one element of each type of weights.
ELEMENT = {"fp32": 4, "bf16": 2, "fp16": 2}

#: bitsandbytes' NF4: half a byte a weight and a 4-byte scale for every 64.
NF4 = 0.5 + 4 / 64


def living_parts(program: StepProgram, sizes: list[int], event: int) -> dict[str, int]:
    """The bytes alive after an event of a step, by part; ``sizes`` are the bytes of each kind.

    Gradients are what outlives backward, or was there before the forward pass. Logits are kinds of storage that appear
    with the loss and not in the forward pass before it. What the optimizer step makes is its own, everything else are
    activations (inputs, saved tensors and the temporaries of the moment).
    """
    events = program.events
    birth = events >= 0
    born_at = np.flatnonzero(birth)
    died_at = np.full(len(born_at), len(events))
    deaths = np.flatnonzero(~birth)
    died_at[np.cumsum(birth)[deaths] + events[deaths]] = deaths
    kinds = kinds_of_events(program)[born_at]
    end = len(events)
    loss, backward, optimizer = (program.marks.get(name, end) for name in ("loss", "backward", "optimizer"))
    forward = program.marks.get("forward", 0)
    with_loss = np.unique(kinds[(born_at >= loss) & (born_at < backward)])
    only_loss = np.setdiff1d(with_loss, kinds[born_at < loss])
    bytes_each = np.array([rounded(max(size, 0)) for size in sizes], np.int64)[kinds]
    alive = (born_at <= event) & (died_at > event)
    is_gradient = (born_at >= backward) & (born_at < optimizer) & (died_at >= optimizer)
    is_gradient |= born_at < forward
    is_logits = np.isin(kinds, only_loss) & (born_at < optimizer) & ~is_gradient
    is_optimizer = born_at >= optimizer
    rest = ~(is_gradient | is_logits | is_optimizer)
    chosen = {"gradients": is_gradient, "optimizer": is_optimizer, "activations": rest, "logits": is_logits}
    return {name: int(bytes_each[alive & mask].sum()) for name, mask in chosen.items()}


def complete(parts: Mapping[str, int], peak: int) -> dict[str, int]:
    """The parts in order, with an overhead that makes them add up to the peak.

    Overhead is what no tensor holds: the context, cuBLAS workspaces, and what the allocator keeps between blocks.
    """
    result = {name: parts.get(name, 0) for name in PARTS[:-1]}
    return {**result, "overhead": peak - sum(result.values())}


def bytes_per_parameter(states: str = "same", dtype: str = "bf16") -> int:
    """Bytes that full fine-tuning with AdamW takes for each parameter before any activation.

    Weights and gradients in ``dtype``, and two states: of the weights' type (``same``: 8 bytes with bf16, 16 with
    fp32), in fp32 (``fp32``: 12), or in fp32 beside an fp32 copy of the weights (``fp32+master``: 16).
    """
    element = ELEMENT[dtype]
    extra = {"same": 2 * element, "fp32": 2 * 4, "fp32+master": 2 * 4 + 4}
    return 2 * element + extra[states]


def least_bytes(
    parameters: int,
    method: str,
    dtype: str = "bf16",
    *,
    states: str = "same",
    trained: int = 0,
    unquantised: int = 0,
    unquantised_bytes: int = 4,
) -> dict[str, int]:
    """What a model without a step program holds before any activation, by part: the least that a step can take.

    ``trained`` are the parameters of LoRA's adapters, held in fp32 with their gradients and states. ``unquantised`` are
    the parameters that QLoRA leaves out of the 4-bit packing (embeddings, norms, the output layer), at
    ``unquantised_bytes`` each: 4 after PEFT's ``prepare_model_for_kbit_training``.
    """
    parts = dict.fromkeys(PARTS, 0)
    element = ELEMENT[dtype]
    if method == "full":
        parts["weights"] = parts["gradients"] = element * parameters
        parts["optimizer"] = (bytes_per_parameter(states, dtype) - 2 * element) * parameters
        return parts
    if method == "qlora":
        packed = parameters - unquantised
        parts["weights"] = round(NF4 * packed) + unquantised_bytes * unquantised
    else:
        parts["weights"] = element * parameters
    parts["weights"] += 4 * trained
    parts["gradients"] = 4 * trained
    parts["optimizer"] = 8 * trained
    return parts
