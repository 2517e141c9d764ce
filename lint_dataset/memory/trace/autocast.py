"""A device's behaviour above autograd: mixed precision with CUDA's operator lists, and its attention kernels.

PyTorch's autocast does not know the meta device, and on the CPU it has other lists. So the casts are made here, where
Python calls into PyTorch, before autograd sees the operator: the copies and their gradients are then the real ones.
Lists: "CUDA Ops that can autocast" in PyTorch's documentation of torch.amp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

#: Computed in autocast's type.
_LOW = """
    __matmul__ __rmatmul__ addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d einsum linear matmul mm multi_dot mv prelu
"""
#: Computed in fp32.
_HIGH = """
    __pow__ __rdiv__ __rpow__ __rtruediv__ acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss
    cosine_similarity cross_entropy dist erfinv exp expm1 group_norm hinge_embedding_loss kl_div l1_loss layer_norm log
    log10 log1p log2 margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss norm normalize pdist
    poisson_nll_loss pow reciprocal renorm rsqrt sinh smooth_l1_loss soft_margin_loss softplus tan triplet_margin_loss
"""
#: Computed in fp32 through the operator's own ``dtype``.
_HIGH_BY_DTYPE = "cumprod cumsum log_softmax prod softmax softmin sum"
#: Computed in the widest type among the inputs.
_WIDEST = "addcdiv addcmul atan2 bilinear cat cross dot grid_sample index_put scatter_add stack tensordot"

_RULES = {
    name: rule
    for rule, names in (("low", _LOW), ("high", _HIGH), ("dtype", _HIGH_BY_DTYPE), ("widest", _WIDEST))
    for name in names.split()
}


class Device(TorchFunctionMode):
    """Answers for the device where meta tensors cannot: attention, and autocast while it is on.

    ``compute`` is autocast's type, None without mixed precision. ``attention`` stands in for
    ``scaled_dot_product_attention``; None leaves the call alone (for models that run eager attention).
    """

    def __init__(
        self, compute: torch.dtype | None, attention: Callable[..., torch.Tensor] | None, cuda: bool = True
    ) -> None:
        """See the class."""
        super().__init__()
        self._cuda = cuda
        self.compute = compute
        self._attention = attention
        self._on = False
        self._cache: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    @contextmanager
    def autocast(self) -> Iterator[None]:
        """Mixed precision inside; the cast weights are forgotten when the outermost block ends."""
        before, self._on = self._on, self.compute is not None
        try:
            yield
        finally:
            self._on = before
            if not before:
                self._cache.clear()

    @contextmanager
    def switched(self, device_type: str, *_: Any, enabled: bool = True, **__: Any) -> Iterator[None]:
        """In the place of ``torch.autocast``, which does not know the meta device, where a model's code uses it."""
        before, self._on = self._on, enabled and self.compute is not None
        try:
            yield
        finally:
            self._on = before

    @contextmanager
    def again(self) -> Iterator[None]:
        """What backward computes again runs as the forward did; PyTorch's engine does not take modes along."""
        with self, self.autocast():
            yield

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Cast as autocast would, then call."""
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention and self._attention is not None:
            if self._on:
                args, kwargs = self._cast((args, kwargs), self.compute)
            return self._attention(*args, **kwargs)
        if func is F.softmax and self._cuda and args[0].dtype == torch.float16 and kwargs.get("dtype") == torch.float32:
            # On CUDA one kernel casts and computes.
            return torch._softmax(args[0], kwargs["dim"], True)
        if self._on:
            rule = _RULES.get(getattr(func, "__name__", ""))
            if rule == "low":
                args, kwargs = self._cast((args, kwargs), self.compute)
            elif rule == "high":
                args, kwargs = self._cast((args, kwargs), torch.float32)
            elif rule == "dtype":
                if args and self._castable(args[0]) and args[0].dtype != torch.float32 and not kwargs.get("dtype"):
                    kwargs = {**kwargs, "dtype": torch.float32}
            elif rule == "widest" and len({t.dtype for t in _tensors((args, kwargs)) if self._castable(t)}) > 1:
                args, kwargs = self._cast((args, kwargs), torch.float32)
        return func(*args, **kwargs)

    @staticmethod
    def _castable(value: Any) -> bool:
        return (
            isinstance(value, torch.Tensor)
            and value.device.type == "meta"
            and value.dtype in (torch.float32, torch.float16, torch.bfloat16)
        )

    def _cast(self, value: Any, to: torch.dtype | None) -> Any:
        if isinstance(value, torch.Tensor):
            if not self._castable(value) or value.dtype == to:
                return value
            # Only fp32 leaves that are trained are worth keeping: the same copy serves every use in this forward.
            keep = to == self.compute and value.dtype == torch.float32 and value.requires_grad and value.is_leaf
            if not keep or value._base is not None:
                return value.to(to)
            if id(value) not in self._cache:
                self._cache[id(value)] = (value, value.to(to))
            return self._cache[id(value)][1]
        if isinstance(value, tuple):
            return tuple(self._cast(item, to) for item in value)
        if isinstance(value, list):
            return [self._cast(item, to) for item in value]
        if isinstance(value, dict):
            return {key: self._cast(item, to) for key, item in value.items()}
        return value


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
