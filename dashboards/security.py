"""Who may read what the app shows: checks of host, origin and token, and strict headers.

The loopback device is shared by all users of a machine, and any web page may send requests to it.
So a request must name a host that is meant (else a foreign name that resolves to this machine could
read the answers), come from a page of this app, and have the token that the terminal was told.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote, urlencode, urlsplit

import flask

from commscope.errors import UsageError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
#: Name of the token in an address.
TOKEN = "token"
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*", re.ASCII)
_SLASHES = re.compile("/{2,}")
_PREFIX = re.compile(r"/(?:(?!\.{1,2}/)[A-Za-z0-9._~@:+-]+/)*", re.ASCII)
#: Routes that answer with data: a page of another address may lead to all others, but not here.
_DATA = ("/_cs/", "/_dash-")
#: Who may have asked for data, as browsers tell it: this app's own page, or an address typed in.
_OWN_SITES = ("same-origin", "none")
_KEY_BYTES = 32
_POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>commscope</title>'
    '<link rel="icon" href="data:,">{head}'
    "<style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;"
    "max-width:40em;margin:4em auto;padding:0 1em}}</style><h1>{title}</h1><p>{says}</p></html>"
)
_NO_TOKEN = (
    "This needs the whole address that <code>commscope dash</code> printed in the terminal: the "
    "part after <code>?token=</code> shows that it is you who started it. Copy it from there. A "
    "program that was started anew has a new one."
)
_WRONG_HOST = (
    "The address names a host that this program was not told of. Use the address that "
    "<code>commscope dash</code> printed, or start it with <code>--allow-host NAME</code>."
)
_WRONG_ORIGIN = (
    "The request came from a page of another address. If a portal stands between, start the "
    "program with <code>--allow-host NAME</code>, the name of the portal."
)


@dataclass(frozen=True, slots=True)
class Access:
    """Who is let in: those with the token (null: everybody), by these names of this machine."""

    token: str | None = None
    allow_hosts: frozenset[str] = frozenset()
    prefix: str = "/"
    any_address: bool = False  #: whether a host may be any IP address, besides the names
    once: set[str] = field(default_factory=set)  #: tokens that are good for one use
    #: Of this process: what cookies say is good here alone, and does not tell the token.
    key: bytes = field(default_factory=lambda: secrets.token_bytes(_KEY_BYTES), repr=False)

    @property
    def cookie(self) -> str:
        """Name of the cookie: apps on other ports of this host have others."""
        return f"commscope_{self._derived('name')[:12]}"

    @property
    def cookie_value(self) -> str:
        """What the cookie of who had the token says."""
        return self._derived(f"token {self.token}")

    def _derived(self, text: str) -> str:
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()

    def is_host(self, host: str) -> bool:
        """Whether the Host of a request is one that is meant; its port does not matter."""
        name = host_name(host)
        if name is None:
            return False
        return name in LOOPBACK or name in self.allow_hosts or (self.any_address and _is_ip(name))

    def is_origin(self, origin: str, host: str) -> bool:
        """Whether the page that sent a request is of this app, or of a portal before it."""
        scheme, _, place = origin.partition("://")
        if scheme not in ("http", "https"):
            return False
        return place.lower() == host.lower() or host_name(place) in self.allow_hosts

    def is_token(self, given: str) -> bool:
        """Whether it is the token, in a time that does not tell how much of it is right."""
        return self.token is None or secrets.compare_digest(given.encode(), self.token.encode())

    def is_cookie(self, given: str) -> bool:
        """The same for what a cookie says."""
        return self.token is None or hmac.compare_digest(given.encode(), self.cookie_value.encode())

    def is_way_in(self, given: str) -> bool:
        """Whether it is the token, or one that is good once."""
        return any(self._used(once, given) for once in [*self.once]) or self.is_token(given)

    def _used(self, once: str, given: str) -> bool:
        """Whether it is this token, and not used yet: of two requests at once one is too late."""
        if not secrets.compare_digest(given.encode(), once.encode()):
            return False
        try:
            self.once.remove(once)
        except KeyError:
            return False
        return True


def access_for(token: str | None, allow_hosts: Sequence[str], prefix: str = "/") -> Access:
    """The access of an app; raises UsageError for what is no name of a host, or no prefix."""
    if _PREFIX.fullmatch(prefix) is None:
        raise UsageError(
            f"url prefix {prefix}: write a path that begins and ends with one slash, such as "
            "/proxy/8050/, of letters, digits and . _ ~ @ : + -"
        )
    names = []
    for given in allow_hosts:
        name = host_name(given)
        if name is None:
            raise UsageError(f"allowed host {given}: write a name, such as portal.example.org")
        names.append(name)
    return Access(token, frozenset(names), prefix)


def host_name(host: str) -> str | None:
    """The name in ``name:port``, in small letters; null for what is neither name nor address."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises where it is none
    except ValueError:
        return None
    name = (parts.hostname or "").lower().removesuffix(".")
    is_whole = parts.netloc == host and "@" not in host
    return name if is_whole and (_NAME.fullmatch(name) or _is_ip(name)) else None


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def hash_of(script: str) -> str:
    """The source of a script in the page itself, as the policy names it."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def protect(server: flask.Flask, access: Access, script_hashes: Sequence[str]) -> None:
    """Has every request checked before all else, and every answer sent with strict headers."""
    policy = _POLICY.format(scripts=" ".join(script_hashes))

    def check() -> flask.Response | None:
        return _refusal(access) or _swapped(access)

    def harden(response: flask.Response) -> flask.Response:
        response.headers.extend({"Content-Security-Policy": policy, **_HEADERS})
        return response

    server.before_request_funcs.setdefault(None, []).insert(0, check)
    server.after_request(harden)


def _refusal(access: Access) -> flask.Response | None:
    """What a request that is not let in is told."""
    request = flask.request
    if not access.is_host(request.headers.get("Host", "")):
        return _page(403, "Not this host", _WRONG_HOST)
    if not _is_page() and _is_foreign(access):
        return _page(403, "Not from here", _WRONG_ORIGIN)
    if access.is_cookie(request.cookies.get(access.cookie, "")) or _is_swap(access):
        return None
    return _page(403, "Not allowed", _NO_TOKEN)


def _is_page() -> bool:
    """Whether a page, or what it is made of, is asked for: links of other sites may lead there."""
    is_reading = flask.request.method in ("GET", "HEAD", "OPTIONS")
    return is_reading and not flask.request.path.startswith(_DATA)


def _is_foreign(access: Access) -> bool:
    """Whether the browser says that a page of another address asks."""
    headers = flask.request.headers
    host, origin = headers.get("Host", ""), headers.get("Origin")
    if origin is not None and not access.is_origin(origin, host):
        return True
    return headers.get("Sec-Fetch-Site", "none") not in _OWN_SITES


def _is_swap(access: Access) -> bool:
    given = flask.request.args.get(TOKEN)
    return flask.request.method == "GET" and given is not None and access.is_way_in(given)


def _swapped(access: Access) -> flask.Response | None:
    """A page that leads to the same address without its token, which is a cookie from now on.

    It is a page and no redirect: a browser that came here by a link of another site would not send
    a strict cookie to where a redirect leads.
    """
    request = flask.request
    if access.token is None or request.method != "GET" or TOKEN not in request.args:
        return None
    rest = [(name, value) for name, value in request.args.items(multi=True) if name != TOKEN]
    # Two slashes, or a backslash, at the begin would make it the address of another host.
    path = _SLASHES.sub("/", f"{access.prefix}{quote(request.path)}")
    target = escape(path + (f"?{urlencode(rest)}" if rest else ""), quote=True)
    head = f'<meta http-equiv="refresh" content="0;url={target}">'
    answer = _page(200, "commscope", f'<a href="{target}">Go on</a>', head)
    answer.set_cookie(
        access.cookie, access.cookie_value, httponly=True, samesite="Strict", path=access.prefix
    )
    return answer


def _page(status: int, title: str, says: str, head: str = "") -> flask.Response:
    """A page of this program's own words."""
    page = _PAGE.format(title=title, says=says, head=head)
    answer = flask.Response(page, status, mimetype="text/html")
    answer.headers["Cache-Control"] = "no-store"
    return answer
