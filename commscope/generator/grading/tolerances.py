"""How far what is found may be from the truth, and why; measured on GPUs, see docs/generate.md.

What was only simulated, nothing measured: there all tolerances are 0.
"""

from __future__ import annotations

COMPUTE_SHARE = 0.002
#: A kernel is in the trace from its launch on the device to its end, and knows of itself from its
#: first block's begin to its last one's end: 0.6 to 1.0 us less on an H200, however short it is.
PER_KERNEL_NS = 1_500
#: Beside matrix products, which fill the device, its first block waits for room: 6 us on an H200.
PER_CROWDED_NS = 10_000
#: Collectives of known length take their own times, as kernels of compute do.
MOCK_SHARE = 0.002
#: Events stand up to 5 us before and behind the kernel of a collective.
PER_COLLECTIVE_NS = 5_000
EXPOSED_SHARE = 0.02
#: Profilers convert the device's clock to the host's: better than this, but not than some us.
CLOCK_NS = 1_000_000
#: Between begins by a clock of 1 us, over steps of 10 ms; quartzes differ by a tenth of it.
DRIFT_PPM = 100.0
TICK_NS = 2_000
#: Nine of ten kernels begin when the truth says so, once the clocks are aligned.
KERNEL_NS = 20_000
#: Profilers write down the begin of a step some microseconds behind the program.
STEP_NS = 1_000_000
#: Sums of microseconds with three decimals; ``csg-truth/0`` rounded before it added.
ROUNDING_NS = 10


def per_mock_ns(*, is_crowded: bool) -> int:
    """By how much a collective of known length may be longer in the trace."""
    return PER_CROWDED_NS if is_crowded else PER_KERNEL_NS
