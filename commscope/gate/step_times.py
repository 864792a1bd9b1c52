"""``--step-time``: how long steps take without the profiler."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

from commscope.engine.unprofiled import unprofiled_step_ns
from commscope.errors import UsageError
from commscope.gate.fitting import LEAST_STEPS
from commscope.wording import counted

_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,12})?|\.\d{1,12}")
_LEAST_MS, _MOST_MS = 1e-3, 86_400_000.0
_MOST_BYTES = 4 << 20
_KEY = "step_times_ms"


def step_time_ns(given: str) -> float:
    """The step time of a run: a number of ms, or the median of a file of them.

    A file has one a line, or is JSON with a list ``step_times_ms``, or the job's own output with
    lines of ``unprofiled_step_ms``. A single time stands for the run. Raises UsageError.
    """
    if _NUMBER.fullmatch(given):
        return _median([float(given)], given)
    path = Path(given)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        says = f"--step-time {given}: neither a number of ms nor a file that can be read"
        raise UsageError(f"{says} ({error.strerror or error})") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"--step-time {given}: larger than {_MOST_BYTES >> 20} MB")
    return _median(_in_file(data, given), given)


def _in_file(data: bytes, given: str) -> list[float]:
    if told := unprofiled_step_ns(data):
        return [max(told) / 1e6]
    text = data.decode("utf-8", "replace").strip()
    if text.startswith(("{", "[")):
        return _in_json(text, given)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        if not _NUMBER.fullmatch(line):
            raise UsageError(f"--step-time {given}, line {number}: {line[:40]!r} is no time in ms")
    return [float(line) for line in lines]


def _in_json(text: str, given: str) -> list[float]:
    wrong = UsageError(f"--step-time {given}: is no JSON with a list of numbers {_KEY}")
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise wrong from error
    times = document.get(_KEY) if isinstance(document, dict) else document
    if not isinstance(times, list) or not all(type(time) in (int, float) for time in times):
        raise wrong
    return [float(time) for time in times]


def _median(times_ms: list[float], given: str) -> float:
    """The middle in ns; raises UsageError where there are too few to have one."""
    for time in times_ms:
        if not _LEAST_MS <= time <= _MOST_MS:
            raise UsageError(
                f"--step-time {given}: {time:g} is no step, which takes {_LEAST_MS:g} to "
                f"{_MOST_MS:,.0f} ms"
            )
    if len(times_ms) != 1 and len(times_ms) < LEAST_STEPS:
        raise UsageError(
            f"--step-time {given}: has {counted(len(times_ms), 'step time')}: at least "
            f"{LEAST_STEPS} are needed, or one that stands for them"
        )
    return median(times_ms) * 1e6
