"""The plan: how the training will run, resolved once from options, configuration and the trainer's own defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from lint_dataset import machines
from lint_dataset.measured_peak import MeasuredPeak
from lint_dataset.presets import PRESETS as PRESETS
from lint_dataset.presets import Preset, preset
from lint_dataset.sizes import format_bytes as format_bytes
from lint_dataset.sizes import parse_bytes as parse_bytes
from lint_dataset.usage import PlanError as PlanError
from lint_dataset.usage import UsageError

if TYPE_CHECKING:
    from lint_dataset.trainer_configs import TrainerConfig

CHOICES: dict[str, tuple[str, ...]] = {
    "device": ("cuda", "mps"),
    "method": ("full", "lora", "qlora"),
    "overlong": ("cut", "drop", "raise", "split"),
    "truncation_side": ("right", "left"),
    "dtype": ("bf16", "fp16", "fp32"),
    "mixed_precision": ("bf16", "fp16", "no"),
    "loss": ("logits", "chunked", "fused"),
    "optimizer": ("adamw", "adamw-8bit", "paged-adamw-8bit", "sgd"),
    "loss_on": ("all", "assistant", "last", "completion"),
}


#: What is assumed where neither the person nor the trainer says anything.
DEFAULTS: dict[str, Any] = {
    "device": "cuda",
    "method": "lora",
    "trainer": "trl",
    "batch_size": 1,
    "packing": "none",
    "pad_to_max_length": False,
    "truncation_side": "right",
    "lora_rank": 16,
    "lora_targets": "all-linear",
    "dora": False,
    "dtype": "bf16",
    "optimizer": "adamw",
    "gradient_accumulation": 1,
    "expandable_segments": False,
}


#: Larger than anything that is trained, and small enough for the products of a step's sizes.
MOST = {
    "batch_size": 2**16,
    "gradient_accumulation": 2**31 - 1,
    "lora_rank": 2**16,
    "max_length": 2**31 - 1,
    "budget": 2**60,
    "machine_memory": 2**60,
}

#: Settings that are on or off.
_SWITCHES = ("gradient_checkpointing", "dora", "expandable_segments", "pad_to_max_length")

#: The default of a setting that is filled in when it is not given.
_UNSET: Any = None


@dataclass(frozen=True)
class Plan:
    """How the training will run. Every setting that is not given is filled from the trainer's preset or a default.

    ``budget`` is what the training process may use, in bytes (a text such as ``36GB`` is converted). ``device`` may be
    given as a machine (``t4``, ``m3-36gb``, or ``auto``: this one). It becomes ``cuda`` or ``mps``, ``machine`` its
    name and ``machine_memory`` the bytes it has for a process, or shares with one; and where no ``budget`` is given,
    that is what training may use of them. ``revision`` is a branch, tag or commit of the processor's repository, and
    ``chat_template`` a file with the template that takes the place of its own. ``max_length`` is in tokens, None
    leaves every example whole. ``dtype`` is the type of the weights, ``mixed_precision`` that of autocast;
    ``gradient_accumulation`` are the batches whose gradients add up to a step, ``modules_to_save`` what PEFT trains
    whole beside the adapters, ``expandable_segments`` whether PyTorch's allocator is told to grow its segments.
    ``trainer`` may name a release (``trl==1.4``), which becomes ``trainer_release``.
    ``overlong`` is what it does with a row longer than ``max_length``, and ``packing`` how it puts several rows into
    one sequence: a ``max_length`` that is not given is then the trainer's own. ``pad_to_max_length`` pads every row
    to that length.
    ``response_marker`` is the text by which the trainer finds where answers begin.
    ``calibrate`` is a peak that was measured, such as ``41.2GB@1536``. ``origins`` says for each setting where its
    value came from. Raises ``PlanError`` for a value that a setting cannot take.
    """

    model: str | None = None
    tokenizer: str | None = None
    revision: str | None = None
    chat_template: str | None = None
    budget: int | None = None
    device: str = _UNSET
    machine: str | None = None
    machine_memory: int | None = None
    method: str = _UNSET
    trainer: str = _UNSET
    trainer_release: str | None = None
    batch_size: int = _UNSET
    max_length: int | None = None
    overlong: str = _UNSET
    packing: str = _UNSET
    pad_to_max_length: bool = _UNSET
    truncation_side: str = _UNSET
    lora_rank: int = _UNSET
    lora_targets: str = _UNSET
    dora: bool = _UNSET
    modules_to_save: str | None = None
    dtype: str = _UNSET
    mixed_precision: str = _UNSET
    gradient_checkpointing: bool = _UNSET
    loss: str = _UNSET
    loss_on: str = _UNSET
    response_marker: str | None = None
    optimizer: str = _UNSET
    gradient_accumulation: int = _UNSET
    expandable_segments: bool = _UNSET
    calibrate: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Fill what was not given, convert what may be given in two forms, and check every value."""
        origins = dict(self.origins)
        self._take_machine(origins)
        self._take_release(origins)
        given = {name for name in SETTINGS if getattr(self, name) is not None}
        for name in given:
            origins.setdefault(name, "given")
        budget: Any = self.budget
        if isinstance(budget, str):
            object.__setattr__(self, "budget", parse_bytes(budget))
        own = preset(self.trainer if "trainer" in given else DEFAULTS["trainer"], self.trainer_release)
        filled = {**own.settings, "overlong": own.overlong[0]}
        if self.packing not in (None, "none") and origins.get("max_length") is None:
            filled["max_length"] = own.max_length
        for filling, origin in ((filled, own.release), (DEFAULTS, "assumed")):
            for name in filling.keys() - given:
                object.__setattr__(self, name, filling[name])
                origins[name] = origin
        for name in SETTINGS:
            origins.setdefault(name, "not given")
        object.__setattr__(self, "origins", {name: origins[name] for name in SETTINGS})
        self._check()

    def _take_machine(self, origins: dict[str, str]) -> None:
        """Where the device is given as a machine: its kind, its name, its memory, and the budget that follows."""
        if not isinstance(self.device, str) or self.device.casefold() in CHOICES["device"]:
            if isinstance(self.device, str):
                object.__setattr__(self, "device", self.device.casefold())
            return
        try:
            machine = machines.named(self.device)
        except UsageError as problem:
            raise PlanError(str(problem)) from None
        origin = f"{machine.name}: {machine.said}"
        found = {"device": machine.kind, "machine": machine.name, "machine_memory": machine.memory}
        origins.setdefault("device", "given")
        origins |= {"machine": origins["device"], "machine_memory": origin}
        if self.budget is None:
            found["budget"], origins["budget"] = machine.budget, origin
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def _take_release(self, origins: dict[str, str]) -> None:
        """Where the trainer is given with a release: its name, and the release."""
        if isinstance(self.trainer, str):
            name, named, release = self.trainer.partition("==")
            if named and not release.strip():
                raise PlanError(f"trainer {self.trainer!r} names no release: write it behind ==, or leave the == out")
            object.__setattr__(self, "trainer", name.strip().casefold())
            if named:
                object.__setattr__(self, "trainer_release", release.strip())
                origins["trainer_release"] = origins.setdefault("trainer", "given")

    def _check_trainer(self) -> None:
        """What is asked of the trainer is something that it can do."""
        for name, can in (
            ("overlong", self.preset.overlong),
            ("truncation_side", self.preset.sides),
            ("packing", ("none", *self.preset.packing)),
        ):
            if getattr(self, name) not in can:
                raise PlanError(
                    f"{_label(name)} {getattr(self, name)!r} is nothing that {self.preset.release} does: "
                    f"choose one of {', '.join(can)}"
                )
        if self.packing != "none" and self.max_length is None:
            raise PlanError("packing fills sequences of one length: give it with --max-length")
        if self.pad_to_max_length and self.max_length is None:
            raise PlanError("pad-to-max-length pads rows to one length: give it with --max-length")

    def _check(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise PlanError(
                    f"{_label(name)} {getattr(self, name)!r} is not known: choose one of {', '.join(choices)}"
                )
        self._check_trainer()
        for name in MOST:
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise PlanError(f"{_label(name)} must be a whole number of 1 or more, not {value!r}")
            if value is not None and value > MOST[name]:
                raise PlanError(f"{_label(name)} {value} is more than the {MOST[name]:,} that are reckoned with")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise PlanError(f"{_label(name)} must be true or false, not {getattr(self, name)!r}")
        if self.calibrate is not None:
            # With its batch, so that another batch size does not make another peak of it.
            object.__setattr__(self, "calibrate", MeasuredPeak.parse(str(self.calibrate), self.batch_size).text)
        for name, words in (("lora_targets", "all-linear, attention, or "), ("modules_to_save", "")):
            value = getattr(self, name)
            modules = [module.strip() for module in (value or "").split(",")]
            if value is not None and not all(re.fullmatch(r"[A-Za-z0-9_.\-]+", module) for module in modules):
                raise PlanError(f"{_label(name)} {value!r} is not a list: use {words}module names joined by commas")
            if value is not None:
                object.__setattr__(self, name, ",".join(modules))
        if self.revision is not None and (
            ".." in self.revision or not re.fullmatch(r"[\w.][\w.@+/\-]*", self.revision)
        ):
            raise PlanError(f"revision {self.revision!r} is not the name of a branch, a tag or a commit")
        if self.expandable_segments and self.device != "cuda":
            raise PlanError(f"expandable-segments is a setting of CUDA's allocator, which {self.device} does not have")
        if self.loss == "fused" and self.device == "mps":
            raise PlanError(
                "loss 'fused' needs Triton kernels, which run on CUDA only: use --loss chunked or logits with mps"
            )

    @property
    def preset(self) -> Preset:
        """The preset of the plan's trainer."""
        return preset(self.trainer, self.trainer_release)

    @property
    def budget_of_machine(self) -> bool:
        """Whether the budget follows from the machine, and nobody gave it."""
        return self.machine is not None and self.origins["budget"] == self.origins["machine_memory"]

    def settings(self) -> dict[str, Any]:
        """Every setting by name, in a fixed order, without the origins."""
        return {name: getattr(self, name) for name in SETTINGS}

    def but(self, **changes: Any) -> Plan:
        """The plan with other settings. What was not given is filled anew, so another trainer brings its defaults."""
        assumed = {"assumed", "not given", self.preset.release}
        given = {name: getattr(self, name) for name in SETTINGS if self.origins[name] not in assumed}
        if "device" in changes:
            # Another device is another machine, and a budget that came with the old one goes with it.
            for name in ("machine", "machine_memory", *(("budget",) if self.budget_of_machine else ())):
                given.pop(name, None)
        if "trainer" in changes:
            for name in _OF_THE_TRAINER:
                given.pop(name, None)
        origins = {name: self.origins[name] for name in given if name not in changes}
        return Plan(**{**given, **changes}, origins=origins)


SETTINGS = tuple(f.name for f in fields(Plan) if f.name != "origins")
#: The settings that a person may give; the others follow from the device and the trainer.
OPTIONS = tuple(name for name in SETTINGS if name not in ("machine", "machine_memory", "trainer_release"))
#: Settings that mean something to one trainer alone.
_OF_THE_TRAINER = ("trainer_release", "overlong", "packing")


def _label(name: str) -> str:
    """A setting as the command line writes it."""
    return name.replace("_", "-")


def resolve(
    command_line: Mapping[str, Any],
    config: Mapping[str, Any],
    config_path: str = "pyproject.toml",
    trainer_config: TrainerConfig | None = None,
) -> Plan:
    """The plan of a command line over a trainer's own configuration over ours: the command line wins.

    Keys are names of settings, values None where not given. Raises ``PlanError``.
    """
    given = {name: value for name, value in config.items() if value is not None}
    origins = dict.fromkeys(given, config_path)
    if trainer_config is not None:
        # A None here is the trainer's own: no max_length is then no limit, whatever our configuration says.
        given |= trainer_config.settings
        origins |= trainer_config.origins
    for name, value in command_line.items():
        if value is not None:
            given[name], origins[name] = value, "command line"
    for name, value in given.items():
        if value is None:
            continue
        whole = name in MOST and name not in ("budget", "machine_memory")
        wanted = int if whole else bool if name in _SWITCHES else str
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            kind = {int: "a whole number", bool: "true or false", str: "a text"}[wanted]
            raise PlanError(f"{_label(name)} in {origins[name]} must be {kind}, not {value!r}")
    return Plan(**given, origins=origins)


def show(plan: Plan) -> str:
    """One line a setting: its name, its value and where that came from."""
    width = max(len(_label(name)) for name in SETTINGS)
    lines = []
    for name, value in plan.settings().items():
        if name in ("budget", "machine_memory") and value is not None:
            text = f"{format_bytes(value)} ({value:,} bytes)"
        elif isinstance(value, bool):
            text = "true" if value else "false"
        else:
            text = "-" if value is None else str(value)
        lines.append(f"{_label(name):{width}}  {text:32}  {plan.origins[name]}")
    return "\n".join(lines)
