"""Results of nccl-tests and rccl-tests: tables of text, and JSON of schemas 1 to 3."""

from __future__ import annotations

from commscope.parsers.perf_tests.benchmarks import Benchmarks
from commscope.parsers.perf_tests.document import looks_like_document, read_document
from commscope.parsers.perf_tests.text import looks_like_table, read_table

__all__ = [
    "Benchmarks",
    "looks_like_document",
    "looks_like_table",
    "read_document",
    "read_table",
]
