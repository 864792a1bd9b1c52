"""Plays a schedule under torch.profiler: the program is a shared object that this process loads.

    python under_torch.py TRACE SHARED_OBJECT [OPTION...]

Needs torch and the standard library only, so that a Python without commscope can run it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

_BEGINS, _READY, _DONE = 1, 2, 3


def play(trace: str, program: str, options: Sequence[str]) -> int:
    """Exit code of the program; the trace is written where it is 0."""
    # Its libraries come first: those of the program are then the same.
    import torch  # noqa: PLC0415
    from torch.profiler import ProfilerActivity, profile  # noqa: PLC0415

    library = ctypes.CDLL(program)
    words = [program, *options]
    values = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    profiler = profile(activities=activities)
    mark = _marker(torch, profiler)
    function = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p)(mark)
    code = int(library.csg_run(len(words), values, function))
    if code == 0:
        profiler.export_chrome_trace(trace)
    return code


def _marker(torch: Any, profiler: Any) -> Callable[[int, bytes], None]:
    """Labels of the program as ranges of the profiler, which records what belongs to the schedule.

    So the trace lacks the kernels by which the program reads clocks and loads its kernels.
    """
    opened: list[Any] = []

    def mark(kind: int, label: bytes) -> None:
        if kind == _READY:
            profiler.start()
        elif kind == _DONE:
            profiler.stop()
        elif kind == _BEGINS:
            opened.append(torch.profiler.record_function(label.decode("utf-8", "replace")))
            opened[-1].__enter__()
        else:
            opened.pop().__exit__(None, None, None)

    return mark


if __name__ == "__main__":
    # The modules beside this one are none of torch's business.
    del sys.path[0]
    sys.exit(play(sys.argv[1], sys.argv[2], sys.argv[3:]))
