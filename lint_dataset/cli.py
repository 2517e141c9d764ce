"""The command line: its options, and which of its runs and questions they ask for."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from lint_dataset import __version__, config, questions, run
from lint_dataset.plan import CHOICES, OPTIONS, resolve, show
from lint_dataset.report import formats
from lint_dataset.trainer_configs import load
from lint_dataset.usage import UsageError

#: Options that may not stand in a configuration: they ask for something else than a run.
_QUESTIONS = (
    "paths",
    "explain",
    "list_rules",
    "list_devices",
    "list_models",
    "prefetch",
    "show_plan",
    "version",
    "help",
)


def _choice(name: str) -> click.Choice[str]:
    return click.Choice(CHOICES[name], case_sensitive=False)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1)
@click.option("--model", metavar="NAME", help="Alias (gemma-3n-E2B), Hub id, or folder of the model to be trained.")
@click.option("--config", metavar="FILE", help="The trainer's own: axolotl, LLaMA-Factory, TRL, transformers, mlx-lm.")
@click.option("--tokenizer", metavar="NAME", help="Folder or Hub id of the processor, where it is not the model's own.")
@click.option("--revision", metavar="REV", help="Branch, tag or commit of the processor on the Hub. [main]")
@click.option("--chat-template", metavar="FILE", help="Jinja template, where it is not the processor's own.")
@click.option("--budget", metavar="SIZE", help="What the training process may use: 36GB, 24GiB, 40000MiB.")
@click.option("--device", metavar="NAME", help="cuda, mps, a machine (t4, m3-36gb) or auto: this one. [cuda]")
@click.option("--method", type=_choice("method"), help="How the model is trained. [lora]")
@click.option("--max-length", type=int, metavar="TOKENS", help="The length at which the trainer will cut.")
@click.option("--overlong", type=_choice("overlong"), help="What happens to longer rows. [the trainer's]")
@click.option("--truncation-side", type=_choice("truncation_side"), help="The end that is cut off. [right]")
@click.option("--packing", metavar="HOW", help="bfd, bfd_split, wrapped (trl), or the trainer's own word. [none]")
@click.option("--pad-to-max-length/--no-pad-to-max-length", default=None, help="Pad every row to that length. [no]")
@click.option(
    "--trainer",
    metavar="NAME",
    help="Whose defaults and truncation to judge by: trl, trl==1.4, hf, axolotl, llama-factory, unsloth, ms-swift, "
    "torchtune, mlx-lm, nemo, openai, none. [trl]",
)
@click.option("--batch-size", type=int, metavar="N", help="Examples in a device's batch. [1]")
@click.option("--gradient-accumulation", type=int, metavar="N", help="Batches whose gradients make a step. [1]")
@click.option("--optimizer", type=_choice("optimizer"), help="[adamw]")
@click.option("--lora-rank", type=int, metavar="R", help="[16]")
@click.option("--lora-targets", metavar="NAMES", help="all-linear, attention, or module names. [all-linear]")
@click.option("--dora/--no-dora", default=None, help="Give adapters a magnitude of their own. [no]")
@click.option("--modules-to-save", metavar="NAMES", help="Modules trained whole beside the adapters. [none]")
@click.option("--dtype", type=_choice("dtype"), help="Type of the weights. [bf16]")
@click.option("--mixed-precision", type=_choice("mixed_precision"), help="Type of autocast. [the trainer's]")
@click.option("--gradient-checkpointing/--no-gradient-checkpointing", default=None, help="[the trainer's]")
@click.option("--loss", type=_choice("loss"), help="Whole logits, in chunks, or a fused kernel. [the trainer's]")
@click.option(
    "--expandable-segments/--no-expandable-segments",
    default=None,
    help="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True is set. [no]",
)
@click.option("--loss-on", type=_choice("loss_on"), help="Tokens that are trained on. [the trainer's]")
@click.option("--response-marker", metavar="TEXT", help="By which the trainer finds answers: response_part. [none]")
@click.option("--calibrate", metavar="PEAK", help="What a run took, and the tokens of its longest step: 41.2GB@1536.")
@click.option(
    "--tokens", type=click.Choice(["auto", "exact"]), help="Estimate tokens without the processor, or stop. [auto]"
)
@click.option("--format", metavar="NAME", help="Read every row as this schema: sharegpt, alpaca, … [what each row is]")
@click.option("--columns", metavar="PAIRS", help="Names in the data: messages=dialog,role=from,content=value.")
@click.option("--select", metavar="CODES", help="Run only rules whose code starts with one of these (T,O001).")
@click.option("--ignore", metavar="CODES", help="Do not run rules whose code starts with one of these.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "never"]), help="Severity that exits 1. [error]")
@click.option("--output-format", type=click.Choice(formats.NAMES), help="[text]")
@click.option("--output", metavar="FILE", help="Write the report to a file.")
@click.option("--measurements", metavar="FILE", help="Write one row an example to .parquet, .jsonl or .csv.")
@click.option("--write-kept", metavar="FILE", help="Copy the lines without an error, byte for byte.")
@click.option("--write-rejected", metavar="FILE", help="Copy the other lines; their codes go to FILE.codes.jsonl.")
@click.option("--baseline", metavar="FILE", help="Accept the findings in this file, and report only new ones.")
@click.option("--write-baseline", metavar="FILE", help="Accept the findings of this run from now on.")
@click.option("--cache-dir", metavar="FOLDER", help="Where measurements are remembered.")
@click.option("--cache/--no-cache", default=None, help="Remember measurements, or measure everything anew.")
@click.option("--offline/--online", default=None, help="Never download anything, or fetch the processor if need be.")
@click.option(
    "--fetch", is_flag=True, default=None, help="Open addresses, of files or in rows: s3://, gs://, https://."
)
@click.option(
    "--decode", is_flag=True, default=None, help="Read audio clips whole: finds silent ones, headers that lie."
)
@click.option("--explain", metavar="CODE", help="Say what a rule finds, why it matters and what to do.")
@click.option("--list-rules", is_flag=True, help="List every rule.")
@click.option("--list-devices", is_flag=True, help="List every machine that --device knows, with its memory.")
@click.option("--list-models", is_flag=True, help="List every model that has a short name.")
@click.option("--prefetch", is_flag=True, help="Download the model's processor for later runs, and say where it is.")
@click.option("--show-plan", is_flag=True, help="Print every setting and where it came from.")
@click.version_option(__version__, prog_name="lint-dataset")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> int:
    """Find the training examples that would run out of memory, and those a max_length would cut before the answer.

    PATHS are files (JSON Lines, a JSON array, either as .gz or .zst, Parquet, Arrow), folders, globs, datasets of the
    Hub (hf:user/name[:config][:split]), - for standard input, and, with --fetch, addresses; without any, the files that
    --config names. Without PATHS, --model alone prints the memory of a step at many lengths, and the longest that fits.

    Every option can stand in [tool.lint-dataset] of pyproject.toml; --config wins over it, and the command line over
    both. Exit status: 0 nothing found, 1 findings at the failing severity, 2 something asked for could not be judged.
    """
    if options["list_rules"] or options["explain"]:
        return questions.describe_rules(context, options)
    if options["list_devices"]:
        from lint_dataset.report import devices

        return questions.answer(context, options, devices.list_devices(), devices.objects)
    if options["list_models"]:
        from lint_dataset import models

        return questions.answer(context, options, models.listing(), models.objects)
    source = {name: context.get_parameter_source(name) for name in OPTIONS}
    configured = {name for name in OPTIONS if source[name] is ParameterSource.DEFAULT_MAP}
    theirs = load(options["config"]) if options["config"] else None
    plan = resolve(
        {name: options[name] for name in OPTIONS if name not in configured},
        {name: options[name] for name in configured},
        trainer_config=theirs,
    )
    if options["show_plan"]:
        from lint_dataset.report.json import plan_object

        shown = show(plan) + (f"\n\n{theirs.show()}" if theirs is not None else "")
        if plan.trainer == "trl" and (paths or (theirs is not None and theirs.datasets)):
            shown += (
                "\n\nWith audio clips among the rows, a run is judged as --trainer hf: TRL's SFTTrainer takes none."
            )
        return questions.answer(context, options, f"{shown}\n", lambda: plan_object(plan))
    if options["prefetch"]:
        from lint_dataset.prefetch import prefetch

        if options["offline"] and context.get_parameter_source("offline") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--prefetch downloads what --offline forbids to download")
        click.echo(prefetch(plan, options["cache_dir"]))
        return 0
    unread = theirs.unread() if theirs is not None and not paths else []
    paths = paths or (theirs.datasets if theirs is not None else ())
    if "" in paths:
        raise click.UsageError("one of the files to check has no name (an unset variable?)")
    if not paths and plan.model is not None:
        return run.without_data(plan, options, theirs.notes() if theirs is not None else [], unread)
    if not paths:
        why = f": {unread[0]}" if unread else ""
        raise click.UsageError(f"name the files to check, such as train.jsonl{why}")
    return run.run(paths, plan, options, theirs.notes() if theirs is not None else [], unread)


#: Click's names for options that are no text.
_KINDS: dict[str, type] = {"integer": int, "boolean": bool}


def _configured() -> dict[str, Any]:
    """What the configuration of the folder we are in gives."""
    known = {parameter.name: parameter.type.name for parameter in command.params if parameter.name is not None}
    typed = {name: _KINDS[kind] for name, kind in known.items() if kind in _KINDS}
    return config.defaults(Path.cwd(), known.keys() - set(_QUESTIONS), typed)


def _write_no_more() -> None:
    """Send what is still to be written to standard output nowhere, so that nothing fails at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script. A setting that cannot be, and a report that cannot be written, is one line and status 2."""
    if sys.stdout is None:
        print("lint-dataset: standard output is closed: there is nowhere to report to", file=sys.stderr)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = command.main(arguments, "lint-dataset", standalone_mode=False, default_map=_configured())
        sys.stdout.flush()
    except click.exceptions.Abort:
        status = 130
    except BrokenPipeError:
        # The reader has seen enough (head, a pager that was left): nothing more can be written, not even at exit.
        _write_no_more()
        status = 128 + 13  # as a process that SIGPIPE ends
    except OSError as problem:
        _write_no_more()
        print(f"lint-dataset: the report cannot be written: {problem.strerror or problem}", file=sys.stderr)
        status = 2
    except (click.ClickException, UsageError) as problem:
        text = problem.format_message() if isinstance(problem, click.ClickException) else str(problem)
        print(f"lint-dataset: {' '.join(text.split())}", file=sys.stderr)
        status = 2
    sys.exit(status)
