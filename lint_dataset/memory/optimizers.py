"""What each optimizer keeps for every trained tensor, as arithmetic over the published code.

*AdamW* (PyTorch's fused form, the default of transformers): a running mean and a running square in the tensor's type
and a step count, a 32-bit float on the device. *8-bit AdamW* (bitsandbytes 0.44 and later): both in one byte an
element, each with a 32-bit scale for every 256; in fp32 for tensors of fewer than 4,096 elements, and for embeddings,
which transformers' Trainer exempts. *Paged*: the same, except that tensors of 100,000 elements and more have the two in
memory that CUDA moves to the host when the card is full: a step needs none of it on the card. *SGD*, without momentum
as the Trainer makes it, keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from lint_dataset.memory.program import ParameterGroup

OPTIMIZERS = ("adamw", "adamw-8bit", "paged-adamw-8bit", "sgd")

#: bytes of fused AdamW's step count.
_STEP = 4
#: bitsandbytes: the fewest elements of a tensor with 8-bit states, elements that share a scale, the fewest elements of
#: a tensor with paged states, and the bytes of a table of what an 8-bit state stands for (256 floats).
_LEAST_8BIT, _BLOCK, _LEAST_PAGED, _LEVELS = 4096, 256, 100_000, 1024


def states(optimizer: str, groups: Sequence[ParameterGroup], rank: int) -> list[int]:
    """Bytes of each storage on the device that the optimizer makes in its first step, in order, before rounding."""
    made: list[int] = []
    tables = False
    for group in groups:
        if not group.trained:
            continue
        for constant, per_rank in group.numbers:
            number = constant + per_rank * rank
            if optimizer == "adamw":
                size = -int(-number * group.bytes_per_element // 1)
                made += [_STEP, size, size]
            elif optimizer != "sgd":
                packed = number >= _LEAST_8BIT and group.name != "embeddings"
                if packed and not tables:
                    made += [_LEVELS, _LEVELS]
                    tables = True
                if not optimizer.startswith("paged") or number < _LEAST_PAGED:
                    made += [number if packed else 4 * number] * 2
                if packed:
                    made += [4 * -(-number // _BLOCK)] * 2
    return made
