"""Which rank a process is, by what its launcher put into its environment.

The database holds the whole environment, secrets and all. SQLite itself takes the variables named
here out of it, and them only where they are whole numbers: nothing else ever leaves the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from commscope.parsers.integers import MAX_RANK
from commscope.parsers.rocpd_layout import Run

_MOST_DIGITS = len(str(MAX_RANK))


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a process in its job, null where it is not known."""

    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None


@dataclass(frozen=True, slots=True)
class _Launcher:
    """The variables that a launcher sets."""

    rank: str
    world_size: str
    local_rank: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Their names."""
        return (self.rank, self.world_size, *([self.local_rank] if self.local_rank else []))


#: The innermost first: torchrun is started by the others, and MPI within an allocation of Slurm.
_TORCHRUN = _Launcher("RANK", "WORLD_SIZE", "LOCAL_RANK")
_LAUNCHERS = (
    _TORCHRUN,
    _Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    _Launcher("PMI_RANK", "PMI_SIZE"),
    _Launcher("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)
_VARIABLES = tuple(name for launcher in _LAUNCHERS for name in launcher.variables)


def read_places(connection: sqlite3.Connection, run: Run) -> dict[int, Place]:
    """The place of each process of a run, by its id; none for those that tell nothing."""
    table = run.get("info_process", "id", "environment")
    if table is None:
        return {}
    columns = ", ".join(map(_variable, _VARIABLES))
    try:
        rows = connection.execute(f"SELECT id, {columns} FROM {table.sql('t')}").fetchall()
    except sqlite3.OperationalError:  # an SQLite that was built without JSON
        return {}
    places = {key: _place(dict(zip(_VARIABLES, values))) for key, *values in rows}
    return {key: place for key, place in places.items() if place}


def _variable(name: str) -> str:
    """SQL for the number that a variable holds; NULL where it holds anything else."""
    text = f"json_extract(t.environment, '$.{name}')"
    is_number = (
        f"json_type(t.environment, '$.{name}') IN ('text', 'integer') "
        f"AND length({text}) BETWEEN 1 AND {_MOST_DIGITS} AND {text} NOT GLOB '*[^0-9]*'"
    )
    # JSON that is broken is an error of the whole query, unless it is never looked into.
    return (
        f"CASE WHEN json_valid(t.environment) "
        f"THEN CASE WHEN {is_number} THEN CAST({text} AS INTEGER) END END"
    )


def _place(variables: Mapping[str, int | None]) -> Place | None:
    """What the first launcher says that names a rank."""
    return next(filter(None, (_told_by(one, variables) for one in _LAUNCHERS)), None)


def _told_by(launcher: _Launcher, variables: Mapping[str, int | None]) -> Place | None:
    rank, size = variables[launcher.rank], variables[launcher.world_size]
    if rank is None or rank > MAX_RANK or (size is not None and rank >= size):
        return None
    # A shell within an allocation is a job of one: all that it starts inherits its rank.
    if launcher is not _TORCHRUN and (size is None or size < 2):
        return None
    local = variables[launcher.local_rank] if launcher.local_rank else None
    return Place(rank, local if local is not None and local <= rank else None, size)
