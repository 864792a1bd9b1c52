"""Reads log files into the tables of ``commscope.log_schema``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, nullable
from commscope.log_schema import LOG_TABLES
from commscope.parsers.base import Progress
from commscope.parsers.opening import Blocks, Source, open_blocks
from commscope.parsers.rccl_log.lines import Lines
from commscope.parsers.rccl_log.messages import Messages
from commscope.parsers.rccl_log.records import Counts, Records
from commscope.parsers.rccl_log.rows import RowTable, integers, table_of, text_array
from commscope.parsers.rccl_log.writers import Comm, Writer, Writers

#: A block and the lines cut from it stay in the cache of a core.
_BLOCK_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file as it was read."""

    file: str  #: name relative to what was given
    bytes: int  #: as stored
    sha256: str | None
    counts: Counts
    unended_bytes: int  #: behind the last line feed: not read, as nobody knows how it goes on
    cut: str | None  #: why the file ends before its end, or null


@dataclass(frozen=True, slots=True)
class LogProcess:
    """A process that wrote records, whether they belong to a table or not."""

    host: str | None
    pid: int | None
    rank: int | None  #: in the largest communicator; null where it has several ranks in it


@dataclass(frozen=True, slots=True)
class Logs:
    """The logs of a job: tables of ``commscope.log_schema`` and how well each file was read."""

    files: tuple[LogFile, ...]
    processes: tuple[LogProcess, ...]  #: those whose records tell their id
    tables: dict[str, pa.Table]
    sources: dict[str, Source] = field(default_factory=dict, repr=False)  #: by name of the file
    #: Lines whose files are gone, by name of the file and number: those of a saved run.
    quotes: dict[tuple[str, int], str] = field(default_factory=dict, repr=False)


class LogReader:
    """Reads one file after the other; processes are told apart whatever file they write to."""

    def __init__(self) -> None:
        self.files: list[LogFile] = []
        self._sources: dict[str, Source] = {}
        self._writers = Writers()
        self._messages = Messages()
        self._bases: list[int] = []  #: place of the line before the first, of each file
        self._next_base = 0

    def read(self, source: Source, progress: Progress) -> LogFile:
        """Reads one file; raises UsageError where the system does not let us."""
        records = Records(self._messages, self._writers)
        self._writers.next_file()
        self._bases.append(self._next_base)
        with open_blocks(source, block_bytes=_BLOCK_BYTES) as blocks:
            lines = Lines(_reporting(blocks, source, progress))
            for batch in lines:
                records.read(batch, self._next_base)
            file = LogFile(
                source.label,
                blocks.bytes_read,
                blocks.sha256,
                records.counts,
                lines.unended_bytes,
                blocks.cut,
            )
        records.counts.lines = lines.count
        self._next_base += lines.count + 1
        self.files.append(file)
        self._sources[source.label] = source
        return file

    def finish(self) -> Logs:
        """All that was read; to be called once: rows are let go as tables are made of them."""
        tables: dict[str, pa.Table] = {}
        for name, table in self._messages.tables.items():
            tables[name] = table_of(self._arrays(name, table), LOG_TABLES[name], name)
            table.clear()
        return Logs(tuple(self.files), self._processes(), tables, self._sources)

    def _processes(self) -> tuple[LogProcess, ...]:
        found = {(writer.host, writer.pid): writer for writer in self._writers.all}
        return tuple(
            LogProcess(host, pid, None if (rank := _only_rank(writer)) == NONE else rank)
            for (host, pid), writer in found.items()
            if pid is not None
        )

    def _arrays(self, name: str, table: RowTable) -> dict[str, pa.Array]:
        """All columns of a table: those of its rows, and who wrote them where."""
        arrays, writers = table.arrays(), table.writers()
        for column in {"start_line", "complete_line", "timings_line"} & set(arrays):
            arrays[column] = nullable(self._lines(integers(arrays[column])))
        if "rank" not in arrays and "rank" in LOG_TABLES[name].names:
            arrays["rank"] = self._ranks(arrays, writers)
        arrays.update(self._who(writers))
        return {**self._where(table.places()), **table.spread(arrays)}

    def _where(self, places: Int64) -> dict[str, pa.Array]:
        files = np.searchsorted(np.array(self._bases), places, side="right") - 1
        return {
            "file": text_array(files, [file.file for file in self.files]),
            "line": pa.array(self._lines(places)),
        }

    def _who(self, writers: Int64) -> dict[str, pa.Array]:
        all_writers = self._writers.all
        hosts = sorted({writer.host for writer in all_writers if writer.host is not None})
        code: dict[str | None, int] = {None: NONE}
        code.update((host, at) for at, host in enumerate(hosts))
        pids = [NONE if writer.pid is None else writer.pid for writer in all_writers]
        threads = [NONE if writer.thread is None else writer.thread for writer in all_writers]
        codes = [code[writer.host] for writer in all_writers]
        return {
            "host": text_array(_taken(codes, writers), hosts),
            "pid": nullable(_taken(pids, writers)),
            "thread": nullable(_taken(threads, writers)),
        }

    def _lines(self, places: Int64) -> Int64:
        """The numbers of lines in their files; ``NONE`` stays."""
        bases = np.array(self._bases, np.int64)
        files = np.searchsorted(bases, places, side="left") - 1
        return np.where(places == NONE, NONE, places - bases[files])

    def _ranks(self, arrays: dict[str, pa.Array], writers: Int64) -> pa.Array:
        """The rank of each row in its communicator; where rows have none, that of the process."""
        if "comm" in arrays:
            comms = [_fact(comm, "rank") for comm in self._messages.comms.all]
            rows = integers(arrays["comm"])
            found = _taken([*comms, NONE], np.where(rows == NONE, len(comms), rows))
        else:
            found = _taken([_only_rank(writer) for writer in self._writers.all], writers)
        return nullable(found).cast(pa.int32())


def _only_rank(writer: Writer) -> int:
    """The rank of a process in the job, as its largest communicator tells; ``NONE`` of several."""
    ranks: dict[int, set[int]] = {}
    for comm in writer.process.comms.values():
        if "rank" in comm.facts:
            ranks.setdefault(_fact(comm, "nranks"), set()).add(_fact(comm, "rank"))
    largest = ranks[max(ranks)] if ranks else set()
    return next(iter(largest)) if len(largest) == 1 else NONE


def _fact(comm: Comm, column: str) -> int:
    """A number that is known of a communicator, or ``NONE``."""
    value = comm.facts.get(column, NONE)
    return value if isinstance(value, int) else NONE


def _taken(values: list[int], places: Int64) -> Int64:
    return np.array(values, np.int64)[places] if values else np.full(len(places), NONE)


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block
