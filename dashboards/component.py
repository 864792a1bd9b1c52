"""The timeline as a component of Dash; its drawing is plain JavaScript in ``assets``."""

from __future__ import annotations

from typing import Any

from dash.development.base_component import Component


class Timeline(Component):
    """Lanes of all ranks on one axis of time, drawn from what the routes of the app answer.

    Times are whole ns since the run's origin. It tells ``viewport`` (t0, t1), ``view`` (which lanes
    and ranks are shown), ``query``, ``marks`` (t0, t1), ``selection`` (t0, t1, ranks) and
    ``picked`` (lane, event, rank, t, kind, and t0, t1 of the event; or the number of an instance);
    each ``n`` counts, so that the same thing twice is told twice. It shows what it is given:
    ``layout``, ``palette`` (category name to its colour in each theme), ``present`` (categories of
    the legend), ``goto`` (t0, t1, rank, n), ``instance`` (number, members, last_arrival,
    straggler), ``flow`` (from and to), ``stretch`` (t0, t1 and rank; words, and the rank that is
    marked). With another click or selection ``finding`` (id, place) is null. It takes ``room`` of
    the window's height at most, and its data from the routes below ``base``.
    """

    # Dash reads these of the class: lists, as those of its own components.
    _children_props = []  # noqa: RUF012
    _base_nodes = []  # noqa: RUF012
    _namespace = "commscope_timeline"
    _type = "Timeline"
    _prop_names = [  # noqa: RUF012
        "id",
        "run",
        "base",
        "layout",
        "palette",
        "present",
        "viewport",
        "view",
        "query",
        "goto",
        "instance",
        "flow",
        "stretch",
        "finding",
        "marks",
        "room",
        "picked",
        "selection",
    ]
    _valid_wildcard_attributes = []  # noqa: RUF012
    available_properties = _prop_names
    available_wildcard_properties = _valid_wildcard_attributes

    def __init__(self, **properties: Any):
        given = {name: of for name, of in properties.items() if of is not None}
        super().__init__(**given)  # type: ignore[no-untyped-call]
