"""Requests that go wrong: a status, a line, and nothing on the terminal but what is unexpected."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from dash import Input, Output
from dash_runs import loaded

from commscope.dashboards.app import create_app_of
from commscope.errors import UsageError

UPDATE = "/_dash-update-component"
SHOW = "..content.children...pages.children...chips.children.."


@pytest.fixture(scope="module")
def app() -> Any:
    made = create_app_of([loaded()])

    @made.callback(Output("theme", "data"), Input("search", "value"))
    def fails(text: str) -> None:
        raise UsageError(f"no {text}") if text == "rank <b>" else ValueError("a\nb")

    return made


@pytest.fixture
def client(app: Any) -> Any:
    return app.server.test_client()


def body(**changes: Any) -> dict[str, Any]:
    given = {"output": SHOW, "outputs": [], "inputs": [], "changedPropIds": []}
    return {**given, **changes}


@pytest.mark.parametrize(
    "sent",
    [
        {},
        [],
        1,
        {"output": SHOW},
        body(output="no.such"),
        body(output=["x"]),
        body(outputs=None),
        body(inputs=[{}]),
        body(inputs=[[{"id": 1}]]),
        body(state=5),
        body(changedPropIds=None),
    ],
)
def test_what_no_page_sends(client: Any, caplog: pytest.LogCaptureFixture, sent: Any) -> None:
    answer = client.post(UPDATE, json=sent)
    assert (answer.status_code, answer.text) == (400, "this is no request of a page of commscope\n")
    assert not caplog.records


@pytest.mark.parametrize(
    "path", ["commscope/x.js", "..%2fx.js", "dash/no.js", "%2e%2e/%2e%2e/x.js"]
)
def test_files_that_are_not_there(client: Any, caplog: pytest.LogCaptureFixture, path: str) -> None:
    answer = client.get(f"/_dash-component-suites/{path}")
    assert answer.status_code == 404
    assert answer.text.count("\n") <= 1
    assert not caplog.records


def test_a_method_that_is_not_allowed(client: Any) -> None:
    answer = client.delete("/_dash-layout")
    assert (answer.status_code, answer.text) == (405, "Method Not Allowed\n")
    assert "GET" in answer.headers["Allow"]


def test_what_a_callback_says_is_wrong_is_shown(client: Any) -> None:
    answer = client.post(UPDATE, json=_of_search("rank <b>"))
    assert answer.status_code == 200
    assert answer.get_json()["sideUpdate"] == {"problem": {"children": "No rank <b>."}}


def test_what_nobody_expected_is_one_line(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = client.post(UPDATE, json=_of_search("x"))
    assert (answer.status_code, answer.mimetype) == (500, "text/plain")
    (record,) = caplog.records
    assert record.exc_info is None
    assert record.getMessage().startswith(f"POST {UPDATE}: ValueError: a")
    assert "\n" not in record.getMessage()


def _of_search(text: str) -> dict[str, Any]:
    return {
        "output": "theme.data",
        "outputs": {"id": "theme", "property": "data"},
        "inputs": [{"id": "search", "property": "value", "value": text}],
        "changedPropIds": ["search.value"],
    }


def test_the_next_page_takes_the_message_away(client: Any) -> None:
    where = ("pathname", "/steps"), ("search", "")
    inputs = [{"id": "location", "property": name, "value": value} for name, value in where]
    parts = ("content", "pages", "chips")
    outputs = [{"id": part, "property": "children"} for part in parts]
    answer = client.post(UPDATE, json=body(outputs=outputs, inputs=inputs)).get_json()
    assert answer["sideUpdate"] == {"problem": {"children": ""}}
    assert "Steps" in str(answer["response"]["content"])
