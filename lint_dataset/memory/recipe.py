"""A recipe: the part of a plan that decides which storages a training step creates, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_dataset.plan import Plan


@dataclass(frozen=True)
class Recipe:
    """What a step program is traced for. Lengths, batch and rank are inputs of the program instead."""

    model: str
    method: str
    #: What LoRA adapts: ``all-linear``, ``attention`` or module names; empty for full fine-tuning.
    targets: str
    dtype: str
    mixed_precision: str
    gradient_checkpointing: bool
    loss: str
    device: str
    #: Whether adapters have a magnitude of their own (DoRA), and which modules are trained whole beside them.
    dora: bool = False
    modules_to_save: str = ""

    @classmethod
    def of(cls, plan: Plan) -> Recipe:
        """The recipe of a plan that names a model."""
        return cls(
            model=plan.model or "",
            method=plan.method,
            targets="" if plan.method == "full" else plan.lora_targets,
            dtype=plan.dtype,
            mixed_precision=plan.mixed_precision,
            gradient_checkpointing=plan.gradient_checkpointing,
            loss=plan.loss,
            device=plan.device,
            dora=plan.dora and plan.method != "full",
            modules_to_save="" if plan.method == "full" else plan.modules_to_save or "",
        )

    @property
    def twin(self) -> Recipe | None:
        """The recipe with fp16 in the place of bf16, or the other way round: its step makes the same storages.

        None where nothing is of 16 bits, or both types occur; where QLoRA runs under autocast, whose adapters are bf16
        as TRL makes them but never fp16; and on a Mac, of which no half was compared.
        """
        halves = {self.dtype, self.mixed_precision} & {"bf16", "fp16"}
        if len(halves) != 1 or self.device != "cuda" or (self.method == "qlora" and self.mixed_precision != "no"):
            return None
        half = halves.pop()
        other = "fp16" if half == "bf16" else "bf16"
        dtype, mixed = (other if kind == half else kind for kind in (self.dtype, self.mixed_precision))
        return replace(self, dtype=dtype, mixed_precision=mixed)

    @property
    def parts(self) -> tuple[str, ...]:
        """What tells it from other recipes of its model."""
        saved = f"&{self.modules_to_save}" if self.modules_to_save else ""
        return (
            self.method + ("-dora" if self.dora else ""),
            ((self.targets or "all") + saved).replace(",", "+"),
            self.dtype,
            f"amp-{self.mixed_precision}",
            "ckpt" if self.gradient_checkpointing else "nockpt",
            self.loss,
            self.device,
        )

    @property
    def key(self) -> str:
        """A name that is unique among recipes of one model and safe as a file name."""
        return "_".join(self.parts)
