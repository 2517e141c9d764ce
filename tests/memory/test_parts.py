from __future__ import annotations

import pytest

from lint_dataset.memory.curve import alive_counts, sizes
from lint_dataset.memory.parts import PARTS, bytes_per_parameter, complete, least_bytes, living_parts
from tests.memory.made import program

GB = 10**9


def test_full_fine_tuning_takes_8_12_or_16_bytes_a_parameter_by_the_optimizer_states() -> None:
    assert bytes_per_parameter("same", "bf16") == 8
    assert bytes_per_parameter("fp32", "bf16") == 12
    assert bytes_per_parameter("fp32+master", "bf16") == 16
    assert bytes_per_parameter("same", "fp32") == 16


@pytest.mark.parametrize("states", ["same", "fp32", "fp32+master"])
def test_the_least_of_full_fine_tuning_is_its_bytes_per_parameter(states: str) -> None:
    assert sum(least_bytes(7 * GB, "full", states=states).values()) == 7 * GB * bytes_per_parameter(states)


def test_what_people_know_from_experience() -> None:
    # bf16 weights. 14B LoRA does not fit the 27 GB of a 36 GB laptop, 7B leaves it room.
    assert sum(least_bytes(14_770_000_000, "lora", trained=68_000_000).values()) > 27 * GB
    assert sum(least_bytes(7_615_616_512, "lora", trained=40_000_000).values()) < 17 * GB
    # On 16 GB, 8B LoRA does not fit; QLoRA leaves room, with its embeddings and output layer in fp32.
    assert sum(least_bytes(8_030_261_248, "lora", trained=42_000_000).values()) > 16 * GB
    unquantised = 2 * 128256 * 4096
    assert sum(least_bytes(8_030_261_248, "qlora", trained=42_000_000, unquantised=unquantised).values()) < 9 * GB


def test_parts_are_told_apart_by_when_they_are_born() -> None:
    # forward: an activation (kind 0); loss: logits (kind 1) and one more of the activation's kind;
    # backward: logits, a gradient (kind 2), and a temporary; optimizer: a temporary (kind 3).
    kinds = [{(): 512}, {(): 1024}, {(): 2048}, {(): 4096}]
    #         0:a 1:l 2:a  dies:l 3:l 4:g 5:a   dies a,l,a,a    6:o  dies o,g
    events = [0, 1, 0, -2, 1, 2, 0, -1, -3, -4, -6, 3, -1, -3]
    marks = {"forward": 0, "loss": 1, "backward": 3, "optimizer": 11}
    made = program(kinds, events, marks=marks)
    assert alive_counts(made)[-1].tolist() == [0, 0, 0, 0]
    here = sizes(made, [1] * 6)
    assert living_parts(made, here, 2) == {"gradients": 0, "optimizer": 0, "activations": 1024, "logits": 1024}
    assert living_parts(made, here, 6) == {"gradients": 2048, "optimizer": 0, "activations": 1536, "logits": 1024}
    assert living_parts(made, here, 11) == {"gradients": 2048, "optimizer": 4096, "activations": 0, "logits": 0}


def test_overhead_makes_the_parts_add_up() -> None:
    parts = complete({"weights": 10, "logits": 5}, 20)
    assert tuple(parts) == PARTS
    assert parts["overhead"] == 5
    assert sum(parts.values()) == 20
