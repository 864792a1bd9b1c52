"""``commscope`` and ``python -m commscope``: where the command line begins."""

from __future__ import annotations

import sys

from commscope.collect.options import RunOptions, read


def main() -> None:
    """Runs the command line and exits; a job does not wait for what other commands need."""
    options = read(sys.argv[2:]) if sys.argv[1:2] == ["run"] else None
    if options is None:
        from commscope.cli.main import main as main_of_all  # noqa: PLC0415

        main_of_all()
    else:
        sys.exit(_end_of(options))


def _end_of(options: RunOptions) -> int:
    from commscope.collect.launch import run  # noqa: PLC0415
    from commscope.collect.signals import end_as  # noqa: PLC0415

    return end_as(run(options))


if __name__ == "__main__":
    main()
