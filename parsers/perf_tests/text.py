"""Tables of text of nccl-tests and rccl-tests, with whatever else was written between their rows.

Columns are told apart by white space and named by the head of the table: their places shift when a
number grows, and versions and options add columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from commscope.parsers.perf_tests.benchmarks import Benchmarks, Run
from commscope.parsers.perf_tests.operation import program_in

_SNIFF = re.compile(
    rb"#[ \t]+size[ \t]+count[ \t(].{0,200}(?:time|algbw)|#[ \t]*nThreads?:? \d+[ \t,]+nGpus:? \d+"
)
_DEVICE = re.compile(
    r"#\s*Rank\s+(?P<rank>\d{1,9})\s+(?:Group\s+(?P<group>\d{1,9})\s+)?Pid\s+(?P<pid>\d{1,12})\s+"
    r"on\s+(?P<host>\S{1,255})\s+device\s+(?P<device>\d{1,6})\s+\[(?P<bus_id>[^\]]{1,40})\]"
    r"[ \t]*(?P<name>[^\n]{0,120})"
)
_HEAD = re.compile(r"#\s+(size\s+count\b.{0,600})")
_ROW = re.compile(r"(?<![^\s:>\]|])(\d{1,20}\s+\d{1,20}\s+[a-z]\w{1,20}\s+\S.{0,2000})")
_NEW_RUN = re.compile(r"#\s*(?:Using devices|nThreads?:? \d)|#\s*Collective test starting:")
_VERSION = re.compile(r"(?:RCCL|NCCL) version ?:? ?(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)")
_FIRST = ("size", "count", "type", "redop", "root")
_TIMED = ("time", "algbw", "busbw", "#wrong")
_USUAL = (*_FIRST, *_TIMED, *_TIMED)
_NOTHING = {"n/a", "na", "nan", "none", "-", "-nan"}
_EXTRA = {
    "algorithm": ("algo", "algorithm"),
    "protocol": ("proto", "protocol"),
    "channels": ("channels", "nchannels", "#channels", "nch", "nchan"),
}
#: The largest numbers of columns of 32 and 64 bits.
MOST_32, MOST_64 = 2**31 - 1, 2**63 - 1
#: A line that is longer is none of the test's.
_MOST_CHARACTERS = 1 << 13


def looks_like_table(head: bytes) -> bool:
    """Whether a text holds the head of a table or of a run."""
    return _SNIFF.search(head) is not None


def read_table(lines: Iterable[tuple[int, bytes]]) -> Benchmarks:
    """All runs in numbered lines."""
    reader = _Reader()
    for number, text in lines:
        if len(text) <= _MOST_CHARACTERS:
            reader.read(number, text.decode("utf-8", "replace"))
    return reader.finish()


class _Reader:
    """Reads line by line; a run begins where devices are listed anew."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._names: Sequence[str] = _USUAL
        self._op: str | None = None
        self._version: str | None = None
        self._torn = 0

    def read(self, number: int, line: str) -> None:
        """Reads one line, if it is one of a test."""
        if "#" in line and self._read_comment(number, line):
            return
        found = _ROW.search(line)
        if found:
            self._read_row(number, found[1].split())
            return
        self._op = program_in(line) or self._op
        version = _VERSION.search(line)
        if version:
            self._version = version[1]

    def finish(self) -> Benchmarks:
        """All runs that measured something."""
        runs = tuple(run for run in self._runs if run.rows)
        return Benchmarks(runs, self._version, self._torn)

    def _read_comment(self, number: int, line: str) -> bool:
        device = _DEVICE.search(line)
        if device:
            self._run(new=False).devices.append({"line": number, **_device(device.groupdict())})
            return True
        head = _HEAD.search(line)
        if head:
            self._names = _unambiguous(head[1].split())
            return True
        if _NEW_RUN.search(line):
            self._op = program_in(line) or self._op
            self._run(new=True)
            return True
        return False

    def _run(self, *, new: bool) -> Run:
        """The run that is read, or the next one once this one has measured something."""
        if not self._runs or (new and self._runs[-1].rows):
            self._runs.append(Run())
        if self._op is not None and not self._runs[-1].rows:
            self._runs[-1].op = self._op
        return self._runs[-1]

    def _read_row(self, number: int, words: list[str]) -> None:
        names = self._names
        if len(words) != len(names):
            self._torn += 1
            return
        values = dict(zip(names, words))
        shared = {"line": number, **_shared(values)}
        if shared["bytes"] is None:
            self._torn += 1
            return
        run = self._run(new=False)
        before = len(run.rows)
        for in_place, turn in ((False, ""), (True, "'")):
            timed = _timed(values, turn)
            if timed["time_us"] is not None:
                run.rows.append({**shared, "in_place": in_place, **timed})
        self._torn += len(run.rows) == before


def _unambiguous(names: list[str]) -> tuple[str, ...]:
    """Names of columns of which the second of a name gets a mark: it is the one in place."""
    seen: dict[str, int] = {}
    marked = []
    for given in names:
        name = {"error": "#wrong", "wrong": "#wrong"}.get(given.lower(), given.lower())
        marked.append(name + "'" * seen.get(name, 0))
        seen[name] = seen.get(name, 0) + 1
    return tuple(marked)


def _shared(values: dict[str, str]) -> dict[str, Any]:
    reduction, root = values.get("redop"), whole(values.get("root"))
    extra = {
        column: next((values[name] for name in names if name in values), None)
        for column, names in _EXTRA.items()
    }
    return {
        "bytes": bounded(whole(values["size"]), MOST_64),
        "count": whole(values["count"]),
        "dtype": values["type"],
        "reduction": None if reduction is None or reduction.lower() in _NOTHING else reduction,
        "root": None if root is None or root < 0 else root,
        "algorithm": _lower(extra["algorithm"]),
        "protocol": _lower(extra["protocol"]),
        "channels": whole(extra["channels"]),
    }


def _lower(text: str | None) -> str | None:
    return None if text is None or text.lower() in _NOTHING else text.lower()


def _timed(values: dict[str, str], turn: str) -> dict[str, Any]:
    time, algbw, busbw, wrong = (values.get(name + turn) for name in _TIMED)
    return {
        "time_us": real(time),
        "algbw_gbps": real(algbw),
        "busbw_gbps": real(busbw),
        "wrong": whole(wrong),
    }


def _device(found: dict[str, str | None]) -> dict[str, Any]:
    numbers = {name: whole(found[name]) for name in ("rank", "group", "pid", "device")}
    name = (found["name"] or "").strip() or None
    return {**numbers, "host": found["host"], "bus_id": found["bus_id"], "name": name}


def whole(text: str | None) -> int | None:
    """A whole number, however it is printed; null where it is none."""
    value = real(text)
    if value is None or value != int(value):
        return None
    return int(text) if text is not None and text.lstrip("+-").isdigit() else int(value)


def bounded(value: int | None, most: int) -> int | None:
    """A number that a column can hold; null where it cannot."""
    return value if value is not None and -most <= value <= most else None


def real(text: str | None) -> float | None:
    """A finite number; null where it is none."""
    if text is None or len(text) > 40 or text.lower() in _NOTHING:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
