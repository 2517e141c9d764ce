"""The loss without full logits, as TRL's fused head and Liger's fused linear cross-entropy use memory.

Both go through the vocabulary or the tokens in pieces and reuse the same buffers for every piece. All pieces but the
last are equal and the last is smaller, so one piece holds what all of them hold: each loop over tokens is traced as
one turn, which makes the order of events the same for every length.
"""

from __future__ import annotations

from typing import Any

import torch

from lint_dataset.memory.trace.recorder import Recorder

#: TRL 1.16 (``add_fused_lm_head``): tokens and vocabulary entries of one tile of logits.
TILE_TOKENS = 4096
TILE_VOCABULARY = 32768


class _Select(torch.autograd.Function):
    """``hidden[mask]`` where ``rows`` entries of the mask are set."""

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, rows: int) -> torch.Tensor:
        ctx.shape = hidden.shape
        indices = hidden.new_empty((rows, hidden.dim() - 1), dtype=torch.long)
        selected = hidden.new_empty((rows, hidden.shape[-1]))
        del indices
        return selected

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return grads[0].new_zeros(ctx.shape), None


class _TiledLogProbabilities(torch.autograd.Function):
    """Log-probabilities of the labels and the entropies, from tiles of logits that backward computes again.

    Gradients of the hidden states and of the weight are summed in fp32 and then cast. With Triton (CUDA) a tile is
    worked on in place; without, PyTorch's own operators leave temporaries.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, head: TiledHead
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows = hidden.shape[0]
        compute = head.compute or hidden.dtype
        ctx.head, ctx.compute = head, compute
        # Greatest logit so far, sums for log-sum-exp, entropy, second moment and mean, greatest before the label's
        # entry, the label's logit.
        statistics = [hidden.new_empty(rows, dtype=torch.float32) for _ in range(7)]
        with head.recorder.tile():
            buffer = hidden.new_empty((rows, TILE_VOCABULARY), dtype=compute)
            rows_of_tile = hidden.to(compute)
        for start in range(0, weight.shape[0], TILE_VOCABULARY):
            piece = weight[start : start + TILE_VOCABULARY].to(compute)
            if not head.triton:
                _forward_without_triton(head, buffer[:, : piece.shape[0]])
            del piece
        del buffer, rows_of_tile
        log_z = statistics[0] + torch.log(statistics[1])
        log_probabilities = statistics[6] - log_z
        entropies = log_z - statistics[2] / statistics[1]
        del statistics
        ctx.save_for_backward(hidden, weight, labels, log_z, entropies)
        return log_probabilities, entropies

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        hidden, weight, *_ = ctx.saved_tensors
        head, compute = ctx.head, ctx.compute
        grad_hidden = torch.empty_like(hidden, dtype=torch.float32) if ctx.needs_input_grad[0] else None
        grad_weight = torch.empty_like(weight, dtype=torch.float32) if ctx.needs_input_grad[1] else None
        with head.recorder.tile():
            buffer = hidden.new_empty((hidden.shape[0], TILE_VOCABULARY), dtype=compute)
            rows_of_tile = hidden.to(compute)
        for start in range(0, weight.shape[0], TILE_VOCABULARY):
            piece = weight[start : start + TILE_VOCABULARY].to(compute)
            tile = buffer[:, : piece.shape[0]]
            if not head.triton:
                _backward_without_triton(head, tile)
                for wanted, factor in ((grad_hidden, piece), (grad_weight, rows_of_tile)):
                    if wanted is not None:
                        with head.recorder.tile():
                            in_fp32 = tile.float()
                        other = factor.float()
                        del in_fp32, other
            del piece, tile
        del buffer, rows_of_tile
        first = grad_hidden.to(hidden.dtype) if grad_hidden is not None else None
        second = grad_weight.to(weight.dtype) if grad_weight is not None else None
        return first, second, None, None


def _scaled(head: TiledHead, logits: torch.Tensor) -> torch.Tensor:
    """Scale, soft-cap where the model has one, divide by the temperature."""
    logits = logits * 1.0
    if head.softcap:
        logits = torch.tanh(logits / head.softcap) * head.softcap
    return logits * 1.0


def _forward_without_triton(head: TiledHead, tile: torch.Tensor) -> None:
    with head.recorder.tile():
        logits = _scaled(head, tile.float())
        before_label = logits.masked_fill(torch.empty_like(logits, dtype=torch.bool), 0.0)
        del before_label
        exponentials = torch.exp(logits - 0.0)
        weighted = exponentials * logits
        del weighted, exponentials, logits


def _backward_without_triton(head: TiledHead, tile: torch.Tensor) -> None:
    with head.recorder.tile():
        raw = tile.float() * 1.0
        slope = None
        if head.softcap:
            slope = torch.tanh(raw / head.softcap)
            logits = head.softcap * slope * 1.0
        else:
            logits = raw * 1.0
        log_p = logits - 0.0
        p = torch.exp(log_p)
        grad = torch.zeros_like(logits)
        is_label = torch.empty_like(logits, dtype=torch.bool)
        grad += 1.0 * (is_label.float() - p)
        grad = grad * 1.0
        if slope is not None:
            grad = grad * (1 - slope * slope)
        scaled = grad * 1.0
        del scaled, grad, is_label, p, log_p, logits, slope, raw


class TiledHead:
    """TRL's fused head: what it needs to know beside the tensors."""

    def __init__(self, recorder: Recorder, compute: torch.dtype | None, softcap: float | None, triton: bool) -> None:
        """``compute`` is autocast's type, None without; ``triton`` says whether the device has it."""
        self.recorder, self.compute, self.softcap, self.triton = recorder, compute, softcap, triton

    def loss(self, hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, supervised: int) -> torch.Tensor:
        """The mean loss over the supervised tokens. With Triton only their rows are scored, without it every row."""
        hidden, labels = hidden[:, :-1], labels[:, 1:]
        mask = labels != -100
        if self.triton:
            rows = _Select.apply(hidden, supervised)  # type: ignore[no-untyped-call]
            picked = labels.new_empty(supervised)
        else:
            rows = hidden.reshape(-1, hidden.shape[-1])
            picked = labels.clamp(min=0).reshape(-1)
        scores = _TiledLogProbabilities.apply(rows, weight, picked, self)  # type: ignore[no-untyped-call]
        del rows, picked
        if self.triton:
            per_token = [x.new_zeros(mask.shape).masked_scatter(mask, x) for x in scores]
        else:
            per_token = [x.view(mask.shape).masked_fill(~mask, 0) for x in scores]
        del scores
        loss: torch.Tensor = -per_token[0].sum()
        return loss


class _FusedCrossEntropy(torch.autograd.Function):
    """Liger: logits a piece at a time, gradients at once in forward, kept until backward hands them on."""

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, compute: torch.dtype | None) -> torch.Tensor:
        tokens, width = hidden.shape
        vocabulary = weight.shape[0]
        low = compute or hidden.dtype
        grad_hidden = torch.zeros_like(hidden)
        grad_weight = torch.zeros_like(weight) if weight.requires_grad else None
        losses = hidden.new_zeros(tokens, dtype=torch.float32)
        ignored = hidden.new_empty(tokens, dtype=torch.bool)
        # A piece has the tokens that make its logits about as large as the hidden states, rounded up to a power of
        # two: less than twice as many, which is taken here.
        factor = -(-vocabulary // width)
        entry = low.itemsize
        logits = hidden.new_empty(tokens * -(-2 * vocabulary * entry // factor), dtype=torch.uint8)
        cast = weight.to(low)
        if low != hidden.dtype or low != weight.dtype:
            product = hidden.new_empty(tokens * -(-2 * width * entry // factor), dtype=torch.uint8)
            del product
        del cast, logits, ignored
        ctx.save_for_backward(grad_hidden, grad_weight)
        return losses.sum()

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden, grad_weight, None


def fused(hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, compute: torch.dtype | None) -> Any:
    """The loss by Liger's fused linear cross-entropy; every token is scored."""
    labels = torch.nn.functional.pad(labels, (0, 1), value=-100)[..., 1:].contiguous()
    return _FusedCrossEntropy.apply(hidden.reshape(-1, hidden.shape[-1]), weight, compute)  # type: ignore[no-untyped-call]
