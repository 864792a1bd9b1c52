"""The app: its pages around what was loaded, ready for any WSGI server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import flask
from dash import Dash, Input, Output, State, no_update

from commscope.analysis.result import Analysis, analyse
from commscope.api import examine
from commscope.dashboards import charts, failures, frame, theme
from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.beside import Beside
from commscope.dashboards.comparisons import Comparisons, PackedRun
from commscope.dashboards.data import RunView
from commscope.dashboards.pages import PAGES, compare, timeline
from commscope.dashboards.routes import register as register_routes
from commscope.dashboards.security import Access, access_for, hash_of, protect
from commscope.dashboards.urlstate import HOME, UrlState, parse
from commscope.errors import CommscopeError, UsageError
from commscope.report.model import Report
from commscope.trace import Trace
from commscope.wording import distinct_names

#: Variables by which the environment would change the app behind its user's back.
_VARIABLES = ("DASH_", "FLASK_")
_StartResponse = Callable[..., Any]
#: What Flask calls the routes by which Dash answers every address of a page.
_FRAME = ("/", "/<path:path>")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A run as the library has it, with the name by which it is shown."""

    name: str
    analysis: Analysis
    report: Report


def create_app(  # noqa: PLR0913 - one argument an option
    trace: Trace,
    report: Report | None = None,
    *,
    name: str = "run",
    token: str | None = None,
    allow_hosts: Sequence[str] = (),
    url_prefix: str = "/",
) -> Dash:
    """The app of one run; ``app.server`` is what a WSGI server runs.

    Args:
        trace: what ``commscope.load`` gave.
        report: of the same trace, from ``commscope.analyze``; made here if null.
        name: by which the run is shown.
        token: what an address must have as ``?token=`` once; null lets everybody in.
        allow_hosts: names of the server besides 127.0.0.1, localhost and [::1].
        url_prefix: what a portal puts before all addresses, such as ``/proxy/8050/``.

    Raises:
        UsageError: an allowed host is no name, or the prefix no path.
    """
    if report is None:
        analysis, report = examine(trace)
    else:
        analysis = analyse(trace)
    run = Loaded(name, analysis, report)
    return create_app_of([run], token=token, allow_hosts=allow_hosts, url_prefix=url_prefix)


def create_app_of(
    runs: Sequence[Loaded],
    *,
    token: str | None = None,
    allow_hosts: Sequence[str] = (),
    url_prefix: str = "/",
) -> Dash:
    """The app of several runs, in the order given; the rest is as in ``create_app``."""
    access = access_for(token, allow_hosts, url_prefix)
    return app_of(runs, len(runs), access)


def app_of(runs: Iterable[Loaded], count: int, access: Access) -> Dash:
    """The same with who is let in; of each of so many runs only what is shown is kept."""
    views, packed = [], []
    for run in runs:
        views.append(LoadedRun(run.name, run.report, _view(run), Beside.of(run.analysis)))
        if count > 1:
            packed.append(PackedRun.of(run.name, run.report, run.analysis))
    if not views:
        raise UsageError("the app needs a run at least")
    names = distinct_names([view.name for view in views])
    loaded = tuple(
        replace(of, name=name, view=of.view.numbered(number))
        for number, (name, of) in enumerate(zip(names, views, strict=True))
    )
    comparisons = Comparisons(packed) if packed else None
    return _app(AppData(loaded, access.prefix, comparisons), access)


def _view(run: Loaded) -> RunView:
    return RunView.of(run.analysis, run.report, run.name)


def _app(data: AppData, access: Access) -> Dash:
    app = _new(access.prefix)
    app.index_string = frame.index_string(theme.style_variables())
    app.layout = frame.frame(data)
    _register(app, data)
    charts.register(app)
    for page in PAGES:
        page.register(app, data)
    register_routes(app.server, [run.view for run in data.runs])
    _tell_what_is_missing(app.server, len(data.runs))
    failures.register(app.server, app.callback_map)
    hashes = [*app.csp_hashes(), *map(hash_of, frame.SCRIPTS)]
    protect(app.server, access, hashes)
    app.server.config["DEBUG"] = False
    # Dash looks for its scripts at the first request, and answers others without them meanwhile.
    app._setup_server()  # type: ignore[no-untyped-call]
    app.server.wsgi_app = _without_prefix(app.server.wsgi_app, access.prefix)
    return app


def _new(prefix: str) -> Dash:
    with _no_variables():
        return Dash(
            __name__,
            assets_folder=str(resources.files("commscope.dashboards") / "assets"),
            pages_folder="",
            use_pages=False,
            compress=False,
            routes_pathname_prefix="/",
            requests_pathname_prefix=prefix,
            suppress_callback_exceptions=True,
            title="commscope",
            update_title="",
            add_log_handler=False,
            on_error=failures.show_problem,
        )


@contextmanager
def _no_variables() -> Iterator[None]:
    """Dash reads its settings from variables too: while it begins it must find none."""
    kept = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith(_VARIABLES)}
    try:
        yield
    finally:
        os.environ.update(kept)


def _without_prefix(app: Callable[..., Any], prefix: str) -> Callable[..., Any]:
    """Some portals leave the prefix in the path and some take it off: both are understood."""

    def inner(environ: dict[str, Any], start_response: _StartResponse) -> Any:
        path = environ.get("PATH_INFO", "")
        if f"{path}/" == prefix or path.startswith(prefix):
            environ["PATH_INFO"] = "/" + path[len(prefix) :]
        return app(environ, start_response)

    return inner


def _register(app: Dash, data: AppData) -> None:
    @app.callback(
        Output("content", "children"),
        Output("pages", "children"),
        Output("chips", "children"),
        Input("location", "pathname"),
        Input("location", "search"),
    )
    def show(pathname: str | None, search: str | None) -> tuple[Any, ...]:
        """The page of an address, with what the header says of its run."""
        failures.clear_problem()
        return _shown(data, pathname, search)

    @app.callback(
        Output("location", "href", allow_duplicate=True),
        Input("search", "n_submit"),
        State("search", "value"),
        State("location", "pathname"),
        State("location", "search"),
        prevent_initial_call=True,
    )
    def find(_times: int | None, text: str | None, pathname: str | None, search: str | None) -> Any:
        """Searches from any page lead to the timeline, which searches by itself."""
        state = _state(data, pathname, search)
        if not text or state.path == timeline.PATH:
            return no_update
        return data.link(timeline.PATH, state.run, q=text)

    if len(data.runs) > 1:
        _register_runs(app, data)


def _register_runs(app: Dash, data: AppData) -> None:
    @app.callback(
        Output("location", "href", allow_duplicate=True),
        Input("run", "value"),
        State("location", "pathname"),
        State("location", "search"),
        prevent_initial_call=True,
    )
    def choose(run: str, pathname: str | None, search: str | None) -> Any:
        """The same page of another run."""
        state = _state(data, pathname, search)
        return no_update if int(run) == state.run else data.link(state.path, int(run))

    @app.callback(
        Output("run", "value"), Input("location", "search"), State("location", "pathname")
    )
    def chosen(search: str | None, pathname: str | None) -> str:
        return str(_state(data, pathname, search).run)


def _state(data: AppData, pathname: str | None, search: str | None) -> UrlState:
    """The state of an address; the overview of the first run for one that is wrong."""
    try:
        return parse(pathname, search, data.prefix, len(data.runs))
    except UsageError:
        return UrlState(HOME)


def _shown(data: AppData, pathname: str | None, search: str | None) -> tuple[Any, ...]:
    state = _state(data, pathname, search)
    try:
        page: Any = _page(data, parse(pathname, search, data.prefix, len(data.runs)))
    except CommscopeError as error:
        page = frame.message("This address leads nowhere", str(error), data, state.run)
    pages = frame.navigation(data, state, [(page.PATH, page.TITLE) for page in PAGES])
    return page, pages, _chips(data, state)


def _chips(data: AppData, state: UrlState) -> list[Any]:
    """What the header tells of the run; nothing where two are compared."""
    return [] if state.path == compare.PATH else frame.chips(data.runs[state.run].report)


def _page(data: AppData, state: UrlState) -> Any:
    page = _page_at(state)
    return page.layout(data, state)


def _page_at(state: UrlState) -> Any:
    for page in PAGES:
        if state.path == page.PATH:
            return page
    raise UsageError(f"there is no page {state.path}")


def _tell_what_is_missing(server: flask.Flask, runs: int) -> None:
    """Addresses of no page or run get the frame, in which that is said, with the status 404."""

    @server.after_request
    def status(answer: flask.Response) -> flask.Response:
        request = flask.request
        if answer.status_code == 200 and request.endpoint in _FRAME:
            try:
                _page_at(parse(request.path, request.query_string.decode("latin-1"), runs=runs))
            except UsageError:
                answer.status_code = 404
        return answer
