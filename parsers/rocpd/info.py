"""What a run says of its processes, devices and names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from commscope.parsers.rocpd.environment import Place, read_places
from commscope.parsers.rocpd_layout import Run

_GPU = "GPU"


@dataclass(frozen=True, slots=True)
class Agent:
    """A processor of the node."""

    is_gpu: bool
    number: int  #: as HIP counts the GPUs of the node
    product: str


@dataclass(frozen=True, slots=True)
class Info:
    """What a run's smaller tables hold, by the ids that its rows name."""

    strings: Mapping[int, str]
    kernels: Mapping[int, str]  #: names
    agents: Mapping[int, Agent]
    pids: Mapping[int, int]
    places: Mapping[int, Place]  #: in the job, of the processes of which it is known
    threads: Mapping[int, int]
    hosts: Mapping[int, str]  #: by node
    schema: str | None  #: version of the tables


def read_info(connection: sqlite3.Connection, run: Run) -> Info:
    """What the run's smaller tables hold; those that are missing hold nothing."""
    metadata = _texts(_pairs(connection, run, "metadata", "tag", "value"))
    return Info(
        strings=_texts(_pairs(connection, run, "string", "id", "string")),
        kernels=_kernels(connection, run),
        agents=_agents(connection, run),
        pids=_numbers(_pairs(connection, run, "info_process", "id", "pid")),
        places=read_places(connection, run),
        threads=_numbers(_pairs(connection, run, "info_thread", "id", "tid")),
        hosts=_texts(_pairs(connection, run, "info_node", "id", "hostname")),
        schema=metadata.get("schema_version"),
    )


def _pairs(
    connection: sqlite3.Connection, run: Run, what: str, key: str, value: str
) -> Iterable[tuple[Any, Any]]:
    table = run.get(what, key, value)
    if table is None:
        return ()
    return connection.execute(f'SELECT "{key}", "{value}" FROM {table.sql("t")}')


def _texts(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, str]:
    return {key: str(value) for key, value in pairs if value not in (None, "")}


def _numbers(pairs: Iterable[tuple[Any, Any]]) -> dict[int, int]:
    return {key: value for key, value in pairs if isinstance(value, int)}


def _kernels(connection: sqlite3.Connection, run: Run) -> dict[int, str]:
    table = run.get("info_kernel_symbol", "id")
    if table is None:
        return {}
    shown, mangled = table.column("display_name", "t"), table.column("kernel_name", "t")
    sql = f"SELECT id, coalesce(nullif({shown}, ''), {mangled}) FROM {table.sql('t')}"
    return _texts(connection.execute(sql))


def _agents(connection: sqlite3.Connection, run: Run) -> dict[int, Agent]:
    table = run.get("info_agent", "id", "type")
    if table is None:
        return {}
    number = f"coalesce({table.column('type_index', 't')}, {table.column('absolute_index', 't')})"
    product, name = table.column("product_name", "t"), table.column("name", "t")
    sql = (
        f"SELECT id, type, {number}, coalesce(nullif({product}, ''), {name}) FROM {table.sql('t')}"
    )
    return {
        key: Agent(kind == _GPU, index if isinstance(index, int) else -1, str(name or ""))
        for key, kind, index, name in connection.execute(sql)
    }
