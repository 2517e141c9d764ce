"""The summary of a run in sentences: the plan, the lengths, the heaviest row, and what would fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lint_dataset.diagnostics import SEVERITIES
from lint_dataset.plan import format_bytes

if TYPE_CHECKING:
    from lint_dataset.plan import Plan
    from lint_dataset.result import Cuts, Fits, LongestRow, Result

_TARGETS = {"all-linear": "all linear layers", "attention": "the attention projections"}
_LOSS_ON = {
    "all": "every token",
    "assistant": "what the assistant says",
    "last": "the last turn",
    "completion": "the completion (a row without one: every token)",
}
_METHODS = {"full": "full fine-tuning", "lora": "LoRA", "qlora": "QLoRA"}
_OVERLONG = {"drop": "longer rows dropped", "raise": "an error at longer rows", "split": "longer rows split"}
_DEVICES = {"cuda": "CUDA", "mps": "Apple MPS"}

#: Each setting in a person's words, in the order to say them.
_WORDS: dict[str, Callable[[Any], str]] = {
    "model": str,
    "tokenizer": lambda value: f"tokenizer {value}",
    "device": lambda value: _DEVICES.get(value, value),
    "machine": str,
    "budget": lambda value: f"budget {format_bytes(value)}",
    "trainer": str,
    "method": lambda value: _METHODS.get(value, value),
    "lora_rank": lambda value: f"rank {value}",
    "lora_targets": lambda value: f"on {_TARGETS.get(value, value)}",
    "dora": lambda value: "DoRA",
    "modules_to_save": lambda value: f"with {value} trained whole",
    "dtype": lambda value: f"{value} weights",
    "mixed_precision": lambda value: "no autocast" if value == "no" else f"{value} autocast",
    "gradient_checkpointing": lambda value: "gradient checkpointing" if value else "no gradient checkpointing",
    "loss": lambda value: "loss over full logits" if value == "logits" else f"{value} loss",
    "loss_on": lambda value: f"trained on {_LOSS_ON.get(value, value)}",
    "response_marker": lambda value: f"answers found by {value!r}",
    "batch_size": lambda value: f"batch {value}",
    "gradient_accumulation": lambda value: f"gradients of {value} batches a step",
    "optimizer": str,
    "expandable_segments": lambda value: "expandable segments",
    "max_length": lambda value: f"max_length {value:,}",
    "overlong": lambda value: _OVERLONG[value],
    "packing": lambda value: f"packing {value}",
    "pad_to_max_length": lambda value: "padded to max_length",
    "truncation_side": lambda value: f"cut on the {value}",
    "calibrate": lambda value: f"calibrated by {value}",
}

#: What matters where only tokens are counted, for want of a model whose memory could be known.
_WITHOUT_MEMORY = frozenset(
    {"tokenizer", "trainer", "loss_on", "response_marker", "max_length", "overlong", "packing", "truncation_side"}
)


def plan_line(plan: Plan) -> str:
    """The plan in one line, by where its values came from: given, the trainer's own, and assumed."""
    if plan.model is None and plan.tokenizer is None:
        return "no model: only what needs no tokenizer was checked (name one with --model)"
    said: dict[str, list[str]] = {"given": [], "preset": [], "assumed": []}
    for name, words in _WORDS.items():
        value, origin = getattr(plan, name), plan.origins[name]
        if not _matters(plan, name):
            continue
        group = {"assumed": "assumed", plan.preset.release: "preset"}.get(origin, "given")
        if value is not None:
            said[group].append(plan.preset.release if name == "trainer" else words(value))
        elif name in ("budget", "max_length"):
            said["given"].append(f"no {name}")
    leads = {"given": "", "preset": f"by {plan.preset.release}: ", "assumed": "assumed: "}
    return "; ".join(leads[group] + ", ".join(phrases) for group, phrases in said.items() if phrases)


def _matters(plan: Plan, name: str) -> bool:
    """Whether a setting has a bearing on what can be judged under this plan."""
    if plan.model is None and name not in _WITHOUT_MEMORY:
        return False
    if not plan.preset.traceable and name not in {*_WITHOUT_MEMORY, "model"}:
        # What such a trainer does with it is not looked at: only what somebody gave is repeated.
        return plan.origins[name] not in ("assumed", "not given", plan.preset.release)
    if name in ("lora_rank", "lora_targets"):
        return plan.method != "full"
    if name in ("dora", "modules_to_save"):
        return plan.method != "full" and bool(getattr(plan, name))
    if name in ("packing", "gradient_accumulation", "optimizer", "expandable_segments", "pad_to_max_length"):
        return bool(getattr(plan, name) not in ("none", 1, "adamw", False))
    if name == "overlong":
        return plan.overlong != "cut" and plan.max_length is not None
    return name != "truncation_side" or (plan.max_length is not None and len(plan.preset.sides) > 1)


def summary_lines(result: Result) -> list[tuple[str, str]]:
    """The numbers of the run: a label and a line for each."""
    summary, plan = result.summary, result.plan
    about = "≈" if result.estimated is not None else ""
    read = f"{_count(summary.examples, 'example')} in {_count(summary.files, 'file')}"
    if summary.examples and (plan.model is not None or plan.tokenizer is not None):
        read += f", {summary.measured:,} measured" if summary.measured != summary.examples else ", all measured"
    lines = [("data", read)]
    if summary.measured and summary.tokens:
        lines.append(("tokens", _percentiles(summary.tokens, about)))
    if summary.by_default is not None:
        lines.append(("default", _by_default(summary.by_default, plan, about)))
    if summary.longest_row is not None:
        lines.append(("heaviest", _peak(summary.longest_row, plan.budget, about, plan.packing != "none")))
        lines.append(("", _parts(summary.longest_row.parts)))
    if summary.longest_that_fits is not None:
        lines.append(("fits", _fits(summary.longest_that_fits, about)))
    return lines


def verdict(result: Result) -> str:
    """How much was found, in a sentence."""
    counts = Counter(diagnostic.severity for diagnostic in result.diagnostics)
    for (_, severity), places in result.unlisted.items():
        counts[severity] += len(places)
    found = [f"{counts[s]:,} {s}{'s' if counts[s] > 1 else ''}" for s in SEVERITIES if counts[s]]
    text = f"Found {' and '.join([', '.join(found[:-1]), found[-1]] if found[1:] else found)}." if found else ""
    if result.unjudged:
        return f"{text or 'Found nothing.'} Not everything could be judged: see the top."
    return text or "Found nothing."


def _count(number: int, word: str, about: str = "") -> str:
    return f"{about}{number:,} {word}{'' if number == 1 else 's'}"


def _percentiles(tokens: Mapping[str, int], about: str) -> str:
    names = {"p50": "half up to", "p90": "90 % up to", "p99": "99 % up to", "sum": "in all"}
    return ", ".join(f"{names.get(name, name)} {about}{value:,}" for name, value in tokens.items())


def _peak(row: LongestRow, budget: int | None, about: str, packed: bool) -> str:
    step = (
        f"a pack of {row.tokens:,} tokens"
        if packed
        else f"{row.path}:{row.line} with {_count(row.tokens, 'token', about)}"
    )
    text = f"{step} peaks at {about}{format_bytes(row.peak)}"
    if budget is None:
        return text
    difference = row.peak - budget
    return f"{text}, {about}{format_bytes(abs(difference))} {'over' if difference > 0 else 'under'} the budget"


def _parts(parts: Mapping[str, int]) -> str:
    """The parts from 0.05 GB on; smaller ones are one term."""
    shown = {name: size for name, size in parts.items() if abs(size) >= 50_000_000}
    rest = sum(parts.values()) - sum(shown.values())
    return "= " + " + ".join(f"{name} {format_bytes(size)}" for name, size in {**shown, "other": rest}.items() if size)


def _fits(fits: Fits, about: str) -> str:
    lighter = "".join(f"; with {options} {tokens:,} tokens fit" for options, tokens in fits.lighter.items())
    if fits.tokens is None:
        other = lighter or ": choose another method, a smaller model or a larger budget"
        return f"no length fits this budget for certain{other}"
    length = f"up to {fits.seconds:.1f} s" if fits.seconds else "unknown length, taken as 30 s"
    audio = f" beside {_count(fits.clips, 'clip')} of {length}" if fits.clips else ""
    would = _would(fits, about)
    return f"max_length {fits.tokens:,} is the longest that fits{audio}; it would {would}{lighter}"


def _by_default(cuts: Cuts, plan: Plan, about: str) -> str:
    return (
        f"no max_length given: rows were judged whole, but {plan.preset.release} takes {cuts.max_length:,}, which "
        f"would {_would(cuts, about)}; say yours with --max-length"
    )


def _would(cuts: Cuts | Fits, about: str) -> str:
    """What a ``max_length`` would do to how many examples."""
    losses = []
    if cuts.cut:
        losses.append(f"cut {_count(cuts.cut, 'example', about)} inside an answer")
    if cuts.unseen:
        losses.append(f"lose a whole answer of {_count(cuts.unseen, 'example', about)}")
    if cuts.dropped:
        losses.append(f"drop {_count(cuts.dropped, 'example', about)}")
    return ", ".join([*losses[:-2], " and ".join(losses[-2:])]) or "cut no answer"
