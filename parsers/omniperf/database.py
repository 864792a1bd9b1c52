"""The database of rocprof-compute (schema 1): metrics as the tool computed them.

It holds the command and the host too, which are not read. Its own tables are asked for by name,
and only tables: a view in their place could run for ever.
"""

from __future__ import annotations

import math
import sqlite3
import statistics
from collections import defaultdict
from typing import Any

from commscope.errors import CorruptTrace
from commscope.parsers.base import Progress
from commscope.parsers.json_text import json_object
from commscope.parsers.omniperf.facts import facts_of, peaks_of
from commscope.parsers.omniperf.profile import Counted, Profile
from commscope.parsers.opening import Source
from commscope.parsers.sqlite_file import MAGIC, open_database

_TABLES = (
    *("compute_metadata", "compute_workload", "compute_kernel", "compute_dispatch"),
    *("compute_metric_definition", "compute_kernel_metric_value"),
)
_INTENSITIES = "compute_kernel_roofline_data"
_MAJOR = "1"

_DEFINITIONS = """
    SELECT metric_uuid, sub_table_name || ': ' || name, unit FROM compute_metric_definition"""
_VALUES = """
    SELECT kernel_uuid, metric_uuid, value FROM compute_kernel_metric_value
    WHERE value_name IN ('Avg', 'Value') AND value IS NOT NULL"""
_DISPATCHES = """
    SELECT kernel_uuid, end_timestamp - start_timestamp FROM compute_dispatch"""
_ROOFLINE = """
    SELECT kernel_uuid, total_flops, l1_cache_data, l2_cache_data, hbm_cache_data
    FROM compute_kernel_roofline_data"""
_ROOFLINE_NAMES = (
    ("Roofline: FLOPs", "GFLOP/s"),
    ("Roofline: intensity of L1", "FLOP/B"),
    ("Roofline: intensity of L2", "FLOP/B"),
    ("Roofline: intensity of HBM", "FLOP/B"),
)


def looks_like_database(head: bytes) -> bool:
    """Whether it is the database: the first pages hold the definitions of its tables."""
    return head.startswith(MAGIC) and b"compute_metadata" in head


def read_database(source: Source, progress: Progress) -> list[Profile]:
    """The profiles in a database, one a workload.

    Raises CorruptTrace where it is damaged, of another schema, or holds no workload, UsageError
    where the system does not let us read it.
    """
    with open_database(source, progress) as database:
        return _profiles(database.connection, source.label)


def _profiles(database: sqlite3.Connection, label: str) -> list[Profile]:
    tables = {name for (name,) in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    )}  # fmt: skip
    missing = [name for name in _TABLES if name not in tables]
    if missing:
        advice = "write it again with rocprof-compute analyze"
        raise CorruptTrace(f"{label}: has no table {missing[0]}, so it is partial; {advice}")
    version = _version(database, label)
    kernels = _kernels(database, with_intensities=_INTENSITIES in tables)
    rows = database.execute(
        "SELECT workload_id, name, sub_name, sys_info_extdata, roofline_bench_extdata, "
        "profiling_config_extdata FROM compute_workload ORDER BY workload_id"
    ).fetchall()
    if not rows:
        raise CorruptTrace(f"{label}: holds no workload; profile again")
    return [_profile(row, version, kernels.get(row[0], []), label) for row in rows]


def _version(database: sqlite3.Connection, label: str) -> str | None:
    row = database.execute(
        "SELECT compute_version, schema_version FROM compute_metadata"
    ).fetchone()
    version, schema = row or (None, None)
    if schema is not None and str(schema).partition(".")[0] != _MAJOR:
        raise CorruptTrace(
            f"{label}: schema {str(schema)[:20]} of rocprof-compute, of which {_MAJOR}.x is known; "
            f"update commscope or give the folder of the profile"
        )
    return None if version is None else str(version)


def _profile(row: Any, version: str | None, kernels: list[Counted], label: str) -> Profile:
    _, name, model, system, peaks, config = row
    facts = facts_of({"workload_name": name, "gpu_model": model, **json_object(system)})
    roof_only = json_object(config).get("roof_only")
    profile = Profile(label, {
        **facts, "tool": "rocprof-compute", "version": version or facts["version"],
        "roof_only": roof_only if isinstance(roof_only, bool) else None,
    }, kernels, list(peaks_of(json_object(peaks), None)))  # fmt: skip
    if not kernels:
        profile.notes.append(f"{label}: no kernel in workload {name}")
    profile.without_peaks = f"{label}: no measured peaks, so no position against the roofline"
    return profile


def _kernels(
    database: sqlite3.Connection, *, with_intensities: bool
) -> defaultdict[int, list[Counted]]:
    """The kernels of each workload."""
    lengths: defaultdict[int, list[int | None]] = defaultdict(list)
    for kernel, length in database.execute(_DISPATCHES):
        lengths[kernel].append(length if isinstance(length, int) and length > 0 else None)
    found: dict[int, Counted] = {}
    by_workload: defaultdict[int, list[Counted]] = defaultdict(list)
    rows = database.execute("SELECT kernel_uuid, workload_id, kernel_name FROM compute_kernel")
    for kernel, workload, name in rows:
        found[kernel] = _counted(str(name), lengths[kernel])
        by_workload[workload].append(found[kernel])
    # Not joined by SQL: the time for tables without keys, which any file may have, is bounded so.
    metrics = {metric: (name, unit) for metric, name, unit in database.execute(_DEFINITIONS)}
    for kernel, metric, value in database.execute(_VALUES):
        _add(found.get(kernel), *metrics.get(metric, (None, None)), value)
    for kernel, *values in database.execute(_ROOFLINE) if with_intensities else ():
        for (name, unit), value in zip(_ROOFLINE_NAMES, values):
            _add(found.get(kernel), name, unit, value)
    return by_workload


def _counted(name: str, lengths: list[int | None]) -> Counted:
    known = [length for length in lengths if length is not None]
    if not known:
        return Counted(name, len(lengths))
    return Counted(name, len(lengths), len(known), sum(known), statistics.median(known))


def _add(kernel: Counted | None, name: Any, unit: Any, value: Any) -> None:
    is_number = isinstance(value, (int, float)) and abs(value) < math.inf
    if kernel is not None and isinstance(name, str) and is_number:
        kernel.counters.setdefault(name, float(value))
        if isinstance(unit, str):
            kernel.units[name] = unit
