"""The options of ``commscope generate``: one for each knob of a job, in groups."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args, get_type_hints

import click

from commscope.errors import UsageError
from commscope.generator.catalog.knobs import Knobs
from commscope.generator.programs import Straggler

Command = TypeVar("Command", bound=Callable[..., Any])
_STRAGGLER = re.compile(
    r"(?P<rank>\d{1,6}):(?P<us>\d{1,9})(?::(?P<step>\d{1,6}))?(?::(?P<where>host|device|input))?"
)
_SIZE = re.compile(r"(\d{1,15})([KMG]?)(?:iB)?", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_HOW = "How it is run"
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}


class GroupedCommand(click.Command):
    """A command whose help shows options under the heading of their group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the groups in the order in which their first options come."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(parameter, "group", "Other"), []).append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)


class GroupedOption(click.Option):
    """An option with the heading under which the help shows it."""

    def __init__(self, *arguments: Any, group: str = "Other", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.group = group


def grouped(*flags: str, group: str, **more: Any) -> Callable[[Command], Command]:
    """An option of a group."""
    return click.option(*flags, cls=GroupedOption, group=group, **more)


def _numbers(_context: click.Context, option: click.Parameter, text: str) -> tuple[int, ...]:
    """Numbers such as 0,1,4-7."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        match = _RANGE.fullmatch(part)
        if not match:
            raise UsageError(f"{option.opts[0]} {text}: numbers, such as 0,1,4-7")
        found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(found)


def _words(_context: click.Context, _option: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


_ENGINE_OPTIONS = (
    grouped("--engine", type=click.Choice(("simulate", "host", "hip", "torch")),
            default="simulate", show_default=True, group=_HOW,
            help="In exact time; by threads of this host; by GPUs; or as a job in PyTorch."),
    grouped("--backend", type=click.Choice(["auto", "amd", "nvidia", "host"]), default="auto",
            show_default=True, group=_HOW, help="Whose GPUs, or (simulate) whose traces."),
    grouped("--arch", metavar="NAMES", group=_HOW,
            help="GPUs to compile for, such as gfx942 or sm_90; by default those that are here."),
    grouped("--compiler", metavar="FILE", group=_HOW, help="hipcc, nvcc or g++ to compile with."),
    grouped("--profiler", default="auto", show_default=True, group=_HOW,
            type=click.Choice(["auto", "rocprofv3", "rocprof", "cupti", "kineto", "own", "none"]),
            help="What records the traces."),
    grouped("--formats", metavar="NAMES", default="", callback=_words, group=_HOW,
            help="Of the traces: of rocprofv3 csv, json, rocpd; simulate also writes kineto."),
    grouped("--profile-ranks", metavar="RANKS", default="", callback=_numbers, group=_HOW,
            help="Ranks to record, such as 0,1; by default all."),
    grouped("--devices", metavar="NUMBERS", default="", callback=_numbers, group=_HOW,
            help="The GPU of each rank; by default in order."),
    grouped("--timeout", type=click.IntRange(1), default=300, show_default=True, metavar="S",
            group=_HOW, help="How long nothing may go on before a run counts as hung."),
    grouped("--truth", type=click.Choice(["stamps", "none"]), default="stamps", show_default=True,
            group=_HOW, help="Whether the job measures itself."),
    grouped("--env", multiple=True, metavar="NAME=VALUE", group=_HOW,
            help="A variable of the ranks' processes. May be repeated."),
    grouped("--python", metavar="FILE", group=_HOW, help="A Python that has torch."),
)  # fmt: skip


def engine_options(command: Command) -> Command:
    """Adds what says how a job is carried out."""
    for option in reversed(_ENGINE_OPTIONS):
        command = option(command)
    return command


def knob_options(command: Command) -> Command:
    """Adds an option for every knob; those that are not given are null."""
    hints = get_type_hints(Knobs)
    for knob in reversed(dataclasses.fields(Knobs)):
        command = _knob_option(knob, hints[knob.name])(command)
    return command


def _knob_option(knob: dataclasses.Field[Any], hint: Any) -> Callable[[Command], Command]:
    flag, info = f"--{knob.name.replace('_', '-')}", knob.metadata
    if knob.name == "stragglers":
        return grouped(
            "--straggler", "stragglers", multiple=True, group="Host",
            metavar="RANK:US[:STEP][:host|device|input]",
            help="A rank that is late, in one step or all, on its host, device or in its input.",
        )  # fmt: skip
    shared = {"group": info["group"], "default": None}
    if hint is bool:
        says = f"{info['help']}  [default: {'yes' if knob.default else 'no'}]"
        opposite = flag.replace("--no-", "--") if flag.startswith("--no-") else f"--no-{flag[2:]}"
        return grouped(f"{flag}/{opposite}", help=says, **shared)
    says = f"{info['help']}  [default: {_shown(knob.name, knob.default)}]"
    choices = get_args(hint)
    if choices:
        return grouped(flag, type=click.Choice(choices), help=says, **shared)
    if knob.name.endswith("_bytes"):
        return grouped(flag, metavar="BYTES", callback=_bytes, help=says, **shared)
    metavar = {"us": "US", "percent": "PERCENT"}.get(knob.name.rsplit("_")[-1], "N")
    return grouped(flag, type=int, metavar=metavar, help=says, **shared)


def _shown(name: str, value: Any) -> str:
    if name.endswith("_bytes") and value % (1 << 20) == 0:
        return f"{value >> 20}M"
    return str(value)


def _bytes(_context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    found = _SIZE.fullmatch(text)
    if not found:
        raise UsageError(f"{option.opts[0]} {text}: bytes, such as 1048576, 512K or 64M")
    return int(found[1]) << _UNITS[found[2].upper()]


def given_knobs(given: Mapping[str, Any]) -> dict[str, Any]:
    """The knobs that were given, of all options; raises UsageError where one is not understood."""
    names = {knob.name for knob in dataclasses.fields(Knobs)}
    found = {name: given[name] for name in names if given[name] is not None}
    stragglers = tuple(map(parse_straggler, found.pop("stragglers", ())))
    return {**found, "stragglers": stragglers} if stragglers else found


def parse_straggler(text: str) -> Straggler:
    """``RANK:US[:STEP][:host|device|input]``."""
    found = _STRAGGLER.fullmatch(text)
    if not found:
        raise UsageError(
            f"--straggler {text}: write RANK:US[:STEP][:host|device|input], such as 1:3000:2:device"
        )
    step = None if found["step"] is None else int(found["step"])
    where: Any = found["where"] or "host"
    return Straggler(int(found["rank"]), int(found["us"]) * 1000, step, where)
