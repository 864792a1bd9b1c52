"""The report of ``ncclras -f json``."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from commscope.errors import CorruptTrace
from commscope.parsers.row_builder import RowBuilder

_SNIFF = re.compile(rb'"communicators(?:_count)?"\s*:')
_VERSION = re.compile(rb'"nccl_version"\s*:')
#: What the client answers before the report.
_ANSWERS = re.compile(rb"\A(?:\s|OK\b)*")
#: Version 2.28.9 leaves out the comma before the last member of a missing rank.
_NO_COMMA = re.compile(rb'(["\d\]}]|true|false|null)([ \t]*\r?\n[ \t]*"[^"\n]{1,80}"[ \t]*:)')


class _Status(msgspec.Struct):
    init_state: int | None = None
    async_error: int | None = None
    abort_flag: bool = False
    finalize_called: bool = False
    unresponsive: bool = False
    considered_dead: bool = False


class _Rank(msgspec.Struct):
    rank: int
    host: str | None = None
    pid: int | None = None
    cuda_dev: int | None = None
    status: _Status | None = None
    collective_counts: dict[str, int] = {}
    unresponsive: bool = False
    considered_dead: bool = False


class _Communicator(msgspec.Struct):
    hash: str | None = None
    size: int | None = None
    ranks: list[_Rank] = []
    missing_ranks: list[_Rank] = []


class _Report(msgspec.Struct):
    communicators: list[_Communicator]


def looks_like_document(head: bytes) -> bool:
    """Whether JSON is a report of RAS."""
    return _SNIFF.search(head) is not None and _VERSION.search(head) is not None


def read_document(text: bytes, label: str, table: RowBuilder) -> int:
    """Adds the facts of a report and tells how many they are; raises CorruptTrace if it is cut."""
    report = _decoded(_ANSWERS.sub(b"", text), label)
    before = len(table)
    for communicator in report.communicators:
        for row in _rows(communicator):
            table.add(file=label, comm_id=communicator.hash, nranks=communicator.size, **row)
    return len(table) - before


def _decoded(text: bytes, label: str) -> _Report:
    report = _report(text) or _report(_NO_COMMA.sub(rb"\1,\2", text))
    if report is None:
        raise CorruptTrace(f"{label}: the JSON of this report of RAS is cut or damaged; ask again")
    return report


def _report(text: bytes) -> _Report | None:
    try:
        return msgspec.json.decode(text, type=_Report)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _rows(communicator: _Communicator) -> list[dict[str, Any]]:
    missing = communicator.missing_ranks
    says = "incomplete" if missing else "mismatch" if _differ(communicator.ranks) else "ok"
    summary = {"kind": "summary", "communicators": 1, "says": says.upper()}
    rows: list[dict[str, Any]] = [summary]
    for rank in communicator.ranks:
        status = _status(rank.status)
        for op, count in rank.collective_counts.items() or [(None, None)]:
            if count or op is None:
                rows.append(
                    {"kind": "rank", **_who(rank), "op": op, "count": count, "status": status}
                )
    rows.extend({"kind": "incomplete", **_who(rank), "says": _missing(rank)} for rank in missing)
    return rows


def _differ(ranks: list[_Rank]) -> bool:
    return any(rank.collective_counts != ranks[0].collective_counts for rank in ranks[1:])


def _who(rank: _Rank) -> dict[str, Any]:
    device = None if rank.cuda_dev is None else str(rank.cuda_dev)
    return {"rank": rank.rank, "host": rank.host, "pid": rank.pid, "device": device}


def _status(status: _Status | None) -> str | None:
    if status is None:
        return None
    if status.abort_flag:
        return "abort"
    if status.finalize_called:
        return "finalize"
    return "running" if status.init_state == 0 else "init"


def _missing(rank: _Rank) -> str:
    status = rank.status or _Status()
    if rank.considered_dead or status.considered_dead:
        return "dead"
    return "unresponsive" if rank.unresponsive or status.unresponsive else "missing"
