"""``commscope dash``: runs to look at, in the browser."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commscope.cli.options import QUIET, read_trace, ways_of_reading
from commscope.cli.reporting import THRESHOLD
from commscope.dashboards import serve
from commscope.dashboards.security import Access, access_for
from commscope.sanitize import plain

if TYPE_CHECKING:
    from commscope.dashboards.app import Loaded

# Dash takes a second to import: it is imported once the options are known to be right.

_TOKEN_BYTES = 32


@click.command(short_help="Runs to look at in the browser; also called view.")
@ways_of_reading
@THRESHOLD
@click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
    help="Address to listen on.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(1, 65_535), metavar="N",
    help="Port to listen on; the first free one from 8050 on by default.",
)  # fmt: skip
@click.option("--allow-remote", is_flag=True, help="Let --host be an address that others reach.")
@click.option("--no-token", is_flag=True, help="Let in everybody who reaches the address.")
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option(
    "--url-prefix", default="/", metavar="PATH",
    help="What a portal puts before all addresses, such as /proxy/8050/.",
)  # fmt: skip
@click.option(
    "--allow-host", "allow_hosts", multiple=True, metavar="NAME",
    help="Another name by which a portal reaches it.",
)  # fmt: skip
@QUIET
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
def dash(  # noqa: PLR0917 - click gives them by name
    runs: Sequence[str],
    host: str,
    port: int | None,
    allow_remote: bool,
    no_token: bool,
    no_browser: bool,
    url_prefix: str,
    allow_hosts: Sequence[str],
    quiet: bool,
    **reading: Any,
) -> None:
    """Show runs in the browser: their steps, ranks, collectives, and every event on a timeline.

    RUN is what commscope analyze takes; several are shown side by side. The address to open is
    printed on standard output. Ctrl-C ends it.
    """
    serve.require_host(host, allow_remote=allow_remote)
    token = None if no_token else secrets.token_urlsafe(_TOKEN_BYTES)
    access = access_for(token, allow_hosts, url_prefix)
    if allow_remote:
        names = access.allow_hosts | serve.remote_hosts(host)
        access = replace(access, allow_hosts=names, any_address=True)
    with serve.listening(host, port) as found:
        server = _app(runs, access, quiet=quiet, **reading)
        address = serve.address_of(found, host, access)
        _tell(address, runs, quiet=quiet)
        if not no_browser and serve.can_open_browser(os.environ):
            serve.open_browser(address, access)
        serve.run(server, found, address)


def _app(runs: Sequence[str], access: Access, **reading: Any) -> Any:
    from commscope.dashboards.app import app_of  # noqa: PLC0415

    return app_of(_loaded(runs, **reading), len(runs), access).server


def _loaded(
    runs: Sequence[str], *, thresholds: Sequence[str], config: Path | None, **reading: Any
) -> Iterator[Loaded]:
    """The runs, one after the other."""
    from commscope.api import examine  # noqa: PLC0415
    from commscope.config import find_config  # noqa: PLC0415
    from commscope.dashboards.app import Loaded  # noqa: PLC0415

    limits = find_config(config).thresholds
    for path in runs:
        trace = read_trace(paths=[path], config=config, **reading)
        analysis, report = examine(trace, thresholds=thresholds, default_thresholds=limits)
        yield Loaded(_name_of(path), analysis, report)


def _name_of(path: str) -> str:
    return "standard input" if path == "-" else Path(path).resolve().name or path


def _tell(address: serve.Address, runs: Sequence[str], *, quiet: bool) -> None:
    """The address on standard output, and what else helps on standard error."""
    click.echo(address.url())
    if quiet:
        return
    tunnel = serve.tunnel(address, os.environ)
    if tunnel is not None:
        click.echo(f"On your own machine, for the address to work: {plain(tunnel)}", err=True)
    if len(runs) > 1 and all(Path(path).is_file() for path in runs):
        click.echo(
            f"Each of the {len(runs)} files is shown as a run; to see ranks of one run together, "
            "name their folder.",
            err=True,
        )
    click.echo("Ctrl-C ends it.", err=True)
