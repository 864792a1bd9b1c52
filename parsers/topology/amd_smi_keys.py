"""What ``amd-smi`` says of a device, as text, JSON and CSV alike: the same keys, nested or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from commscope.parsers.topology.rows import Row, Rows
from commscope.parsers.topology.values import (
    bus_id_of,
    device_id_of,
    gfx_of,
    integer,
    long_integer,
    pcie_speed_of,
    text_of,
)

TOOL = "amd-smi"


def _lower(value: object) -> str | None:
    return (text_of(value) or "").lower() or None


_KEYS: Mapping[str, tuple[str, Callable[[object], object]]] = {
    "bdf": ("bus_id", bus_id_of),
    "uuid": ("uuid", _lower),
    "kfd_id": ("kfd_id", long_integer),
    "node_id": ("hsa_node", integer),
    "hsa_id": ("hsa_node", integer),
    "hip_id": ("hip_index", integer),
    "partition_id": ("partition", lambda value: integer(str(value).partition(",")[0])),
    "market_name": ("product", text_of),
    "device_id": ("device_id", device_id_of),
    "oam_id": ("oam_id", integer),
    "num_compute_units": ("compute_units", integer),
    "target_graphics_version": ("gfx", gfx_of),
    "max_pcie_speed": ("pcie_gts", lambda value: pcie_speed_of(_with_unit(value))),
    "max_pcie_width": ("pcie_width", integer),
    "compute_partition": ("compute_partition", text_of),
    "accelerator_partition": ("compute_partition", text_of),
    "memory_partition": ("memory_partition", text_of),
    "numa.node": ("numa_node", integer),
    "numa.affinity": ("numa_affinity", integer),
}


def values_of(section: str, key: str, value: object) -> Row:
    """What one key of a section says of a device; nothing where it is of no use here."""
    name = key.strip().lower().replace(" ", "_")
    if isinstance(value, dict) and "value" in value:
        value = f"{value['value']} {value.get('unit', '')}".strip()
        value = value.removesuffix(" N/A")
    found = _KEYS.get(f"{section.lower()}.{name}") or _KEYS.get(name)
    if found is None:
        return {}
    column, convert = found
    return {column: convert(value)}


def read_fact(rows: Rows, section: str, key: str, value: object) -> None:
    """Reads what is said of the host rather than of one device: the driver's version."""
    if section.lower() == "driver" and key.lower() in ("version", "driver_version"):
        told = {fact["name"] for fact in rows.facts}
        if "amdgpu driver" not in told and text_of(value):
            rows.fact("amdgpu driver", text_of(value))


def _with_unit(value: object) -> object:
    return f"{value} GT/s" if re.fullmatch("[0-9.]{1,6}", str(value)) else value
