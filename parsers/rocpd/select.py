"""SQL for dispatches, copies, regions and samples, whichever tables a run has.

Tables are preferred: they name text by number, and no row is lost for want of a thread or queue
(the views join inwards). The views serve schema versions whose tables differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commscope.columns import Int64
from commscope.parsers.rccl_arguments import USED
from commscope.parsers.rocpd_layout import Run, Table
from commscope.parsers.sqlite_fetch import Query

_GRID = ("x", "y", "z")


def dispatches(run: Run) -> Query | None:
    """Kernels; their work-groups where the run tells sizes; null where it has no kernels."""
    table = run.get("kernel_dispatch", "id", "start", "end", "pid", "agent_id", "kernel_id")
    if table is not None:
        groups = _workgroups(table, [(f"grid_size_{x}", f"workgroup_size_{x}") for x in _GRID])
        agent, name = "t.agent_id", "t.kernel_id"
        return _of_table(run, table, {"agent_id": agent, "name_id": name, "workgroups": groups})
    view = run.get("kernels", "start", "end", "pid", "name")
    if view is None:
        return None
    groups = _workgroups(view, [(f"grid_{x}", f"workgroup_{x}") for x in _GRID])
    device = view.column("agent_type_index", "t")
    return _of_view(view, {"device": device, "name": "t.name", "workgroups": groups})


def copies(run: Run) -> Query | None:
    """Copies, with both of their devices; null where the run has none."""
    table = run.get("memory_copy", "id", "start", "end", "pid", "name_id")
    ends = ("dst_agent_id", "src_agent_id")
    if table is not None:
        agents = {end: table.column(end, "t") for end in ends}
        size = table.column("size", "t")
        return _of_table(run, table, {**agents, "name_id": "t.name_id", "bytes": size})
    view = run.get("memory_copies", "start", "end", "pid", "name")
    if view is None:
        return None
    devices = {
        f"{end}_device": f"CASE {view.column(f'{end}_agent_type', 't')} WHEN 'GPU' "
        f"THEN {view.column(f'{end}_agent_type_index', 't')} ELSE -2 END"
        for end in ("dst", "src")
    }
    return _of_view(view, {**devices, "name": "t.name", "bytes": view.column("size", "t")})


def regions(run: Run) -> Query | None:
    """Calls and ranges of the host; null where the run has none."""
    table = run.get("region", "id", "start", "end", "pid", "name_id")
    if table is not None:
        says = {"thread": table.column("tid", "t"), "name_id": "t.name_id"}
        event = _event_of(run, table)
        category = event.column("category_id", "e") if event else "NULL"
        says |= {"category_id": category, "event": table.column("event_id", "t")}
        return _of_table(run, table, says)
    view = run.get("regions", "start", "end", "pid", "name", "category")
    if view is None:
        return None
    message = f"CASE WHEN t.category LIKE '%MARKER%' THEN {view.column('extdata', 't')} END"
    says = {"name": "t.name", "category": "t.category", "message": message}
    says |= {"thread": view.column("tid", "t"), "event": view.column("event_id", "t")}
    return _of_view(view, says)


def instants(run: Run, markers: Sequence[int]) -> Query | None:
    """Marks without a length, which are kept as samples of a thread's track."""
    table = run.get("sample", "timestamp", "track_id", "event_id")
    track, event = run.get("track", "id", "nid", "pid"), run.get("event", "id", "category_id")
    if table is None or track is None or event is None or not markers:
        return None
    thread, name = track.column("tid", "r"), track.column("name_id", "r")
    columns = {
        "nid": "r.nid", "pid": "r.pid", "thread": thread, "name_id": name,
        "start": "t.timestamp", "end": "t.timestamp", "correlation": "NULL",
        "category_id": "e.category_id", "message": event.column("extdata", "e"),
    }  # fmt: skip
    tables = (
        f"{table.sql('t')} JOIN {track.sql('r')} ON r.id = t.track_id "
        f"JOIN {event.sql('e')} ON e.id = t.event_id"
    )
    return Query(columns, tables, f"e.category_id IN ({_list(markers)})")


def event_messages(run: Run, markers: Sequence[int]) -> Query | None:
    """What the events of markers say: null where the run has no events."""
    table = run.get("event", "id", "category_id", "extdata")
    if table is None or not markers:
        return None
    columns = {"event": "t.id", "message": "t.extdata"}
    return Query(columns, table.sql("t"), f"t.category_id IN ({_list(markers)})", key="t.id")


def arguments(run: Run, events: Int64) -> Query | None:
    """Arguments that calls of RCCL may have, of these events and others: null where there are none.

    Most of a database are arguments, which only some have an index for: they are read from end to
    end, in parts (the plus sign keeps SQLite from reading the whole index for each of them).
    """
    table = run.get("arg", "id", "event_id", "name", "value")
    if table is None or not len(events):
        return None
    # Longer than a unique id, the longest that is of use.
    columns = {"event": "t.event_id", "name": "t.name", "value": "substr(t.value, 1, 300)"}
    names = ", ".join(f"'{name}'" for name in USED)
    where = f"+t.event_id BETWEEN {events.min()} AND {events.max()} AND t.name IN ({names})"
    return Query(columns, table.sql("t"), where, key="t.id")


def _of_table(run: Run, table: Table, more: Mapping[str, str]) -> Query:
    event = _event_of(run, table)
    columns = {
        **{name: table.column(name, "t") for name in ("nid", "pid", "start", "end")},
        "stream": table.column("stream_id", "t"),
        "queue": table.column("queue_id", "t"),
        "correlation": event.column("stack_id", "e") if event else "NULL",
        **more,
    }
    joined = f" LEFT JOIN {event.sql('e')} ON e.id = t.event_id" if event else ""
    return Query(columns, f"{table.sql('t')}{joined}", key="t.id")


def _event_of(run: Run, table: Table) -> Table | None:
    return run.get("event", "id") if table.has("event_id") else None


def _of_view(view: Table, more: Mapping[str, str]) -> Query:
    columns = {
        **{name: view.column(name, "t") for name in ("nid", "pid", "start", "end")},
        "stream": view.column("stream_id", "t"),
        "queue": view.column("queue_id", "t"),
        "correlation": view.column("stack_id", "t"),
        **more,
    }
    return Query(columns, view.sql("t"))


def _workgroups(table: Table, sizes: Sequence[tuple[str, str]]) -> str:
    """Work-groups of a grid that counts work-items, the last ones of each side begun only."""
    if not all(table.has(*pair) for pair in sizes):
        return "NULL"
    return "*".join(f'((t."{grid}"+t."{group}"-1)/t."{group}")' for grid, group in sizes)


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
