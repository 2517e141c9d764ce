"""Verdicts that people rely on: runs whose end is known, and rules of thumb that have proved right.

A machine that shares its memory leaves three quarters of it to a process.
"""

from __future__ import annotations

import pytest

from lint_dataset.memory import StepMemory, peak_bytes
from lint_dataset.memory.parts import bytes_per_parameter, least_bytes
from lint_dataset.plan import Plan

GB = 10**9


class TestTheLaptopThatCrashed:
    """Gemma 3n E2B, LoRA, fp32, on a Mac of 48 GB: fine on short examples, out of memory on long ones."""

    plan = Plan(
        model="gemma-3n-E2B",
        method="lora",
        dtype="fp32",
        device="mps",
        trainer="hf",
        budget=48 * GB,
        loss="logits",
        gradient_checkpointing=False,
    )

    def test_a_max_length_of_1024_fits_and_1536_is_on_the_edge(self) -> None:
        at_1024, at_1536 = (peak_bytes(self.plan, tokens) / GB for tokens in (1024, 1536))
        assert at_1024 == pytest.approx(38, rel=0.05)
        assert at_1536 == pytest.approx(47, rel=0.05)

    def test_short_examples_fit_and_long_ones_do_not(self) -> None:
        verdicts = StepMemory.of(self.plan).verdicts([256, 512, 1024, 1536, 2048], 0, budget=self.plan.budget)
        fits, over = verdicts.high <= 48 * GB, verdicts.low > 48 * GB
        assert fits.tolist() == [True, True, True, False, False]
        assert over.tolist() == [False, False, False, False, True]

    def test_gradient_checkpointing_is_what_would_have_saved_it(self) -> None:
        assert peak_bytes(self.plan.but(gradient_checkpointing=True), 2048) < 0.85 * peak_bytes(self.plan, 2048)


class TestShippedModels:
    def test_e4b_with_lora_fits_an_a100_of_40_gb(self) -> None:
        """Short examples, bf16 weights, TRL's own defaults; 40 GB cards have 39.6 GiB to give."""
        plan = Plan(model="gemma-3n-E4B", method="lora", device="cuda", budget="39GiB")  # type: ignore[arg-type]
        verdicts = StepMemory.of(plan).verdicts([256, 512], [256, 512], budget=plan.budget)
        assert (verdicts.high <= plan.budget).all()


class TestArithmeticForModelsWithoutAProgram:
    """What weights, gradients and states take is known without a trace, and already decides these."""

    laptop_36, laptop_16 = 27 * GB, 12 * GB

    def test_lora_of_7b_fits_27_gb_and_of_14b_does_not(self) -> None:
        seven = sum(least_bytes(7_615_616_512, "lora", trained=40_000_000).values()) + 3 * GB
        fourteen = sum(least_bytes(14_770_033_664, "lora", trained=69_000_000).values())
        assert seven <= self.laptop_36
        assert fourteen > self.laptop_36

    def test_8b_fits_12_gb_with_qlora_and_not_with_lora(self) -> None:
        unquantised = 2 * 128256 * 4096 + 65 * 4096
        lora = sum(least_bytes(8_030_261_248, "lora", trained=42_000_000).values())
        qlora = least_bytes(8_030_261_248, "qlora", trained=42_000_000, unquantised=unquantised, unquantised_bytes=2)
        assert lora > self.laptop_16
        assert sum(qlora.values()) + 3 * GB <= self.laptop_16

    @pytest.mark.parametrize(
        ("recipe", "gb_a_billion"),
        [(("same", "bf16"), 8), (("fp32", "bf16"), 12), (("fp32+master", "bf16"), 16), (("same", "fp32"), 16)],
    )
    def test_full_fine_tuning_by_the_recipe_of_its_states(self, recipe: tuple[str, str], gb_a_billion: int) -> None:
        assert bytes_per_parameter(*recipe) == gb_a_billion
        held = least_bytes(10**9, "full", recipe[1], states=recipe[0])
        assert sum(held.values()) == gb_a_billion * GB
