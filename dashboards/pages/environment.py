"""Environment: machines and links, what the library used of them, settings, and warnings."""

from __future__ import annotations

import base64

from dash import Dash, html
from dash.development.base_component import Component

from commscope.dashboards import tables
from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.pages import link_picture
from commscope.dashboards.pages.log_views import (
    connection_tables,
    setting_tables,
    warning_tables,
)
from commscope.dashboards.pages.sections import (
    Content,
    empty,
    page,
    paragraph,
    section,
    sentence,
)
from commscope.dashboards.pages.topology_views import host_tables
from commscope.dashboards.urlstate import UrlState
from commscope.logs.link_use import LinkUse
from commscope.logs.summary import LogSummary
from commscope.report.html.about_tables import about_tables, facts
from commscope.report.html.log_tables import log_notes, log_tables
from commscope.report.model import LogSection, Report
from commscope.report.svg_links import svg_of
from commscope.sanitize import shortened
from commscope.topology.model import Topology
from commscope.topology.summary import differing_numbers
from commscope.topology.summary import sentence as host_sentence

PATH = "/environment"
TITLE = "Environment"
_MOST_HOSTS = 8
_MOST_NOTES = 12
_NO_LOG = (
    "No log of RCCL or NCCL belongs to this run. Run the job with `NCCL_DEBUG=INFO` and give its "
    "output with `--log`, or put it beside the traces."
)
_NO_TOPOLOGY = (
    "No topology of the hosts is at hand. Write one on a host with `commscope env --save DIR`, and "
    "give the folder with `--topology`."
)


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of a run."""
    run = app_data.runs[state.run]
    return page(
        TITLE,
        _facts(run.report),
        _foreign(run.report.log),
        section("links", "Links, and what is used of them", *_links(run)),
        *_log(run),
        section("places", "Ranks and files", *tables.every(about_tables(run.report))),
        _hosts(run.beside.topology),
    )


def register(app: Dash, app_data: AppData) -> None:
    """The page has no callbacks."""


def _facts(report: Report) -> Component:
    pairs = [html.Div([html.Dt(name), html.Dd(value)]) for name, value in facts(report)]
    return html.Dl(pairs, className="facts")


def _foreign(log: LogSection | None) -> Component | None:
    """That the logs are not known to be of this run; null where they are, or there are none."""
    if log is None or log.joined_by != "nothing":
        return None
    why = " ".join(sentence(shortened(note, 400)) for note in log.notes)
    return empty(f"What the logs say may not be of this run. {why}")


def _links(run: LoadedRun) -> list[Content]:
    topology, use = run.beside.topology, run.beside.link_use
    joined = topology is not None and bool(topology.devices)
    return [
        _used(use) if use is not None else _no_use(run),
        *(_joined(topology) if joined and topology else [empty(_NO_TOPOLOGY)]),
    ]


def _no_use(run: LoadedRun) -> Component | None:
    """Why nothing is drawn; null without a log, which is said below."""
    if run.beside.log is None:
        return None
    return empty("The logs tell no connection between two ranks.")


def _used(use: LinkUse) -> Component:
    """The connections that the library made."""
    told = f"Connections that the library made in {shortened(use.communicator, 40)}"
    drawn = [
        _image(link_picture.picture(use, theme), link_picture.says(use), f"only-{theme}")
        for theme in ("light", "dark")
    ]
    return html.Figure([html.Figcaption(f"{told}. {link_picture.says(use)}"), *drawn])


def _joined(topology: Topology) -> list[Content]:
    """How the GPUs are joined, by the files on the topology."""
    says = [f"{host}: {host_sentence(topology, host)}" for host in topology.hosts[:_MOST_HOSTS]]
    drawn = _image(svg_of(topology), f"Links between the GPUs. {'. '.join(says)}.", "both-themes")
    return [*(paragraph(f"{shortened(it, 300)}.") for it in says), html.Figure(drawn)]


def _image(svg: str, says: str, look: str) -> Component:
    data = base64.b64encode(svg.encode()).decode("ascii")
    source = f"data:image/svg+xml;base64,{data}"
    return html.Img(src=source, alt=shortened(says, 600), className=f"drawing {look}")


def _log(run: LoadedRun) -> list[Component]:
    """What the logs of the library add, or that there are none."""
    log, joined = run.beside.log, run.report.log
    if log is None:
        return [section("log", "From the logs", empty(_NO_LOG))]
    settings, warnings = (tables.every(of(log)) for of in (setting_tables, warning_tables))
    no_settings, no_warnings = "The logs name no setting.", "The library wrote no warning."
    return [
        section("settings", "Settings of the library", *(settings or [empty(no_settings)])),
        section("warnings", "Warnings of the log", *(warnings or [empty(no_warnings)])),
        section("transport", "Rings and transport", *_transport(log, joined)),
    ]


def _transport(log: LogSummary, joined: LogSection | None) -> list[Content]:
    says = [] if joined is None else log_notes(joined)
    notes = [paragraph(sentence(shortened(note, 600)), "note") for note in says]
    made = [] if joined is None or joined.joined_by == "nothing" else log_tables(joined)
    return [*notes, *tables.every([*made, *connection_tables(log)])]


def _hosts(topology: Topology | None) -> Component | None:
    """The hosts in numbers; null without a topology, which is said above."""
    if topology is None or not topology.hosts:
        return None
    shown = topology.hosts[:_MOST_HOSTS]
    more = len(topology.hosts) - len(shown)
    notes = [paragraph(sentence(shortened(it, 400)), "note") for it in topology.notes[:_MOST_NOTES]]
    hosts = [_host(topology, host, place) for place, host in enumerate(shown)]
    rest = paragraph(f"{more:,} more hosts are not shown.") if more > 0 else None
    return section("hosts", "Hosts", *(part for host in hosts for part in host), rest, *notes)


def _host(topology: Topology, host: str, place: int) -> list[Component]:
    differing = differing_numbers(topology, host)
    return [
        html.H3(shortened(host, 80), className="host"),
        *([paragraph(sentence(differing), "medium")] if differing else []),
        *tables.every(host_tables(topology, host, place)),
    ]
