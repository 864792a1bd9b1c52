"""The connections of a communicator as a drawing: ranks on a circle, hosts side by side."""

from __future__ import annotations

import html
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from commscope.dashboards.theme import COLOURS, Theme
from commscope.logs.link_use import Connection, LinkUse
from commscope.sanitize import plain, shortened
from commscope.wording import counted

_WIDTH, _LEGEND_ROW = 760, 22
_MOST_RANKS = 64
#: Of more edges than these each is thinner.
_FEW = 12
_NODE = 17.0
_HALF_LINE = 4.5
#: Kind of transport: how it is called, the name of its colour, and its dashes.
_KINDS = {
    "p2p": ("GPU to GPU", "ok", ""),
    "shm": ("over the memory of the host", "medium", "7 4"),
    "net": ("over the network", "link", "2 4"),
    "other": ("otherwise", "dim", "1 5"),
}
_PREFIXES = (("P2P", "p2p"), ("SHM", "shm"), ("NET", "net"), ("COLLNET", "net"))


@dataclass(frozen=True, slots=True)
class Edge:
    """Both directions between two ranks."""

    ends: tuple[int, int]
    kind: str
    transports: tuple[str, ...]
    channels: int  #: of the direction that has more

    @property
    def says(self) -> str:
        """The edge in words."""
        told = f"{', '.join(self.transports)}, {counted(self.channels, 'channel')}"
        return f"ranks {self.ends[0]} and {self.ends[1]}: {told}"


def edges(use: LinkUse) -> list[Edge]:
    """One edge a pair of ranks and kind of transport."""
    found: defaultdict[tuple[int, int, str], list[Connection]] = defaultdict(list)
    for one in use.connections:
        low, high = sorted((one.sender, one.receiver))
        found[low, high, kind_of(one.transport)].append(one)
    return [_edge(low, high, kind, every) for (low, high, kind), every in sorted(found.items())]


def _edge(low: int, high: int, kind: str, every: Sequence[Connection]) -> Edge:
    by_way: defaultdict[bool, int] = defaultdict(int)
    for one in every:
        by_way[one.sender == low] += one.channels
    transports = tuple(sorted({one.transport for one in every}))
    return Edge((low, high), kind, transports, max(by_way.values()))


def kind_of(transport: str) -> str:
    """The kind of a transport as logs name it."""
    return next((kind for prefix, kind in _PREFIXES if transport.startswith(prefix)), "other")


def says(use: LinkUse) -> str:
    """The drawing for those who do not see it."""
    every = edges(use)
    kinds = [kind for kind in _KINDS if any(edge.kind == kind for edge in every)]
    told = "; ".join(
        f"{counted(sum(edge.kind == kind for edge in every), 'pair')} {_KINDS[kind][0]}"
        for kind in kinds
    )
    hosts = len(set(use.hosts.values()))
    on = f" on {counted(hosts, 'host')}" if hosts else ""
    return f"{counted(len(use.ranks), 'rank')}{on}: {told}."


def picture(use: LinkUse, theme: Theme) -> str:
    """The drawing as SVG in the colours of a theme."""
    return "\n".join(_Drawing(use, COLOURS[theme]).lines())


class _Drawing:
    """Ranks by host and number on one circle, their edges inside."""

    def __init__(self, use: LinkUse, colours: Mapping[str, str]) -> None:
        self._use, self._colours = use, colours
        ordered = sorted(use.ranks, key=lambda rank: (use.hosts.get(rank, ""), rank))
        self._ranks = ordered[:_MOST_RANKS]
        self._places = {rank: place for place, rank in enumerate(self._ranks)}
        self._edges = [edge for edge in edges(use) if self._is_drawn(edge)]
        self._shift = 0.0
        self._radius = 110.0 if len(self._ranks) <= 8 else 200.0
        self._kinds = [kind for kind in _KINDS if any(it.kind == kind for it in self._edges)]
        self._around = _NODE + 30
        reach = [self._point(place, self._radius)[1] for place in range(len(self._ranks))]
        self._shift = self._around - min(reach)
        self._foot = max(reach) - min(reach) + 2 * self._around + 6
        self._height = self._foot + _LEGEND_ROW * (len(self._kinds) + 1)

    def _is_drawn(self, edge: Edge) -> bool:
        return all(end in self._places for end in edge.ends)

    def lines(self) -> Iterator[str]:
        size = f'width="{_WIDTH}" height="{self._height:.0f}"'
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {self._height:.0f}" '
            f'{size} font-family="ui-sans-serif, system-ui, sans-serif" font-size="13">'
        )
        yield f"<title>{_safe(says(self._use))}</title>"
        yield from map(self._line_of, self._edges)
        for rank in self._ranks:
            yield from self._node(rank)
        yield from self._legend()
        yield "</svg>"

    def _point(self, place: float, radius: float) -> tuple[float, float]:
        angle = 2 * math.pi * place / max(len(self._ranks), 1) - math.pi / 2
        if len(self._ranks) == 2:
            angle -= math.pi / 2  # two are side by side
        return _WIDTH / 2 + radius * math.cos(angle), self._shift + radius * math.sin(angle)

    def _line_of(self, edge: Edge) -> str:
        one, other = (self._point(self._places[end], self._radius) for end in edge.ends)
        width = (1.2 + min(edge.channels, 24) / 8) * (1 if len(self._edges) <= _FEW else 0.6)
        title = f"<title>{_safe(edge.says)}</title>"
        return self._line(one, other, edge.kind, width, title)

    def _line(
        self, one: tuple[float, float], other: tuple[float, float], kind: str, width: float,
        inside: str = "",
    ) -> str:  # fmt: skip
        _, name, dashes = _KINDS[kind]
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        return (
            f'<line x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}" '
            f'stroke="{self._colours[name]}" stroke-width="{width:.1f}"{dashed}>{inside}</line>'
        )

    def _node(self, rank: int) -> Iterator[str]:
        place = self._places[rank]
        x, y = self._point(place, self._radius)
        host = self._use.hosts.get(rank, "")
        title = _safe(f"rank {rank} {f'on {host}' if host else ''}".strip())
        yield (
            f'<g><title>{title}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{_NODE:g}" '
            f'fill="{self._colours["card"]}" stroke="{self._colours["ink"]}"/></g>'
        )
        yield self._text(x, y, str(rank), "middle", "ink")
        if host and self._is_first_of(host, place):
            yield self._host(place, host)

    def _is_first_of(self, host: str, place: int) -> bool:
        """Whether it is the first rank of its host on the circle: there the host is named."""
        return place == 0 or self._use.hosts.get(self._ranks[place - 1]) != host

    def _host(self, place: int, host: str) -> str:
        x, y = self._point(place, self._radius + _NODE + 16)
        anchor = "middle" if abs(x - _WIDTH / 2) < 40 else "start" if x > _WIDTH / 2 else "end"
        return self._text(x, y, shortened(host, 28), anchor, "dim")

    def _legend(self) -> Iterator[str]:
        y = self._foot
        for kind in self._kinds:
            mine = [edge for edge in self._edges if edge.kind == kind]
            transports = sorted({name for edge in mine for name in edge.transports})
            told = f"{_KINDS[kind][0]}: {shortened(', '.join(transports), 60)}, {_channels(mine)}"
            yield self._line((20, y), (54, y), kind, 3)
            yield self._text(64, y, told, "start", "dim")
            y += _LEGEND_ROW
        more = len(self._use.ranks) - len(self._ranks)
        if more > 0:
            yield self._text(20, y, f"{more:,} more ranks are not drawn", "start", "dim")

    def _text(self, x: float, y: float, words: str, anchor: str, colour: str) -> str:
        return (
            f'<text x="{x:.1f}" y="{y + _HALF_LINE:.1f}" text-anchor="{anchor}" '
            f'fill="{self._colours[colour]}">{_safe(words)}</text>'
        )


def _channels(mine: Sequence[Edge]) -> str:
    least, most = (of(edge.channels for edge in mine) for of in (min, max))
    told = counted(most, "channel") if least == most else f"{least} to {most} channels"
    return f"{counted(len(mine), 'pair')} of ranks, {told} each way"


def _safe(words: str) -> str:
    return html.escape(plain(words))
