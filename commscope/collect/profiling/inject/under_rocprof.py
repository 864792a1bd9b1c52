"""A worker that starts itself anew under rocprofv3, which keeps its process id and exit code.

This happens before anything of the worker has run. rocprofv3's own ``%rank%`` does not know
torchrun's variable, so each rank gets a folder of its own from here. (Tested with a stand-in for
rocprofv3: we had no AMD GPU.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

from .ranks import told_rank
from .settings import Settings
from .telling import tell

#: Set for a worker under rocprofv3; the processes it starts are not workers.
_UNDER = "COMMSCOPE_UNDER_ROCPROF"
#: Programs that start workers: they have the variables of Slurm or MPI, but do no work themselves.
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate",
              "deepspeed", "torch/distributed/run.py")  # fmt: skip
_OWN_WORDS = 4


def start_anew(environment: MutableMapping[str, str]) -> None:
    """Returns only where this process is no worker, is not asked for, or cannot be started."""
    settings = Settings.of(environment)
    words = python_command()
    rank = told_rank(environment) or 0
    if _UNDER in environment or _is_launcher(words, environment) or not settings.wants(rank):
        return
    folder = settings.traces / f"rank{rank}"
    environment[_UNDER] = str(os.getpid())
    command = [*settings.command, "-d", str(folder), "-o", "trace", "--", *words]
    try:
        os.execvp(command[0], command)
    except OSError as error:
        tell(f"rank {rank}: not profiled, {command[0]} cannot be started ({error.strerror})")


def python_command() -> list[str]:
    """The command of this process, whole: the interpreter and its options too."""
    words = Path("/proc/self/cmdline").read_bytes().split(b"\0")[:-1]
    return [sys.executable, *(os.fsdecode(word) for word in words[1:])]


def _is_launcher(words: list[str], environment: MutableMapping[str, str]) -> bool:
    """The workers of torchrun have RANK; it has not."""
    if "RANK" in environment:
        return False
    return any(name in word for word in words[:_OWN_WORDS] for name in _LAUNCHERS)
