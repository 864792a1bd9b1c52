"""From paths to the neighbours of a log: benchmarks, profilers' records, dumps, reports of RAS."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from commscope.engine.saved import strangers
from commscope.errors import FormatError, UnknownFormat, UsageError
from commscope.neighbor_schema import NEIGHBOR_TABLES
from commscope.parsers import flight_recorder, inspector, perf_tests, ras
from commscope.parsers.bounded import read_whole
from commscope.parsers.numbered import NumberedLines
from commscope.parsers.opening import Source, open_session, read_head
from commscope.parsers.row_builder import RowBuilder
from commscope.parsers.sources import find_sources

_HEAD_BYTES = 64 << 10
#: A table or a report may follow the log of the library in one text.
_LONG_HEAD_BYTES = 4 << 20
_MOST_DOCUMENT_BYTES = 256 << 20
_MOST_NAMED = 3
_PICKLE = b"\x80"
_TRACE = b'"traceEvents"'


@dataclass(frozen=True, slots=True)
class NeighborFile:
    """A file as it was read."""

    file: str  #: name relative to what was given
    kind: str  #: benchmark, records, flight or ras
    rows: int  #: measurements, records, entries or facts
    lost: int  #: those that could not be read
    says: str | None  #: what else it tells: versions, what a profiler lost


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The neighbours of a job's logs: tables of ``commscope.neighbor_schema``."""

    files: tuple[NeighborFile, ...]
    tables: dict[str, pa.Table]
    notes: tuple[str, ...]  #: what could not be read, one sentence each


def load_neighbors(paths: Sequence[str | os.PathLike[str]]) -> Neighbors | None:
    """Reads what is a neighbour of a log among files, folders, patterns and archives.

    Null where there is none. Raises FormatError where nothing but a damaged or hostile one is
    named, UsageError where a file that was named cannot be read.
    """
    reader = _Reader()
    with open_session():
        for source in strangers(find_sources(paths).sources):
            reader.read(source)
    return reader.finish()


def load_reference(path: str | os.PathLike[str]) -> pa.Table:
    """The measurements of nccl-tests or rccl-tests in a file or folder, as BENCHMARKS.

    Raises UsageError where it cannot be read, UnknownFormat where it holds no measurement,
    FormatError where it is damaged.
    """
    found = load_neighbors([path])
    table = found.tables["BENCHMARKS"] if found else None
    if table is None or not table.num_rows:
        raise UnknownFormat(
            f"{os.fspath(path)}: holds no result of rccl-tests or nccl-tests; run for example "
            f"all_reduce_perf -b 8 -e 8G -f 2 -g 1 and give its output"
        )
    return table


class _Reader:
    """Reads one file after the other into the same tables."""

    def __init__(self) -> None:
        self._tables = {name: RowBuilder(it, name) for name, it in NEIGHBOR_TABLES.items()}
        self._files: list[NeighborFile] = []
        self._notes: list[str] = []
        self._refused: FormatError | None = None

    def read(self, source: Source) -> None:
        """Reads a file if it is a neighbour; what of it cannot be read is noted."""
        try:
            for kind in _kinds(source):
                self._files.append(kind(self, source))
        except FormatError as error:
            self._notes.append(str(error))
            if source.named and self._refused is None:
                self._refused = error
        except UsageError as error:
            if source.named:
                raise
            self._notes.append(str(error))

    def finish(self) -> Neighbors | None:
        """All that was read."""
        if not self._files and self._refused is not None:
            raise self._refused
        if not self._files and not self._notes:
            return None
        tables = {name: rows.table() for name, rows in self._tables.items()}
        return Neighbors(tuple(self._files), tables, tuple(self._notes))

    def _lines(self, source: Source) -> Iterator[tuple[int, bytes]]:
        lines = NumberedLines(source)
        yield from lines
        if lines.cut:
            self._notes.append(f"{source.label}: {lines.cut}")

    def table_of_tests(self, source: Source) -> NeighborFile:
        """Reads the text of nccl-tests."""
        return self._benchmarks(source, perf_tests.read_table(self._lines(source)))

    def document_of_tests(self, source: Source) -> NeighborFile:
        """Reads the JSON of nccl-tests."""
        text = read_whole(source, _MOST_DOCUMENT_BYTES)
        return self._benchmarks(source, perf_tests.read_document(text, source.label))

    def _benchmarks(self, source: Source, found: perf_tests.Benchmarks) -> NeighborFile:
        benchmarks, devices = self._tables["BENCHMARKS"], self._tables["BENCHMARK_DEVICES"]
        found.add_to(benchmarks, devices, source.label)
        says = found.version and f"version {found.version} of the library"
        return NeighborFile(source.label, "benchmark", found.rows, found.torn, says)

    def records(self, source: Source) -> NeighborFile:
        """Reads what a profiler recorded."""
        found = inspector.read_records(self._lines(source), source.label, self._tables["RECORDS"])
        return NeighborFile(source.label, "records", found.rows, found.lost, found.note)

    def dump(self, source: Source) -> NeighborFile:
        """Reads a dump of the Flight Recorder."""
        found = flight_recorder.read_dump(
            source, self._tables["FLIGHT"], self._tables["FLIGHT_GROUPS"]
        )
        if found.rank is None:
            advice = "rename it so that it ends in the rank, as nccl_trace_rank_3"
            self._notes.append(f"{source.label}: a dump whose name tells no rank; {advice}")
        says = found.version and f"version {found.version}"
        return NeighborFile(source.label, "flight", found.entries, found.lost, says)

    def report(self, source: Source) -> NeighborFile:
        """Reads a report of RAS."""
        facts = ras.read_report(self._lines(source), source.label, self._tables["RAS"])
        return NeighborFile(source.label, "ras", facts, 0, None)

    def document_of_ras(self, source: Source) -> NeighborFile:
        """Reads a report of RAS in JSON."""
        text = read_whole(source, _MOST_DOCUMENT_BYTES)
        facts = ras.read_document(text, source.label, self._tables["RAS"])
        return NeighborFile(source.label, "ras", facts, 0, None)


_Read = Callable[[_Reader, Source], NeighborFile]

#: What begins with a brace or as a pickle is one document; the first that fits is taken.
_DOCUMENTS: tuple[tuple[Callable[[bytes], bool], _Read], ...] = (
    (inspector.looks_like_records, _Reader.records),
    (flight_recorder.looks_like_dump, _Reader.dump),
    (perf_tests.looks_like_document, _Reader.document_of_tests),
    (ras.looks_like_document, _Reader.document_of_ras),
)
#: A text may hold several, one after the other.
_TEXTS: tuple[tuple[Callable[[bytes], bool], _Read], ...] = (
    (perf_tests.looks_like_table, _Reader.table_of_tests),
    (ras.looks_like_report, _Reader.report),
    (inspector.looks_like_records, _Reader.records),
)


def _kinds(source: Source) -> list[_Read]:
    """How to read a file; not at all where it is no neighbour of a log."""
    head = read_head(source, _HEAD_BYTES)
    if _TRACE in head:
        return []
    if source.named and head[:1] == _PICKLE and not flight_recorder.looks_like_dump(head):
        return [_Reader.dump]  # a pickle that somebody gives is refused with a reason
    start = head.lstrip(b"\r\n\t OK")[:1]
    if start == b"{" or head[:1] == _PICKLE:
        return next(([read] for fits, read in _DOCUMENTS if fits(head)), [])
    head = read_head(source, _LONG_HEAD_BYTES).replace(b"\0", b"")
    return [read for fits, read in _TEXTS if fits(head)]
