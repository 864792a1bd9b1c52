"""What rules on logs look at."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.logs.summary import LogSummary
from commscope.parsers.rccl_log import Logs


@dataclass(frozen=True, slots=True)
class LogCase:
    """The logs of a job: their tables, and what they come to."""

    logs: Logs
    summary: LogSummary
