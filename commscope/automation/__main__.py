"""What ``commscope run`` starts on each node once the job has ended there.

    python -m commscope.automation RUN --node NODE --wait 120

It reads the node's files, and the first node joins all of them. It says what came of it on
standard error, in at most three lines. Told to end (SIGTERM), it waits for nobody any more and
has a few seconds to write what there is; what is not whole by then is not there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from commscope.automation.pause import until_told
from commscope.errors import CommscopeError
from commscope.sanitize import plain

WAIT_S = 120.0
GRACE_S = 8.0
_NICENESS = 10
_TOLD = 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Finishes the run; returns an exit code of ``commscope.errors``, or that of SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m commscope.automation", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--node", metavar="NODE", help="name of this node's folder in RUN/nodes")
    parser.add_argument("--wait", type=float, default=WAIT_S, metavar="S")
    given = parser.parse_args(arguments)
    os.nice(max(0, _NICENESS - os.nice(0)))
    try:
        return _finish(given.run, given.node, given.wait)
    except CommscopeError as error:
        _say([f"{error}"])
        return error.exit_code
    except OSError as error:
        _say([f"{error.filename or 'the system'}: {error.strerror or error}"])
        return CommscopeError.exit_code
    except ImportError as error:
        _say([f"no report, what makes it cannot be imported: {_first_line(error)}"])
        return CommscopeError.exit_code
    except MemoryError:
        _say([f"no memory for the analysis; on another machine: commscope analyze {given.run}"])
        return CommscopeError.exit_code
    except KeyboardInterrupt:
        _say([f"ended before the report was done; later: commscope analyze {given.run}"])
        return _TOLD


def _finish(run: Path, node: str | None, wait_s: float) -> int:
    # Of these imports something may be missing or broken, or memory be short.
    from commscope.automation.finish import finish_node  # noqa: PLC0415
    from commscope.automation.join import finish_run  # noqa: PLC0415

    with until_told(GRACE_S) as pause:
        if node is not None:
            finish_node(run, node)
        finished = finish_run(run, wait_s, node, pause=pause)
    if finished is not None:
        _say(finished.lines)
    return 0


def _first_line(error: ImportError) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _say(lines: Iterable[str]) -> None:
    if sys.stderr is not None:  # it may be closed
        for line in lines:
            click.echo(f"commscope: {plain(line)}", err=True)


if __name__ == "__main__":
    sys.exit(main())
