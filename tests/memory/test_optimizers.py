from __future__ import annotations

import numpy as np
import pytest

from lint_dataset.memory import StepMemory, store
from lint_dataset.memory.accumulation import accumulating
from lint_dataset.memory.optimizers import states
from lint_dataset.memory.program import ParameterGroup
from lint_dataset.memory.recipe import Recipe
from lint_dataset.plan import CHOICES, Plan

FULL = Plan(model="Llama-3.2-1B", method="full")
#: The embedding of Llama 3.2 1B, which its output layer shares, and all its parameters.
EMBEDDING, PARAMETERS = 128_256 * 2048, 1_235_814_400


def held(plan: Plan, tokens: int = 64) -> int:
    memory = StepMemory.of(plan)
    return int(memory.allocated(memory.rows(tokens, tokens))[0])


def test_each_optimizer_keeps_what_its_code_makes() -> None:
    groups = (
        ParameterGroup("adapters", ((0, 100), (4095, 0), (1_000_000, 0)), 4.0, True),
        ParameterGroup("embeddings", ((50_000, 0),), 2.0, True),
        ParameterGroup("layers", ((10**9, 0),), 2.0, False),
    )
    assert states("sgd", groups, 8) == []
    assert states("adamw", groups, 8) == [4, 3200, 3200, 4, 16380, 16380, 4, 4 * 10**6, 4 * 10**6, 4, 10**5, 10**5]
    small, large, embedding = [3200] * 2 + [16380] * 2, [1024, 1024, 10**6, 10**6], [200_000] * 2
    scales = [4 * 3907] * 2
    assert states("adamw-8bit", groups, 8) == [*small, *large, *scales, *embedding]
    assert states("paged-adamw-8bit", groups, 8) == [*small, 1024, 1024, *scales, *embedding]


def test_states_of_a_whole_model_are_what_its_parameters_add_up_to() -> None:
    bytes_of = {name: held(FULL.but(optimizer=name)) for name in CHOICES["optimizer"]}
    nothing = bytes_of["sgd"]
    assert bytes_of["adamw"] - nothing == pytest.approx(4 * PARAMETERS, rel=1e-3)
    others = PARAMETERS - EMBEDDING
    assert bytes_of["adamw-8bit"] - nothing == pytest.approx(8 * EMBEDDING + (2 + 8 / 256) * others, rel=1e-3)
    # Only scales and the small tensors are left on the card.
    assert bytes_of["paged-adamw-8bit"] - nothing == pytest.approx(8 / 256 * others, rel=0.05)


def test_gradients_of_earlier_batches_are_there_while_one_runs() -> None:
    """With all weights trained in bf16, a long step holds the 2 bytes a parameter that it has not made yet."""
    plan = FULL.but(gradient_checkpointing=False, mixed_precision="no", loss="logits")
    alone, added = held(plan, 4096), held(plan.but(gradient_accumulation=2), 4096)
    assert added - alone == pytest.approx(2 * PARAMETERS, rel=0.001)
    assert held(plan.but(gradient_accumulation=64), 4096) == added
    parts = StepMemory.of(plan.but(gradient_accumulation=2)).parts(4096, 4096)
    assert parts["gradients"] == pytest.approx(2 * PARAMETERS, rel=0.001)


def test_every_gradient_is_added_and_everything_dies() -> None:
    programs = store.load(Recipe.of(FULL))
    assert programs is not None
    for program in programs:
        made = accumulating(program)
        births = (made.events >= 0).sum()
        trained = sum(len(group.numbers) for group in program.groups if group.trained)
        assert births == (program.events >= 0).sum() + trained
        assert births * 2 == len(made.events)
        alive: set[int] = set()
        born = 0
        for event in made.events.tolist():
            if event >= 0:
                alive.add(born)
                born += 1
            else:
                alive.remove(born + event)
        assert not alive
        order = [made.marks[name] for name in ("forward", "loss", "backward", "optimizer")]
        assert order == sorted(order)
        assert order[0] == trained
        assert np.array_equal(made.coefficients, program.coefficients)
