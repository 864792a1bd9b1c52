"""Serving an app on this machine: a port, the address to open, and a quiet end."""

from __future__ import annotations

import errno
import getpass
import ipaddress
import logging
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Thread, Timer
from typing import Any

import flask
from werkzeug.serving import WSGIRequestHandler, make_server

from commscope.dashboards.security import LOOPBACK, TOKEN, Access
from commscope.errors import UsageError

FIRST_PORT = 8050
_LOCAL = "127.0.0.1"
#: How many ports after the first are tried before any is taken.
_MORE_PORTS = 50
_WAITING = 64
#: How long the server needs to begin.
_PATIENCE_S = 0.3
_log = logging.getLogger(__name__)


class _Quiet(WSGIRequestHandler):
    """Requests are no news, and nobody needs to know what answers them."""

    #: Seconds until a request that never ends is given up.
    timeout = 60

    def version_string(self) -> str:
        return "commscope"

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - the base's name
        _log.debug("%s: %s", type, message % args if args else message)


@dataclass(frozen=True, slots=True)
class Address:
    """Where an app is served and how it is reached."""

    host: str
    port: int
    prefix: str
    token: str | None

    def url(self, token: str | None = None) -> str:
        """What to open in a browser; by default with the token that lasts."""
        given = token or self.token
        query = "" if given is None else f"?{TOKEN}={given}"
        return f"http://{_in_url(_reachable(self.host))}:{self.port}{self.prefix}{query}"


def require_host(host: str, *, allow_remote: bool) -> None:
    """Raises UsageError for an address that others reach, unless that is asked for."""
    if allow_remote or host in LOOPBACK:
        return
    raise UsageError(
        f"--host {host}: others could reach it; add --allow-remote if that is meant, "
        "or forward a port by ssh"
    )


def remote_hosts(host: str) -> frozenset[str]:
    """The names by which an app is reached that others may reach."""
    names = {host, socket.gethostname(), socket.getfqdn()}
    return frozenset(name.lower() for name in names)


@contextmanager
def listening(host: str, port: int | None) -> Iterator[socket.socket]:
    """A socket that listens on the port, or, for null, on the first that is free from 8050 on.

    Raises UsageError where the port is taken, or the host is none of this machine.
    """
    wanted = [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + _MORE_PORTS), 0]
    for number in wanted:
        try:
            found = _listen(host, number)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise UsageError(f"--host {host}: {error.strerror or error}") from error
            continue
        with closing(found):
            yield found
        return
    raise UsageError(f"--port {port}: is taken; choose another, or none for the next free one")


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_WAITING)
    except OSError:
        found.close()
        raise
    return found


def address_of(found: socket.socket, host: str, access: Access) -> Address:
    """The address of what listens."""
    return Address(host, found.getsockname()[1], access.prefix, access.token)


def run(app: flask.Flask, found: socket.socket, address: Address) -> None:
    """Serves until Ctrl-C or SIGTERM ends it."""
    server = make_server(
        address.host,
        address.port,
        app,
        threaded=True,
        request_handler=_Quiet,
        fd=found.fileno(),
    )
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.serve_forever()  # it ends quietly at a KeyboardInterrupt
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def in_background(app: flask.Flask) -> Iterator[str]:
    """Serves in a thread of its own, for notebooks and tests; gives the address."""
    server = make_server(_LOCAL, 0, app, threaded=True, request_handler=_Quiet)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{_LOCAL}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def open_browser(address: Address, access: Access) -> Timer:
    """Opens a browser once the server answers; returns what waits for that.

    Its command line can be read by all users of this machine: it holds a token for one use.
    """
    once = None
    if access.token is not None:
        once = secrets.token_urlsafe(32)
        access.once.add(once)
    timer = Timer(_PATIENCE_S, webbrowser.open, [address.url(once)])
    timer.daemon = True
    timer.start()
    return timer


def can_open_browser(environ: Mapping[str, str]) -> bool:
    """Whether a browser would show on the screen of who asks."""
    if "SSH_CONNECTION" in environ:
        return False
    return sys.platform == "darwin" or bool(
        environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    )


def tunnel(address: Address, environ: Mapping[str, str]) -> str | None:
    """The command that makes the app reachable from where one came by ssh; null for who did not."""
    if "SSH_CONNECTION" not in environ or address.host not in LOOPBACK:
        return None
    host, port = _in_url(_reachable(address.host)), address.port
    return f"ssh -N -L {port}:{host}:{port} {getpass.getuser()}@{_came_to(environ)}"


def _came_to(environ: Mapping[str, str]) -> str:
    """The address to which the ssh connection came; this machine's name if it is not told."""
    parts = environ["SSH_CONNECTION"].split()
    try:
        return str(ipaddress.ip_address(parts[2]))
    except (IndexError, ValueError):
        return socket.gethostname()


def _reachable(host: str) -> str:
    """A name for all addresses of this machine, which is none by which it could be reached."""
    return socket.gethostname() if host in ("0.0.0.0", "::", "") else host


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
