"""Gradient accumulation: the gradients of earlier micro-batches lie there while the next one runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lint_dataset.memory.program import StepProgram


def accumulating(program: StepProgram) -> StepProgram:
    """The program of a micro-batch that adds its gradients to those of earlier ones.

    What outlives backward in a step for itself is there from the start here, and the gradient that backward makes dies
    when it has been added, which PyTorch does in place as soon as it is made.
    """
    events = program.events.tolist()
    backward, optimizer = (program.marks.get(name, len(events)) for name in ("backward", "optimizer"))
    kinds = [event for event in events if event >= 0]
    died_at = [len(events)] * len(kinds)
    born_at: list[int] = []
    for position, event in enumerate(events):
        if event >= 0:
            born_at.append(position)
        else:
            died_at[len(born_at) + event] = position
    gradients = [b for b in range(len(kinds)) if backward <= born_at[b] < optimizer and died_at[b] >= optimizer]
    added = set(gradients)
    ends = {died_at[b] for b in gradients}
    resident = [kinds[b] for b in gradients]
    made: list[int] = list(resident)
    births = len(resident)
    at = {-1: births}
    # Where each old birth is in the new order of births.
    place: list[int] = []
    for position, event in enumerate(events):
        at[position] = len(made)
        if event >= 0:
            birth = len(place)
            place.append(births)
            births += 1
            made.append(event)
            if birth in added:
                made.append(-1)
        elif position not in ends:
            made.append(place[len(place) + event] - births)
    at[len(events)] = len(made)
    made += [index - births for index in range(len(resident))]
    marks = {name: at[position] if position else len(resident) for name, position in program.marks.items()}
    return replace(program, events=np.array(made, np.int32), marks=marks)
