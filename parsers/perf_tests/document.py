"""JSON of nccl-tests (``-J FILE``), schemas 1 to 3.

It holds the whole environment of the job, which holds secrets. Only what is declared here is
decoded: the environment is passed over, so that no object and no message ever holds it. Of the
command line, which may hold some too, only the name of the program is kept.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from commscope.errors import CorruptTrace
from commscope.parsers.perf_tests.benchmarks import Benchmarks, Run
from commscope.parsers.perf_tests.operation import program_in
from commscope.parsers.perf_tests.text import MOST_32, MOST_64, bounded, real, whole

#: Booleans and numbers that are none are written as text, the root with blanks before it.
_Number = float | int | str | None

_SNIFF = re.compile(rb'\A\s*\{\s*"version"\s*:\s*"?\d+"?\s*,\s*"start_time"|"out_of_place"\s*:')
_SCHEMAS = (1, 2, 3)


class _Half(msgspec.Struct):
    time: _Number = None
    cpu_time: _Number = None
    alg_bw: _Number = None
    bus_bw: _Number = None
    nwrong: _Number = None


class _Result(msgspec.Struct):
    size: _Number = None
    count: _Number = None
    type: str | None = None
    redop: str | None = None
    root: _Number = None
    out_of_place: _Half | None = None
    in_place: _Half | None = None
    experiment_name: str | None = None


class _Device(msgspec.Struct):
    rank: _Number = None
    group: _Number = None
    pid: _Number = None
    hostname: str | None = None
    device: _Number = None
    device_hex: str | None = None
    device_info: str | None = None


class _Config(msgspec.Struct):
    devices: list[_Device] = []


class _Document(msgspec.Struct):
    version: _Number = None
    nccl_version: _Number = None
    config: _Config | None = None
    devices: list[_Device] = []
    results: list[_Result] = []
    args: list[str] = []


def looks_like_document(head: bytes) -> bool:
    """Whether JSON is that of nccl-tests."""
    return _SNIFF.search(head) is not None


def read_document(text: bytes, label: str) -> Benchmarks:
    """The run that a document is of; raises CorruptTrace where it is cut or another document."""
    try:
        found = msgspec.json.decode(text, type=_Document)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        # The message of the decoder says where, never what; chaining would show the input.
        where = (
            str(error).partition(" - ")[0][:120] if isinstance(error, msgspec.DecodeError) else ""
        )
        raise CorruptTrace(f"{label}: no JSON of nccl-tests ({where or 'unreadable'})") from None
    if whole(_as_text(found.version)) not in _SCHEMAS:
        raise CorruptTrace(
            f"{label}: JSON of nccl-tests of a schema that is not known (1 to 3 are)"
        )
    run, torn = _run(found)
    return Benchmarks((run,), _version(found.nccl_version), torn)


def _run(found: _Document) -> tuple[Run, int]:
    """The run, and how many results could not be read."""
    devices = (found.config.devices if found.config else []) or found.devices
    named = (result.experiment_name for result in found.results)
    program = found.args[0] if found.args else ""
    op = program_in(program) or next((o for o in map(program_in, filter(None, named)) if o), None)
    run = Run(op, [_device(device) for device in devices if _is_rank(device.rank)])
    torn = 0
    for result in found.results:
        shared = _shared(result)
        if shared["bytes"] is None:
            torn += 1
            continue
        for in_place, half in ((False, result.out_of_place), (True, result.in_place)):
            if half is not None:
                run.rows.append({**shared, "in_place": in_place, **_timed(half)})
    return run, torn


def _is_rank(value: _Number) -> bool:
    return bounded(whole(_as_text(value)), MOST_32) is not None


def _device(device: _Device) -> dict[str, Any]:
    return {
        "rank": whole(_as_text(device.rank)),
        "group": whole(_as_text(device.group)),
        "pid": whole(_as_text(device.pid)),
        "host": device.hostname,
        "device": whole(_as_text(device.device)),
        "bus_id": device.device_hex,
        "name": device.device_info,
    }


def _shared(result: _Result) -> dict[str, Any]:
    root = whole(_as_text(result.root))
    return {
        "bytes": bounded(whole(_as_text(result.size)), MOST_64),
        "count": whole(_as_text(result.count)),
        "dtype": result.type,
        "reduction": None if result.redop in (None, "none") else result.redop,
        "root": None if root is None or root < 0 else root,
    }


def _timed(half: _Half) -> dict[str, Any]:
    time = half.time if half.time is not None else half.cpu_time
    return {
        "time_us": real(_as_text(time)),
        "algbw_gbps": real(_as_text(half.alg_bw)),
        "busbw_gbps": real(_as_text(half.bus_bw)),
        "wrong": whole(_as_text(half.nwrong)),
    }


def _as_text(value: _Number) -> str | None:
    return None if value is None else str(value).strip()


def _version(number: _Number) -> str | None:
    """2.22.3 for 22203, and 2.8.4 for 2804, as the library numbers itself."""
    code = whole(_as_text(number))
    if code is None or not 0 < code < 10**7:
        return None
    base = 10_000 if code >= 10_000 else 1_000
    return f"{code // base}.{code % base // 100}.{code % 100}"
