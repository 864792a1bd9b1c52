"""The topology of the hosts in the tables of ``commscope env``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace

from commscope.report.html.reasons import Row
from commscope.report.html.tables import (
    UNKNOWN_CELL,
    Cell,
    Column,
    Show,
    Table,
    count,
    present,
    table,
    word,
    words,
)
from commscope.sanitize import shortened
from commscope.topology.model import Device, Net, Topology, nearest_first
from commscope.topology.summary import NUMBERS, Expected, expectations, link_label
from commscope.wording import counted

_MOST_MATRIX = 32
_MOST_ROWS = 128


def host_tables(topology: Topology, host: str, place: int) -> list[Table]:
    """The tables of a host, which is the ``place``-th."""
    devices = topology.devices_of(host)
    found = [it for it in expectations(topology) if it.host == host]
    return present(
        _devices(topology, devices, place),
        _matrix(topology, devices, place) if len(devices) > 1 else None,
        _expected(found, place),
        _nets([net for net in topology.nets if net.host == host], place),
        _rings(topology, host, place),
        _facts(topology, host, place),
    )


def _devices(topology: Topology, devices: Sequence[Device], place: int) -> Table | None:
    rows = [
        {**asdict(device), "number": number, "model": device.product or device.gfx,
         "nets": ", ".join(net.name for net in topology.nearest_nets(device)[:2])}
        for number, device in enumerate(devices)
    ]  # fmt: skip
    numbers = {**NUMBERS, "numa_node": "NUMA", "compute_units": "CUs"}
    columns = [
        Column("no.", count("number")),
        Column("device", words("key", 40), is_number=False),
        *(
            Column(head, count(name))
            for name, head in numbers.items()
            if any(row[name] is not None for row in rows)
        ),
        Column("model", words("model", 40), is_number=False),
        Column("nearest network", words("nets", 40), is_number=False),
    ]
    note = "A number is that of the tool above it."
    return table(f"devices-{place}", "Devices", columns, rows, most=_MOST_ROWS, note=note)


def _matrix(topology: Topology, devices: Sequence[Device], place: int) -> Table | None:
    shown = devices[:_MOST_MATRIX]

    def link(other: Device) -> Show:
        def show(row: Row) -> Cell:
            one: Device = row["it"]
            label = "" if one is other else link_label(topology.link(one, other))
            return UNKNOWN_CELL if label == "?" else Cell(label)

        return show

    columns = [
        Column("", count("number")),
        *(Column(str(number), link(other), is_number=False) for number, other in enumerate(shown)),
    ]
    rows = [{"number": number, "it": one} for number, one in enumerate(shown)]
    more = f", the first {len(shown)} of {len(devices)}" if len(shown) < len(devices) else ""
    note = ("PIX, PXB: PCIe switches only; PHB: the CPU's bridge; NODE, SYS: across CPUs."
            if any(link.path for link in topology.links) else "")  # fmt: skip
    return table(f"links-{place}", f"Links{more}", columns, rows, note=note)


def _expected(found: Sequence[Expected], place: int) -> Table | None:
    columns = (
        Column("group", _group, is_number=False),
        Column("bus bandwidth", _busbw),
        Column("by", lambda row: word(row["it"].expectation.reason, 200), is_number=False),
    )
    caption = "All-reduce of large messages, as the links allow"
    return table(f"expected-{place}", caption, columns, [{"it": it} for it in found])


def _group(row: Row) -> Cell:
    it: Expected = row["it"]
    return Cell(it.what if it.groups == 1 else f"{it.groups:,} {it.what}s")


def _busbw(row: Row) -> Cell:
    found = row["it"].expectation
    if found.busbw_gbps is None:
        return UNKNOWN_CELL
    head = "at most" if found.is_bound else "about"
    return Cell(f"{head} {found.busbw_gbps:,.0f} GB/s", found.busbw_gbps)


def _nets(nets: Sequence[Net], place: int) -> Table | None:
    columns = (
        Column("network device", words("name", 40), is_number=False),
        Column("bus id", words("bus_id"), is_number=False),
        Column("speed", _speed),
        Column("NUMA", count("numa_node")),
        Column("GPU direct", _direct, is_number=False),
        Column("nearest GPUs", lambda row: word(row["nearest"], 80), is_number=False),
    )
    rows = [{**asdict(net), "nearest": _nearest(net)} for net in nets]
    return table(f"nets-{place}", "Network devices", columns, rows, most=_MOST_ROWS)


def _speed(row: Row) -> Cell:
    value = row["speed_gbps"]
    return UNKNOWN_CELL if value is None else Cell(f"{value:g} GB/s", value)


def _direct(row: Row) -> Cell:
    return UNKNOWN_CELL if row["gdr"] is None else Cell("yes" if row["gdr"] else "NO")


def _nearest(net: Net) -> str:
    """The GPUs that it is nearest to, with how near."""
    best = min((path for _, path in net.paths), key=nearest_first, default=None)
    keys = [key for key, path in net.paths if path == best]
    return f"{best}: {shortened(' '.join(keys), 60)}" if best else ""


def _rings(topology: Topology, host: str, place: int) -> Table | None:
    alike = Counter(replace(ring, channel=0) for ring in topology.rings if ring.host == host)
    rows = [{**asdict(ring), "count": number} for ring, number in alike.items()]
    columns = (
        Column("graph", lambda row: word(row["name"] or str(row["graph"])), is_number=False),
        Column("channels", count("count")),
        Column("GPUs by dump", lambda row: word(" ".join(map(str, row["devices"])), 80),
               is_number=False),
        Column("network", lambda row: word(" ".join(row["nets"]), 40), is_number=False),
        Column("inside", _rate("intra_gbps", "intra_link"), is_number=False),
        Column("between", _rate("inter_gbps", "inter_link"), is_number=False),
    )  # fmt: skip
    caption = f"Rings and trees the library chose ({counted(len(rows), 'kind')})"
    return table(f"rings-{place}", caption, columns, rows, most=_MOST_ROWS)


def _rate(gbps: str, link: str) -> Show:
    def show(row: Row) -> Cell:
        told = "?" if row[gbps] is None else f"{row[gbps]:g}"
        return word(f"{told} GB/s {row[link] or ''}".strip())

    return show


def _facts(topology: Topology, host: str, place: int) -> Table | None:
    columns = (
        Column("fact", words("name", 60), is_number=False),
        Column("value", words("value", 200), is_number=False),
    )
    rows = [asdict(it) for it in topology.facts if it.host == host and it.value is not None]
    return table(f"facts-{place}", "System", columns, rows, most=_MOST_ROWS)
