"""What hardware counters say of kernels: position against the roofline, memory, remote traffic.

Counters come from AMD's profilers (``commscope.counter_schema``), which run kernels one at a time
for them: they explain why a kernel is sensitive to what runs beside it, and never measure it.
"""

from __future__ import annotations

from commscope.counters.by_kernel import by_kernel
from commscope.counters.kernels import kernel_counters
from commscope.counters.model import Fabric, KernelCounters

__all__ = ["Fabric", "KernelCounters", "by_kernel", "kernel_counters"]
