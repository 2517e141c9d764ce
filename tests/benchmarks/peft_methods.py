"""Differences between methods in PEFT's own benchmark (Llama-3.2-3B on an L40S, reserved memory of whole runs).

python -m tests.benchmarks.peft_methods

Of these runs the cap is known and not the longest batch, inferred as 4 x 725 tokens: so differences are compared, not
figures. Measured: huggingface/peft, method_comparison/MetaMathQA/results at 51c2ff666b.
"""

from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.replay import Loading
from lint_dataset.memory.validate import Case, predict
from lint_dataset.plan import Plan

#: Method, rank, targets, and GB that were reserved at most.
MEASURED = [
    ("LoRA, q and v, rank 32", "lora", 32, "q_proj,v_proj", 22.293),
    ("LoRA, q and v, rank 64", "lora", 64, "q_proj,v_proj", 22.553),
    ("LoRA, MLP, rank 10", "lora", 10, "down_proj,gate_proj,up_proj", 24.698),
    ("full", "full", 1, "", 38.869),
]
LOOP = {
    "keep_outputs": True,
    "foreach": True,
    "padded": True,
    "resident_gradients": False,
    "flash": True,
    "eager": False,
}


def case(method: str, rank: int, targets: str, tokens: int) -> Case:
    plan = Plan(
        model="Llama-3.2-3B",
        method=method,
        dtype="bf16",
        mixed_precision="no",
        gradient_checkpointing=False,
        loss="logits",
        **({"lora_targets": targets} if targets else {}),
    )
    return Case(
        group="",
        model="Llama-3.2-3B",
        recipe=Recipe.of(plan),
        loop=tuple(sorted(LOOP.items())),
        batch=4,
        tokens=tokens,
        rank=rank,
        clips=0,
        seconds=0.0,
        device="l40s",
        loading=Loading(),
        measured={},
    )


def main() -> None:
    for tokens in (725, 768):
        base = None
        for name, method, rank, targets, measured in MEASURED:
            found = predict(case(method, rank, targets, tokens))
            assert found is not None, "without a limit nothing runs out of memory"
            reserved = found["reserved"] / 1e9
            base = base or (reserved, measured)
            off = (reserved - base[0]) - (measured - base[1])
            print(
                f"4 x {tokens}  {name:24} reserved {reserved:6.2f} GB, measured {measured:6.2f}; more than the first "
                f"{reserved - base[0]:+6.2f}, measured {measured - base[1]:+6.2f}: {100 * off / base[1]:+5.1f} % of it",
                flush=True,
            )


if __name__ == "__main__":
    main()
