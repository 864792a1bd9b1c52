"""What is told below the timeline: of a selection, an event, a collective, an exposure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from dash import html
from dash.development.base_component import Component

from commscope.dashboards import tables
from commscope.dashboards.app_data import LoadedRun
from commscope.dashboards.data.events import EventDetails
from commscope.dashboards.data.exporting import KINDS
from commscope.dashboards.data.gaps import GapDetails
from commscope.dashboards.data.instances import InstanceDetails
from commscope.dashboards.data.selection import Selection
from commscope.dashboards.pages.sections import prose
from commscope.report.html.reasons import Row
from commscope.report.html.run_tables import ranks_table
from commscope.report.html.tables import (
    UNKNOWN_CELL,
    Cell,
    Column,
    Show,
    count,
    number,
    time,
    words,
)
from commscope.units import percent, size, span
from commscope.wording import rank_spans

_HINT = (
    "Drag over the timeline to see what each rank did in a range. Click an event for its details "
    "and its launch, a collective for all of its ranks, an exposed stretch for its cause."
)
_KIND_LABELS = {"csv": "CSV", "parquet": "Parquet", "perfetto": "Perfetto JSON"}


def of_run(run: LoadedRun) -> list[Component]:
    """Before anything is selected: the verdict, and the report's table of ranks."""
    return [
        html.P(prose(run.report.summary.verdict), className="cs-verdict"),
        html.P(_HINT, className="note"),
        *tables.every([ranks_table(run.report)]),
    ]


def of_nothing(lane: str, rank: int) -> list[Component]:
    """Where a lane has nothing, though the rank's device runs something."""
    words = f"Nothing of this lane ({lane} of rank {rank}) runs here, but its GPU is not idle. "
    return [html.P(words + _HINT, className="note")]


def of_selection(selection: Selection, of: int, run: int, prefix: str) -> list[Component]:
    """What ranks did in a range (of so many), which kernels took the time, and it as files."""
    title = f"{span(selection.t1 - selection.t0)} selected, {_chosen(selection, of)}"
    return _window(title, selection, run, prefix)


def _chosen(selection: Selection, of: int) -> str:
    """Which ranks are counted."""
    ranks = [part.rank for part in selection.ranks]
    if len(ranks) == of:
        return "the one rank" if of == 1 else f"all {of:,} ranks"
    return f"{rank_spans(ranks)} {'only' if len(ranks) == 1 else f'({len(ranks):,} of {of:,})'}"


def of_step(step: EventDetails, selection: Selection, run: int, prefix: str) -> list[Component]:
    """What all ranks did in the window of a rank's step."""
    return _window(f"{step.name} of rank {step.rank}", selection, run, prefix)


def _window(title: str, selection: Selection, run: int, prefix: str) -> list[Component]:
    return [
        heading(
            title,
            f"from {moment(selection.t0)} to {moment(selection.t1)}",
            *_exports(selection, run, prefix),
        ),
        html.Div(
            [
                *_present(_ranks_table(selection)),
                *_present(_kernels_table(selection)),
            ],
            className="cs-side",
        ),
    ]


def heading(title: str, more: str, *rest: Component) -> Component:
    """The title of the drawer, with what belongs beside it."""
    return html.Div(
        [html.H2(title), html.Span(more, className="dim"), *rest], className="cs-heading"
    )


def moment(t: int) -> str:
    """A time since the origin, in ms with three decimals, as the ruler has it."""
    return f"{t / 1e6:,.3f} ms"


def _exports(selection: Selection, run: int, prefix: str) -> list[Component]:
    ranks = ",".join(str(part.rank) for part in selection.ranks)
    asked = {"run": run, "t0": selection.t0, "t1": selection.t1, "ranks": ranks}
    return [
        html.A(
            _KIND_LABELS[kind],
            href=f"{prefix}_cs/export?{urlencode({**asked, 'kind': kind})}",
            download="",
            className="cs-export",
            title="Save the activities of this range as a file",
        )
        for kind in KINDS
    ]


def _present(*made: html.Div | None) -> list[Component]:
    return [each for each in made if each is not None]


def _share(name: str) -> Show:
    """A part of the window with its share; not known where a rule of trust withholds overlap."""

    def show(row: Row) -> Cell:
        whole = max(row["window_ns"], 1)
        return number(row[name], lambda ns: f"{span(ns)} ({percent(ns / whole)})")

    return show


def _if_known(show: Show) -> Show:
    return lambda row: show(row) if row["overlap_known"] else UNKNOWN_CELL


def _overlap(row: Row) -> Cell:
    if not row["communication_ns"]:
        return UNKNOWN_CELL
    return number(row["hidden_comm_ns"] / row["communication_ns"], percent)


_RANK_COLUMNS = (
    Column("rank", count("rank")),
    Column("compute", _share("compute_ns")),
    Column("communication", _share("communication_ns")),
    Column("exposed", _if_known(_share("exposed_comm_ns"))),
    Column("waiting", _if_known(time("exposed_wait_ns"))),
    Column("transfer", _if_known(time("exposed_transfer_ns"))),
    Column("not matched", _if_known(time("exposed_unmatched_ns"))),
    Column("hidden of communication", _if_known(_overlap)),
    Column("exposed copies", time("exposed_copy_ns")),
    Column("idle", _share("idle_ns")),
)


def _ranks_table(selection: Selection) -> html.Div | None:
    rows = [asdict(part) for part in selection.ranks]
    caption = "What each rank did"
    return tables.table(_RANK_COLUMNS, rows, name="timeline-ranks", caption=caption)


def _kernels_table(selection: Selection) -> html.Div | None:
    columns = (
        Column("kernel", words("name", 70), is_number=False),
        Column("family", words("family"), is_number=False),
        Column("calls", count("count")),
        Column("time inside", time("total_ns")),
    )
    rows = [asdict(part) for part in selection.kernels]
    caption = "Activities with most time in it"
    return tables.table(columns, rows, name="timeline-kernels", caption=caption)


def of_event(event: EventDetails) -> list[Component]:
    """All that is known of an event; of an exposure, why it is there."""
    if event.gap is not None:
        return of_gap(event.gap)
    where = f"rank {event.rank}, {span(event.dur)} from {moment(event.start)}"
    return [heading(event.name, where), _facts(_event_facts(event))]


_Fact = tuple[str, "str | None"]


def _facts(facts: Iterable[_Fact]) -> Component:
    pairs = [
        html.Div([html.Dt(word), html.Dd(value)]) for word, value in facts if value is not None
    ]
    return html.Dl(pairs, className="cs-facts")


def _event_facts(event: EventDetails) -> Iterable[_Fact]:
    yield "kind", event.family.replace("_", " ")
    for name in ("stream", "queue", "step", "correlation", "workgroups", "thread"):
        yield name, _text(getattr(event, name))
    yield "bytes", _say(event.bytes, size)
    if event.launch is not None:
        launch = event.launch
        yield "launched by", f"{launch.name} on {launch.thread}"
        yield (
            "launched",
            f"{moment(launch.start)}, {span(event.start - launch.start)} before it ran",
        )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _say(value: Any, say: Callable[[Any], str]) -> str | None:
    return None if value is None else say(value)


def of_instance(instance: InstanceDetails, rank: int | None = None) -> list[Component]:
    """One collective over all ranks: who came when, who waited; ``rank`` is the one clicked."""
    op = instance.op or "collective"
    return [
        heading(f"{op} of {instance.communicator}", late(instance), *_turns(instance)),
        _facts(_instance_facts(instance)),
        *_present(_members_table(instance, rank)),
    ]


def late(instance: InstanceDetails) -> str:
    """Who came last, in words."""
    if len(instance.members) < 2:
        return "one member is in the trace: nothing shows whether it waited"
    if instance.straggler is None:
        return f"all arrive within {span(instance.skew)}: not more than the clocks can tell"
    return f"rank {instance.straggler} arrives last, {span(instance.skew)} after the first"


def _turns(instance: InstanceDetails) -> list[Component]:
    """Buttons to the collectives of the communicator before and after."""
    turns = (("previous", instance.previous), ("next", instance.next))
    return [_turn(word, to) for word, to in turns if to is not None]


def _turn(word: str, to: int) -> Component:
    title = f"The {word} collective of this communicator"
    told: Any = {"data-instance": str(to)}
    return html.Button(word, type="button", className="cs-button", title=title, **told)


def _instance_facts(instance: InstanceDetails) -> Iterable[_Fact]:
    yield "role", instance.role
    yield "type", instance.dtype
    yield "size", _say(instance.bytes, size)
    yield "group", _say(instance.group_size, lambda n: f"{n} ranks")
    yield "sequence", _text(instance.seq)
    yield "step", _text(instance.step)
    yield "transfer", _say(instance.transfer, span)
    for name in ("algbw", "busbw"):
        yield name, _say(getattr(instance, f"{name}_gbps"), _gbps)
    yield "expected busbw", _expected(instance)
    yield "bandwidth", instance.bandwidth_note
    yield "clocks", f"to within {span(instance.clock_error)}" if instance.clock_error else None
    yield from instance.facts


def _gbps(value: float) -> str:
    return f"{value:,.1f} GB/s"


def _expected(instance: InstanceDetails) -> str | None:
    if instance.expected_busbw_gbps is None:
        return None
    source = f" ({instance.expected_from})" if instance.expected_from else ""
    return f"{_gbps(instance.expected_busbw_gbps)}{source}"


def _members_table(instance: InstanceDetails, rank: int | None) -> html.Div | None:
    first = min((member.arrival for member in instance.members), default=0)
    rows = [
        {
            **asdict(member),
            "after": member.arrival - first,
            "note": _note(member.rank, instance, rank),
        }
        for member in sorted(instance.members, key=lambda member: member.rank)
    ]
    columns = (
        Column("rank", count("rank")),
        Column("arrived", lambda row: Cell(moment(row["arrival"]), row["arrival"])),
        Column("after the first", time("after")),
        Column("waited for the last", time("wait")),
        Column("transfer", time("transfer")),
        Column("exposed", time("exposed")),
        Column("of it waiting", time("exposed_wait")),
        Column("", words("note"), is_number=False),
    )
    return tables.table(columns, rows, name="timeline-members", caption="Its ranks")


def _note(rank: int, instance: InstanceDetails, clicked: int | None) -> str:
    notes = ["last" if rank == instance.straggler else "", "clicked" if rank == clicked else ""]
    return ", ".join(filter(None, notes))


def of_gap(gap: GapDetails) -> list[Component]:
    """Why communication was exposed."""
    part = gap.parts[gap.asked]
    return [
        heading(
            f"Exposed for {span(gap.t1 - gap.t0)}: {part.says}",
            f"rank {gap.rank}, {gap.collective}",
        ),
        html.P(gap.evidence, className="cs-evidence"),
        *_present(_parts_table(gap)),
    ]


def _parts_table(gap: GapDetails) -> html.Div | None:
    if len(gap.parts) < 2:
        return None
    columns = (
        Column("from", lambda row: Cell(moment(row["t0"]), row["t0"])),
        Column("length", time("length")),
        Column("part", words("part"), is_number=False),
        Column("cause", words("says"), is_number=False),
        Column("step", count("step")),
    )
    rows = [{**asdict(part), "length": part.t1 - part.t0} for part in gap.parts]
    return tables.table(columns, rows, name="timeline-parts", caption="Its parts")
