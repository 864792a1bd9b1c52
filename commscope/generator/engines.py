"""What carries out a plan: one function for each engine, by its name.

run = generate(plan_of("ddp-tail"), Choice(engine="simulate"), folder)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from commscope.errors import UsageError
from commscope.generator import played_run, simulated_run, torch_run
from commscope.generator.catalog.plan import Plan
from commscope.generator.playing.backends import choose_backend
from commscope.generator.playing.launching import RankCommand
from commscope.generator.run_folder import GeneratedRun, begun, finish


@dataclass(frozen=True, slots=True)
class Choice:
    """With what a plan is carried out.

    ``backend`` is amd, nvidia or host (for simulate: whose traces are written), or auto. The
    ``formats`` are those of the traces; none are the engine's own choice.
    """

    engine: str = "simulate"
    backend: str = "auto"
    arch: str = ""
    compiler: str = ""
    profiler: str = "auto"
    formats: tuple[str, ...] = ()
    profile_ranks: tuple[int, ...] = ()  #: none: all
    devices: tuple[int, ...] = ()
    python: str = ""  #: one that has torch, where this one has not
    timeout_s: int = 300
    truth: str = "stamps"
    env: dict[str, str] = field(default_factory=dict)

    @property
    def places(self) -> tuple[str, ...]:
        """What scenarios may not show on: the engine, and the vendor of the GPUs."""
        if self.engine in ("host", "simulate"):
            return (self.engine,)
        return self.engine, choose_backend(self.backend)


Engine = Callable[[Plan, Choice, Path], GeneratedRun]


def _simulate(plan: Plan, choice: Choice, folder: Path) -> GeneratedRun:
    return simulated_run.simulate_run(plan, choice.backend, choice.formats, folder)


#: An engine fills the folder, of which plan, schedule and the folders of ranks are there.
ENGINES: dict[str, Engine] = {
    "simulate": _simulate,
    "host": played_run.play_run,
    "hip": played_run.play_run,
    "torch": torch_run.torch_run,
}

#: These compile the program, and play schedules with it.
_PLAYING = ("host", "hip")


def generate(plan: Plan, choice: Choice, folder: Path) -> GeneratedRun:
    """Carries out a plan into a new folder.

    Raises UsageError for an engine that is not one of ``ENGINES``, and for a folder that is in use.
    """
    engine = ENGINES.get(choice.engine)
    if engine is None:
        raise UsageError(f"--engine {choice.engine}: one of {', '.join(ENGINES)}")
    _require_sense(choice, plan.knobs.ranks)
    with begun(folder, plan):
        run = replace(engine(plan, choice, folder), profile_ranks=list(choice.profile_ranks))
        finish(folder, run)
    return run


def _require_sense(choice: Choice, ranks: int) -> None:
    """Raises UsageError for a choice that the engine would leave unheard."""
    engine = f"--engine {choice.engine}"
    for rank in choice.profile_ranks:
        if rank >= ranks:
            raise UsageError(f"--profile-ranks {rank}: the last rank is {ranks - 1}")
    if choice.devices and choice.engine in ("simulate", "host"):
        raise UsageError(f"--devices: {engine} uses none")
    if choice.formats and choice.engine in ("host", "torch"):
        raise UsageError(f"--formats: {engine} writes traces of Kineto alone")
    if choice.engine == "simulate" and (choice.profiler != "auto" or choice.truth == "none"):
        raise UsageError(f"--profiler, --truth: {engine} writes traces and truth of what it knows")


def compile_command(choice: Choice) -> list[str]:
    """The command that compiles the program which the engine needs; none where it needs none."""
    return played_run.compile_command(choice) if choice.engine in _PLAYING else []


def compile_program(choice: Choice) -> Path:
    """Compiles the program that the engine needs; raises UsageError where it needs none."""
    if choice.engine not in _PLAYING:
        raise UsageError(f"--compile-only: --engine {choice.engine} compiles nothing")
    return played_run.compile_program(choice)


def commands(plan: Plan, choice: Choice, folder: Path) -> list[RankCommand]:
    """What is run for each rank; nothing where all is simulated."""
    if choice.engine in _PLAYING:
        return played_run.shown_commands(plan, choice, folder)
    if choice.engine == "torch":
        return torch_run.shown_commands(plan, choice, folder)
    return []
