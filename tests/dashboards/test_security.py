"""Token, Host and Origin, and the headers of every answer; all without a browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dash_runs import loaded

from commscope.dashboards.app import app_of
from commscope.dashboards.security import Access, access_for, host_name
from commscope.errors import UsageError

TOKEN = "t0ken-of-this-test"
UPDATE = "/_dash-update-component"


@pytest.fixture(scope="module")
def access() -> Access:
    return access_for(TOKEN, ["portal.example.org"])


@pytest.fixture(scope="module")
def server(access: Access) -> Any:
    return app_of([loaded()], 1, access).server


@pytest.fixture
def stranger(server: Any) -> Any:
    return server.test_client()


@pytest.fixture
def client(server: Any, access: Access) -> Any:
    found = server.test_client()
    found.set_cookie(access.cookie, access.cookie_value)
    return found


ROUTES = ["/", "/overview", "/_dash-layout", "/_dash-dependencies", "/_cs/names?run=0&ids=0",
          "/assets/shell.js", "/no/such/page"]  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_is_told_without_the_token(stranger: Any, route: str) -> None:
    answer = stranger.get(route)
    assert answer.status_code == 403
    assert "commscope dash" in answer.text
    assert TOKEN not in answer.text
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("given", ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\u00e4"])
def test_wrong_tokens(stranger: Any, access: Access, given: str) -> None:
    assert stranger.get("/", query_string={"token": given}).status_code == 403
    stranger.set_cookie(access.cookie, given)
    assert stranger.get("/").status_code == 403


def test_the_token_is_no_cookie_and_a_cookie_no_token(stranger: Any, access: Access) -> None:
    assert stranger.get("/", query_string={"token": access.cookie_value}).status_code == 403
    stranger.set_cookie(access.cookie, TOKEN)
    assert stranger.get("/").status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: Any, access: Access) -> None:
    answer = stranger.get("/timeline?t0=5&token=" + TOKEN + "&t1=9")
    assert answer.status_code == 200
    assert TOKEN not in answer.text
    assert re.search(r'content="0;url=/timeline\?t0=5&amp;t1=9"', answer.text)
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"{access.cookie}={access.cookie_value};")
    assert TOKEN not in cookie
    assert {"HttpOnly", "Path=/", "SameSite=Strict"} <= set(cookie.split("; "))
    assert answer.headers["Cache-Control"] == "no-store"
    assert stranger.get("/_dash-layout").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "/%22onx=1"])
def test_the_way_on_stays_here(stranger: Any, path: str) -> None:
    answer = stranger.get(f"{path}?token={TOKEN}")
    target = re.search(r'url=([^"]*)"', answer.text)
    if answer.status_code == 200:
        assert target is not None
        assert re.match(r"/(?![/\\])", target[1])


def test_a_token_for_one_use() -> None:
    access = access_for(TOKEN, [])
    access.once.add("only-once")
    server = app_of([loaded()], 1, access).server
    first, second = server.test_client(), server.test_client()
    assert first.get("/?token=only-once").status_code == 200
    assert first.get("/_dash-layout").status_code == 200
    assert second.get("/?token=only-once").status_code == 403


def test_only_a_get_swaps_the_token(stranger: Any) -> None:
    assert stranger.post(f"{UPDATE}?token={TOKEN}", json={}).status_code == 403


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8050", 200),
        ("localhost:8050", 200),
        ("LOCALHOST", 200),
        ("localhost.", 200),
        ("[::1]", 200),
        ("[::1]:8050", 200),
        ("portal.example.org", 200),
        ("portal.example.org:443", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("evil.example@127.0.0.1", 403),
        ("127.0.0.1@evil.example", 403),
        ("192.168.0.7:8050", 403),
        ("[::2]:8050", 403),
        ("127.0.0.1:port", 403),
        ("", 403),
    ],
)
def test_hosts(server: Any, access: Access, host: str, status: int) -> None:
    headers = {"Host": host, "Cookie": f"{access.cookie}={access.cookie_value}"}
    client = server.test_client(use_cookies=False)
    assert client.get("/_dash-layout", headers=headers).status_code == status


def test_an_address_that_others_reach_has_any_number_but_no_other_name() -> None:
    access = Access(None, frozenset({"node7"}), any_address=True)
    hosts = ["node7:8050", "10.1.2.3:8050", "[fe80::1]:8050", "node8:8050", "10.1.2.3.evil.example"]
    assert [access.is_host(host) for host in hosts] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("origin", "is_let_in"),
    [
        (None, True),
        ("http://localhost", True),
        ("https://portal.example.org", True),
        ("http://evil.example", False),
        ("http://localhost:3000", False),
        ("null", False),
        ("file://localhost", False),
        ("http://[", False),
        ("http://localhost.evil.example", False),
    ],
)
def test_origins_of_posts(client: Any, origin: str | None, is_let_in: bool) -> None:
    client_headers = {} if origin is None else {"Origin": origin}
    answer = client.post(UPDATE, data="{}", headers=client_headers, content_type="text/plain")
    # What is let in is refused by Dash for what it is: no JSON.
    assert answer.status_code == (415 if is_let_in else 403)


DATA = ["/_dash-layout", "/_dash-dependencies", "/_cs/names?run=0&ids=0"]
FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("route", DATA)
def test_data_are_for_pages_of_the_app(client: Any, route: str) -> None:
    assert [client.get(route, headers=of).status_code for of in FOREIGN] == [403] * len(FOREIGN)
    own = [
        {"Origin": "http://localhost"},
        *({"Sec-Fetch-Site": of} for of in ("same-origin", "none")),
    ]
    assert [client.get(route, headers=of).status_code for of in own] == [200, 200, 200]


def test_links_of_other_pages_lead_to_pages(client: Any) -> None:
    assert [client.get("/timeline", headers=of).status_code for of in FOREIGN] == [200] * 5


@pytest.mark.parametrize("route", ["/_cs/search?run=0&q=a", "/_cs/names?run=0&ids=0"])
def test_routes_that_read_do_not_write(client: Any, route: str) -> None:
    assert client.get(route).status_code == 200
    assert client.post(route).status_code == 405
    assert client.delete(route).status_code == 405


@pytest.mark.parametrize("route", ["/", "/no", "/_dash-layout", "/assets/shell.js", "/assets/no"])
def test_headers(client: Any, stranger: Any, route: str) -> None:
    for answer in (client.get(route), stranger.get(route)):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self' 'sha256-")
        assert "script-src 'self' 'unsafe" not in policy
        assert "frame-ancestors 'none'; base-uri 'none'; form-action 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        answer.close()


def test_every_script_in_the_page_has_its_hash_in_the_policy(client: Any) -> None:
    from commscope.dashboards.security import hash_of

    answer = client.get("/")
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", answer.text, re.DOTALL)
    inline = [
        body for of, body in scripts if "src=" not in of and "application/json" not in of and body
    ]
    assert len(inline) >= 2
    for body in inline:
        assert hash_of(body) in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    ["/assets/../app.py", "/assets/..%2fapp.py", "/assets/%2e%2e/app.py", "/assets//etc/passwd"],
)
def test_no_files_but_assets(client: Any, path: str) -> None:
    answer = client.get(path)
    assert "create_app" not in answer.text
    assert "root:x:" not in answer.text


def test_without_a_token_everybody_on_a_known_host_is_let_in() -> None:
    server = app_of([loaded()], 1, access_for(None, [])).server
    client = server.test_client()
    assert client.get("/_dash-layout").status_code == 200
    assert client.get("/_dash-layout", headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("host", ["", "a b", "http://x", "x/y", "x:y", "u@x"])
def test_allowed_hosts_are_names(host: str) -> None:
    with pytest.raises(UsageError, match="allowed host"):
        access_for(None, [host])


@pytest.mark.parametrize(
    "prefix", ["", "x", "/x", "x/", "//", "/a//b/", "/a/../b/", "/./", "/a?/", "/a b/", "/%2e%2e/"]
)
def test_prefixes_begin_and_end_with_a_slash(prefix: str) -> None:
    with pytest.raises(UsageError, match="url prefix"):
        access_for(None, [], prefix)


def test_names_of_hosts() -> None:
    assert host_name("[::1]:80") == "::1"
    assert host_name("A.b:1") == "a.b"


def test_cookies_of_apps_on_other_ports_differ() -> None:
    first, second = access_for("a", []), access_for("a", [])
    assert first.cookie != second.cookie
    assert first.cookie_value != second.cookie_value
