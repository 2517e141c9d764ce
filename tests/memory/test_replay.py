"""What loading and the first step leave in the allocator, worked out by hand."""

from __future__ import annotations

import pytest

from lint_dataset.memory.allocator import MIB, OutOfMemory
from lint_dataset.memory.devices import Device
from lint_dataset.memory.program import ParameterGroup
from lint_dataset.memory.replay import Loading, Process, tensor_bytes
from tests.memory.made import program

BARE = Device(context=0, least_context=0, workspace=0, caching=True)
NOTHING = program([{(): 512}], [0, -1], marks={"forward": 0, "backward": 2, "optimizer": 2})


def test_tensors_follow_the_rank() -> None:
    group = ParameterGroup("adapters", ((0, 100), (7, 1)), 4.0, True)
    assert tensor_bytes(group, 16) == [6400, 92]
    assert tensor_bytes(ParameterGroup("4-bit weights", ((5, 0),), 0.5, False), 1) == [3]


def test_weights_moved_one_by_one_have_a_segment_each() -> None:
    weights = (ParameterGroup("layers", ((6 * MIB, 0), (6 * MIB, 0)), 2.0, False),)
    process = Process(weights, 1, BARE)
    assert (process.allocator.allocated, process.allocator.reserved) == (24 * MIB, 24 * MIB)
    # 11 MiB would take a segment of 12 each; mapped, both come from the 22 that were asked for first.
    weights = (ParameterGroup("layers", ((11 * MIB // 2, 0), (11 * MIB // 2, 0)), 2.0, False),)
    assert Process(weights, 1, BARE).allocator.reserved == 24 * MIB
    assert Process(weights, 1, BARE, loading=Loading(mapped=True)).allocator.reserved == 22 * MIB


def test_packing_a_weight_leaves_the_room_that_it_came_in() -> None:
    # 32 Mi weights: 64 MiB arrive, 16 stay with 2 MiB of scales. The model's 16 were asked for first and freed. The 64
    # have their own segment, the scales go into the first one, the 16 need another, and the 64 stay cached.
    groups = (
        ParameterGroup("4-bit scales", ((MIB // 2, 0),), 4.0, False),
        ParameterGroup("4-bit weights", ((32 * MIB, 0),), 0.5, False),
    )
    process = Process(groups, 1, BARE)
    assert process.allocator.allocated == 18 * MIB
    assert process.allocator.reserved == (16 + 64 + 16) * MIB


def test_what_peft_turns_into_fp32_is_there_twice_for_a_moment() -> None:
    # Beside a 4-bit weight of 16 MiB (64 arrive), 10 Mi elements: 20 MiB arrive and become 40.
    groups = (
        ParameterGroup("4-bit weights", ((32 * MIB, 0),), 0.5, False),
        ParameterGroup("embeddings", ((10 * MIB, 0),), 4.0, False),
    )
    process = Process(groups, 1, BARE, loading=Loading(clears=False))
    # The 36 asked for first hold the 20 and then the 16; the 40 go into the 64 that are free again.
    assert (process.allocator.allocated, process.allocator.reserved) == (56 * MIB, 100 * MIB)
    # Here nothing is free as a whole: PEFT's clearing of the cache gives nothing back.
    assert Process(groups, 1, BARE).allocator.reserved == 100 * MIB


def test_tensors_that_arrive_ahead_lie_beside_the_one_that_is_packed() -> None:
    # Two weights of 64 MiB, packed to 16 each: the second comes into the room of the first, or beside it.
    groups = (ParameterGroup("4-bit weights", ((32 * MIB, 0), (32 * MIB, 0)), 0.5, False),)
    assert Process(groups, 1, BARE).allocator.reserved == (32 + 64) * MIB
    assert Process(groups, 1, BARE, loading=Loading(ahead=4)).allocator.reserved == (32 + 128) * MIB


def test_peft_gives_back_what_turning_weights_into_fp32_leaves() -> None:
    # 40 MiB arrive in the 49 asked for first, whose rest takes nothing as large; they become 80, and all 49 go back.
    groups = (
        ParameterGroup("4-bit weights", ((2 * MIB, 0),), 0.5, False),
        ParameterGroup("embeddings", ((20 * MIB, 0),), 4.0, False),
    )
    kept = Process(groups, 1, BARE, loading=Loading(clears=False)).allocator
    assert Process(groups, 1, BARE).allocator.reserved < kept.reserved


def test_states_and_workspaces_come_with_the_first_step_and_stay() -> None:
    device = Device(context=0, least_context=0, workspace=8 * MIB, caching=True)
    adapters = (ParameterGroup("adapters", ((0, MIB // 4),), 4.0, True),)
    process = Process(adapters, 2, device)
    assert process.allocator.allocated == 2 * MIB
    process.step(NOTHING, [512])
    # Two workspaces, two states of 2 MiB and a step count.
    assert process.allocator.allocated == 2 * MIB + 16 * MIB + 4 * MIB + 512
    process.step(NOTHING, [512])
    assert process.allocator.allocated == 22 * MIB + 512


def test_weights_that_do_not_fit_run_out_of_memory() -> None:
    weights = (ParameterGroup("layers", ((6 * MIB, 0), (6 * MIB, 0)), 2.0, False),)
    with pytest.raises(OutOfMemory):
        Process(weights, 1, BARE, limit=20 * MIB)
