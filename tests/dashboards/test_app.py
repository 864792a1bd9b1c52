"""The app: pages by address, prefixes, runs, and what the environment must not change."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dash_runs import app_of, called, data_of, loaded, text_of
from support import ROOT

import commscope
from commscope import sample_traces
from commscope.dashboards import frame, theme
from commscope.dashboards.app import create_app, create_app_of
from commscope.dashboards.pages import PAGES
from commscope.dashboards.urlstate import UrlState, link, parse
from commscope.errors import UsageError

PATHS = [page.PATH for page in PAGES]


def shown(pathname: str, search: str = "", app: Any = None) -> Any:
    where = {"pathname": pathname, "search": search}
    return called(app or app_of(), "content.children", where, {})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["ddp_straggler", "tp"])
def test_every_page_of_every_run(path: str, name: str) -> None:
    answer = shown(path, app=app_of(name))
    heading = str(answer["content"]["children"])
    assert "leads nowhere" not in heading
    assert "H1" in heading


def test_pages_are_in_order() -> None:
    assert [page.TITLE for page in PAGES] == [
        *("Overview", "Timeline", "Steps", "Collectives", "Ranks"),
        *("Kernels", "Compare", "Environment", "Not measured"),
    ]
    assert len(set(PATHS)) == len(PATHS)


def test_the_first_page_is_the_overview() -> None:
    assert shown("/") == shown("/overview") != shown("/steps")


@pytest.mark.parametrize(
    ("path", "search", "says"),
    [
        ("/nowhere", "", "There is no page /nowhere."),
        ("/steps", "?run=7", "run=7 in the address: there is 1 run, counted from 0."),
        ("/steps", "?run=x", "not a whole number"),
        ("/timeline", "?t0=9&t1=1", "is not after"),
        ("/timeline", "?t0=1", "both are needed"),
        ("/timeline", "?sel=<b>", "is not two times"),
        ("/timeline", "?t0=x&t1=9", "t0=x in the address is not a whole number."),
        ("/timeline", "?t0=-99999999999999999999&t1=9", "has more than 19 digits"),
        ("/timeline", "?ranks=99", "which this run has not"),
        ("/steps", "?" + "x" * 5_000, "longer than"),
    ],
)
def test_bad_addresses_are_told_in_words(path: str, search: str, says: str) -> None:
    content = str(shown(path, search)["content"]["children"])
    assert "leads nowhere" in content
    assert says in content


def test_the_page_that_is_shown_is_marked() -> None:
    links = shown("/ranks")["pages"]["children"]
    marked = [of["props"]["children"] for of in links if of["props"]["className"] == "here"]
    assert marked == ["Ranks"]


def test_several_runs() -> None:
    app = app_of("ddp_straggler", "tp")
    first, second = (shown("/overview", f"?run={run}", app) for run in (0, 1))
    assert first["chips"] != second["chips"]
    links = [of["props"]["href"] for of in second["pages"]["children"]]
    assert links[0] == "/overview?run=1"
    chosen = {"value": "1"}
    where = {"pathname": "/steps", "search": "?run=0"}
    assert list(app.callback_map).count("run.value") == 1
    moved = _href_of(app, chosen, where)
    assert moved == "/steps?run=1"


def _href_of(app: Any, inputs: dict[str, Any], state: dict[str, Any]) -> Any:
    """Of the callbacks that lead elsewhere, the one of the choice of a run."""
    for name, of in app.callback_map.items():
        if name.startswith("location.href") and of["inputs"][0]["id"] == "run":
            return called(app, name, inputs, state)["location"]["href"]
    raise AssertionError("there is no such callback")


def test_runs_of_one_name_are_told_apart() -> None:
    app = create_app_of([loaded(), loaded()])
    layout = app.server.test_client().get("/_dash-layout").text
    assert '"ddp_straggler (2)"' in layout


def test_no_runs() -> None:
    with pytest.raises(UsageError, match="needs a run"):
        create_app_of([])


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "DASH_URL_BASE_PATHNAME": "/x/",
        "DASH_REQUESTS_PATHNAME_PREFIX": "/y/",
        "DASH_ASSETS_EXTERNAL_PATH": "http://evil.example/",
        "DASH_MCP_ENABLED": "true",
        "DASH_DEBUG": "true",
        "FLASK_DEBUG": "1",
        "HOST": "0.0.0.0",
        "PORT": "1",
    }.items():
        monkeypatch.setenv(name, value)
    app = create_app_of([loaded()])
    assert app.config.requests_pathname_prefix == "/"
    assert not app.server.debug
    page = app.server.test_client().get("/").text
    assert "evil" not in page
    assert "_mcp" not in str(app.server.url_map)


@pytest.mark.parametrize("path", ["/proxy/8050/", "/", "/proxy/8050/overview", "/overview"])
def test_a_prefix_may_be_kept_or_taken_off(path: str) -> None:
    app = create_app_of([loaded()], url_prefix="/proxy/8050/")
    page = app.server.test_client().get(path).text
    assert 'src="/proxy/8050/assets/shell.js' in page
    links = shown("/proxy/8050/steps", app=app)["pages"]["children"]
    assert links[0]["props"]["href"] == "/proxy/8050/overview"


def test_the_cookie_of_a_prefix_is_its_own() -> None:
    app = create_app_of([loaded()], token="x", url_prefix="/p/")
    answer = app.server.test_client().get("/p/steps?token=x")
    assert 'url=/p/steps"' in answer.text
    assert "Path=/p/" in answer.headers["Set-Cookie"].split("; ")


def test_create_app_makes_the_report_if_it_is_not_given() -> None:
    trace = commscope.load(sample_traces.path("tp"))
    app = create_app(trace, name="one")
    assert '"one"' in app.server.test_client().get("/_dash-layout").text


def test_searching_leads_to_the_timeline() -> None:
    app = app_of()
    name = next(n for n, of in app.callback_map.items() if of["inputs"][0]["id"] == "search")
    state = {"value": "gemm & more", "pathname": "/steps", "search": ""}
    found = called(app, name, {"n_submit": 1}, state)
    assert found["location"]["href"] == "/timeline?q=gemm+%26+more"
    on_it = called(app, name, {"n_submit": 1}, {**state, "pathname": "/timeline"})
    assert not on_it


def test_chips() -> None:
    verdict, clock = frame.chips(data_of().runs[0].report)
    assert (verdict.children, verdict.className) == (
        "35.3 % exposed: straggler rank 1",
        "chip high",
    )
    assert clock.children == "clocks \u00b1 9.60 us"


def test_the_help_tells_every_key() -> None:
    told = text_of(frame.frame(data_of()))
    for key in "W S A D N P E F R M C I 0 / ? Esc [ ] . ,".split():  # noqa: SIM905
        assert f" {key} " in told


def test_colours_are_those_of_the_report() -> None:
    css = (ROOT / "commscope/report/html/templates/report.css").read_text("utf-8")
    found_in = re.search(r":root \{(.*?)\}.*?data-theme=dark\] \{(.*?)\}", css, re.DOTALL)
    assert found_in is not None
    for name, of in zip(("light", "dark"), found_in.groups()):
        found = dict(re.findall(r"--([a-z]+): (#[0-9a-f]+);", of))
        colours = theme.COLOURS[name]  # type: ignore[index]
        assert {key: found.get(key) for key in colours} == dict(colours)


def test_every_category_has_a_colour() -> None:
    from commscope.dashboards.data.categories import CATEGORIES

    assert {category.name for category in CATEGORIES} <= set(theme.PALETTE)


def test_addresses() -> None:
    state = parse("/p/timeline", "?run=1&t0=-5&ranks=0,3", "/p/", 2)
    assert (state.path, state.run, state.whole("t0"), state.ranks()) == ("/timeline", 1, -5, (0, 3))
    assert state.whole("t1") is None
    assert parse(None, None) == UrlState("/overview")
    assert link("/x", "/p/", a=1, b=None, c="&") == "/p/x?a=1&c=%26"


@pytest.mark.parametrize("text", ["", "-", "1.5", "1e3", "\u0661", "0x1"])
def test_whole_numbers(text: str) -> None:
    with pytest.raises(UsageError, match="not a whole number"):
        UrlState("/", values={"n": text}).whole("n")


def test_the_first_requests_may_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app_of([loaded()])
    monkeypatch.setattr(app, "_walk_assets_directory", lambda: pytest.fail("by a request"))
    assert "/assets/charts.js" in app.server.test_client().get("/").text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        *((path, 200) for path in ("/", "/overview", "/steps/", "/steps?run=0", "/timeline?t0=x")),
        *((path, 404) for path in ("/nope", "/overview/more", "/steps?run=7", "/?run=x")),
        ("/portal/steps", 200),
        ("/portal/nope", 404),
    ],
)
def test_what_leads_nowhere_has_the_status_of_that(address: str, status: int) -> None:
    trace = commscope.load(sample_traces.path("ddp_straggler"))
    app = create_app(trace, url_prefix="/portal/")
    answer = app.server.test_client().get(address)
    assert answer.status_code == status
    assert b"_dash-app-content" in answer.data or b"react-entry-point" in answer.data


def test_who_has_no_token_learns_nothing_of_pages() -> None:
    trace = commscope.load(sample_traces.path("ddp_straggler"))
    client = create_app(trace, token="a" * 43).server.test_client()
    assert {client.get(path).status_code for path in ("/overview", "/nope")} == {403}
