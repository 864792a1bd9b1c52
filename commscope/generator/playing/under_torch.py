"""Plays a schedule under torch.profiler: the program is a shared object that this process loads.

    python under_torch.py TRACE SHARED_OBJECT [OPTION...]

Needs torch and the standard library only, so that a Python without commscope can run it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

_BEGINS = 1


def play(trace: str, program: str, options: Sequence[str]) -> int:
    """Exit code of the program; the trace is written where it is 0."""
    # Its libraries come first: those of the program are then the same.
    import torch  # noqa: PLC0415
    from torch.profiler import ProfilerActivity, profile  # noqa: PLC0415

    library = ctypes.CDLL(program)
    words = [program, *options]
    values = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    marker = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p)(_ranges(torch))
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities) as profiler:
        code = int(library.csg_run(len(words), values, marker))
    if code == 0:
        profiler.export_chrome_trace(trace)
    return code


def _ranges(torch: Any) -> Callable[[int, bytes], None]:
    """Labels of the program as ranges of the profiler."""
    opened: list[Any] = []

    def mark(kind: int, label: bytes) -> None:
        if kind == _BEGINS:
            opened.append(torch.profiler.record_function(label.decode("utf-8", "replace")))
            opened[-1].__enter__()
        else:
            opened.pop().__exit__(None, None, None)

    return mark


if __name__ == "__main__":
    # The modules beside this one are none of torch's business.
    del sys.path[0]
    sys.exit(play(sys.argv[1], sys.argv[2], sys.argv[3:]))
