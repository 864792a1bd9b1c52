"""A drawing of how the GPUs of hosts are joined: one circle of devices a host, as SVG.

It needs nothing from outside, follows the reader's light or dark scheme, and holds no text from
files but what was made harmless and escaped.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence

from commscope.sanitize import plain, shortened
from commscope.topology.model import LINK_NAMES, Device, Link, Net, Topology
from commscope.topology.summary import link_label, sentence

_WIDTH = 820
_LEGEND_HEIGHT = 60
_HEAD_HEIGHT = 118
_MOST_NAMED = 24
_MOST_DEVICES = 64
_NAMES = ("ink", "dim", "paper", "node", "xgmi", "nvlink", "pcie", "net")
_LIGHT = "#1f2328 #59636e #ffffff #f6f8fa #cf222e #1a7f37 #8c959f #0969da"
_DARK = "#e6edf3 #9198a1 #0d1117 #161b22 #ff7b72 #3fb950 #6e7681 #58a6ff"
_SHAPES = """\
svg { font: 13px ui-sans-serif, system-ui, sans-serif; }
.dim, .net { font-size: 11px; } .head { font-weight: 600; font-size: 15px; }
line { stroke-linecap: round; opacity: .85; } circle { stroke-width: 1.5; }
.pcie { stroke-dasharray: 5 4; }
.middle { text-anchor: middle; } .end { text-anchor: end; }"""
# No CSS variables: many programs that show SVG do not know them.
_COLOURS = """\
.paper {{ fill: {paper}; }} text {{ fill: {ink}; }} .dim {{ fill: {dim}; }}
.xgmi {{ stroke: {xgmi}; }} .nvlink {{ stroke: {nvlink}; }} .pcie {{ stroke: {pcie}; }}
circle {{ fill: {node}; stroke: {ink}; }} .net {{ fill: {net}; }}"""


def _coloured(colours: str) -> str:
    return _COLOURS.format(**dict(zip(_NAMES, colours.split())))


_STYLE = (
    f"{_SHAPES}\n{_coloured(_LIGHT)}\n"
    f"@media (prefers-color-scheme: dark) {{\n{_coloured(_DARK)}\n}}"
)
#: Half the height of capitals: texts stand around a point without help of the program that draws.
_HALF_LINE = 4.5


def svg_of(topology: Topology) -> str:
    """The drawing of all hosts, one below the other."""
    drawn = [host for host in topology.hosts if topology.devices_of(host)]
    parts, top = [], 0.0
    for host in drawn:
        picture = _Picture(topology, host, top)
        parts += list(picture.lines())
        top += picture.height
    height = max(top, 60.0)
    size = f'width="{_WIDTH}" height="{height:.0f}"'
    view = f'viewBox="0 0 {_WIDTH} {height:.0f}"'
    title = _safe(f"Links of {', '.join(drawn) or 'no host'}")
    opening = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} {size} role="img">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" {size}/>',
    ]
    return "\n".join((*opening, *parts, "</svg>\n"))


class _Picture:
    """One host: devices on a circle, the network devices nearest to each outside of it."""

    def __init__(self, topology: Topology, host: str, top: float) -> None:
        self._topology, self._host, self._top = topology, host, top
        self._all = topology.devices_of(host)
        self._devices = self._all[:_MOST_DEVICES]
        self._radius = max(150.0, min(270.0, 17.0 * len(self._devices)))
        self._is_named = len(self._devices) <= _MOST_NAMED
        self._nearest = {device: _names(topology.nearest_nets(device)) for device in self._devices}
        self._size = 19.0 if self._is_named else 9.0
        self.height = 2 * self._radius + _HEAD_HEIGHT + 60 + _LEGEND_HEIGHT
        self._links = [it for it in topology.links if it.host == host]

    def lines(self) -> Iterator[str]:
        """The elements, what lies behind first."""
        yield _text(20, self._top + 24, self._host, "head", 80)
        yield _text(20, self._top + 46, sentence(self._topology, self._host), "dim", 130)
        yield from self._drawn_links()
        for number, device in enumerate(self._devices):
            yield from self._drawn_device(number, device)
        yield from self._legend()

    def _point(self, number: float, radius: float) -> tuple[float, float]:
        angle = 2 * math.pi * number / max(len(self._devices), 1) - math.pi / 2
        middle = self._top + self._radius + _HEAD_HEIGHT
        return _WIDTH / 2 + radius * math.cos(angle), middle + radius * math.sin(angle)

    def _shown(self) -> list[Link]:
        """Links of xGMI and NVLink; ways over PCIe only where there are no others."""
        direct = [link for link in self._links if link.is_direct]
        return direct or [link for link in self._links if link.kind == "pcie"]

    def _drawn_links(self) -> Iterator[str]:
        places = {device.key: number for number, device in enumerate(self._devices)}
        for link in self._shown():
            ends = [places.get(key) for key in link.ends]
            if ends[0] is None or ends[1] is None:
                continue
            one, other = (self._point(end, self._radius) for end in ends if end is not None)
            width = 1.2 + 1.3 * min((link.count or 1) - 1, 4) if link.kind == "xgmi" else 1.6
            title = f"{link.ends[0]} to {link.ends[1]}: {link_label(link)}"
            yield _line(one, other, link.kind or "pcie", width, title)

    def _drawn_device(self, number: int, device: Device) -> Iterator[str]:
        x, y = self._point(number, self._radius)
        title = _safe(f"{device.key} {device.product or device.gfx or ''}".strip())
        yield f'<g><title>{title}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{self._size:g}"/></g>'
        yield _text(x, y, str(number), "middle")
        if self._is_named:
            yield from self._label(number, device)

    def _label(self, number: int, device: Device) -> Iterator[str]:
        """Bus id and NUMA node beside the device, and below them the nearest network devices."""
        x, y = self._point(number, self._radius + self._size + 12)
        names = self._nearest[device]
        anchor = self._anchor(number)
        if names:
            # Two lines stand around the point, or clear of a device below or above them.
            is_above = y < self._point(number, 0)[1]
            y += -7 if anchor != "middle" else -12 if is_above else 2
        told = device.key if device.numa_node is None else f"{device.key} N{device.numa_node}"
        yield _text(x, y, told, f"dim {anchor}", 24)
        if names:
            yield _text(x, y + 14, names, f"net {anchor}", 24)

    def _anchor(self, number: int) -> str:
        x, _ = self._point(number, 1.0)
        return "middle" if abs(x - _WIDTH / 2) < 0.3 else "begin" if x > _WIDTH / 2 else "end"

    def _legend(self) -> Iterator[str]:
        y = self._top + self.height - _LEGEND_HEIGHT + 20
        kinds = sorted({link.kind for link in self._shown() if link.kind})
        x = 20.0
        for kind in kinds:
            name = LINK_NAMES[kind] + (" (thicker: several links)" if kind == "xgmi" else "")
            yield _line((x, y), (x + 34, y), kind, 2.5, name)
            yield _text(x + 42, y, name, "dim begin")
            x += 230
        hidden = len(self._all) - len(self._devices)
        told = {
            "N0, N1: NUMA node": self._is_named
            and any(it.numa_node is not None for it in self._all),
            "blue: nearest network devices": self._is_named and any(self._nearest.values()),
            f"{hidden} more devices are not drawn": hidden,
        }
        parts = [text for text, is_so in told.items() if is_so]
        yield _text(x, y, "; ".join(parts), "dim begin", 90)


def _names(nets: Sequence[Net]) -> str:
    """The names of one or two; where more are equally near none is nearer."""
    return ", ".join(net.name for net in nets) if len(nets) <= 2 else ""


def _line(
    one: tuple[float, float], other: tuple[float, float], kind: str, width: float, title: str
) -> str:
    place = f'x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}"'
    inside = f"<title>{_safe(title)}</title>"
    return f'<line class="{kind}" {place} stroke-width="{width:.1f}">{inside}</line>'


def _text(x: float, y: float, text: str, names: str, most: int = 60) -> str:
    words = _safe(shortened(text, most))
    return f'<text x="{x:.1f}" y="{y + _HALF_LINE:.1f}" class="{names}">{words}</text>'


def _safe(text: str) -> str:
    return html.escape(plain(text))
