"""Logs of RCCL and NCCL (``NCCL_DEBUG``), of all generations, in whatever a job wrapped them.

    blocks -> ``lines``: numbered lines -> ``records``: who wrote what -> ``messages``: which table

``writers`` tells processes apart by the head of a record, ``comms`` the communicators of each by
their addresses. The other modules read one table each. ``LogReader`` takes the files of a job.
"""

from __future__ import annotations

from commscope.parsers.rccl_log.reader import LogFile, LogReader, Logs

__all__ = ["LogFile", "LogReader", "Logs"]
