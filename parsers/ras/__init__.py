"""Reports of the library's RAS (``ncclras``): text, JSON from version 2.28.7, monitored events."""

from __future__ import annotations

from commscope.parsers.ras.document import looks_like_document, read_document
from commscope.parsers.ras.report import looks_like_report, read_report

__all__ = ["looks_like_document", "looks_like_report", "read_document", "read_report"]
