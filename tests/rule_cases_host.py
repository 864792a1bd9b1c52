"""Jobs for the rules on hosts: see rule_cases."""

from __future__ import annotations

from rule_cases import Call, Collective, Copied, Item, Job, Kernel, RuleCase, Says
from rule_cases_overlap import NO_LAUNCHES

BEFORE = Kernel(10, 300, 1)
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def waits_in(call: str, *, launched: float = 510) -> Job:
    """The host waits until a collective of 200 us has ended, and launches what is next then."""
    waits = Call(250, 505, call)
    return Job([[BEFORE, Collective(300, 500, 2), waits, Kernel(520, 1010, launched)]])


def _idle_in(*items: Item, begin: float = 420) -> Job:
    """Nothing runs until the host launches the next kernel."""
    return Job([[BEFORE, *items, Kernel(begin, 1010, begin - 10)]])


def _copied(launched: float, returned: float) -> Job:
    return Job([[BEFORE, Copied(310, 510, launched, returned), Kernel(520, 1010, 513)]])


def paced(length_us: float, launched_before_us: float = 5) -> Job:
    """Ten kernels, each launched a little before it begins, as long as the host is slow."""
    starts = [10 + 100 * i for i in range(10)]
    return Job([[Kernel(start, start + length_us, start - launched_before_us) for start in starts]])


def _late(launched: float, *calls: Call) -> Job:
    """A collective of 200 us, and a kernel that begins 160 us after it."""
    return Job([[BEFORE, Collective(300, 500, 2), *calls, Kernel(460, 1010, launched)]])


CASES = {
    # 200 us exposed, and 5 us idle until the call returns.
    "H7": RuleCase(
        waits_in("hipDeviceSynchronize"),
        Says(
            205, "high",
            "205.0 us a step go by while the host waits in a synchronise of the whole device for "
            "communication to end, and launches nothing",
            (0, 0, 300, 500), 0, {"lost": 205_000, "exposed": 200_000},
        ),
        waits_in("hipEventSynchronize"),
        [(waits_in("hipDeviceSynchronize").without_launches(), NO_LAUNCHES)],
    ),
    "H6": RuleCase(
        waits_in("hipEventSynchronize"),
        Says(
            200, "high",
            "200.0 us a step go by while the host waits for communication (hipEventSynchronize) "
            "instead of launching what comes next",
            (0, 0, 300, 500), 0, {"lost": 200_000, "exposed": 200_000},
        ),
        waits_in("hipEventSynchronize", launched=240),
        [(waits_in("hipEventSynchronize").without_launches(), NO_LAUNCHES)],
    ),
    "H9": RuleCase(
        _idle_in(Call(305, 405, "hipFree", "memory")),
        Says(
            120, "high",
            "120.0 us a step go by while the host allocates or frees memory of the device inside "
            "steps",
            (0, 0, 300, 420), 0, {"lost": 120_000, "exposed": 0},
        ),
        _idle_in(Call(195, 295, "hipFree", "memory")),
        [(_idle_in(Call(305, 405, "hipFree", "memory")).without_launches(), NO_LAUNCHES)],
    ),
    # 200 us of copy, and 10 us idle before and after it.
    "H8": RuleCase(
        _copied(305, 512),
        Says(
            220, "high",
            "220.0 us a step go by in copies that block the host until they end, as those from "
            "pageable memory do",
            (0, 0, 310, 510), 0, {"lost": 220_000, "copies": 200_000},
        ),
        _copied(305, 310),
        [(_copied(305, 512).without_launches(), NO_LAUNCHES)],
    ),
    "H1": RuleCase(
        _idle_in(Call(300, 351, LOADER, "annotation")),
        Says(
            51, "medium",
            "51.0 us a step go by while the host loads input and the GPU has nothing to do",
            (0, 0, 300, 351), 0, {"lost": 51_000, "exposed": 0},
        ),
        _idle_in(Call(300, 350, LOADER, "annotation")),
        [(_idle_in(Call(300, 351, LOADER, "annotation")).without_launches(), NO_LAUNCHES)],
    ),
    "H3": RuleCase(
        paced(79),
        Says(
            210, "high",
            "the GPU waits 210.0 us a step for launches: 100.0 % of the kernels find their stream "
            "empty as the host launches them",
            (0, 0, 89, 110), 0, {"lost": 210_000, "exposed": 0},
        ),
        paced(80),
        [
            (paced(79).without_launches(), NO_LAUNCHES),
            (paced(79, -2), "the launch-bound share is withheld: see Trust"),
        ],
    ),
    "H10": RuleCase(
        _late(301),
        Says(
            160, "high",
            "160.0 us a step are exposed before the host launches the next kernel: the trace shows "
            "no call that holds it up",
            (0, 0, 300, 460), 0, {"lost": 160_000, "exposed": 160_000},
        ),
        _late(300),
        [(_late(301).without_launches(), NO_LAUNCHES)],
    ),
}  # fmt: skip
#: Hosts that are late, and what they do meanwhile.
MEANWHILE = {
    "it is in a synchronising call": _late(455, Call(301, 430, "hipStreamSynchronize")),
    "it is busy launching what comes before": _late(
        455, *(Call(300 + 10 * i, 309 + 10 * i, "hipLaunchKernel", "launch") for i in range(14))
    ),
    "the trace shows no call that holds it up": _late(455, Call(301, 350, "hipStreamSynchronize")),
}
