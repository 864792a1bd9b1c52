"""What is made before a job starts: its place in the run folder, its variables, its profiler."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commscope.collect.commands import name_of, program, safe_name
from commscope.collect.nodes import BY_HAND, Place, find_place, misnumbered, spreads
from commscope.collect.options import RunOptions
from commscope.collect.profiling.options import ProfileOptions
from commscope.collect.run_folder import (
    NodeFolder,
    Run,
    default_folder,
    is_in_progress,
    iso_time,
    open_node,
)
from commscope.collect.told import Told, reason
from commscope.collect.variables import log_variables

#: Programs whose processes see another file system than the wrapper.
_CONTAINERS = frozenset(
    ("apptainer", "singularity", "docker", "podman", "enroot", "ch-run", "shifter", "sarus")
)


_HOW_TO_JOIN = f"(set {' and '.join(BY_HAND)} on each node, if it is of the same job)"


@dataclass(frozen=True)
class Prepared:
    """A job that is ready to start; null is what could not be made or is not wanted.

    ``logs`` is where its processes log; ``told`` is where those that are profiled note what they
    tell; ``scratch`` is theirs and the wrapper's, and goes when they
    have ended: a folder of this node alone, unless they run on others too.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    place: Place
    host: str
    began_ns: int
    node: NodeFolder | None
    scratch: Path | None
    logs: Path | None
    told: Path | None

    @property
    def logs_locally(self) -> bool:
        """Whether the logs have to be moved into the run folder."""
        return self.logs is not None and self.logs.parent == self.scratch


def prepare(options: RunOptions, environment: Mapping[str, str], told: Told) -> Prepared:
    """Makes what the job needs; what cannot be made is told."""
    began_ns, host = time.time_ns(), os.uname().nodename
    place = find_place(environment, options.command)
    wrong = misnumbered(environment)
    if wrong is not None:
        told.tell(wrong)
    node = _open(options, place, host, told)
    scratch = logs = noted = None
    variables: dict[str, str] = {}
    prefix: Sequence[str] = ()
    if node is not None:
        scratch = _scratch(node, told, shared=spreads(environment, options.command))
        logs = _log_folder(options, node, scratch, told)
        variables.update(_logging(options, environment, logs, told))
        profiling, prefix, noted = _profiled(options.profile, node, scratch, told)
        variables.update(profiling)
    command = [*prefix, *options.command]
    job_environment = {**environment, **variables}
    return Prepared(command, job_environment, place, host, began_ns, node, scratch, logs, noted)


def _open(options: RunOptions, place: Place, host: str, told: Told) -> NodeFolder | None:
    """The folder of this node; where it cannot be made, one for temporary files instead."""
    name = options.name or name_of(options.command, program(options.command))
    run = Run(options.command, safe_name(name), iso_time())
    wanted = options.run_dir or default_folder(run, place)
    try:
        node = open_node(wanted, run, place, host)
    except OSError as error:
        why = f"{wanted} cannot be made ({reason(error)})"
    else:
        _tell_of_place(node, wanted, options, place, told)
        return node
    try:
        folder = Path(tempfile.mkdtemp(prefix="commscope-run-"))
        node = open_node(folder / run.name, run, place, host)
    except OSError as error:
        told.tell(f"{why}, nor can another ({reason(error)}): nothing is collected")
        return None
    told.tell(f"{why}: the run is collected in {node.run}")
    return node


def _tell_of_place(
    node: NodeFolder, wanted: Path, options: RunOptions, place: Place, told: Told
) -> None:
    if node.run != Path(os.path.abspath(wanted)):
        told.tell(f"{wanted} holds {_held(wanted, place)}: this one is in {node.run}")
    elif options.run_dir is None and place.count not in (None, 1) and place.job is None:
        told.tell(
            "the nodes of this job meet only if all are given the same --run-dir:"
            f" this one writes to {node.run}"
        )


def _held(folder: Path, place: Place) -> str:
    """What is in the way of this run, and how to join it where nothing tells its nodes apart."""
    if not is_in_progress(folder):
        return "an earlier run"
    is_alone = place.count == 1 and place.job is None
    return f"a run that has not ended {_HOW_TO_JOIN}" if is_alone else "a run that has not ended"


def _scratch(node: NodeFolder, told: Told, *, shared: bool) -> Path | None:
    """A folder on this node's own disk, or where all processes of the job can see it."""
    try:
        if not shared:
            return Path(tempfile.mkdtemp(prefix="commscope-"))
        folder = node.path / ".scratch"
        folder.mkdir()
    except OSError as error:
        told.tell(
            f"no folder for temporary files can be made ({reason(error)}): no logs, no traces"
        )
        return None
    return folder


def _log_folder(
    options: RunOptions, node: NodeFolder, scratch: Path | None, told: Told
) -> Path | None:
    """Where the job's processes can log, whatever node they run on.

    A library that cannot open its file logs to standard output instead, which is the job's: where
    that might happen, nothing is logged.
    """
    if options.no_log or scratch is None:
        return None
    program_name = os.path.basename(program(options.command) or "")
    if program_name in _CONTAINERS:
        told.tell(
            f"{program_name} starts the job in a file system of its own: no logs are collected,"
            " unless commscope runs inside of it"
        )
        return None
    folder = node.logs if scratch.parent == node.path else scratch / "logs"
    try:
        folder.mkdir()
    except OSError as error:
        told.tell(f"{folder} cannot be made ({reason(error)}): no logs are collected")
        return None
    return folder


def _logging(
    options: RunOptions, environment: Mapping[str, str], folder: Path | None, told: Told
) -> Mapping[str, str]:
    if folder is None:
        return {}
    level = "calls" if options.log_calls else "start"
    logging = log_variables(level, folder, environment)
    if options.log_calls and logging.users_own is not None:
        told.tell(f"{logging.users_own} is set: --log-calls changes nothing about it")
    if logging.is_silent:
        told.tell(f"{logging.users_own} is set, and NCCL_DEBUG is not: no log is written"
                  " (NCCL_DEBUG=INFO has one written)")  # fmt: skip
    return logging.variables


def _profiled(
    options: ProfileOptions, node: NodeFolder, scratch: Path | None, told: Told
) -> tuple[Mapping[str, str], Sequence[str], Path | None]:
    """Variables and words before the command with which the job is profiled, and what it tells."""
    if options.kind == "none" or scratch is None:
        return {}, (), None
    # It takes time to import, and few jobs are profiled.
    from commscope.collect.profiling.prepare import prepare as prepare_profiler  # noqa: PLC0415

    try:
        node.traces.mkdir()
        prepared = prepare_profiler(options, node.traces, scratch)
    except OSError as error:
        told.tell(f"the profiler cannot be made ready ({reason(error)}): nothing is profiled")
        return {}, (), None
    for warning in prepared.warnings:
        told.tell(warning)
    return prepared.variables, prepared.command_prefix, prepared.told
