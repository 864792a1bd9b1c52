"""Samples of Inspector in the text format of Prometheus."""

from __future__ import annotations

import re
from typing import Any

from commscope.parsers.inspector.operation import operation

_SAMPLE = re.compile(
    r"nccl_(?P<p2p>p2p_)?(?P<metric>bus_bandwidth_gbs|algorithm_bandwidth_gbs"
    r"|collective_exec_time_microseconds|exec_time_microseconds)"
    r"\{(?P<labels>[^}]{0,4000})\}\s+(?P<value>[0-9.eE+-]{1,40})\s*(?:\d{1,20})?\s*$"
)
_LABEL = re.compile(r'(\w{1,40})="([^"]{0,400})"')
_METRICS = {
    "bus_bandwidth_gbs": "busbw_gbps",
    "algorithm_bandwidth_gbs": "algbw_gbps",
    "collective_exec_time_microseconds": "exec_time_us",
    "exec_time_microseconds": "exec_time_us",
}
_TEXTS = {
    "host": ("node", "hostname"), "comm_id": ("comm_id",), "comm_name": ("comm_name",),
    "size_range": ("message_size",), "timing_source": ("coll_timing_source",),
}  # fmt: skip
_NUMBERS = {
    "rank": ("rank",), "nranks": ("nranks", "n_ranks"), "nnodes": ("n_nodes",), "pid": ("pid",),
    "seq": ("coll_sn",),
}  # fmt: skip


class Samples:
    """Samples of one file: those of equal labels are one row."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Any]] = {}

    def read(self, line: str, number: int) -> bool:
        """Reads one sample, if the line is one."""
        found = _SAMPLE.match(line)
        if found is None:
            return False
        row = self._rows.get(found["labels"])
        if row is None:
            labels = dict(_LABEL.findall(found["labels"]))
            name = labels.get("collective") or labels.get("p2p_operation")
            if name is None:
                return False
            row = self._rows[found["labels"]] = {"line": number, **_described(labels, name)}
        try:
            row[_METRICS[found["metric"]]] = float(found["value"])
        except ValueError:
            return False
        return True

    def rows(self) -> list[dict[str, Any]]:
        """The rows in the order of their first samples."""
        return list(self._rows.values())


def _described(labels: dict[str, str], name: str) -> dict[str, Any]:
    def first(names: tuple[str, ...]) -> str | None:
        found = next((labels[name] for name in names if name in labels), None)
        return None if found in ("unknown", "") else found

    texts = {column: first(names) for column, names in _TEXTS.items()}
    numbers = {
        column: int(text) if (text := first(names)) and re.fullmatch(r"\d{1,18}", text) else None
        for column, names in _NUMBERS.items()
    }
    algorithm, _, protocol = labels.get("algo_proto", "").lower().partition("_")
    return {
        "source": "prometheus",
        "op": operation(name),
        **texts,
        **numbers,
        "algorithm": algorithm or None,
        "protocol": protocol or None,
    }
