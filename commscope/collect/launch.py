"""Runs a job as if nobody were there, and keeps what tells of it in the folder of a run.

The job has the wrapper's own input, output and error, and its end is passed on as it was. What
fails of all that is done besides is told in one line on standard error, and changes nothing for it.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal

from commscope.collect.children import in_foreground, start, without
from commscope.collect.options import RunOptions
from commscope.collect.preparing import Prepared, prepare
from commscope.collect.run_folder import NODE
from commscope.collect.signals import Signals
from commscope.collect.standard import open_missing
from commscope.collect.told import Told, reason, say

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


def run(options: RunOptions) -> int:
    """Runs a job, collects and reports; returns the job's exit code, negative for a signal.

    127 where the command is not found and 126 where it cannot be executed, as a shell does.
    """
    closed = open_missing()
    missing = _missing(options.command[0])
    if missing is not None:
        return missing
    told = Told()
    try:
        job = prepare(options, os.environ, told)
    except KeyboardInterrupt:
        return -signal.SIGINT
    signals = Signals()
    try:
        return _run(job, options, signals, told, closed)
    finally:
        signals.restore()


def _missing(program: str) -> int | None:
    """The exit code for a command that is not there, or null."""
    if shutil.which(program) is not None:
        return None
    if os.sep in program and os.path.exists(program):
        is_folder = os.path.isdir(program)
        say(f"{program}: {'is a folder' if is_folder else 'permission denied'}")
        return _NOT_EXECUTABLE
    say(f"{program}: command not found")
    return _NOT_FOUND


def _run(
    job: Prepared, options: RunOptions, signals: Signals, told: Told, closed: tuple[int, ...]
) -> int:
    code, process = 0, None
    try:
        process = start(
            job.command,
            job.environment,
            signals,
            own_group=not in_foreground(),
            files=without(closed),
        )
    except OSError as error:
        told.tell(f"{job.command[0]}: {reason(error)}")
        code = _NOT_FOUND if error.errno == errno.ENOENT else _NOT_EXECUTABLE
    # Nothing of this may delay the start of the job, nor be missing when it ends.
    from commscope.collect import alive, ending, watching  # noqa: PLC0415

    watched = watching.Ended(code)
    if process is not None:
        with alive.signs_of_life(None if job.node is None else job.node.path / NODE):
            watched = watching.watch(process, job, options.timeout, signals, told)
    ending.finish(job, options, watched, signals, told)
    return watched.code
