"""Writes a LogicalTrace as rocprofv3 writes rocpd: a table a run, and views over them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commscope.generator.rocprofv3.process import LogicalTrace

RUN = "00000797_e16d_716d_b3cc_a4a0629bb1d1"
NODE = 4242

TABLES = {
    "metadata": "tag TEXT, value TEXT",
    "string": "guid TEXT, string TEXT",
    "info_node": "guid TEXT, hash BIGINT, machine_id TEXT, hostname TEXT",
    "info_process": "guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, init BIGINT, fini BIGINT, "
    "command TEXT, environment JSONB, extdata JSONB",
    "info_thread": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name TEXT",
    "info_agent": "guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, "
    "logical_index INTEGER, type_index INTEGER, name TEXT, product_name TEXT, extdata JSONB",
    "info_kernel_symbol": "guid TEXT, nid INTEGER, pid INTEGER, kernel_name TEXT, "
    "display_name TEXT",
    "track": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name_id INTEGER",
    "event": "guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
    "correlation_id INTEGER, extdata JSONB DEFAULT '{}'",
    "arg": "guid TEXT, event_id INTEGER, position INTEGER, type TEXT, name TEXT, value TEXT",
    "region": 'guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "end" BIGINT, '
    "name_id INTEGER, event_id INTEGER",
    "sample": "guid TEXT, track_id INTEGER, timestamp BIGINT, event_id INTEGER",
    "kernel_dispatch": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, "
    "kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, "
    '"end" BIGINT, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, '
    "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER",
    "memory_copy": 'guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "end" BIGINT, '
    "name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, "
    "queue_id INTEGER, stream_id INTEGER, event_id INTEGER",
}
#: The views of the documentation, which keep their columns in every schema version.
VIEWS = {
    "kernels": """SELECT K.id, K.nid, K.pid AS pid, K.tid, A.type_index AS agent_type_index,
        S.display_name AS name, K.stream_id, K.queue_id, K.start, K."end",
        K.grid_size_x AS grid_x, K.grid_size_y AS grid_y, K.grid_size_z AS grid_z,
        K.workgroup_size_x AS workgroup_x, K.workgroup_size_y AS workgroup_y,
        K.workgroup_size_z AS workgroup_z, E.stack_id
        FROM {kernel_dispatch} K JOIN {info_agent} A ON A.id = K.agent_id
        JOIN {event} E ON E.id = K.event_id JOIN {info_kernel_symbol} S ON S.id = K.kernel_id""",
    "memory_copies": """SELECT M.id, M.nid, M.pid AS pid, M.tid, M.start, M."end", S.string AS name,
        M.stream_id, M.queue_id, M.size, D.type AS dst_agent_type,
        D.type_index AS dst_agent_type_index, C.type AS src_agent_type,
        C.type_index AS src_agent_type_index, E.stack_id
        FROM {memory_copy} M JOIN {string} S ON S.id = M.name_id
        JOIN {info_agent} D ON D.id = M.dst_agent_id JOIN {info_agent} C ON C.id = M.src_agent_id
        JOIN {event} E ON E.id = M.event_id""",
    "regions": """SELECT R.id, G.string AS category, S.string AS name, R.nid, R.pid AS pid, R.tid,
        R.start, R."end", R.event_id, E.stack_id, E.extdata
        FROM {region} R JOIN {event} E ON E.id = R.event_id
        JOIN {string} S ON S.id = R.name_id JOIN {string} G ON G.id = E.category_id""",
}


@dataclass
class RocpdWriter:
    """Fills the tables of a run; ``arguments`` are those of calls, by correlation."""

    database: sqlite3.Connection
    run: str
    arguments: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)

    def table(self, what: str) -> str:
        """The name of a table of the run."""
        return f"rocpd_{what}{'_' + self.run if self.run else ''}"

    def create(self) -> None:
        """Makes tables and views."""
        names = {what: self.table(what) for what in TABLES}
        for what, columns in TABLES.items():
            self.database.execute(f"CREATE TABLE {names[what]} (id INTEGER PRIMARY KEY, {columns})")
            if self.run:
                made = f"CREATE VIEW IF NOT EXISTS rocpd_{what} AS SELECT * FROM {names[what]}"
                self.database.execute(made)
        for view, sql in VIEWS.items():
            made = sql.format(**names)
            self.database.execute(f"CREATE VIEW IF NOT EXISTS {view} AS {made}")

    def insert(self, what: str, **columns: Any) -> int:
        """Adds a row; gives its id."""
        marks = ", ".join("?" * len(columns))
        names = ", ".join(f'"{name}"' for name in columns)
        sql = f"INSERT INTO {self.table(what)} ({names}) VALUES ({marks})"
        return int(self.database.execute(sql, tuple(columns.values())).lastrowid or 0)

    def string(self, text: str) -> int:
        """The id of a text."""
        if text not in self.strings:
            self.strings[text] = self.insert("string", string=text)
        return self.strings[text]

    def event(self, category: str, stack: int, **more: Any) -> int:
        """Adds an event; gives its id."""
        number = self.string(category)
        return self.insert("event", category_id=number, stack_id=stack, correlation_id=0, **more)


def write_rocpd(path: Path, *traces: LogicalTrace) -> Path:
    """Writes processes into one database, as ROCm 7 does."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    writer = RocpdWriter(database, RUN)
    writer.create()
    writer.insert("metadata", tag="schema_version", value="3")
    for trace in traces:
        write_process(writer, trace)
    database.commit()
    database.close()
    return path


def write_process(
    writer: RocpdWriter, trace: LogicalTrace, *, command: str = "", environment: str = "{}"
) -> None:
    """Writes one process; ``environment`` is JSON text."""
    node = {"nid": NODE, "pid": trace.pid}
    writer.database.execute(
        f"INSERT OR IGNORE INTO {writer.table('info_node')} (id, hash, hostname) VALUES (?, 1, ?)",
        (NODE, trace.host),
    )
    writer.insert(
        "info_process", id=trace.pid, **node, command=command, environment=environment,
        extdata=environment,
    )  # fmt: skip
    agents = _write_agents(writer, trace)
    _write_kernels(writer, trace, agents)
    _write_copies(writer, trace, agents)
    _write_host(writer, trace)


def _write_agents(writer: RocpdWriter, trace: LogicalTrace) -> dict[int | None, int]:
    """The agent of each device, and the host's under None."""
    node = {"nid": NODE, "pid": trace.pid}
    found: dict[int | None, int] = {
        None: writer.insert("info_agent", **node, type="CPU", absolute_index=0, type_index=0)
    }
    for device, product in trace.gpus.items():
        found[device] = writer.insert(
            "info_agent", **node, type="GPU", absolute_index=device + 1, type_index=device,
            name="gfx942", product_name=product,
        )  # fmt: skip
    return found


def _write_kernels(writer: RocpdWriter, trace: LogicalTrace, agents: dict[int | None, int]) -> None:
    symbols: dict[str, int] = {}
    for number, d in enumerate(trace.dispatches, 1):
        if d.name not in symbols:
            names = {"kernel_name": "_Z" + d.name, "display_name": d.name}
            symbols[d.name] = writer.insert("info_kernel_symbol", pid=trace.pid, **names)
        sizes = {
            f"{what}_size_{side}": size
            for what, of in (("grid", d.grid), ("workgroup", d.workgroup))
            for side, size in zip("xyz", of)
        }
        writer.insert(
            "kernel_dispatch", nid=NODE, pid=trace.pid, tid=None, agent_id=agents[d.device],
            kernel_id=symbols[d.name], dispatch_id=number, queue_id=d.queue, stream_id=d.stream,
            start=d.start_ns, end=d.end_ns, **sizes,
            event_id=writer.event("KERNEL_DISPATCH", d.correlation),
        )  # fmt: skip


def _write_copies(writer: RocpdWriter, trace: LogicalTrace, agents: dict[int | None, int]) -> None:
    for t in trace.transfers:
        source, _, target = t.direction.partition("_TO_")
        writer.insert(
            "memory_copy", nid=NODE, pid=trace.pid, start=t.start_ns, end=t.end_ns,
            name_id=writer.string(f"MEMORY_COPY_{t.direction}"), size=t.bytes,
            dst_agent_id=agents[t.device if target == "DEVICE" else None],
            src_agent_id=agents[t.device if source == "DEVICE" else None],
            stream_id=t.stream, event_id=writer.event("MEMORY_COPY", t.correlation),
        )  # fmt: skip


def _write_host(writer: RocpdWriter, trace: LogicalTrace) -> None:
    rows = [(c.thread, c.start_ns, c.end_ns, c.name, c.domain, c.correlation, "{}")
            for c in trace.calls]  # fmt: skip
    rows += [
        (m.thread, m.start_ns, m.end_ns, "roctxThreadRangeA", "MARKER_CORE_RANGE_API",
         m.correlation, json.dumps({"message": m.message}))
        for m in trace.markers
    ]  # fmt: skip
    for thread in sorted({row[0] for row in rows}):
        writer.database.execute(
            f"INSERT OR IGNORE INTO {writer.table('info_thread')} (id, pid, tid) VALUES (?, ?, ?)",
            (thread, trace.pid, thread),
        )
    for thread, start, end, name, domain, correlation, says in rows:
        event = writer.event(domain, correlation, extdata=says)
        writer.insert(
            "region", nid=NODE, pid=trace.pid, tid=thread, start=start, end=end,
            name_id=writer.string(name), event_id=event,
        )  # fmt: skip
        for position, (argument, value) in enumerate(writer.arguments.get(correlation, {}).items()):
            writer.insert("arg", event_id=event, position=position, name=argument, value=value)
