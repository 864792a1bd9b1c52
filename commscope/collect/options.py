"""What ``run`` is told: one list of options, of which each command line makes its own kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commscope.collect.profiling.options import KINDS, ProfileOptions, parse_ranks, parse_steps

WAIT_S = 120.0
_OF_PROFILING = "profile_"
_MOST_SECONDS = 10 * 365 * 86_400.0


@dataclass(frozen=True)
class RunOptions:
    """How a job is run, and with what it is profiled; null is what was not asked for."""

    command: Sequence[str]
    run_dir: Path | None = None
    name: str | None = None
    log_calls: bool = False
    no_log: bool = False
    no_analyze: bool = False
    wait: float = WAIT_S
    timeout: float | None = None
    profile: ProfileOptions = field(default_factory=ProfileOptions)

    def __post_init__(self) -> None:
        """Raises ValueError where options contradict each other."""
        if not self.command:
            raise ValueError("no command was given; write it behind --")
        if self.log_calls and self.no_log:
            raise ValueError("--log-calls and --no-log exclude each other")


def options_of(command: Sequence[str], profile: str, **given: Any) -> RunOptions:
    """The options of a command line, by their names; raises ValueError where they are at odds."""
    profiling = {
        option.field[len(_OF_PROFILING) :]: given.pop(option.field, None)
        for option in OPTIONS
        if option.field.startswith(_OF_PROFILING)
    }
    chosen = {name: value for name, value in profiling.items() if value is not None}
    if profile == "none" and chosen:
        raise ValueError(f"--profile-{next(iter(chosen))} needs --profile kineto or rocprofv3")
    return RunOptions(command, profile=ProfileOptions(kind=profile, **chosen), **given)


def read(words: Sequence[str]) -> RunOptions | None:
    """The options before a command, and it; null where something is wrong, or help is asked for.

    So a job need not wait for a command line that can say what is wrong, which takes its time.
    """
    left = list(words)
    given: dict[str, Any] = {it.field: False if it.is_flag else it.default for it in OPTIONS}
    try:
        while left[0].startswith("-"):
            word = left.pop(0)
            if word == "--":
                break
            flag, equals, text = word.partition("=")
            option = _OPTIONS[flag]
            if not option.is_flag:
                given[option.field] = option.value_of(text if equals else left.pop(0))
            elif equals:
                return None
            else:
                given[option.field] = True
        return options_of(left, **given)
    except (IndexError, KeyError, ValueError):
        return None


def _folder(text: str) -> Path:
    """A folder's path; raises ValueError where it names none."""
    if not text or "\0" in text:
        raise ValueError("name a folder")
    return Path(text)


def _seconds(text: str) -> float:
    """Seconds; raises ValueError where they cannot be waited for."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _MOST_SECONDS:
        raise ValueError(f"{text}: a number of seconds above 0")
    return seconds


def _count(text: str) -> int:
    """A number of steps; raises ValueError."""
    if not re.fullmatch("[0-9]{1,7}", text):
        raise ValueError(f"{text}: a number from 0")
    return int(text)


@dataclass(frozen=True)
class Option:
    """An option of the command line; without ``parse`` it is a flag, or one of its ``choices``."""

    flag: str
    help: str
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    default: Any = None
    choices: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The field of RunOptions."""
        return self.flag[2:].replace("-", "_")

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.parse is None and not self.choices

    def value_of(self, text: str) -> Any:
        """The value that a text gives; raises ValueError."""
        if self.parse is not None:
            return self.parse(text)
        if text not in self.choices:
            raise ValueError(f"{text}: give one of {', '.join(self.choices)}")
        return text


OPTIONS = (
    Option("--run-dir", "Folder of the run, which the wrappers of all nodes share;"
           " commscope-runs/TIME-NAME by default.", "DIR", _folder),
    Option("--name", "Name of the run; by default that of the script.", "NAME", str),
    Option("--log-calls", "Have RCCL or NCCL log each call too (COLL,TUNING)."),
    Option("--no-log", "Set no variable of RCCL, NCCL or their use by PyTorch."),
    Option("--no-analyze", "Collect only; commscope analyze reads the folder, here or elsewhere."),
    Option("--wait", "Seconds that the report waits for other nodes.", "S", _seconds, WAIT_S),
    Option("--timeout", "Seconds after which the job is taken to hang, and is ended.", "S",
           _seconds),
    Option("--profile", "Profile the job without a change of its code.", default="none",
           choices=KINDS),
    Option("--profile-steps", "Steps to profile, counted from 0, such as 10-12.", "A-B",
           parse_steps),
    Option("--profile-ranks", "Ranks to profile, such as 0,8-15; all by default.", "RANKS",
           parse_ranks),
    Option("--profile-marker", "Annotations that begin a step; by default the optimizer's step"
           " ends one.", "REGEX", str),
    Option("--profile-warmup", "Steps for which the profiler warms up before the first.", "N",
           _count),
)  # fmt: skip
_OPTIONS = {option.flag: option for option in OPTIONS}
