"""A plan carried out by processes on this machine: on its GPUs, or by threads of the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from commscope._version import __version__
from commscope.errors import UsageError
from commscope.generator.catalog.plan import Plan
from commscope.generator.playing import compiling
from commscope.generator.playing.backends import choose_backend
from commscope.generator.playing.collectors import Collector, choose
from commscope.generator.playing.environment import versions
from commscope.generator.playing.launching import RankCommand, RankEnded
from commscope.generator.playing.recording import RecordedHeader, Recording
from commscope.generator.playing.session import (
    Launched,
    Played,
    PlayOptions,
    commands,
    play,
    read_back,
)
from commscope.generator.run_folder import GeneratedRun, files_of, finish
from commscope.generator.simulation import Activity
from commscope.generator.truth_writing import ClockReading, RankHeader, write_truth

if TYPE_CHECKING:
    from commscope.generator.engines import Choice


def play_run(plan: Plan, choice: Choice, folder: Path) -> GeneratedRun:
    """Plays the plan's schedule, with traces, logs and truth.

    Raises UsageError for what this machine cannot do, and CommscopeError where a rank fails; the
    folder then tells the exit codes.
    """
    options = play_options(plan, choice)
    launched = play(plan.schedule, options, folder)
    run = _run(plan, choice, launched)
    finish(folder, run)
    played = read_back(plan.schedule, options, folder, launched)
    if choice.truth != "none":
        _write_truth(folder, played.recording, plan, choice.engine)
    return msgspec.structs.replace(
        run,
        files=files_of(folder, run.world),
        versions=_versions(choice, launched.collector, played),
    )


def play_options(plan: Plan, choice: Choice) -> PlayOptions:
    """On what and how the plan is played; raises UsageError where the engine has no GPU to use."""
    knobs = plan.knobs
    program = ["--compute", knobs.compute, "--comm", knobs.comm, "--truth", choice.truth]
    program += ["--gemm-n", str(knobs.gemm_n)] if knobs.compute == "gemm" else []
    program += ["--mock-blocks", str(knobs.mock_blocks)]
    program += ["--mock-us", str(knobs.mock_us)] if knobs.mock_us else []
    return PlayOptions(
        backend=_backend(choice),
        arch=choice.arch or None,
        compiler=choice.compiler or None,
        profiler=choice.profiler,
        formats=choice.formats,
        profile_ranks=frozenset(choice.profile_ranks) or None,
        python=choice.python or None,
        timeout_s=choice.timeout_s,
        devices=choice.devices or None,
        program=tuple(program),
        variables={**plan.env, **choice.env},
    )


def compile_command(choice: Choice) -> list[str]:
    """The words that compile the program; raises UsageError as ``play_run`` does."""
    return compiling.command(_backend(choice), choice.arch or None, **_compiled(choice))


def compile_program(choice: Choice) -> Path:
    """Compiles the program where it is not yet kept; raises as ``compiling.build`` does."""
    return compiling.build(_backend(choice), choice.arch or None, **_compiled(choice))


def _compiled(choice: Choice) -> Mapping[str, Any]:
    """How the program is compiled: for some profilers as a shared object."""
    collector = choose(
        choice.profiler, _backend(choice), choice.formats, python=choice.python or None
    )
    return {"compiler": choice.compiler or None, "shared": collector.shared}


def shown_commands(plan: Plan, choice: Choice, folder: Path) -> list[RankCommand]:
    """What ``play_run`` would run for each rank, but for the folder in which they meet."""
    words = compile_command(choice)
    program = Path(words[words.index("-o") + 1])
    return commands(plan.schedule, play_options(plan, choice), folder, program, Path("MEET"))


def _backend(choice: Choice) -> str:
    if choice.engine == "host":
        if choice.backend not in ("auto", "host"):
            raise UsageError(f"--engine host has no backend {choice.backend}; --engine hip has")
        return "host"
    backend = choose_backend(choice.backend)
    if backend == "host":
        raise UsageError(
            "--engine hip: this machine has no GPU with the compiler for it; --engine host plays "
            "with threads, --backend amd or nvidia says which GPU is meant"
        )
    return backend


def _run(plan: Plan, choice: Choice, launched: Launched) -> GeneratedRun:
    return GeneratedRun(
        scenario=plan.scenario,
        engine=choice.engine,
        backend=launched.backend,
        profiler=launched.collector.name,
        world=plan.knobs.ranks,
        steps=plan.knobs.steps,
        warmup=plan.knobs.warmup,
        versions={"commscope": __version__},
        warnings=list(launched.warnings),
        **ends(launched.ended),
    )


def ends(ended: Sequence[RankEnded]) -> Mapping[str, Any]:
    """Commands and exit codes of the ranks, as run.json has them."""
    return {
        "commands": [list(it.words) for it in ended],
        "exit_codes": [it.exit_code for it in ended],
    }


def _versions(choice: Choice, collector: Collector, played: Played) -> dict[str, str]:
    header = played.recording.headers[0]
    library = {header.ccl: str(header.ccl_version)} if header.ccl_version else {}
    installed = {} if choice.engine == "host" else versions()
    profiler = {collector.name: collector.version} if collector.version else {}
    found = {**installed, **profiler, **library}
    return {"commscope": __version__, **found, "device": header.device_name}


def _write_truth(folder: Path, recording: Recording, plan: Plan, engine: str) -> None:
    def source(rank: int, activity: Activity) -> Literal["device", "event"]:
        return "event" if recording.sources[rank][activity.correlation] == "event" else "device"

    headers = [rank_header(header) for header in recording.headers]
    write_truth(folder, recording.simulation, headers, plan, engine=engine, source=source)


def rank_header(header: RecordedHeader) -> RankHeader:
    """What a truth says of a rank, of what its recording does."""
    clock = ClockReading(
        realtime_ns=header.clock.realtime_ns,
        boottime_ns=header.clock.boottime_ns,
        monotonic_ns=header.clock.monotonic_ns,
    )
    return RankHeader(
        backend=header.backend,
        vendor=header.vendor,
        ccl=header.ccl,
        world=header.world,
        rank=header.rank,
        clock=clock,
        ccl_version=header.ccl_version,
        device_name=header.device_name,
        pci=header.pci,
        cus=header.cus,
        ticks_per_us=header.ticks_per_us,
        tick_step_us=header.tick_step_us,
        anchor_err_us=header.anchor_err_us,
    )
