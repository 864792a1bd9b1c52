"""``--rank N`` and ``--role NAME``: what of a report is shown.

With a ``=`` both options say something of the files instead, as in all other commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from commscope.api import analyze
from commscope.cli.options import read_trace
from commscope.errors import UsageError
from commscope.report.model import Report

_RANK = re.compile("[0-9]{1,9}")


def analyze_in_view(
    ranks: Sequence[str], roles: Sequence[str], *, quiet: bool, **reading: Any
) -> Report:
    """The report of what the options read, limited to the ranks and roles that they show."""
    shown = [text for text in ranks if "=" not in text]
    for text in shown:
        if not _RANK.fullmatch(text):
            raise UsageError(
                f"--rank {text}: write a rank to show, or a rank and its file (3=trace.json)"
            )
    trace = read_trace(
        ranks=[text for text in ranks if "=" in text],
        roles=[text for text in roles if "=" in text],
        quiet=quiet,
        **reading,
    )
    only_roles = [text for text in roles if "=" not in text]
    return analyze(trace, only_ranks=map(int, shown), only_roles=only_roles)
