"""A report as bytes, and back: its types say how, so that nothing but a report can come of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa

from commscope.columns import arrow_stream
from commscope.report.model import Report


def report_bytes(report: Report) -> bytes:
    """The report; raises ValueError where a text is no Unicode, as in some names of files."""
    return msgspec.msgpack.encode(report, enc_hook=_table_bytes)


def report_in(data: bytes | memoryview) -> Report:
    """The report that the bytes hold; raises ValueError where they hold none."""
    try:
        return msgspec.msgpack.decode(data, type=Report, dec_hook=_table)
    except (pa.ArrowException, OSError, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error


# What msgspec asks for where it does not know a type itself: it wants NotImplementedError then.


def _table_bytes(value: Any) -> bytes:
    if not isinstance(value, pa.Table):
        raise NotImplementedError(f"a report holds no {type(value).__name__}")
    data: bytes = arrow_stream(value).to_pybytes()
    return data


def _table(kind: type, value: Any) -> Any:
    if kind is not pa.Table:
        raise NotImplementedError(f"a report holds no {kind.__name__}")
    if not isinstance(value, bytes):
        raise ValueError("a table is bytes")
    return pa.ipc.open_stream(value).read_all()
