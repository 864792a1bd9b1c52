"""A run as it is shared: everything that tells whose it is renamed, all numbers as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import pyarrow as pa

from commscope.engine.run import Run
from commscope.engine.saved_options import options_of, saved_options
from commscope.parsers.base import Companion, Reading
from commscope.parsers.rccl_log import Logs
from commscope.parsers.saved.documents import SavedGroups, SavedNames, SavedOptions
from commscope.parsers.topology.rows import TopologyFile
from commscope.saved.file_names import files_meant, new_file_names
from commscope.saved.names import Names
from commscope.saved.renamed_fields import renamed_fields
from commscope.saved.renamed_tables import Rename, paired, renamed, renamed_lists, text_columns
from commscope.saved.scrubber import Scrubber
from commscope.topology.merge import merge

_Described = TypeVar("_Described")

_HEXADECIMAL = (
    *("address", "comm_id", "parent", "stream", "bus_id", "src_device", "dst_device"),
    "device_id",
)
#: Hosts, and users in paths, are looked for in all texts once all are known.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Redacted:
    """A run in which everything is renamed, and how many texts of each kind were."""

    run: Run
    renamed: Mapping[str, int]


def redacted(run: Run) -> Redacted:
    """The run with new names for hosts, paths, addresses, users, code and all unknown words."""
    names = Names()
    redactor = _Redactor(run, Scrubber(names))
    for _ in range(_ROUNDS):
        names.next_round()
        redactor.run(run)
    names.settle()
    counts = {"file": len(redactor.files), **names.counts()}
    return Redacted(redactor.run(run), {kind: count for kind, count in counts.items() if count})


class _Redactor:
    """Which text of a run is renamed by which rule."""

    def __init__(self, run: Run, scrub: Scrubber) -> None:
        traces = [reading.input.file for reading in run.readings]
        self.files = new_file_names(traces, _other_files(run))
        self._options = saved_options(run)
        self._scrub = scrub

    def run(self, run: Run) -> Run:
        text = self._scrub.text
        topology = run.topology
        options, roles = options_of(self._renamed_options(self._options))
        return replace(
            run,
            readings=tuple(map(self._reading, run.readings)),
            notes=tuple(replace(note, says=text(note.says)) for note in run.notes),
            logs=None if run.logs is None else self._logs(run.logs),
            topology=topology and merge([self._topology_file(file) for file in topology.read]),
            options=options,
            roles=roles,
        )

    def _file(self, name: str) -> str:
        return self.files[name]

    def _reading(self, reading: Reading) -> Reading:
        scrub = self._scrub
        return Reading(
            self._fields(reading.input),
            self._fields(reading.facts),
            self._fields(reading.health),
            self._table(reading.events, name=scrub.kernel),
            self._table(reading.host, name=scrub.call),
            self._table(reading.collectives),
            tuple(
                Companion(self._fields(it.input), self._fields(it.health))
                for it in reading.companions
            ),
        )

    def _logs(self, logs: Logs) -> Logs:
        text = self._scrub.text
        return Logs(
            tuple(map(self._fields, logs.files)),
            tuple(map(self._fields, logs.processes)),
            {name: self._table(table) for name, table in logs.tables.items()},
            quotes={(self._file(file), line): text(it) for (file, line), it in logs.quotes.items()},
        )

    def _topology_file(self, file: TopologyFile) -> TopologyFile:
        tables = {name: self._table(table) for name, table in file.tables.items()}
        return replace(self._fields(replace(file, tables={})), tables=tables)

    def _fields(self, it: _Described) -> _Described:
        scrub = self._scrub
        return renamed_fields(
            it,
            {"file": self._file, "host": scrub.host, "sha256": str, "versions": scrub.version},
            scrub.text,
        )

    def _table(self, table: pa.Table, **special: Rename) -> pa.Table:
        """A table, in which the words of a column nobody thought of are free text."""
        names = table.column_names
        if "value" in names:  # of the variable or fact that stands before it
            key = names[names.index("value") - 1]
            table = paired(table, key, "value", self._scrub.value)
        words, lists = text_columns(table.schema)
        for name in lists:
            table = renamed_lists(table, name, self._scrub.text)
        return renamed(table, {n: special.get(n) or self._column(n) for n in words if n != "value"})

    def _column(self, name: str) -> Rename:
        scrub = self._scrub
        if name in _HEXADECIMAL:
            return scrub.hexadecimal
        special: dict[str, Rename] = {
            "file": self._file,
            "host": scrub.host,
            "time": scrub.time,
            "version": scrub.version,
            "uuid": scrub.unique_id,
            "guid": scrub.unique_id,
        }
        return special.get(name, scrub.text)

    def _renamed_options(self, options: SavedOptions) -> SavedOptions:
        text, marker = self._scrub.text, options.step_marker
        meant = files_meant(options.ranks, list(self.files))
        return replace(
            options,
            ranks={rank: self.files[file] for rank, file in meant.items()},
            step_marker=None if marker is None else self._names(marker, self._scrub.call),
            patterns={
                name: tuple(self._names(one, self._scrub.kernel) for one in found)
                for name, found in options.patterns.items()
            },
            roles={text(name): self._groups(found) for name, found in options.roles.items()},
        )

    def _names(self, found: SavedNames, rename: Callable[[str], str]) -> SavedNames:
        return SavedNames(self._scrub.text(found.pattern), tuple(map(rename, found.names)))

    def _groups(self, found: SavedGroups) -> SavedGroups:
        text = self._scrub.text
        groups = tuple(
            (name and text(name), description and text(description))
            for name, description in found.groups
        )
        return SavedGroups(text(found.pattern), groups)


def _other_files(run: Run) -> list[str]:
    """All files but those of readings, in order."""
    files = [it.input.file for reading in run.readings for it in reading.companions]
    files += [] if run.logs is None else [it.file for it in run.logs.files]
    return files + ([] if run.topology is None else [it.file for it in run.topology.read])
