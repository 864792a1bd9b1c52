"""What is answered to requests that go wrong: a line to who asked, and no traceback anywhere."""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping
from functools import partial
from typing import Any

import flask
from dash import set_props
from dash.exceptions import DependencyException
from werkzeug.exceptions import HTTPException

from commscope.dashboards.pages.sections import sentence
from commscope.errors import CommscopeError
from commscope.sanitize import shortened

#: Where the page says what went wrong in a part of it.
PROBLEM = "problem"
_UPDATE = "/_dash-update-component"
_MOST_TEXT = 400
_log = logging.getLogger(__name__)


def register(server: flask.Flask, outputs: Container[str]) -> None:
    """Adds the answers to a server of an app whose callbacks have these outputs."""
    server.before_request(partial(_malformed, outputs))
    server.register_error_handler(CommscopeError, _bad_request)
    server.register_error_handler(DependencyException, _no_such_file)
    server.register_error_handler(HTTPException, _of_http)
    server.register_error_handler(Exception, _unexpected)


def show_problem(error: Exception) -> None:
    """Shows what a callback says is wrong; raises all else again."""
    if not isinstance(error, CommscopeError):
        raise error
    set_props(PROBLEM, {"children": sentence(shortened(str(error), _MOST_TEXT))})


def clear_problem() -> None:
    """Takes away what was shown; to be called in a callback."""
    set_props(PROBLEM, {"children": ""})


def _malformed(outputs: Container[str]) -> flask.Response | None:
    """Refuses what cannot be a request for a callback; Dash would fail over it."""
    request = flask.request
    if request.path != _UPDATE or request.method != "POST" or not request.is_json:
        return None
    body = request.get_json(silent=True)
    if isinstance(body, dict) and _is_update(body, outputs):
        return None
    return _line(400, "this is no request of a page of commscope")


def _is_update(body: Mapping[str, Any], outputs: Container[str]) -> bool:
    """Whether it names an output of the app, and has what callbacks are called with."""
    output = body.get("output")
    parts = [body.get("inputs"), body.get("state", [])]
    return (
        isinstance(output, str)
        and output in outputs
        and isinstance(body.get("outputs"), (dict, list))
        and isinstance(body.get("changedPropIds", []), list)
        and all(isinstance(part, list) and all(map(_is_property, part)) for part in parts)
    )


def _is_property(part: object) -> bool:
    """Whether it is a property of a component, or several of those that one pattern stands for."""
    if isinstance(part, list):
        return all(map(_is_property, part))
    return isinstance(part, dict) and {"id", "property"} <= part.keys()


def _bad_request(error: Exception) -> flask.Response:
    return _line(400, str(error))


def _no_such_file(_error: Exception) -> flask.Response:
    return _line(404, "there is no such file")


def _of_http(error: HTTPException) -> Any:
    """The same status and headers, in a line; what leads elsewhere stays as it is."""
    answer = error.get_response()
    if (error.code or 0) >= 400:
        answer.content_type = "text/plain; charset=utf-8"
        answer.set_data(f"{error.name}\n")
    return answer


def _unexpected(error: Exception) -> flask.Response:
    told = shortened(f"{type(error).__name__}: {error}", _MOST_TEXT)
    _log.error("%s %s: %s", flask.request.method, shortened(flask.request.path, 100), told)
    return _line(500, "the program failed at this; its terminal says why")


def _line(status: int, says: str) -> flask.Response:
    return flask.Response(f"{says}\n", status, mimetype="text/plain")
