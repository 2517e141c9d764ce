"""A program at any point equals a fresh trace there, to the byte."""

from __future__ import annotations

import random

import pytest

from lint_dataset.memory.accumulation import accumulating
from lint_dataset.memory.program import StepProgram
from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace import trace
from lint_dataset.memory.trace.step import Loop, Point, Trace, Tracer

from .seen import at, peak, recipe, replayed

CASES = {
    "trl": {},
    "trl-logits-no-checkpoints": {"loss": "logits", "gradient_checkpointing": False},
    "trl-fused": {"loss": "fused", "targets": "attention"},
    "trl-qlora": {"method": "qlora"},
    "trl-full": {"method": "full", "targets": ""},
    "dora": {"dora": True},
    "qdora": {"method": "qlora", "dora": True, "loss": "logits", "gradient_checkpointing": False},
    "trained-embeddings": {"modules_to_save": "embed_tokens,lm_head", "targets": "attention"},
    "qlora-fp16": {"method": "qlora", "dtype": "fp16", "mixed_precision": "no", "loss": "logits"},
    "full-fp32-autocast": {"method": "full", "targets": "", "dtype": "fp32", "loss": "logits"},
    "mps": {
        "device": "mps",
        "mixed_precision": "no",
        "loss": "logits",
        "gradient_checkpointing": False,
        "dtype": "fp32",
    },
    "mps-chunked": {"device": "mps"},
}


def points(tokens: int, rng: random.Random) -> list[Point]:
    """Random points: alone and in a batch, short and long."""
    found = []
    for batch in (1, 1, rng.randint(2, 6), rng.randint(2, 6)):
        length = rng.randint(tokens // 2, tokens * 3)
        found.append(Point(batch, length, rng.randint(1, 80), rng.randint(1, min(batch * length, 4096))))
    return found


@pytest.mark.parametrize("case", CASES)
def test_random_points_of_a_program_equal_fresh_traces(case: str, llama: str) -> None:
    what = recipe(llama, **CASES[case])
    made = trace(what)
    tracer = Tracer(what)
    for point in points(300, random.Random(case)):
        fresh = tracer.trace(point)
        sizes, events = replayed(at(made, point), point)
        assert events == fresh.events
        assert sizes == fresh.sizes


def test_experts_are_held_and_adapted_each_and_equal_fresh_traces(experts: str) -> None:
    what = recipe(experts)
    made = trace(what)
    tracer = Tracer(what)
    for point in points(300, random.Random(7)):
        fresh = tracer.trace(point)
        assert replayed(at(made, point), point) == (fresh.sizes, fresh.events)
    per_rank = sum(rank for g in made[0].groups if g.trained for _, rank in g.numbers)
    attention = (96 + 96) * 2 + (96 + 32) * 2
    # Each of 4 experts has adapters of its own: of gate and up, which are one tensor, at twice the rank (96 to 2 x 48),
    # and of down (48 to 96). The router's product counts as a linear layer.
    assert per_rank == 2 * (attention + 4 * (2 * (96 + 2 * 48) + 48 + 96) + 96 + 4)
    # Tokens go to their experts in one grouped product: rows of two experts a token, not of all four.
    held = 2 * 300 * 2 * 48 * 2
    point = Point(1, 300, 16, 100)
    assert replayed(at(made, point), point)[0].count(held) > 0


@pytest.mark.parametrize("case", ["trl", "mps"])
def test_a_model_with_a_window_and_audio_equals_fresh_traces(case: str, gemma3n: str) -> None:
    what = recipe(gemma3n, **CASES[case])
    made = trace(what)
    tracer = Tracer(what)
    rng = random.Random(case)
    for batch, tokens, clips in (
        (1, 40, 0),
        (1, 300, 0),
        (3, 50, 0),
        (2, 200, 0),
        (1, 300, 2),
        (2, 60, 5),
        (4, 220, 3),
    ):
        frames = 24 + 48 * rng.randint(3, 60) if clips else 0
        point = Point(batch, tokens, rng.randint(1, 64), rng.randint(1, tokens), clips, frames)
        fresh = tracer.trace(point)
        sizes, events = replayed(at(made, point), point)
        assert events == fresh.events
        for held, size in zip(sizes, fresh.sizes, strict=True):
            # A mask has a fraction of a byte a frame, which a program rounds up to a byte.
            assert held == size or (clips and size < held <= size * 16)
        assert peak(fresh) <= peak(type(fresh)(sizes, events, {}, set())) <= peak(fresh) * 1.001


def test_one_clip_is_held_as_several_and_hardly_too_high(gemma3n: str) -> None:
    what = recipe(gemma3n, loss="logits")
    fresh = Tracer(what).trace(Point(1, 300, 16, 0, 1, 1752))
    point = Point(1, 300, 16, 0, 1, 1752)
    sizes, events = replayed(at(trace(what), point), point)
    held = peak(type(fresh)(sizes, events, {}, set()))
    assert peak(fresh) <= held <= peak(fresh) * 1.01


def test_more_supervised_tokens_than_a_tile_of_the_loss_equal_a_fresh_trace_of_a_full_tile(llama: str) -> None:
    what = recipe(llama)
    made = trace(what)
    full = replayed(at(made, Point(2, 5000, 8, 9000)), Point(2, 5000, 8, 4096))[0]
    edge = replayed(at(made, Point(2, 5000, 8, 4096)), Point(2, 5000, 8, 4096))[0]
    assert full == edge
    wide = replayed(at(made, Point(2, 5000, 8, 9000)), Point(2, 5000, 8, 9000))[0]
    tile = 4096 * 32768 * 2
    assert max(wide) == max(edge) == tile


def test_every_storage_dies_and_marks_are_in_order(llama: str) -> None:
    for program in trace(recipe(llama)):
        events = program.events
        assert (events >= 0).sum() * 2 == len(events)
        assert 0 == program.marks["forward"] < program.marks["loss"] < program.marks["backward"]
        assert program.marks["backward"] < program.marks["optimizer"] <= len(events)


def test_groups_hold_every_parameter_and_adapters_follow_the_rank(llama: str) -> None:
    program = trace(recipe(llama))[0]
    adapters = [g for g in program.groups if g.trained]
    assert {g.name for g in adapters} == {"adapters"}
    assert {g.bytes_per_element for g in adapters} == {4.0}
    # q, o: 96 to 96; k, v: 96 to 32; gate, up: 96 to 224; down: back. In three layers.
    per_rank = 3 * (2 * (96 + 96) + 2 * (96 + 32) + 3 * (96 + 224))
    assert sum(rank for g in adapters for _, rank in g.numbers) == per_rank
    frozen = sum(number for g in program.groups if not g.trained for number, _ in g.numbers)
    assert frozen == 70_001 * 96 + 3 * (2 * 96 * 96 + 2 * 96 * 32 + 3 * 96 * 224 + 2 * 96) + 96


def test_four_bit_weights_are_half_a_byte_with_a_scale_for_every_64(llama: str) -> None:
    program = trace(recipe(llama, method="qlora"))[0]
    groups = {g.name: g for g in program.groups}
    weights = 3 * (2 * 96 * 96 + 2 * 96 * 32 + 3 * 96 * 224)
    assert sum(n for n, _ in groups["4-bit weights"].numbers) == weights
    assert groups["4-bit weights"].bytes_per_element == 0.5
    assert sum(n for n, _ in groups["4-bit scales"].numbers) == weights // 64 + 21 * 16
    # TRL makes the adapters bf16 where the weights are packed, and leaves embeddings as they are.
    assert groups["adapters"].bytes_per_element == 2
    assert groups["embeddings"].bytes_per_element == 2


def test_without_trl_what_is_not_packed_becomes_fp32(llama: str) -> None:
    program = trace(recipe(llama, method="qlora", mixed_precision="no", loss="logits"))[0]
    groups = {g.name: g for g in program.groups}
    assert groups["embeddings"].bytes_per_element == groups["adapters"].bytes_per_element == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "/nowhere/at-all"}, "has no configuration here"),
        ({"targets": "no_such_module"}, "PEFT finds nothing to adapt"),
        ({"loss": "fused", "device": "mps"}, "Triton"),
        ({"model": "Qwen3.5-4B"}, "Qwen3.5-4B has layers of linear attention"),
        ({"model": "Granite-4.0-h-micro"}, "linear attention"),
        ({"model": "whisper-tiny"}, "encoder-decoder"),
    ],
)
def test_what_cannot_be_traced_is_said_in_a_sentence(changes: dict[str, str], message: str, llama: str) -> None:
    what = recipe(llama)
    with pytest.raises(ValueError, match=message) as raised:
        trace(Recipe(**{**what.__dict__, **changes}))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("case", ["trl", "trl-full", "full-fp32-autocast"])
def test_accumulated_gradients_peak_as_in_a_fresh_trace_with_gradients_in_place(case: str, llama: str) -> None:
    what = recipe(llama, **CASES[case])
    made = trace(what)
    tracer = Tracer(what, Loop(resident_gradients=True))
    for point in points(300, random.Random(3)):
        fresh = tracer.trace(point)
        sizes, events = replayed(accumulating(at(made, point)), point)
        assert sorted(sizes) == sorted(fresh.sizes)
        assert peak(Trace(sizes, events, {}, set())) == peak(fresh)


def test_dora_trains_one_number_more_for_each_output(llama: str) -> None:
    plain, dora = (trace(recipe(llama, dora=on))[0] for on in (False, True))

    def trained(program: StepProgram) -> tuple[int, int]:
        numbers = [pair for group in program.groups if group.trained for pair in group.numbers]
        return sum(constant for constant, _ in numbers), sum(per_rank for _, per_rank in numbers)

    outputs = 3 * (2 * 96 + 2 * 32 + 2 * 224 + 96)
    assert trained(plain)[0] == 0
    assert trained(dora) == (outputs, trained(plain)[1])


def test_modules_trained_whole_are_there_twice_and_have_gradients(llama: str) -> None:
    program = trace(recipe(llama, modules_to_save="embed_tokens,lm_head"))[0]
    embedding = 70_001 * 96
    whole = sorted(
        (group.name, group.bytes_per_element, constant)
        for group in program.groups
        if group.trained
        for constant, _ in group.numbers
        if constant
    )
    # Embedding and output layer share their weight; each gets a copy of its own, in the type of the weights.
    assert whole == [("embeddings", 2.0, embedding), ("layers", 2.0, embedding)]
    frozen = [constant for group in program.groups if not group.trained for constant, _ in group.numbers]
    assert frozen.count(embedding) == 1
    end = program.marks["optimizer"]
    sizes, events = replayed(program, Point(1, 400, 8, 50))
    outlives = {e for e in events[:end] if e >= 0} - {-1 - e for e in events[:end] if e < 0}
    assert [sizes[birth] for birth in outlives].count(2 * embedding) == 2


HALVES = {
    "lora": {},
    "lora-no-checkpoints": {"loss": "logits", "gradient_checkpointing": False},
    "full-fp32": {"method": "full", "targets": "", "dtype": "fp32"},
    "qlora": {"method": "qlora", "mixed_precision": "no", "loss": "logits"},
}


@pytest.mark.parametrize("case", HALVES)
def test_a_step_in_fp16_makes_what_its_twin_in_bf16_makes(case: str, llama: str) -> None:
    what = recipe(llama, **HALVES[case])
    twin = what.twin
    assert twin is not None
    assert twin.twin == what
    assert "fp16" in twin.key
    assert "bf16" not in twin.key
    for point in (Point(1, 300, 16, 200), Point(3, 333, 8, 400)):
        one, other = Tracer(what).trace(point), Tracer(twin).trace(point)
        assert (one.sizes, one.events, one.marks) == (other.sizes, other.events, other.marks)


def test_what_hears_differs_from_its_twin(gemma3n: str) -> None:
    what = recipe(gemma3n)
    assert what.twin is not None
    point = Point(1, 300, 16, 200, 2, 24 + 48 * 20)
    assert Tracer(what).trace(point).sizes != Tracer(what.twin).trace(point).sizes


def test_qlora_under_autocast_has_no_twin(llama: str) -> None:
    # TRL makes the adapters bf16, but of fp16 it leaves them fp32.
    what = recipe(llama, method="qlora")
    assert what.twin is None
    point = Point(1, 300, 16, 200)
    halved = recipe(llama, method="qlora", dtype="fp16", mixed_precision="fp16")
    assert Tracer(what).trace(point).sizes != Tracer(halved).trace(point).sizes
