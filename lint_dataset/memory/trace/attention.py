"""Attention kernels as they use memory: what each device's kernel keeps for backward, and its temporaries.

On CUDA, scaled dot-product attention runs one of two fused kernels. *Flash* takes no mask and knows grouped heads. The
*memory-efficient* kernel takes a bias (a boolean mask is turned into one of the queries' type) and wants keys and
values repeated for grouped heads. Both keep queries, keys, values, output and one fp32 log-sum-exp a query. On Apple's
MPS, training falls back to the composite path with all scores in memory; PyTorch's own composite operator is traced,
which computes half precision in fp32.
"""

from __future__ import annotations

from typing import Any

import torch

#: Rows of a bias are padded to a multiple of this in the memory-efficient kernel. Lengths are rarely a multiple, so a
#: program holds the padded copy at its largest: an upper bound, 30 bytes a query too high at most.
_BIAS_ALIGNMENT = 16


class _Fused(torch.autograd.Function):
    """A fused kernel: nothing of the size of the scores is kept."""

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None
    ) -> torch.Tensor:
        batch, heads, tokens, _ = query.shape
        # (batch, tokens, heads, head size) in memory, so that the model's transpose afterwards copies nothing.
        out = query.new_empty((batch, tokens, heads, value.shape[-1])).transpose(1, 2)
        log_sum_exp = query.new_empty((batch, heads, tokens), dtype=torch.float32)
        ctx.save_for_backward(query, key, value, bias, out, log_sum_exp)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        query, key, value, _, _, log_sum_exp = ctx.saved_tensors
        grad = grads[0].contiguous()
        delta = torch.empty_like(log_sum_exp)
        accumulated = torch.empty_like(query, dtype=torch.float32)
        grads_out = [torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)]
        repeats = query.shape[1] // key.shape[1]
        if repeats > 1:
            # Flash computes a gradient for each query head, then sums over the heads of a group.
            batch, heads, tokens, size = query.shape
            expanded = [x.new_empty((batch, tokens, heads, size)) for x in (key, value)]
            del expanded
        del grad, delta, accumulated
        return *grads_out, None


def cuda(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    *,
    flash: bool = True,
    **_: Any,
) -> torch.Tensor:
    """Attention on CUDA: flash without a mask, memory-efficient with one or where the card has no flash kernel."""
    bias = None
    if attn_mask is not None:
        bias = attn_mask
        if bias.dtype == torch.bool:
            bias = query.new_empty(bias.shape)
        bias = bias.new_empty((*bias.shape[:-1], bias.shape[-1] + _BIAS_ALIGNMENT - 1))
    repeats = query.shape[1] // key.shape[1]
    if repeats > 1 and (bias is not None or not flash):
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    out: torch.Tensor = _Fused.apply(query, key, value, bias)  # type: ignore[no-untyped-call]
    return out


def mps(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """Attention on Apple's MPS while gradients are wanted: the unfused composite, scores and weights in memory."""
    out: torch.Tensor = torch.ops.aten._scaled_dot_product_attention_math(
        query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
    )[0]
    return out
