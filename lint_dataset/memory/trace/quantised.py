"""4-bit linear layers with the storage and the temporaries of bitsandbytes' NF4, without bitsandbytes.

Storage: two weights a byte, one fp32 scale for each block of 64 weights (no double quantisation: off by default in
bitsandbytes and in TRL), and a table of 16 levels a layer. The whole weight is dequantised for the forward product and
once more for the gradient of the input; the input itself is not kept. Embeddings, norms and the output layer stay as
they are, and so do convolutions.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

#: Weights that share one scale.
BLOCK = 64
LEVELS = 16


class _Product(torch.autograd.Function):
    """``x @ dequantised(weight).T``."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, shape: tuple[int, int], compute: torch.dtype) -> torch.Tensor:
        ctx.shape = shape
        return F.linear(x, x.new_empty(shape, dtype=x.dtype))

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        grad = grads[0]
        return torch.matmul(grad, grad.new_empty(ctx.shape)), None, None


class Linear4Bit(nn.Linear):
    """A linear layer whose weight is packed; computes in ``compute`` and returns the type of its input."""

    def __init__(self, source: nn.Linear, compute: torch.dtype) -> None:
        """Take the place of ``source``, whose weight is given up."""
        nn.Module.__init__(self)
        self.in_features, self.out_features = source.in_features, source.out_features
        self.shape = (source.out_features, source.in_features)
        self.compute = compute
        numel = source.weight.numel()
        device = source.weight.device
        self.weight = nn.Parameter(
            torch.empty(((numel + 1) // 2, 1), dtype=torch.uint8, device=device), requires_grad=False
        )
        self.scales = nn.Parameter(torch.empty(-(-numel // BLOCK), device=device), requires_grad=False)
        self.levels = nn.Parameter(torch.empty(LEVELS, device=device), requires_grad=False)
        self.bias = source.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The product, and the bias where there is one."""
        out: torch.Tensor = _Product.apply(x.to(self.compute), self.shape, self.compute)  # type: ignore[no-untyped-call]
        if self.bias is not None:
            out = out + self.bias.to(out.dtype)
        return out.to(x.dtype)


#: Where PEFT's DoRA asks for the weight of a layer.
WEIGHT_OF_DORA = "peft.tuners.lora.dora.dequantize_module_weight"


def whole_weight(module: nn.Module) -> torch.Tensor:
    """The weight that DoRA takes the norm of: a temporary of its own where the layer is packed."""
    weight: torch.Tensor = module.weight  # type: ignore[assignment]
    return weight.new_empty(module.shape, dtype=module.compute) if isinstance(module, Linear4Bit) else weight


#: Gemma 3n clamps these tiny weights in place while it trains, which a packed weight cannot bear: they are always
#: among the modules that people exclude.
_NEVER = ("prediction_coefs", "correction_coefs")


def quantise(model: nn.Module, output: nn.Module | None, compute: torch.dtype) -> None:
    """Replace every linear layer of ``model`` except its ``output`` layer."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear and child is not output and name not in _NEVER:
                setattr(parent, name, Linear4Bit(child, compute))
