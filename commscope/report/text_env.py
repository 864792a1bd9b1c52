"""The topology of hosts as text: devices, links, network devices, what the links allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.text import Text

from commscope.report.text_tables import Cell, Row, Show, text_of, text_table
from commscope.sanitize import plain, shortened
from commscope.topology.model import Device, Fact, Net, Ring, Topology, nearest_first
from commscope.topology.summary import (
    NUMBERS,
    Expected,
    differing_numbers,
    expectations,
    link_label,
    sentence,
)

_MOST_MATRIX = 32
_MOST_ROWS = 64
_MOST_NOTES = 12
_HINT = " (PIX, PXB: PCIe switches only; PHB: the CPU's bridge; NODE, SYS: across CPUs)"


def print_env(topology: Topology, console: Console) -> None:
    """Prints the topology, one host after the other, and then the notes."""
    found = expectations(topology)
    for host in topology.hosts:
        console.print(Group(*_host(topology, host, found, console.width)))
    notes = [f"({note})" for note in topology.notes[:_MOST_NOTES]]
    if len(topology.notes) > _MOST_NOTES:
        notes.append(f"({len(topology.notes) - _MOST_NOTES:,} more notes)")
    if notes:
        console.print(Text("\n" + "\n".join(map(plain, notes)), "dim"))


def print_env_verdict(topology: Topology, console: Console) -> None:
    """Prints a sentence a host."""
    for host in topology.hosts:
        console.print(_head(topology, host))


def _host(
    topology: Topology, host: str, found: Sequence[Expected], width: int
) -> Iterable[RenderableType]:
    devices = topology.devices_of(host)
    yield _head(topology, host)
    if differing := differing_numbers(topology, host):
        yield Text(plain(differing), "yellow")
    if devices:
        yield _devices(topology, devices, width)
    if len(devices) > 1:
        yield _matrix(topology, devices, width)
        yield _expected([it for it in found if it.host == host], width)
    nets = [net for net in topology.nets if net.host == host]
    if nets:
        yield _nets(nets, width)
    rings = [ring for ring in topology.rings if ring.host == host]
    if rings:
        yield _rings(rings, width)
    facts = [fact for fact in topology.facts if fact.host == host and fact.value is not None]
    if facts:
        yield _facts(facts, width)
    yield Text("")


def _head(topology: Topology, host: str) -> RenderableType:
    return Text(plain(f"{host}: {sentence(topology, host)}"), "bold")


def _devices(topology: Topology, devices: Sequence[Device], width: int) -> RenderableType:
    rows = [_device_row(topology, device) for device in devices[:_MOST_ROWS]]
    cells = [
        Cell("no.", _text("short")),
        Cell("device", _text("key"), "left"),
        *_known_cells(rows, NUMBERS),
        *_known_cells(rows, {"numa_node": "NUMA", "compute_units": "CUs"}),
        Cell("model", lambda row: shortened(row["product"] or row["gfx"] or "?", 28), "left"),
    ]
    if any(row["nets"] for row in rows):
        cells.append(Cell("nearest network", _text("nets"), "left", from_width=90))
    title = "Devices" + _of(len(devices), _MOST_ROWS)
    return text_table(f"{title}; a number is that of the tool above it", cells, rows, width)


def _device_row(topology: Topology, device: Device) -> Row:
    nets = topology.nearest_nets(device)
    named = ", ".join(net.name for net in nets[:2])
    number = topology.devices_of(device.host).index(device)
    return {
        **{name: getattr(device, name) for name in (*NUMBERS, "numa_node", "compute_units")},
        "short": str(number),
        "key": device.key,
        "product": device.product,
        "gfx": device.gfx,
        "nets": shortened(named + (", ..." if len(nets) > 2 else ""), 32),
    }


def _known_cells(rows: Sequence[Row], names: dict[str, str]) -> list[Cell]:
    """A column for each number that some device has."""
    return [
        Cell(head, _text(name))
        for name, head in names.items()
        if any(row[name] is not None for row in rows)
    ]


def _matrix(topology: Topology, devices: Sequence[Device], width: int) -> RenderableType:
    shown = devices[: min(_MOST_MATRIX, max((width - 6) // 8, 4))]
    rows = [
        {
            "name": str(number),
            **{
                str(column): "-" if one is other else link_label(topology.link(one, other))
                for column, other in enumerate(shown)
            },
        }
        for number, one in enumerate(shown)
    ]
    cells = [Cell("", _text("name"))]
    cells += [Cell(str(number), _text(str(number)), "left") for number in range(len(shown))]
    host = devices[0].host
    has_paths = any(link.path for link in topology.links if link.host == host)
    title = "Links" + _of(len(devices), len(shown)) + (_HINT if has_paths else "")
    return text_table(title, cells, rows, width)


def _expected(found: Sequence[Expected], width: int) -> RenderableType:
    rows = [
        {
            "what": it.what if it.groups == 1 else f"{it.groups:,} {it.what}s",
            "busbw": _busbw(it),
            "such": " ".join(it.devices) if it.what == "pair" else "",
            "reason": it.expectation.reason,
        }
        for it in found
    ]
    cells = (
        Cell("group", _text("what"), "left"),
        Cell("bus bandwidth", _text("busbw")),
        Cell("by", _text("reason"), "left"),
        Cell("such as", _text("such"), "left", from_width=110),
    )
    return text_table("All-reduce of large messages, as the links allow", cells, rows, width)


def _busbw(it: Expected) -> str:
    gbps = it.expectation.busbw_gbps
    if gbps is None:
        return "?"
    return f"{'at most ' if it.expectation.is_bound else 'about '}{gbps:,.0f} GB/s"


def _nets(nets: Sequence[Net], width: int) -> RenderableType:
    rows = [
        {
            "name": shortened(net.name, 24),
            "bus_id": net.bus_id,
            "speed": None if net.speed_gbps is None else f"{net.speed_gbps:g} GB/s",
            "numa": net.numa_node,
            "gdr": None if net.gdr is None else "yes" if net.gdr else "NO",
            "gpus": _nearest(net),
        }
        for net in nets[:_MOST_ROWS]
    ]
    cells = (
        Cell("device", _text("name"), "left"),
        *(Cell(head, text_of(name)) for head, name in (("bus id", "bus_id"), ("speed", "speed"))),
        Cell("NUMA", text_of("numa")),
        Cell("GPU direct", text_of("gdr"), "left"),
        Cell("nearest GPUs", _text("gpus"), "left", from_width=80),
    )
    return text_table("Network devices" + _of(len(nets), _MOST_ROWS), cells, rows, width)


def _nearest(net: Net) -> str:
    """The GPUs that it is nearest to, with how near."""
    best = min((path for _, path in net.paths), key=nearest_first, default=None)
    keys = [key for key, path in net.paths if path == best]
    return f"{best}: {shortened(' '.join(keys), 60)}" if best else ""


def _rings(rings: Sequence[Ring], width: int) -> RenderableType:
    alike: dict[Ring, int] = Counter(replace(ring, channel=0) for ring in rings)
    rows = [
        {
            "graph": ring.name or str(ring.graph),
            "channels": count,
            "gpus": shortened(" ".join(map(str, ring.devices)), 60),
            "nets": " ".join(ring.nets),
            "inside": _rate(ring.intra_gbps, ring.intra_link),
            "between": _rate(ring.inter_gbps, ring.inter_link),
        }
        for ring, count in list(alike.items())[:_MOST_ROWS]
    ]
    cells = (
        Cell("graph", _text("graph"), "left"),
        Cell("channels", _text("channels")),
        Cell("GPUs by dump", _text("gpus"), "left"),
        Cell("network", _text("nets"), "left"),
        Cell("inside", _text("inside")),
        Cell("between", _text("between"), from_width=90),
    )
    title = "Rings and trees the library chose" + _of(len(alike), _MOST_ROWS)
    return text_table(title, cells, rows, width)


def _rate(gbps: float | None, link: str | None) -> str:
    return f"{'?' if gbps is None else f'{gbps:g}'} GB/s {link or ''}".strip()


def _facts(facts: Sequence[Fact], width: int) -> RenderableType:
    room = max(width - 50, 20)
    rows = [
        {"fact": shortened(fact.name, 36), "value": shortened(fact.value or "", room)}
        for fact in facts[:_MOST_ROWS]
    ]
    cells = (Cell("fact", _text("fact"), "left"), Cell("value", _text("value"), "left"))
    return text_table("System" + _of(len(facts), _MOST_ROWS), cells, rows, width)


def _of(count: int, shown: int) -> str:
    return f", the first {shown} of {count:,}" if count > shown else ""


def _text(name: str) -> Show:
    """A value as it is; nothing where it is not known."""
    return lambda row: "" if row[name] is None else str(row[name])
