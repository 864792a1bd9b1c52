"""A plan carried out as a job in PyTorch: DDP, FSDP2, tensor, pipeline or expert parallel."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from commscope._version import __version__
from commscope.errors import CommscopeError, UsageError
from commscope.generator.catalog.plan import Plan
from commscope.generator.playing import environment
from commscope.generator.playing.backends import has_driver
from commscope.generator.playing.collectors import traces_in
from commscope.generator.playing.launching import RankCommand, check, launch
from commscope.generator.run_folder import GeneratedRun, files_of, finish, rank_folder, truth_path
from commscope.generator.torch_job.job.options import JobOptions
from commscope.generator.torch_job.noted import Noted, read_noted
from commscope.generator.torch_job.planned import GLOO, NCCL, RECORDED, Where, job_options
from commscope.generator.truth_writing import header_row

if TYPE_CHECKING:
    from commscope.generator.engines import Choice

OPTIONS = "torch.json"
_JOB = Path(__file__).parent / "torch_job" / "job"
#: Starting Python, loading torch and meeting the others.
_START_S = 120
_QUIET = {"KINETO_LOG_LEVEL": "6"}
#: Processes that each use all cores stand in each other's way.
_ONE_CORE = {"OMP_NUM_THREADS": "1"}


def torch_run(plan: Plan, choice: Choice, folder: Path) -> GeneratedRun:
    """Runs the job, with traces by torch.profiler and what is known of its steps.

    Raises UsageError for what this machine or PyTorch cannot do, and CommscopeError where a rank
    fails; the folder then tells the exit codes.
    """
    backend, world = _backend(choice), plan.knobs.ranks
    if world == 1:
        # The library launches nothing then, and a mock is nothing that PyTorch knows.
        raise UsageError("--engine torch: needs 2 ranks: one has nobody to communicate with")
    profiled = _profiled(choice, world)
    python, vendor = _python(choice), "host" if backend == GLOO else choice.backend
    (folder / RECORDED).mkdir(exist_ok=True)
    if backend == NCCL:
        environment.save_topology(folder)
    limit_s = 2 * choice.timeout_s + _START_S
    with tempfile.TemporaryDirectory(prefix="commscope-") as meet:
        where = Where(backend, folder.resolve(), Path(meet, "met"), choice.timeout_s, profiled)
        options = job_options(plan, where)
        (folder / OPTIONS).write_text(options.to_json() + "\n", encoding="utf-8")
        ended = launch(commands(plan, choice, folder, python, options), limit_s)
    run = GeneratedRun(
        scenario=plan.scenario,
        engine="torch",
        backend=vendor,
        profiler="kineto" if profiled else "none",
        world=world,
        steps=plan.knobs.steps,
        warmup=options.warmup,
        versions={"commscope": __version__},
        commands=[list(it.words) for it in ended],
        exit_codes=[it.exit_code for it in ended],
    )
    finish(folder, run)
    check(ended, limit_s)
    noted = [read_noted(folder / RECORDED, rank) for rank in range(world)]
    _require_traces(folder, profiled)
    _write_truth(folder, noted, plan, options)
    return msgspec.structs.replace(
        run,
        backend="host" if backend == GLOO else noted[0].header.vendor,
        versions=_versions(noted[0], backend),
        files=files_of(folder, world),
    )


def commands(
    plan: Plan, choice: Choice, folder: Path, python: str, options: JobOptions
) -> list[RankCommand]:
    """What is run for each rank."""
    world = plan.knobs.ranks
    devices: Sequence[int] = choice.devices or range(world)
    if len(devices) < world:
        raise UsageError(f"--devices names {len(devices)} of {world} ranks' GPUs")
    return [
        RankCommand(
            rank,
            (python, str(_JOB), str(folder / OPTIONS)),
            rank_folder(folder, rank) / "output.log",
            {
                **_QUIET,
                **(_ONE_CORE if options.backend == GLOO else {}),
                **environment.rank_variables(rank, world, devices[rank], world),
                **environment.log_variables(rank_folder(folder, rank).resolve()),
                **plan.env,
                **choice.env,
            },
        )
        for rank in range(world)
    ]


def shown_commands(plan: Plan, choice: Choice, folder: Path) -> list[RankCommand]:
    """What ``torch_run`` would run, but for the file in which the ranks find each other."""
    backend = _backend(choice)
    profiled = _profiled(choice, plan.knobs.ranks)
    where = Where(backend, folder.resolve(), Path("MEET"), choice.timeout_s, profiled)
    return commands(plan, choice, folder, _python(choice), job_options(plan, where))


def _backend(choice: Choice) -> str:
    """Of torch.distributed: gloo on CPUs."""
    if choice.backend == "auto":
        return NCCL if has_driver("amd") or has_driver("nvidia") else GLOO
    return GLOO if choice.backend == "host" else NCCL


def _python(choice: Choice) -> str:
    if choice.python:
        return choice.python
    if importlib.util.find_spec("torch") is None:
        raise UsageError(
            "--engine torch: torch is not installed here; --python tells another Python that has it"
        )
    return sys.executable


def _profiled(choice: Choice, world: int) -> tuple[int, ...]:
    if choice.profiler not in ("auto", "kineto", "none"):
        raise UsageError(
            f"--profiler {choice.profiler}: --engine torch records with kineto, or none"
        )
    if choice.profiler == "none":
        return ()
    return choice.profile_ranks or tuple(range(world))


def _require_traces(folder: Path, profiled: Sequence[int]) -> None:
    for rank in profiled:
        if not traces_in(rank_folder(folder, rank)):
            raise CommscopeError(f"rank {rank}: the profiler wrote no trace")


def _write_truth(folder: Path, noted: Sequence[Noted], plan: Plan, options: JobOptions) -> None:
    for rank, it in enumerate(noted):
        header = {**header_row(it.header, plan, "torch"), "warmup": options.warmup}
        steps = [{"op": "host_step", **msgspec.to_builtins(step)} for step in it.steps]
        # A rank is late in any job; what else a schedule shows, PyTorch may not do.
        planted = plan.causes if options.late else ()
        causes = [{"op": "cause", **asdict(cause)} for cause in planted]
        text = "".join(json.dumps(row) + "\n" for row in (header, *steps, *causes))
        truth_path(folder, rank).write_text(text, encoding="utf-8")


def _versions(noted: Noted, backend: str) -> dict[str, str]:
    header = noted.header
    library = {header.ccl: str(header.ccl_version)} if header.ccl_version else {}
    installed = environment.versions() if backend == NCCL else {}
    more = {"torch": noted.torch, "device": header.device_name}
    return {"commscope": __version__, **installed, **library, **more}
