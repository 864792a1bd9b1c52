"""results.json: a Chrome trace whose process ids are sections; true times are in its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from commscope.columns import NONE, Int64
from commscope.errors import CorruptTrace
from commscope.parsers.base import Health, Input, Progress
from commscope.parsers.device_tables import COPY, KERNEL, Activities, Calls
from commscope.parsers.integers import integers
from commscope.parsers.opening import Source, open_blocks
from commscope.parsers.placing import UNKNOWN
from commscope.parsers.rocprof_domains import kinds_of_calls
from commscope.parsers.rocprof_process import Process
from commscope.parsers.rocprof_v1.recorded import FORMAT, Recorded, copy_names, kernel_names
from commscope.parsers.words import Words

#: Sections: what a process id of the document stands for.
_MARKERS, _COPIES, _HIP, _HSA = 0, 1, 2, 3
_DOMAINS = {_MARKERS: "ROCTX", _HIP: "HIP", _HSA: "HSA"}
_FIRST_GPU, _FIRST_BARRIERS = 6, 518
#: Larger ones are read from the database that lies beside them.
_MOST_BYTES = 1 << 30
_NEXT = b"\n,{"


class _Event(msgspec.Struct, gc=False):
    ph: str = ""
    name: str = ""
    pid: Any = None
    tid: Any = None
    args: dict[str, Any] = {}


class _Document(msgspec.Struct):
    traceEvents: list[_Event]  # noqa: N815


@dataclass(frozen=True, slots=True)
class _Text:
    data: bytes
    file: Input
    cut: str | None


def read_document(source: Source, progress: Progress) -> Recorded:
    """Reads a file; raises CorruptTrace where it is no JSON, or too large."""
    text = _read(source, progress)
    events, cut = _events(text, source.label)
    slices = [event for event in events if event.ph == "X"]
    section = integers([event.pid for event in slices])
    is_kernel = (section >= _FIRST_GPU) & (section < _FIRST_BARRIERS)
    words = Words()
    on_device = np.flatnonzero(is_kernel | (section == _COPIES))
    on_host = np.flatnonzero(np.isin(section, list(_DOMAINS)))
    process = Process(
        _activities([slices[row] for row in on_device.tolist()], section[on_device], words),
        _calls([slices[row] for row in on_host.tolist()], section[on_host], words),
        words,
    )
    return Recorded(
        text.file,
        process,
        integers([event.args.get("pid") for event in slices]),
        Health(
            events_read=len(slices),
            cut=cut,
            lacks_events=cut is not None,
            notes=("the file does not tell which call launched what; the database does",),
        ),
    )


def _read(source: Source, progress: Progress) -> _Text:
    parts, size = [], 0
    with open_blocks(source) as blocks:
        for block in blocks:
            progress(blocks.bytes_read, source.size)
            parts.append(block)
            size += len(block)
            if size > _MOST_BYTES:
                reason = f"is larger than {_MOST_BYTES >> 30} GiB"
                raise CorruptTrace(f"{source.label}: {reason}; give the .db of the same run")
    stored = Input(source.label, FORMAT, blocks.sha256, blocks.bytes_read)
    return _Text(b"".join(parts), stored, blocks.cut)


def _events(text: _Text, label: str) -> tuple[list[_Event], str | None]:
    """The events, and why the last ones are missing where the document ends early."""
    decoder = msgspec.json.Decoder(_Document)
    try:
        return decoder.decode(text.data).traceEvents, text.cut
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    whole = text.data[: text.data.rfind(_NEXT)]
    try:
        events = decoder.decode(whole + b"]}").traceEvents
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = f"is no whole JSON document ({len(text.data):,} bytes)"
        raise CorruptTrace(f"{label}: {reason}; give the .csv or .db of the same run") from error
    return events, text.cut or "the file ends before its events do"


def _argument(events: Sequence[_Event], name: str) -> Int64:
    return integers([event.args.get(name) for event in events])


def _activities(events: Sequence[_Event], section: Int64, words: Words) -> Activities:
    name = words.encode([event.name for event in events])
    is_copy = section == _COPIES
    device, stream = _argument(events, "dev-id"), _argument(events, "stream-id")
    device = np.where(device == NONE, np.where(is_copy, UNKNOWN, section - _FIRST_GPU), device)
    none = np.full(len(events), NONE, np.int64)
    return Activities(
        kind=np.where(is_copy, COPY, KERNEL),
        name=np.where(is_copy, copy_names(name, words), kernel_names(name, words)),
        device=np.where((device >= 0) & (device < 1 << 31), device, UNKNOWN),
        stream=np.where(stream == NONE, integers([event.tid for event in events]), stream),
        queue=_argument(events, "queue-id"),
        start_ns=_argument(events, "BeginNs"),
        end_ns=_argument(events, "EndNs"),
        correlation=none,
        bytes=none,
        workgroups=none,
    )


def _calls(events: Sequence[_Event], section: Int64, words: Words) -> Calls:
    name = words.encode([event.name for event in events])
    domain = words.encode([_DOMAINS[one] for one in section.tolist()])
    return Calls(
        kind=kinds_of_calls(domain, name, words),
        name=name,
        thread=_argument(events, "tid"),
        start_ns=_argument(events, "BeginNs"),
        end_ns=_argument(events, "EndNs"),
        correlation=np.full(len(events), NONE, np.int64),
    )
