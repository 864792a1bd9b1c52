"""What is told of a stretch in which a rank's device runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from dash import html
from dash.development.base_component import Component

from commscope.dashboards import tables
from commscope.dashboards.data.idle import HostPart, IdleDetails
from commscope.dashboards.pages.drawer import heading, moment
from commscope.dashboards.pages.sections import prose
from commscope.dashboards.tables import Linked
from commscope.report.html.reasons import Row
from commscope.report.html.tables import Cell, Column, count, time
from commscope.units import span
from commscope.wording import counted

#: The address of an instance by its number.
LinkTo = Callable[[int], str]


def of_idle(idle: IdleDetails, found: Component | None, link_to: LinkTo) -> list[Component]:
    """How long a rank is idle, what its host did, who waits; ``found`` is the finding on it."""
    where = f"rank {idle.rank}{_steps(idle)}, from {moment(idle.t0)} to {moment(idle.t1)}"
    parts = [
        heading(f"Nothing runs on the GPU for {span(idle.t1 - idle.t0)}", where),
        html.P(prose(host_says(idle.host)), className="cs-evidence"),
        found,
        _waiters(idle, link_to),
    ]
    return [part for part in parts if part is not None]


def _steps(idle: IdleDetails) -> str:
    if not idle.steps:
        return ""
    first, last = min(idle.steps), max(idle.steps)
    return f", step {first}" if first == last else f", steps {first} to {last}"


def host_says(host: HostPart | None) -> str:
    """What the host did meanwhile, in sentences."""
    if host is None:
        return "The trace shows no calls of this rank's host."
    if host.longest is None:
        return f"Meanwhile its host launches nothing and shows no call for {span(host.quiet_ns)}."
    launched = counted(host.launches, "activity", "activities") if host.launches else "nothing"
    quiet = f" and shows no call for {span(host.quiet_ns)}" if host.quiet_ns else ""
    calls = "Its call" if host.calls == 1 else f"The longest of its {host.calls:,} calls"
    takes = f"takes {span(host.longest.inside_ns)} of it"
    call = f"{host.longest.name} on {host.longest.thread}"
    return f"Meanwhile its host launches {launched}{quiet}. {calls} {takes}: {call}."


def _waiters(idle: IdleDetails, link_to: LinkTo) -> Component | None:
    if not idle.waiters:
        return html.P("No other rank waits for it meanwhile.", className="note")

    def collective(row: Row) -> Cell:
        more = row["collectives"] - 1
        words = "see it" if not more else f"the first of {row['collectives']:,}"
        return Linked(words, row["instance"], href=link_to(row["instance"]))

    columns = (
        Column("rank", count("rank")),
        Column("waits in here", time("wait_ns")),
        Column("since", lambda row: Cell(moment(row["since"]), row["since"])),
        Column("collective", collective, is_number=False),
    )
    rows = [asdict(waiter) for waiter in idle.waiters]
    caption = f"Who waits for rank {idle.rank} meanwhile"
    return tables.table(columns, rows, name="timeline-waiters", caption=caption)
