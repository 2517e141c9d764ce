"""Settings that were given and that nothing looks at: said, so that nobody believes they were judged by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_dataset.plan import Plan

#: Origins of values that nobody gave.
_NOT_GIVEN = ("assumed", "not given")


def unused(plan: Plan) -> list[str]:
    """A sentence for each kind of setting that was given and has no effect under the rest of the plan."""
    said = []
    adapters = _given(plan, "lora_rank", "lora_targets", "dora", "modules_to_save")
    if plan.method == "full" and adapters:
        said.append(f"{adapters} without effect: --method full trains no adapters")
    cuts = _given(plan, "truncation_side", "overlong")
    if plan.max_length is None and cuts:
        said.append(f"{cuts} without effect: no row is too long without a --max-length")
    return said


def _given(plan: Plan, *names: str) -> str:
    """Those of some settings that were given, as options: ``--lora-rank 8 and --lora-targets attention``."""
    origins = (*_NOT_GIVEN, plan.preset.release)
    return " and ".join(
        f"--{name.replace('_', '-')} {getattr(plan, name)}" for name in names if plan.origins[name] not in origins
    )
