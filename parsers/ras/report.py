"""The report of ``ncclras`` as text: groups of communicators, and what is out of line in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from commscope.parsers.inspector.operation import operation
from commscope.parsers.row_builder import RowBuilder

_SNIFF = re.compile(
    rb"^Communicators\.\.\. \(|^Group +Comms +Nodes +Ranks|\] PEER_\w{1,30}: Process \d",
    re.MULTILINE,
)
_GROUP = re.compile(
    r"\s*(?P<group>\d{1,9})\s+(?P<comms>\d{1,9})\s+\S+\s+\S+\s+(?P<nranks>\d{1,9})(?:-\d+)?\s+\d+\s+"
    r"(?P<status>[A-Z]\w+)\s+(?P<errors>\w+)\s*$"
)
_COMMUNICATOR = re.compile(r"\s*#(?P<name>\d+-\d+) \((?P<hash>[0-9a-f]{1,32})\) (?P<kind>[A-Z]+)")
_KIND = re.compile(r"(?P<kind>INCOMPLETE|DEAD)\s*$")
_COUNT = re.compile(
    r"\s*(?:Rank (?P<rank>\d{1,9}) has|(?P<ranks>\d{1,9}) ranks? have) "
    r"(?:launched up to operation (?P<count>\d{1,18})|not launched any operations"
    r"|status (?P<status>\w+))(?P<rest>.*)"
)
_WHO = re.compile(
    r"(?:Rank (?P<rank>\d{1,9}) )?-- GPU (?P<device>\S{1,40}) managed by process (?P<pid>\d{1,10}) "
    r"on node (?P<host>\S{1,255})"
)
_OP = re.compile(r"different (?P<op>\w+) operation counts")
_MISSING = re.compile(r"\s*(?:The )?[Mm]issing ranks?: (?P<ranks>[\d, ]{1,10000})")
_PROCESS = re.compile(
    r"\s*Process (?P<pid>\d{1,10}) on node (?P<host>\S{1,255}) "
    r"managing GPUs? (?P<device>[\d, ]{1,80})"
)
#: No line of a report is longer.
_MOST_BYTES = 20_000
_EVENT = re.compile(r"\[(?P<time>[^\]]{1,40})\] (?P<event>PEER_\w{1,30}): ")


def looks_like_report(head: bytes) -> bool:
    """Whether a text holds a report."""
    return _SNIFF.search(head) is not None


def read_report(lines: Iterable[tuple[int, bytes]], label: str, table: RowBuilder) -> int:
    """Adds the facts of all reports in numbered lines and tells how many they are."""
    reader = _Reader(table, label)
    for number, text in lines:
        reader.read(number, text[:_MOST_BYTES].decode("utf-8", "replace"))
    return reader.facts


class _Reader:
    """Reads line by line; what a line is of stands above it."""

    def __init__(self, table: RowBuilder, label: str) -> None:
        self.facts = 0
        self._table, self._label = table, label
        self._about: dict[str, Any] = {}  #: the communicator that is spoken of
        self._shared: dict[str, Any] = {}  #: the count or status that the ranks below share
        self._in_groups = False

    def read(self, number: int, line: str) -> None:
        """Reads one line, if it is one of a report."""
        if line.startswith("Group ") and "Comms" in line:
            self._in_groups = True
        elif self._in_groups and (found := _GROUP.match(line)):
            self._add_group(number, found)
        elif found := _COMMUNICATOR.match(line) or _KIND.match(line):
            self._begin(found)
        elif found := _EVENT.search(line):
            self._about, self._shared = {"kind": "dead", "says": found["event"]}, {}
            self._add_process(number, line[found.end() :])
        elif self._about:
            self._read_detail(number, line)

    def _add(self, number: int, **values: Any) -> None:
        self._table.add(file=self._label, line=number, **values)
        self.facts += 1

    def _add_group(self, number: int, found: re.Match[str]) -> None:
        self._add(
            number,
            kind="summary",
            communicator=found["group"],
            communicators=int(found["comms"]),
            nranks=int(found["nranks"]),
            status=found["status"].lower(),
            says=found["errors"],
        )

    def _begin(self, found: re.Match[str]) -> None:
        named = found.groupdict()
        self._in_groups, self._shared = False, {}
        self._about = {
            "kind": named["kind"].lower(),
            "communicator": named.get("name"),
            "comm_id": named.get("hash") and f"0x{named['hash']}",
        }
        if self._about["kind"] not in ("mismatch", "incomplete", "dead"):
            self._about = {}

    def _read_detail(self, number: int, line: str) -> None:
        if found := _OP.search(line):
            self._about["op"] = None if found["op"] == "collective" else operation(found["op"])
        elif found := _COUNT.match(line):
            self._add_count(number, found)
        elif found := _MISSING.match(line):
            for rank in re.findall(r"\d{1,9}", found["ranks"]):
                self._add(number, **self._about, rank=int(rank), says="missing")
        elif found := _WHO.search(line):
            who = _who(found)
            self._add(number, **{**self._about, **self._shared, "ranks": None, **who})
        else:
            self._add_process(number, line)

    def _add_count(self, number: int, found: re.Match[str]) -> None:
        count = found["count"]
        self._shared = {
            "count": int(count) if count else None if found["status"] else 0,
            "status": found["status"] and found["status"].lower(),
            "ranks": int(found["ranks"] or 1),
        }
        named = _WHO.search(found["rest"])
        who = {**(_who(named) if named else {}), **_rank(found["rank"])}
        self._add(number, **{**self._about, **self._shared, **who})

    def _add_process(self, number: int, line: str) -> None:
        found = _PROCESS.match(line)
        if found:
            who = {
                "pid": int(found["pid"]),
                "host": found["host"],
                "device": found["device"].strip(),
            }
            self._add(number, **{**self._about, **who})


def _who(found: re.Match[str]) -> dict[str, Any]:
    who = {"device": found["device"], "pid": int(found["pid"]), "host": found["host"]}
    return {**who, **_rank(found["rank"])}


def _rank(text: str | None) -> dict[str, Any]:
    return {} if text is None else {"rank": int(text)}
