"""Which tables a rocpd database has: one set a run, each table named ``rocpd_<what>_<uuid>``."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

#: What can be read. The longer names hold the shorter ones.
_WHAT = (
    "info_kernel_symbol",
    "info_process",
    "info_thread",
    "info_agent",
    "info_node",
    "info_category",
    "info_pmc",
    "kernel_dispatch",
    "memory_copy",
    "pmc_event",
    "metadata",
    "region",
    "sample",
    "string",
    "event",
    "track",
    "arg",
)
_NAME = re.compile(rf"rocpd_({'|'.join(_WHAT)})(?:_(\w+))?")
_RPD = {"rocpd_api", "rocpd_op"}
#: Views that keep their columns where the tables change.
VIEWS = ("kernels", "memory_copies", "regions")


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view, with the names of its columns."""

    name: str
    columns: frozenset[str]

    def has(self, *columns: str) -> bool:
        """Whether it has all of these columns."""
        return self.columns.issuperset(columns)

    def column(self, name: str, of: str) -> str:
        """SQL for a column of the table, called ``of`` in the query: NULL where it has none."""
        return f'{of}."{name}"' if name in self.columns else "NULL"

    def sql(self, of: str) -> str:
        """SQL for the table in a query."""
        return f"{quoted(self.name)} AS {of}"


@dataclass(frozen=True, slots=True)
class Run:
    """The tables of one run by what they hold, such as ``kernel_dispatch``."""

    tables: Mapping[str, Table]

    def get(self, what: str, *columns: str) -> Table | None:
        """The table, null where it is missing or lacks one of the columns."""
        table = self.tables.get(what)
        return table if table is not None and table.has(*columns) else None


def find_runs(connection: sqlite3.Connection) -> list[Run]:
    """The tables of each run; the views over all of them only where there is one run."""
    by_suffix: dict[str, dict[str, Table]] = defaultdict(dict)
    names = _names(connection, "table")
    for name in names or _names(connection, "view"):
        found = _NAME.fullmatch(name)
        if found:
            by_suffix[found[2] or ""][found[1]] = _table(connection, name)
    views = {name: _table(connection, name) for name in _names(connection, "view") if name in VIEWS}
    if len(by_suffix) > 1:
        views = {}
    views = {name: view for name, view in views.items() if view.columns}
    return [Run({**tables, **views}) for _, tables in sorted(by_suffix.items())]


def has_rpd(connection: sqlite3.Connection) -> bool:
    """Whether it has the tables of rocmProfileData, of which some are called as rocpd's are."""
    return _RPD.issubset(_names(connection, "table"))


def quoted(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _names(connection: sqlite3.Connection, kind: str) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,))
    return [str(name) for (name,) in rows]


def _table(connection: sqlite3.Connection, name: str) -> Table:
    try:
        rows = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    except sqlite3.OperationalError:  # a view over a table that is missing
        rows = []
    return Table(name, frozenset(str(row[1]) for row in rows))
