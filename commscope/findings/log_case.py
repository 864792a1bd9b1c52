"""What rules on logs look at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.columns import NONE, Bool, Int64, at, int64, where_word
from commscope.findings.log_calls import Member, callers
from commscope.findings.model import Quote
from commscope.logs.summary import HARMLESS, LogSummary
from commscope.logs.tallies import tally
from commscope.normalize.logged_communicators import Communicator, group_communicators

if TYPE_CHECKING:
    from commscope.parsers.rccl_log import Logs

Row = Mapping[str, Any]

#: Of more messages than these, the others are not looked at one by one.
_MOST_MESSAGES = 50_000
_LIBRARIES = ("rccl", "nccl")


@dataclass(frozen=True)
class LogCase:
    """The logs of a job: their tables, and what they come to."""

    logs: Logs
    summary: LogSummary

    def table(self, name: str) -> pa.Table:
        """A table of ``commscope.log_schema``."""
        return self.logs.tables[name]

    @property
    def communicators(self) -> Sequence[Communicator]:
        """The communicators, the largest first; groups count from 0 in this order."""
        return self.summary.communicators

    @cached_property
    def group_of_comm(self) -> Int64:
        """The group of each row of COMMS."""
        return np.array(group_communicators(self.table("COMMS")).of_row, np.int64)

    def group_of(self, table: pa.Table) -> Int64:
        """The group of each row of a table of communicators' records; -1: not known."""
        rows = int64(table, "comm")
        return at(self.group_of_comm, np.where(rows == NONE, -1, rows), missing=-1)

    @cached_property
    def members(self) -> list[dict[str, Any]]:
        """The rows of COMMS, each with its ``group``."""
        rows: list[dict[str, Any]] = self.table("COMMS").to_pylist()
        for row, group in zip(rows, self.group_of_comm.tolist()):
            row["group"] = group
        return rows

    @cached_property
    def hosts(self) -> dict[tuple[int, int], str]:
        """(group, rank) -> its host, where the logs tell."""
        return {
            (row["group"], row["rank"]): row["host"]
            for row in self.members
            if row["rank"] is not None and row["host"] is not None
        }

    @cached_property
    def callers(self) -> dict[int, list[Member]]:
        """The members that made collectives, by group."""
        named = {row["group"] for row in self.members if row["comm_id"] is not None}
        return callers(self.table("CALLS"), self.group_of_comm, self.communicators, named)

    @cached_property
    def local(self) -> dict[str, list[dict[str, Any]]]:
        """Host -> the members of the largest communicator on it."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.members:
            if row["group"] == 0 and row["host"] is not None:
                found.setdefault(row["host"], []).append(row)
        return found

    @property
    def spans_hosts(self) -> bool:
        """Whether ranks of the job are on several hosts."""
        several = any((one.nnodes or 1) > 1 for one in self.communicators)
        return several or len(self.summary.hosts) > 1

    @cached_property
    def variables(self) -> dict[str, list[Row]]:
        """Variables of the environment that are not ignored: one row for each value."""
        found: dict[str, list[Row]] = {}
        for row in self.summary.environment:
            if not row["ignored"]:
                found.setdefault(row["variable"], []).append(row)
        return found

    def switched_on(self, name: str) -> Row | None:
        """The variable, where it is set to something that is not 0."""
        rows = self.variables.get(name, ())
        return next((row for row in rows if (row["value"] or "0").strip() not in ("", "0")), None)

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The rows of WARNINGS but those of harmless probes, the first 50,000."""
        table = self.table("WARNINGS")
        text = table.column("text").cast(pa.string())
        kept = table.filter(pc.invert(pc.match_substring_regex(text, HARMLESS)))
        rows: list[dict[str, Any]] = kept.slice(0, _MOST_MESSAGES).to_pylist()
        return rows

    def said(self, pattern: str) -> list[Row]:
        """Warnings that match a pattern anywhere, alike ones together."""
        matches = re.compile(pattern).search
        return [row for row in self.summary.warnings if matches(row["text"])]

    def versions(self, component: str) -> list[Row]:
        """What versions of a component the logs name."""
        return [row for row in self.summary.versions if row["component"] == component]

    @property
    def library(self) -> str | None:
        """``rccl`` or ``nccl``; null where the logs name none."""
        return next((name for name in _LIBRARIES if self.versions(name)), None)

    @cached_property
    def fabric(self) -> list[dict[str, Any]]:
        """The rows of GRAPHS on paths and links between devices, of each host once."""
        return self._graphs(
            ("path", "link"), ("kind", "host", "name", "peer", "link", "bandwidth_gbps")
        )

    @cached_property
    def nics(self) -> list[dict[str, Any]]:
        """The rows of GRAPHS on network devices."""
        table = self.table("GRAPHS")
        rows: list[dict[str, Any]] = table.filter(
            pa.array(where_word(table, "kind", "nic".__eq__))
        ).to_pylist()
        return rows

    def _graphs(self, kinds: Sequence[str], columns: Sequence[str]) -> list[dict[str, Any]]:
        table = self.table("GRAPHS")
        return tally(table.filter(pa.array(where_word(table, "kind", kinds.__contains__))), columns)

    def connections(self, wanted: str) -> pa.Table:
        """The rows of CHANNELS whose transport matches a pattern from its begin on."""
        return self.table("CHANNELS").filter(pa.array(self.transports(wanted)))

    def transports(self, wanted: str) -> Bool:
        """Which rows of CHANNELS have a transport that matches a pattern from its begin on."""
        return where_word(self.table("CHANNELS"), "transport", re.compile(wanted).match)

    def group_name(self, group: int) -> str:
        """How a sentence calls a communicator."""
        return f"communicator {group}" if len(self.communicators) > 1 else "the communicator"


def quotes(*rows: Row) -> tuple[Quote, ...]:
    """The lines of rows, each once."""
    return tuple(dict.fromkeys(Quote(row["file"], row["line"]) for row in rows))


def version_of(text: str) -> tuple[int, ...]:
    """The numbers that a version begins with: ``2.20.5-HEAD`` is (2, 20, 5)."""
    found = re.match(r"\d{1,9}(?:\.\d{1,9})*", text)
    return tuple(map(int, found[0].split("."))) if found else ()
