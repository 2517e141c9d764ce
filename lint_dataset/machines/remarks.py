"""What a plan asks of its machine that the machine does not have: a sentence each, to be read before any verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_dataset.machines import find
from lint_dataset.sizes import format_bytes

if TYPE_CHECKING:
    from lint_dataset.plan import Plan

#: The compute capability from which on NVIDIA cards have bf16, and PyTorch's fused attention takes it
#: (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp).
_BF16 = (8, 0)


def remarks(plan: Plan) -> list[str]:
    """The remarks on a plan; none for one that names no machine."""
    said = []
    budget, memory = plan.budget, plan.machine_memory
    if budget is not None and memory is not None:
        had = f"{plan.machine} has {format_bytes(memory)}"
        if budget > memory:
            said.append(f"the budget of {format_bytes(budget)} is more than there is: {had}")
        elif plan.device == "mps" and budget > memory * 3 // 4:
            said.append(
                f"the budget leaves the system {format_bytes(memory - budget)}, less than a quarter: {had}, which the "
                f"system shares. Swapping starts before training fails: plan with {format_bytes(memory * 3 // 4)}"
            )
    machine = find(plan.machine) if plan.machine is not None else None
    old = machine is not None and machine.compute is not None and machine.compute < _BF16
    asks = [f"--dtype {plan.dtype}"] * (plan.dtype == "bf16")
    asks += [f"--mixed-precision {plan.mixed_precision}"] * (plan.mixed_precision == "bf16")
    if old and asks:
        mixed = "no" if plan.method == "qlora" or plan.mixed_precision == "no" else "fp16"
        fp16 = f"--dtype {'fp16' if plan.dtype == 'bf16' else plan.dtype} --mixed-precision {mixed}"
        said.append(
            f"{plan.machine} has no bf16: PyTorch emulates {' and '.join(asks)}, and its attention takes the math "
            "kernel, which holds the scores of all tokens x tokens; reckoned are fused kernels, so that the figures "
            f"are lower bounds, too low for long rows. Train in fp16 there, and say {fp16}"
        )
    elif old and plan.batch_size == 1 and plan.packing == "none":
        said.append(
            f"{plan.machine} has no flash attention: where a model's heads share keys (grouped heads), one example "
            "alone takes the math kernel, which holds the scores of all tokens x tokens; for such models the figures "
            "are lower bounds, too low for long rows"
        )
    return said
