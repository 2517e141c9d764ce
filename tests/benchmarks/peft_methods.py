"""Methods in PEFT's own benchmark beside one another (Llama-3.2-3B on an L40S, reserved memory of whole runs).

python -m tests.benchmarks.peft_methods

All runs saw the same batches, padded to their longest examples. How long the longest was is not known; one length must
explain all methods, and ``TOKENS`` is the one at which LoRA on q and v comes near its figure. The loop
(method_comparison/MetaMathQA/run.py) gives cached memory back every ten steps and has batches of many lengths, so
beside two steps of that length it is replayed after others. Measured: huggingface/peft,
method_comparison/MetaMathQA/results at 51c2ff666b.
"""

from dataclasses import replace

from lint_dataset.memory import devices
from lint_dataset.memory.measured_runs import Case
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.replay import Loading, Process
from lint_dataset.memory.validate import program
from lint_dataset.plan import Plan

#: Method, rank, targets, whether DoRA, and GB that were reserved at most.
MEASURED = [
    ("LoRA, q and v, rank 32", "lora", 32, "q_proj,v_proj", False, 22.293),
    ("LoRA, q and v, rank 64", "lora", 64, "q_proj,v_proj", False, 22.553),
    ("LoRA, MLP, rank 10", "lora", 10, "down_proj,gate_proj,up_proj", False, 24.698),
    ("DoRA, q and v, rank 32", "lora", 32, "q_proj,v_proj", True, 24.532),
    ("full", "full", 1, "", False, 38.869),
]
BATCH, TOKENS = 4, 648
#: Steps before it that are shorter; CLEAR gives cached memory back.
SHORT, MIDDLE, CLEAR = 230, 400, 0
SEQUENCES = [
    (TOKENS, TOKENS),
    (TOKENS, CLEAR, TOKENS),
    (SHORT, CLEAR, TOKENS),
    (SHORT, CLEAR, MIDDLE, TOKENS),
    (SHORT, MIDDLE, SHORT, TOKENS),
    (MIDDLE, CLEAR, MIDDLE, SHORT, MIDDLE, TOKENS),
]
LOOP = {
    "keep_outputs": True,
    "foreach": True,
    "padded": True,
    "resident_gradients": False,
    "flash": True,
    "eager": False,
}


def case(method: str, rank: int, targets: str, dora: bool, tokens: int) -> Case:
    plan = Plan(
        model="Llama-3.2-3B",
        method=method,
        dtype="bf16",
        mixed_precision="no",
        gradient_checkpointing=False,
        loss="logits",
        dora=dora,
        **({"lora_targets": targets} if targets else {}),
    )
    return Case(
        group="",
        model="Llama-3.2-3B",
        recipe=Recipe.of(plan),
        loop=tuple(sorted(LOOP.items())),
        batch=BATCH,
        tokens=tokens,
        rank=rank,
        clips=0,
        seconds=0.0,
        device="l40s",
        loading=Loading(),
        measured={},
    )


def main() -> None:
    base = None
    for name, method, rank, targets, dora, measured in MEASURED:
        longest = case(method, rank, targets, dora, TOKENS)
        steps = {tokens: program(replace(longest, tokens=tokens)) for tokens in (TOKENS, SHORT, MIDDLE)}
        found = []
        for sequence in SEQUENCES:
            process = Process(steps[TOKENS].groups, rank, devices.find("l40s"), loading=Loading())
            for tokens in sequence:
                if tokens == CLEAR:
                    process.allocator.empty_cache()
                else:
                    process.step(steps[tokens], steps[tokens].coefficients[:, 0].tolist())
            found.append(process.allocator.peak_reserved / 1e9)
        held = process.allocator.peak_allocated / 1e9
        base = base or (found[0], measured)
        off = (found[0] - base[0]) - (measured - base[1])
        print(
            f"{BATCH} x {TOKENS}  {name:24} tensors {held:6.2f} GB; reserved {found[0]:6.2f}, after other lengths "
            f"{min(found):6.2f} to {max(found):6.2f}, measured {measured:6.2f}; more than the first "
            f"{found[0] - base[0]:+6.2f}, measured {measured - base[1]:+6.2f}: {100 * off / base[1]:+5.1f} % of it",
            flush=True,
        )


if __name__ == "__main__":
    main()
