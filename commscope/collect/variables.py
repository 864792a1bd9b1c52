"""What is set for the job's libraries of communication, so that they log, and what is the user's.

A user who set one of the variables that say whether and where is logged has decided about logging:
none is set then. NCCL reads settings from files too; what the environment holds goes before them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LOG_LEVELS = ("none", "start", "calls")
#: Host and process: RCCL and NCCL write them for these signs.
LOG_NAME = "nccl.%h.%p.log"
_FLIGHT_NAME = "flight_recorder_rank_"

_SUBSYSTEMS = {"start": "INIT,ENV,GRAPH,NET", "calls": "INIT,ENV,GRAPH,NET,COLL,TUNING"}
_DECIDING = ("NCCL_DEBUG", "NCCL_DEBUG_FILE")
_OUTPUTS = ("", "stdout", "stderr")
#: Where PyTorch's flight recorder puts what it dumps when a collective hangs; the newer name last.
_FLIGHT = ("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_FR_DUMP_TEMP_FILE")


@dataclass(frozen=True)
class Logging:
    """What to set, and what the user had set already: the first variable of it, or null.

    ``is_silent``: that names a file, and no level, without which nothing is written to it.
    """

    variables: Mapping[str, str]
    users_own: str | None
    is_silent: bool = False


def log_variables(level: str, folder: Path, environment: Mapping[str, str]) -> Logging:
    """The variables with which a job logs into a folder, of a level in LOG_LEVELS."""
    if level == "none":
        return Logging({}, None)
    own = {**_configured(environment), **environment}
    flight = {name: str(folder / _FLIGHT_NAME) for name in _FLIGHT}
    variables = {} if any(name in own for name in _FLIGHT) else flight
    decided = next((name for name in _DECIDING if own.get(name)), None)
    if decided is None:
        variables.update(
            NCCL_DEBUG="INFO",
            NCCL_DEBUG_SUBSYS=own.get("NCCL_DEBUG_SUBSYS") or _SUBSYSTEMS[level],
            NCCL_DEBUG_FILE=str(folder / LOG_NAME).replace("%", "%%", _signs_before(folder)),
        )
    users_own = decided and f"{decided}={own[decided]}"
    return Logging(variables, users_own, is_silent=decided == _DECIDING[1])


def _signs_before(folder: Path) -> int:
    """How many signs of the folder's own name must not be taken for host and process."""
    return str(folder).count("%")


def _configured(environment: Mapping[str, str]) -> dict[str, str]:
    """What the files set that NCCL reads."""
    own = environment.get("NCCL_CONF_FILE") or os.path.expanduser("~/.nccl.conf")
    return dict(pair for path in ("/etc/nccl.conf", own) for pair in _pairs(Path(path)))


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            yield name.strip(), value.strip()


def users_log_files(
    environment: Mapping[str, str], host: str
) -> tuple[Path, re.Pattern[str]] | None:
    """Folder and names of the files into which the user has the processes of a host log.

    A relative folder is one of the wrapper's, in which the job begins too.
    """
    name = environment.get("NCCL_DEBUG_FILE", "")
    if not environment.get("NCCL_DEBUG") or name in _OUTPUTS or name.startswith("/dev/"):
        return None
    folder, slash, file = name.rpartition("/")
    signs = {"%h": re.escape(host.partition(".")[0]), "%p": "[0-9]+", "%%": "%"}
    pieces = re.split("(%[hp%])", file)
    return Path(folder or slash or "."), re.compile(
        "".join(signs.get(it, re.escape(it)) for it in pieces)
    )
