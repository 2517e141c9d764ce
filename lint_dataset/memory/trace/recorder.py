"""Watches one training step on the meta device: every storage that is born, how large it is, and when it dies."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lint_dataset.memory.trace.shapes import Shapes

#: What PyTorch asks the device for when Python branches on a tensor's value.
_VALUE = torch.ops.aten._local_scalar_dense.default
#: What a check of the model's code asks ("as many audio tokens as features?"): in a sound batch, yes.
_CHECK = torch.ops.aten._is_all_true.default
#: On CUDA this first multiplies the gradient and the output into a temporary.
_SOFTMAX_BACKWARD = torch.ops.aten._softmax_backward_data.default


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records births and deaths of storages on the meta device, in order.

    ``sizes`` holds the bytes of each birth as asked for, before the allocator rounds. ``events`` has one integer an
    event: ``i >= 0`` is the birth of storage ``i``, ``-1 - i`` its death. ``marks`` maps a phase of the step to the
    index of its first event. ``tiles`` names the births whose size follows a tile of the loss that has a greatest
    size (see ``losses``).

    Meta tensors have no values; where the model's code branches on one, ``answer`` gives it.
    """

    def __init__(self, answer: Callable[[torch.Tensor], Any], shapes: Shapes | None = None, cuda: bool = True) -> None:
        """``shapes`` may be shared by recorders, so that later traces find what earlier ones learnt."""
        super().__init__()  # type: ignore[no-untyped-call]
        self._shapes = shapes or Shapes()
        self.sizes: list[int] = []
        self.events: list[int] = []
        self.marks: dict[str, int] = {}
        self.tiles: set[int] = set()
        self._answer = answer
        self._cuda = cuda
        self._in_tile = False
        self._known: set[int] = set()
        self._watched: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Spare every operator PyTorch's guard against being compiled: nothing is compiled here."""
        return False

    def know(self, tensors: Iterable[torch.Tensor]) -> None:
        """These live longer than the step: their storages are no events."""
        self._known.update(tensor.untyped_storage()._cdata for tensor in tensors)

    def mark(self, phase: str) -> None:
        """The next event is the first of this phase (the first call for a phase counts)."""
        self.marks.setdefault(phase, len(self.events))

    @contextmanager
    def tile(self) -> Iterator[None]:
        """Storages born in here are tiles."""
        before, self._in_tile = self._in_tile, True
        try:
            yield
        finally:
            self._in_tile = before

    def close(self) -> None:
        """End the step: what still lives dies here, so that a program can be replayed any number of times."""
        for index in sorted(self._alive(), reverse=True):
            self.events.append(-1 - index)
        self._watched.clear()

    def _alive(self) -> set[int]:
        alive: set[int] = set()
        for event in self.events:
            if event >= 0:
                alive.add(event)
            else:
                alive.discard(-1 - event)
        return alive

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operator and look at what it returned."""
        if func is _VALUE and args[0].device.type == "meta":
            return self._answer(args[0])
        if func is _CHECK and args[0].device.type == "meta":
            return torch.ones((), dtype=torch.bool)
        product = None
        if func is _SOFTMAX_BACKWARD and self._cuda:
            product = torch.empty_like(args[0])
            self._see(product)
        out = self._shapes.run(func, args, kwargs or {})
        if isinstance(out, torch.Tensor):
            self._see(out)
        elif isinstance(out, (tuple, list)):
            for item in out:
                if isinstance(item, torch.Tensor):
                    self._see(item)
        del product
        return out

    def _see(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._watched or key in self._known or tensor.device.type != "meta":
            return
        size = storage.nbytes()
        if not size:
            return
        index = len(self.sizes)
        self.sizes.append(size)
        self.events.append(index)
        if self._in_tile:
            self.tiles.add(index)

        def died(_: object) -> None:
            if self._watched.pop(key, None) is not None:
                self.events.append(-1 - index)

        self._watched[key] = weakref.ref(storage, died)
