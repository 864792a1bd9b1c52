"""Both timelines, aligned by step: what one shows the other shows too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from commscope.compare.model import Comparison
from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.pages.sections import paragraph, section
from commscope.dashboards.pages.timeline import timeline_of
from commscope.dashboards.pages.timeline_link import range_of
from commscope.dashboards.places import on_common_clock
from commscope.dashboards.urlstate import UrlState
from commscope.errors import UsageError
from commscope.wording import counted

_IDS = ("compare-base-timeline", "compare-new-timeline")
_COUPLING, _LINK = "compare-coupling", "compare-link"
_MOST_STEPS = 3
#: What is shown beside the steps, as a share of them, where both runs have it.
_AROUND = 0.03
_ROOM = 0.4


@dataclass(frozen=True, slots=True)
class Aligned:
    """Where each timeline begins so that steps lie below each other; times since the origins."""

    starts: tuple[int, int]
    length_ns: int
    says: str
    #: When each step begins in the base and in the new run, in order.
    steps: tuple[tuple[int, int], ...] = ()

    @property
    def shift_ns(self) -> int:
        """What is to be added to a time of the base for that of the new run."""
        return self.starts[1] - self.starts[0]

    def coupling(self) -> dict[str, Any]:
        """By what the browser moves one timeline with the other.

        A view as long as the first one, or longer, is shifted as that one is; a shorter one as the
        step under its middle.
        """
        return {"shift": self.shift_ns, "length": self.length_ns, "steps": self.steps}

    def viewport(self, side: int) -> dict[str, int]:
        """What a side shows at first."""
        start = self.starts[side]
        return {"t0": start, "t1": start + self.length_ns}


def timelines(
    app_data: AppData, sides: tuple[int, int], found: Comparison, state: UrlState
) -> Component:
    """One below the other, to the same scale; raises UsageError for an address that is wrong."""
    runs = [app_data.runs[number] for number in sides]
    places = aligned(runs, found)
    zoom = zoomed(state)
    drawn = [
        _timeline(app_data, number, zoom[side] if zoom else places.viewport(side), _IDS[side], name)
        for side, (number, name) in enumerate(zip(sides, ("Base", "New")))
    ]
    coupling = html.Div(
        [dcc.Store(id=_COUPLING, data=places.coupling()), dcc.Store(id=_LINK)], hidden=True
    )
    return section("timelines", "Both timelines", paragraph(places.says, "note"), *drawn, coupling)


def zoomed(state: UrlState) -> list[dict[str, int]]:
    """What both sides show, of ``zoom=T0-T1,T0-T1``; nothing where the address does not say."""
    text = state.values.get("zoom")
    if not text:
        return []
    ranges = [range_of("zoom", each) for each in text.split(",")]
    if len(ranges) != len(_IDS):
        raise UsageError("zoom in the address: a range of each side is needed, as 0-5,2-7")
    return [asdict(each) for each in ranges]


def _timeline(
    app_data: AppData, number: int, viewport: dict[str, int], name: str, side: str
) -> Component:
    title = html.P(f"{side}: {app_data.names[number]}", className="side")
    made = timeline_of(app_data, number, id=name, viewport=viewport, room=_ROOM)
    return html.Div([title, made])


def aligned(runs: Sequence[LoadedRun], found: Comparison) -> Aligned:
    """By the begin of the first compared step of each, or of all where steps are not compared."""
    pairs = [
        (pair.base_step, pair.new_step)
        for pair in found.steps
        if pair.base_step is not None and pair.new_step is not None
    ]
    if not pairs:
        length = max(run.view.layout.t1 - run.view.layout.t0 for run in runs)
        begins = (runs[0].view.layout.t0, runs[1].view.layout.t0)
        return Aligned(begins, length, "Aligned at their begins. Zooming one zooms both.")
    first, last = pairs[0], pairs[:_MOST_STEPS][-1]
    of_steps = [step_starts(run) for run in runs]
    starts = of_steps[0][first[0]], of_steps[1][first[1]]
    steps = _starts_of_both(pairs, *of_steps)
    ends = [step_end(run, step) for run, step in zip(runs, last)]
    wanted = max(end - start for start, end in zip(starts, ends))
    wholes = [(run.view.layout.t0, run.view.layout.t1) for run in runs]
    around = round(wanted * _AROUND)
    before = min(around, *(start - whole[0] for start, whole in zip(starts, wholes)))
    after = min(whole[1] - start for start, whole in zip(starts, wholes))
    length = before + min(wanted + around, after)
    begin = (starts[0] - before, starts[1] - before)
    return Aligned(begin, length, _says(first, len(pairs)), steps)


def _starts_of_both(
    pairs: Sequence[tuple[int, int]], base: Mapping[int, int], new: Mapping[int, int]
) -> tuple[tuple[int, int], ...]:
    """When the steps of both runs begin: also those at the ends, which are not compared."""
    apart = {pair[1] - pair[0] for pair in pairs}
    if len(apart) == 1:
        (offset,) = apart
        pairs = [(step, step + offset) for step in sorted(base) if step + offset in new]
    return tuple((base[pair[0]], new[pair[1]]) for pair in pairs)


def _says(first: tuple[int, int], steps: int) -> str:
    return (
        f"Aligned by step: {_steps(first)} begins at the same place, and "
        f"{counted(steps, 'step')} can be compared. Zooming one zooms both; zoomed in, it is the "
        "step in the middle that begins at the same place."
    )


def _steps(pair: tuple[int, int]) -> str:
    base, new = pair
    return f"step {base}" if base == new else f"step {base} of the base and {new} of the new run"


def step_starts(run: LoadedRun) -> dict[int, int]:
    """When the first rank begins each step."""
    starts: dict[int, int] = {}
    for row in run.report.steps:
        if row["start_ns"] is not None:
            start = on_common_clock(run, row["rank"], row["start_ns"])
            starts[row["step"]] = min(start, starts.get(row["step"], start))
    return starts


def step_end(run: LoadedRun, step: int) -> int:
    """When the last rank ends it."""
    return max(
        on_common_clock(run, row["rank"], row["end_ns"])
        for row in run.report.steps
        if row["step"] == step and row["end_ns"] is not None
    )


def couple(app: Dash) -> None:
    """Lets each timeline show what the other one does."""
    views = [(name, "viewport") for name in _IDS]
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("commscope_compare", "coupled"),
        *(Output(*view) for view in views),
        *(Input(*view) for view in views),
        State(_COUPLING, "data"),
        State(_IDS[0], "id"),
        prevent_initial_call=True,
    )
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("commscope_compare", "link"),
        Output(_LINK, "data"),
        *(Input(*view) for view in views),
        prevent_initial_call=True,
    )
