"""One training step of one model at one point: batch, tokens, rank, supervised tokens, clips, frames."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from lint_dataset.memory.recipe import Recipe
from lint_dataset.memory.trace import attention
from lint_dataset.memory.trace.autocast import Device
from lint_dataset.memory.trace.errors import TraceError
from lint_dataset.memory.trace.losses import TiledHead, fused
from lint_dataset.memory.trace.model import ANY_RANK, DTYPES, build, set_rank
from lint_dataset.memory.trace.quantised import WEIGHT_OF_DORA, whole_weight
from lint_dataset.memory.trace.recorder import Recorder
from lint_dataset.memory.trace.shapes import Shapes

#: What operators return depends on nothing but what they are given, so all traces share it.
_SHAPES = Shapes()


@dataclass(frozen=True)
class Point:
    """Where a step is traced. ``clips`` 0 is a batch without audio."""

    batch: int = 1
    tokens: int = 1024
    rank: int = 16
    supervised: int = 0
    clips: int = 0
    frames: int = 0


@dataclass(frozen=True)
class Loop:
    """How the training loop treats memory, beside the recipe; the defaults are transformers' Trainer on a recent card.

    ``keep_outputs``: a hand-written loop holds the model's outputs, logits among them, through backward.
    ``resident_gradients``: gradients of an earlier micro-batch lie there while this one runs.
    ``foreach``: AdamW in PyTorch's foreach form makes a temporary the size of the trained parameters.
    ``padded``: a batch carries a mask because its examples differ in length; None: when it has several.
    ``flash``: the card has the flash kernel (a Tesla T4 has not).
    ``eager``: attention in transformers' eager form.
    """

    keep_outputs: bool = False
    resident_gradients: bool = False
    foreach: bool = False
    padded: bool | None = None
    flash: bool = True
    eager: bool = False


@dataclass
class Trace:
    """What was seen at one point: see ``Recorder``. ``trained`` names the parameters that received a gradient."""

    sizes: list[int]
    events: list[int]
    marks: dict[str, int]
    tiles: set[int]
    trained: set[str] = field(default_factory=set)

    @property
    def signature(self) -> bytes:
        """Equal for two traces with the same order of births and deaths."""
        return repr(self.events).encode()


class Tracer:
    """Traces steps of one recipe; the model is built once."""

    def __init__(self, recipe: Recipe, loop: Loop = Loop()) -> None:
        """Build the model. Raises TraceError."""
        if recipe.loss == "fused" and recipe.device != "cuda":
            raise TraceError("the fused loss needs Triton, which only CUDA devices have")
        self.recipe, self.loop = recipe, loop
        compute = None if recipe.mixed_precision == "no" else DTYPES[recipe.mixed_precision]
        kernel: Callable[..., torch.Tensor] | None
        if loop.eager:
            kernel = None
        elif recipe.device == "mps":
            kernel = attention.mps
        else:
            kernel = partial(attention.cuda, flash=loop.flash)
        self.device = Device(compute, kernel, recipe.device == "cuda")
        # Recomputation runs under the autocast of the forward.
        contexts = {"context_fn": lambda: (nullcontext(), self.device.again())}
        self.model = build(recipe, "eager" if loop.eager else None, contexts)
        #: The rank that the adapters have now.
        self.rank = ANY_RANK

    @property
    def hears(self) -> bool:
        """Whether the model has an audio tower that is known here (Gemma 3n's, which takes mel frames)."""
        return hasattr(getattr(self.model.config, "audio_config", None), "input_feat_size")

    def trace(self, point: Point) -> Trace:
        """Run one step in steady state. Raises TraceError when the model's code fails on the meta device."""
        if self.recipe.method != "full" and point.rank != self.rank:
            set_rank(self.model, self.rank, point.rank)
            self.rank = point.rank
        padded = point.batch > 1 if self.loop.padded is None else self.loop.padded
        # The one question about values that has two answers: is the attention mask all ones?
        recorder = Recorder(
            lambda value: (not padded) if value.dtype == torch.bool else 1, _SHAPES, self.recipe.device == "cuda"
        )
        recorder.know([*self.model.parameters(), *self.model.buffers()])
        # A collection in the midst of the step would date deaths by chance.
        gc.disable()
        try:
            with ExitStack() as stack:
                if self.recipe.device == "mps":
                    # transformers asks the machine it runs on whether masks and grouped heads go together.
                    stack.enter_context(
                        patch("transformers.integrations.sdpa_attention.use_gqa_in_sdpa", lambda *_: True)
                    )
                stack.enter_context(patch("torch.autocast", self.device.switched))
                stack.enter_context(patch(WEIGHT_OF_DORA, whole_weight))
                stack.enter_context(self.device)
                stack.enter_context(recorder)
                trained = self._step(recorder, point)
        except (RuntimeError, NotImplementedError, ValueError, TypeError, AttributeError, IndexError) as error:
            raise TraceError(
                f"the code that transformers has for {self.recipe.model} cannot be run without weights"
            ) from error
        finally:
            for parameter in self.model.parameters():
                parameter.grad = None
            gc.enable()
        recorder.close()
        return Trace(recorder.sizes, recorder.events, recorder.marks, recorder.tiles, trained)

    def _step(self, recorder: Recorder, point: Point) -> set[str]:
        parameters = [p for p in self.model.parameters() if p.requires_grad]
        if self.loop.resident_gradients:
            for parameter in parameters:
                parameter.grad = torch.empty_like(parameter)
        recorder.mark("forward")
        shape = (point.batch, point.tokens)
        inputs: dict[str, Any] = {
            name: torch.zeros(shape, dtype=torch.long, device="meta")
            for name in ("input_ids", "attention_mask", "labels")
        }
        if point.clips:
            mels = self.model.config.audio_config.input_feat_size
            inputs["input_features"] = torch.empty((point.clips, point.frames, mels), device="meta")
            inputs["input_features_mask"] = torch.empty((point.clips, point.frames), dtype=torch.bool, device="meta")
        kept, loss = self._forward(recorder, inputs, point)
        recorder.mark("backward")
        torch.autograd.backward(loss)
        del kept, loss
        recorder.mark("optimizer")
        if self.loop.foreach:
            temporaries = [torch.empty_like(p) for p in parameters if p.grad is not None]
            del temporaries
        trained = {name for name, p in self.model.named_parameters() if p.grad is not None}
        if not self.loop.resident_gradients:
            for parameter in parameters:
                parameter.grad = None
        return trained

    def _forward(self, recorder: Recorder, inputs: dict[str, Any], point: Point) -> tuple[Any, torch.Tensor]:
        """The loss, and what the loop keeps beside it."""
        base = self.model.get_base_model() if self.recipe.method != "full" else self.model
        head: nn.Module = base.get_output_embeddings()
        if self.recipe.loss == "logits":
            hook = head.register_forward_pre_hook(lambda *_: recorder.mark("loss"))
            try:
                with self.device.autocast():
                    outputs = self.model(**inputs, use_cache=False)
            finally:
                hook.remove()
            if self.loop.keep_outputs:
                return outputs, outputs.loss
            # accelerate turns what leaves the model into fp32, before the Trainer drops all but the loss.
            logits = outputs.logits.float() if self.device.compute is not None else None
            loss: torch.Tensor = outputs.loss
            del outputs, logits
            return None, loss
        labels = inputs.pop("labels")
        softcap = getattr(base.config.get_text_config(), "final_logit_softcapping", None)
        with self.device.autocast():
            hidden = base.base_model(**inputs, use_cache=False).last_hidden_state
            recorder.mark("loss")
            weight = head.weight
            if self.recipe.loss == "fused":
                return None, fused(hidden, weight, labels, self.device.compute)  # type: ignore[arg-type]
            tiled = TiledHead(recorder, self.device.compute, softcap, triton=self.recipe.device == "cuda")
            return None, tiled.loss(hidden, weight, labels, point.supervised)  # type: ignore[arg-type]
