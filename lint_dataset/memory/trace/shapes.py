"""Runs operators on the meta device, remembering the shape of what each returns.

Most of PyTorch's shape functions for the meta device are written in Python and cost more than all the rest of a trace,
yet the layers of a model ask them the same questions again and again.
"""

from __future__ import annotations

from typing import Any

import torch

#: In-place operators that change nothing but values, which meta tensors do not have.
_IN_PLACE = "add addcdiv addcmul clamp clamp_max clamp_min copy div fill masked_fill mul neg sub zero"
_VALUES_ONLY = frozenset(f"aten::{name}_" for name in _IN_PLACE.split())

_Meta = tuple[torch.Size, tuple[int, ...], torch.dtype]


class Shapes:
    """A memory of shapes: by operator and by what it was given."""

    def __init__(self) -> None:
        """Start knowing nothing."""
        self._known: dict[Any, tuple[bool, tuple[_Meta, ...]]] = {}
        self._fresh: dict[Any, bool] = {}
        self._in_place: dict[Any, bool] = {}

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operator's result: new tensors of the shapes that it returned before, or its own."""
        fresh = self._fresh.get(func)
        if fresh is None:
            schema = func._schema
            fresh = self._fresh[func] = not schema.is_mutable and not any(r.alias_info for r in schema.returns)
            self._in_place[func] = schema.name in _VALUES_ONLY
        if not fresh:
            if self._in_place[func] and args[0].device.type == "meta":
                return args[0]
            return func(*args, **kwargs)
        try:
            key = (func, _key(args), _key(tuple(kwargs.items())) if kwargs else None)
            known = self._known.get(key)
        except TypeError:
            return func(*args, **kwargs)
        if known is not None:
            single, metas = known
            made = [torch.empty_strided(shape, stride, dtype=dtype, device="meta") for shape, stride, dtype in metas]
            return made[0] if single else tuple(made)
        out = func(*args, **kwargs)
        self._learn(key, args, kwargs, out)
        return out

    def _learn(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        single = isinstance(out, torch.Tensor)
        tensors = (out,) if single else out
        if not isinstance(tensors, tuple) or not all(
            isinstance(t, torch.Tensor) and t.device.type == "meta" for t in tensors
        ):
            return
        # Operators that hand on a storage without saying so, as _unsafe_view does.
        given = set(_storages((args, kwargs)))
        metas = []
        for tensor in tensors:
            storage = tensor.untyped_storage()
            meta = (tensor.shape, tensor.stride(), tensor.dtype)
            if storage._cdata in given or tensor.storage_offset():
                return
            again = torch.empty_strided(meta[0], meta[1], dtype=meta[2], device="meta")
            if again.untyped_storage().nbytes() != storage.nbytes():
                return
            given.add(storage._cdata)
            metas.append(meta)
        self._known[key] = (single, tuple(metas))


def _key(value: Any) -> Any:
    """What decides the shape of a result, hashable. Raises TypeError for what cannot be one."""
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.dtype, value.device
    if isinstance(value, (tuple, list)):
        return tuple([_key(item) for item in value])
    if isinstance(value, float):
        return "float"
    return value.__class__, value


def _storages(value: Any) -> list[int]:
    if isinstance(value, torch.Tensor):
        return [value.untyped_storage()._cdata]
    if isinstance(value, (tuple, list)):
        return [key for item in value for key in _storages(item)]
    if isinstance(value, dict):
        return _storages(list(value.values()))
    return []
