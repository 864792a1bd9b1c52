"""The logs of a job, from the files of a saved run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, codes, int64, nullable, with_column
from commscope.errors import CorruptTrace
from commscope.log_schema import LOG_TABLES
from commscope.parsers.bounded import read_whole
from commscope.parsers.opening import Source
from commscope.parsers.rccl_log.reader import LogFile, LogProcess, Logs
from commscope.parsers.rccl_log.records import Counts
from commscope.parsers.saved.documents import (
    LOGS_FILE,
    LOGS_SCHEMA,
    MOST_BYTES,
    LogsDocument,
    SavedCounts,
    SavedLogFile,
    SavedProcess,
    SavedQuote,
    TableStamp,
    document_bytes,
    document_of,
    is_document,
    is_log_table,
)
from commscope.parsers.saved.tables import MOST_BYTES as MOST_TABLE_BYTES
from commscope.parsers.saved.tables import parquet_of, stamp_of, table_in
from commscope.wording import distinct_names


def log_files(logs: Logs) -> dict[str, bytes]:
    """The logs as files of a saved run, by name; their lines are gone but for the quotes."""
    tables = {name: table for name, table in logs.tables.items() if table.num_rows}
    files = {_table_file(name): parquet_of(table) for name, table in tables.items()}
    document = LogsDocument(
        LOGS_SCHEMA,
        tuple(
            SavedLogFile(
                it.file, it.bytes, it.sha256, SavedCounts(**asdict(it.counts)), it.unended_bytes,
                it.cut,
            )
            for it in logs.files
        ),
        tuple(SavedProcess(it.host, it.pid, it.rank) for it in logs.processes),
        {name: stamp_of(table, files[_table_file(name)]) for name, table in tables.items()},
        tuple(SavedQuote(file, line, text) for (file, line), text in sorted(logs.quotes.items())),
    )  # fmt: skip
    return {LOGS_FILE: document_bytes(document), **files}


def is_part(source: Source) -> bool:
    """Whether a file is named like one of saved logs."""
    return source.label.rpartition("/")[2] == LOGS_FILE or is_log_table(source.label)


def is_saved_log(source: Source) -> bool:
    """Whether a file is the document of saved logs; raises UsageError where it is unreadable."""
    return is_document(source, LOGS_FILE, LOGS_SCHEMA)


def read_logs(source: Source, beside: Sequence[Source]) -> Logs:
    """The logs of a document, whose tables are among the files beside it.

    Raises CorruptTrace where one is missing, or damaged.
    """
    data = read_whole(source, MOST_BYTES)
    document = document_of(data, LogsDocument, LOGS_SCHEMA, source.label)
    folder = source.label.removesuffix(LOGS_FILE)
    files = {other.label: other for other in beside}
    tables = {name: _table(name, document.tables.get(name), files, folder) for name in LOG_TABLES}
    _require_comms(tables, source.label)
    return Logs(
        tuple(
            LogFile(
                it.file, it.bytes, it.sha256, Counts(**asdict(it.counts)), it.unended_bytes, it.cut
            )
            for it in document.files
        ),
        tuple(LogProcess(it.host, it.pid, it.rank) for it in document.processes),
        tables,
        quotes={(it.file, it.line): it.text for it in document.quotes},
    )  # fmt: skip


def one_job(parts: Sequence[Logs]) -> Logs:
    """The logs of several nodes as those of one job; files of one name get names of their own."""
    if len(parts) == 1:
        return parts[0]
    apart = _named_apart(parts)
    rows = np.cumsum([0, *(part.tables["COMMS"].num_rows for part in apart)])
    tables = {
        name: pa.concat_tables([_moved(p.tables[name], int(at)) for p, at in zip(apart, rows)])
        for name in LOG_TABLES
    }
    return Logs(
        tuple(file for part in apart for file in part.files),
        tuple(dict.fromkeys(process for part in apart for process in part.processes)),
        {name: table.unify_dictionaries().combine_chunks() for name, table in tables.items()},
        {name: source for part in apart for name, source in part.sources.items()},
        {place: text for part in apart for place, text in part.quotes.items()},
    )


def _named_apart(parts: Sequence[Logs]) -> list[Logs]:
    files = [[file.file for file in part.files] for part in parts]
    distinct = iter(distinct_names([file for names in files for file in names]))
    return [
        _renamed(part, dict(zip(names, islice(distinct, len(names)))))
        for part, names in zip(parts, files)
    ]


def _renamed(logs: Logs, new: Mapping[str, str]) -> Logs:
    return Logs(
        tuple(replace(it, file=new.get(it.file, it.file)) for it in logs.files),
        logs.processes,
        {name: _with_files(table, new) for name, table in logs.tables.items()},
        {new.get(name, name): source for name, source in logs.sources.items()},
        {(new.get(file, file), line): text for (file, line), text in logs.quotes.items()},
    )


def _with_files(table: pa.Table, new: Mapping[str, str]) -> pa.Table:
    rows, words = codes(table, "file")
    named = pa.array([new.get(word, word) for word in words], pa.string())
    column = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), named)
    return with_column(table, "file", column)


def _table_file(name: str) -> str:
    return f"logs.{name.lower()}.parquet"


def _table(
    name: str, stamp: TableStamp | None, files: Mapping[str, Source], folder: str
) -> pa.Table:
    if stamp is None:
        return LOG_TABLES[name].empty_table()
    label = folder + _table_file(name)
    if label not in files:
        raise CorruptTrace(f"{label}: is missing, which belongs to {LOGS_FILE}; copy the whole run")
    data = read_whole(files[label], MOST_TABLE_BYTES)
    return table_in(data, LOG_TABLES[name], stamp, label)


def _require_comms(tables: Mapping[str, pa.Table], label: str) -> None:
    """Raises CorruptTrace where a row is of a communicator that is not there."""
    there = tables["COMMS"].num_rows
    for name, table in tables.items():
        if "comm" not in table.column_names:
            continue
        comm = int64(table, "comm")
        comm = comm[comm != NONE]
        if len(comm) and not (comm.min() >= 0 and comm.max() < there):
            raise CorruptTrace(f"{label}: {name} names a communicator that is not there")


def _moved(table: pa.Table, rows: int) -> pa.Table:
    """The table with the rows of its communicators counted on."""
    if "comm" not in table.column_names:
        return table
    comm = int64(table, "comm")
    return with_column(table, "comm", nullable(np.where(comm == NONE, NONE, comm + rows)))
