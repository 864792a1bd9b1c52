"""``commscope dash``: what it prints, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

import pytest

from commscope import sample_traces
from commscope.cli.main import cli
from commscope.dashboards import serve

RUN = sample_traces.path("ddp_straggler")
#: Where tests run in the background, Ctrl-C is ignored; from a terminal it is not.
_PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from commscope.cli.main import main; main()"
)
URL = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=[\w-]{43}")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be served, which is not."""
    given: list[Any] = []
    monkeypatch.setattr(serve, "run", lambda *of: given.append(of))
    for name in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return given


def test_only_the_address_is_printed(call: Any, served: list[Any]) -> None:
    outcome = call("dash", RUN)
    assert outcome.code == 0
    assert URL.fullmatch(outcome.out.rstrip("\n"))
    assert outcome.err == "Ctrl-C ends it.\n"
    ((app, _, address),) = served
    assert address.url() == outcome.out.rstrip("\n")
    assert app.test_client().get("/").status_code == 403


def test_quiet_and_without_a_token(call: Any, served: list[Any]) -> None:
    outcome = call("view", RUN, "-q", "--no-token", "--url-prefix", "/proxy/1/")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/proxy/1/\n", outcome.out)
    assert outcome.err == ""
    assert served[0][0].test_client().get("/").status_code == 200


def test_over_ssh(call: Any, served: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(serve, "open_browser", lambda *_: pytest.fail("a browser was opened"))
    assert "ssh -N -L " in call("dash", RUN).err


def test_a_browser_is_opened_unless_it_is_not_to_be(
    call: Any, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    opened: list[Any] = []
    monkeypatch.setattr(serve, "open_browser", lambda *of: opened.append(of))
    call("dash", RUN)
    call("dash", RUN, "--no-browser")
    assert len(opened) == 1


def test_several_runs(call: Any, served: list[Any]) -> None:
    files = sorted(RUN.glob("*.json.gz"))[:2]
    outcome = call("dash", *files, "--no-token")
    assert "Each of the 2 files is shown as a run" in outcome.err
    layout = served[0][0].test_client().get("/_dash-layout").text
    assert all(file.name in layout for file in files)


def test_remote(call: Any, served: list[Any]) -> None:
    outcome = call("dash", RUN, "--host", "0.0.0.0", "--allow-remote", "--no-token")
    assert socket.gethostname() in outcome.out
    client = served[0][0].test_client()
    hosts = ["10.1.2.3:80", socket.gethostname(), "localhost", "evil.example"]
    codes = [client.get("/", headers={"Host": host}).status_code for host in hosts]
    assert codes == [200, 200, 200, 403]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["no-such-run"], 2, "no-such-run"),
        ([RUN, "--host", "0.0.0.0"], 2, "--allow-remote"),
        ([RUN, "--url-prefix", "x"], 2, "url prefix x"),
        ([RUN, "--allow-host", "a b"], 2, "allowed host a b"),
        ([RUN, "--port", "0"], 2, "--port"),
        ([], 2, "RUN"),
        ([RUN, "--threshold", "C1.no=1"], 2, "C1"),
    ],
)
def test_bad_input(refused: Any, arguments: list[Any], code: int, says: str) -> None:
    assert says in refused(code, "dash", *arguments)


def test_a_port_that_is_taken(refused: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert f"--port {port}: is taken" in refused(2, "dash", RUN, "--port", port)


def test_the_alias_is_not_listed() -> None:
    context = cli.make_context("commscope", ["--help-me-not"], resilient_parsing=True)
    assert "dash" in cli.list_commands(context)
    assert "view" not in cli.list_commands(context)
    assert cli.get_command(context, "view") is cli.get_command(context, "dash")


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program as a shell starts it, which has not ended when it should: it is killed then."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOST": "0.0.0.0", "PORT": "1"},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_and_ends_quietly(end: signal.Signals) -> None:
    with started("dash", str(RUN), "--no-browser") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert URL.fullmatch(url)
        with urlopen(Request(url), timeout=20) as answer:
            assert answer.status == 200
            assert "Python" not in answer.headers["Server"]
        process.send_signal(end)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
