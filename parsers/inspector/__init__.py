"""Records of profiler plug-ins of the library: NCCL and RCCL Inspector, RCCL's accl-profiler."""

from __future__ import annotations

from commscope.parsers.inspector.reader import Records, looks_like_records, read_records

__all__ = ["Records", "looks_like_records", "read_records"]
