"""Without a dataset: the memory of a plan's step at a ladder of lengths, by parts, and the longest that fits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lint_dataset.machines.remarks import remarks
from lint_dataset.memory import StepMemory
from lint_dataset.models import find
from lint_dataset.plan import Plan
from lint_dataset.unused import unused
from lint_dataset.usage import UsageError

#: The shortest rung, and the longest where the model's context is not known.
SHORTEST, UNKNOWN_CONTEXT = 256, 32_768


@dataclass(frozen=True)
class Rung:
    """A step of examples of so many ``tokens``, all of them trained on, in bytes of the process.

    ``parts`` add up to the ``peak``; the real one lies between ``low`` and ``high``.
    """

    tokens: int
    peak: int
    low: int
    high: int
    parts: Mapping[str, int]

    def verdict(self, budget: int) -> str:
        """``fits``, ``may not fit`` or ``does not fit``: where the band lies."""
        return "fits" if self.high <= budget else "may not fit" if self.low <= budget else "does not fit"


@dataclass(frozen=True)
class Ladder:
    """The rungs, shortest first; the last is the model's context.

    ``longest_that_fits`` are the tokens of the longest step that fits the budget for certain, up to the context; None
    without a budget or where not even one token fits.
    """

    plan: Plan
    notes: tuple[str, ...]
    context: int
    rungs: tuple[Rung, ...]
    longest_that_fits: int | None


def ladder(plan: Plan, cache_dir: str | None = None) -> Ladder:
    """The ladder of a plan: 256 tokens, twice as many, and so on to the model's context.

    A step holds ``plan.batch_size`` text examples of that length. Needs no processor. Raises ``NoStepProgram`` where
    the memory of the plan is not known, ``UsageError`` where it names no model or is calibrated by what cannot be.
    """
    if plan.model is None:
        raise UsageError("name the model that will be trained with --model")
    memory = StepMemory.of(plan, cache_dir)
    known = context_length(plan.model)
    context = known or UNKNOWN_CONTEXT
    notes = [*unused(plan), *remarks(plan)]
    if known is None:
        notes.append(f"the context of {plan.model} is not known here: lengths end at {context:,} tokens")
    notes.append(f"memory: {memory.band.basis}")
    fits = memory.longest_that_fits(plan.budget) if plan.budget is not None else None
    return Ladder(
        plan=plan,
        notes=tuple(notes),
        context=context,
        rungs=tuple(_rung(memory, tokens) for tokens in lengths(context)),
        longest_that_fits=min(fits, context) if fits is not None else None,
    )


def lengths(context: int) -> list[int]:
    """256 and its doubles below the context, and the context."""
    doubles = (SHORTEST << power for power in range(context.bit_length()))
    return [*(tokens for tokens in doubles if tokens < context), context]


def context_length(model: str) -> int | None:
    """The tokens that a model takes at most, by its configuration; None where that is not at hand."""
    known = None if os.path.isdir(model) else find(model)
    if known is not None:
        for described in (known.config, known.config.get("text_config")):
            if isinstance(described, dict) and isinstance(described.get("max_position_embeddings"), int):
                return int(described["max_position_embeddings"])
    try:
        found = _configuration(model, known.config if known is not None else {}, known.hub_id if known else model)
        return int(found.get_text_config().max_position_embeddings)
    except Exception:  # What transformers and its Hub client raise is not a closed set, and this is only a bound.
        return None


def _configuration(model: str, described: Mapping[str, Any], hub_id: str) -> Any:
    """The configuration as transformers holds it: from what is described of it, a folder, or the Hub's files here."""
    # That PyTorch is missing is no news to one who only asks for a configuration.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from transformers import AutoConfig

    if described:
        rest = dict(described)
        return AutoConfig.for_model(rest.pop("model_type"), **rest)
    where = model if os.path.isdir(model) else hub_id
    # Where the step was traced it is here already, and a bound of a table is not worth a download.
    return AutoConfig.from_pretrained(where, trust_remote_code=False, local_files_only=True)


def _rung(memory: StepMemory, tokens: int) -> Rung:
    verdict = memory.verdicts([tokens], [tokens], budget=memory.plan.budget)
    parts = memory.parts(tokens, tokens)
    return Rung(tokens, int(verdict.peak[0]), int(verdict.low[0]), int(verdict.high[0]), parts)
