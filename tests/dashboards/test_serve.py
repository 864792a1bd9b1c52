"""Where the app listens, what it prints, and whom it lets reach it."""

from __future__ import annotations

import socket
import sys

import pytest

from commscope.dashboards import serve
from commscope.dashboards.security import access_for
from commscope.dashboards.serve import Address
from commscope.errors import UsageError

SSH = {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}


def taken() -> socket.socket:
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    found.listen()
    return found


def test_a_port_that_is_taken_is_told() -> None:
    with taken() as other:
        port = other.getsockname()[1]
        listening = serve.listening("127.0.0.1", port)
        with pytest.raises(UsageError, match=rf"--port {port}: is taken"), listening:
            pass


def test_by_default_the_next_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with taken() as other:
        port = other.getsockname()[1]
        monkeypatch.setattr(serve, "FIRST_PORT", port)
        with serve.listening("127.0.0.1", None) as found:
            assert found.getsockname()[1] != port


def test_it_listens_on_loopback_alone() -> None:
    with serve.listening("127.0.0.1", None) as found:
        assert found.getsockname()[0] == "127.0.0.1"


def test_a_host_that_is_none() -> None:
    with pytest.raises(UsageError, match="--host 192"), serve.listening("192.0.2.1", None):
        pass


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "node7", "127.0.0.2", ""])
def test_addresses_that_others_reach_are_refused(host: str) -> None:
    with pytest.raises(UsageError, match="--allow-remote"):
        serve.require_host(host, allow_remote=False)
    serve.require_host(host, allow_remote=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_is_not(host: str) -> None:
    serve.require_host(host, allow_remote=False)


def test_urls() -> None:
    assert Address("127.0.0.1", 8050, "/", "t").url() == "http://127.0.0.1:8050/?token=t"
    assert Address("::1", 8051, "/p/", None).url() == "http://[::1]:8051/p/"
    assert Address("127.0.0.1", 1, "/", "t").url("once").endswith("?token=once")
    assert socket.gethostname() in Address("0.0.0.0", 1, "/", None).url()


def test_the_tunnel_over_ssh() -> None:
    here = Address("127.0.0.1", 8052, "/", "t")
    told = serve.tunnel(here, SSH)
    assert told is not None
    assert told.startswith("ssh -N -L 8052:127.0.0.1:8052 ")
    assert told.endswith("@10.0.0.2")
    assert serve.tunnel(here, {}) is None
    assert serve.tunnel(Address("0.0.0.0", 8052, "/", None), SSH) is None
    hostile = serve.tunnel(here, {"SSH_CONNECTION": "a b ;rm c"})
    assert hostile is not None
    assert hostile.endswith(f"@{socket.gethostname()}")


@pytest.mark.skipif(sys.platform == "darwin", reason="there is always a screen")
def test_a_browser_is_opened_where_there_is_a_screen() -> None:
    assert serve.can_open_browser({"DISPLAY": ":0"})
    assert serve.can_open_browser({"WAYLAND_DISPLAY": "wayland-0"})
    assert not serve.can_open_browser({"DISPLAY": ":0", **SSH})
    assert not serve.can_open_browser({})


def test_the_browser_gets_a_token_for_one_use(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(serve, "_PATIENCE_S", 0)
    access = access_for("lasting", [])
    timer = serve.open_browser(Address("127.0.0.1", 1, "/", "lasting"), access)
    timer.join()
    (once,) = access.once
    assert opened == [f"http://127.0.0.1:1/?token={once}"]
    assert "lasting" not in opened[0]
