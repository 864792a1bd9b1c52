"""What ``rocm-smi`` says of a device, as text and as JSON or CSV alike: the same keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from commscope.parsers.topology.rows import Row, Rows
from commscope.parsers.topology.values import (
    bus_id_of,
    device_id_of,
    gfx_of,
    integer,
    link_kind_of,
    long_integer,
    status_of,
    text_of,
    weight_of,
)

TOOL = "rocm-smi"

#: In lower case, as versions differ in it.
_KEYS: Mapping[str, tuple[str, Callable[[object], object]]] = {
    "pci bus": ("bus_id", bus_id_of),
    "node id": ("hsa_node", integer),
    "guid": ("kfd_id", long_integer),
    "gfx version": ("gfx", gfx_of),
    "device id": ("device_id", device_id_of),
    "device name": ("product", text_of),
    "unique id": ("uuid", lambda value: (text_of(value) or "").lower() or None),
    "(topology) numa node": ("numa_node", integer),
    "(topology) numa affinity": ("numa_affinity", integer),
    "compute partition": ("compute_partition", text_of),
    "memory partition": ("memory_partition", text_of),
    "partition id": ("partition", integer),
}
_PAIR = re.compile(
    r"\(Topology\) (Weight|Hops|Link type|Link accessibility) between DRM devices "
    r"([0-9]{1,4}) and ([0-9]{1,4})",
    re.IGNORECASE,
)


def values_of(key: str, value: object) -> Row:
    """What one key says of a device; nothing where it is of no use here."""
    name = key.strip().lower()
    if name in ("card series", "card model"):
        # Some builds swap the two: a number is the id, whatever it is called.
        device_id = device_id_of(value)
        return {"device_id": device_id} if device_id else {"product": text_of(value)}
    column, convert = _KEYS.get(name, ("", text_of))
    return {column: convert(value)} if column else {}


def read_pair(rows: Rows, key: str, value: object) -> bool:
    """Reads what JSON and CSV say of two devices; these have the upper triangle only."""
    found = _PAIR.fullmatch(key.strip())
    if not found:
        return False
    what = found[1].lower()
    src, dst = int(found[2]), int(found[3])
    for index in (src, dst):
        rows.device(index, smi_index=index)
    if what == "weight":
        rows.link(src, dst, weight=weight_of(value))
    elif what == "hops":
        rows.link(src, dst, hops=integer(value))
    elif what == "link type":
        rows.link(src, dst, kind=link_kind_of(value))
    else:
        rows.link(src, dst, status=status_of(value))
    return True


def check(rows: Rows) -> None:
    """Remarks on what contradicts itself."""
    differ = sum(
        row["numa_node"] != row["numa_affinity"]
        for row in rows.devices
        if "numa_node" in row and "numa_affinity" in row
    )
    if differ:
        rows.remark(f"NUMA node and NUMA affinity of {differ} devices differ")
    rows.remark_kinds()
    rows.remark_weights()
