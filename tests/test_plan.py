import pytest

from lint_dataset.plan import DEFAULTS, PRESETS, SETTINGS, Plan, PlanError, parse_bytes, resolve, show


@pytest.mark.parametrize(
    ("text", "size"),
    [("36GB", 36 * 10**9), ("24GiB", 24 * 2**30), ("40000MiB", 40000 * 2**20), ("1.5 gb", 1_500_000_000)],
)
def test_a_budget_is_a_number_and_a_unit(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["36", "GB", "36 XB", "", "-3GB", "36GB extra"])
def test_a_budget_without_a_unit_is_not_guessed_at(text: str) -> None:
    with pytest.raises(PlanError, match="36GB"):
        parse_bytes(text)


def test_the_command_line_wins_over_the_configuration_and_the_trainer() -> None:
    plan = resolve({"loss": "logits", "batch_size": None}, {"loss": "chunked", "batch_size": 4})
    assert (plan.loss, plan.origins["loss"]) == ("logits", "command line")
    assert (plan.batch_size, plan.origins["batch_size"]) == (4, "pyproject.toml")
    assert (plan.gradient_checkpointing, plan.origins["gradient_checkpointing"]) == (True, "TRL 1.16")
    assert (plan.method, plan.origins["method"]) == ("lora", "assumed")


def test_another_trainer_brings_its_own_defaults_and_keeps_what_was_given() -> None:
    plan = Plan(model="m", gradient_checkpointing=True, trainer="trl").but(trainer="hf")
    assert plan.gradient_checkpointing is True
    assert (plan.loss, plan.mixed_precision) == ("logits", "no")


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "dora"},
        {"trainer": "unknown"},
        {"batch_size": 0},
        {"lora_rank": -1},
        {"max_length": 0},
        {"budget": "36"},
        {"lora_targets": "q_proj,,v_proj"},
        {"loss": "fused", "device": "mps"},
        {"gradient_checkpointing": "yes"},
    ],
)
def test_a_value_that_cannot_be_is_one_line(settings: dict[str, object]) -> None:
    with pytest.raises(PlanError) as raised:
        Plan(**settings)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("name", "value"), [("batch_size", "4"), ("gradient_checkpointing", 1), ("model", 3)])
def test_a_value_of_the_wrong_kind_names_the_setting_and_the_file(name: str, value: object) -> None:
    with pytest.raises(PlanError, match=f"{name.replace('_', '-')} in pyproject.toml"):
        resolve({}, {name: value})


def test_every_setting_is_shown_with_its_origin() -> None:
    lines = show(Plan(budget="36GB", model="m")).splitlines()  # type: ignore[arg-type]
    assert [line.split()[0] for line in lines] == [name.replace("_", "-") for name in SETTINGS]
    assert "36.0 GB (36,000,000,000 bytes)" in show(Plan(budget=36 * 10**9))


def test_every_preset_with_the_defaults_fills_every_setting() -> None:
    for preset in PRESETS.values():
        assert not preset.settings.keys() & DEFAULTS.keys()
    for trainer in PRESETS:
        plan = Plan(trainer=trainer)
        assert all(plan.settings()[name] is not None for name in {*DEFAULTS, *PRESETS[trainer].settings})
