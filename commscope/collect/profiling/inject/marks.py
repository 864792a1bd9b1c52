"""Names the steps in a trace that rocprofv3 takes: ranges ``ProfilerStep#N``, made with roctx.

torch's nvtx module is roctx in a build for ROCm. (Written from the sources: we had no such GPU.)
"""

from __future__ import annotations


class Marks:
    """One range a step, from its begin to the next one's."""

    def __init__(self) -> None:
        import torch  # noqa: PLC0415 - the job has it, the launcher need not

        self._nvtx = torch.cuda.nvtx if torch.version.hip else None
        self._is_open = False

    #: What rocprofv3 records is its own matter.
    is_recording = False

    def begin_step(self, step: int) -> None:
        """A step begins, and the one before ends."""
        self.abandon()
        if self._nvtx is not None:
            self._nvtx.range_push(f"ProfilerStep#{step}")
            self._is_open = True

    def finish(self) -> str | None:
        """The job ends; nothing can be missing."""
        self.abandon()
        return None

    def abandon(self) -> None:
        """Closes the range that is open, if one is."""
        if self._nvtx is not None and self._is_open:
            self._nvtx.range_pop()
        self._is_open = False
