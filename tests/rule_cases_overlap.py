"""Jobs for the rules on overlap: see rule_cases."""

from __future__ import annotations

from dataclasses import replace

from rule_cases import (
    FORWARD,
    OPTIMIZER,
    Call,
    Collective,
    Item,
    Job,
    Kernel,
    RuleCase,
    Says,
)

NO_LAUNCHES = "the files have no launches: nothing shows what the hosts did"
WITHHELD = "what trust withholds leaves no step to judge"
NO_ENDS = "no steps are known: nothing shows where one ends (see --step-marker)"
NOT_MARKED = "no steps are marked: micro-steps cannot be told from steps (see --step-marker)"
NO_SIZES = "no collective tells its size"
TOO_FEW = "no kernel ran often enough both beside communication and alone"

#: Compute, 200 us of communication, and compute that was launched in time and begins as it ends.
BEFORE = Kernel(10, 500, 1)
AFTER = Kernel(700, 1010, 3)


def _between(**more: object) -> Job:
    return Job([[BEFORE, Collective(500, 700, 2, **more), AFTER]])  # type: ignore[arg-type]


def pair() -> Job:
    """Two ranks alike."""
    items = [BEFORE, Collective(500, 700, 2), AFTER]
    return Job([items, items])


def _event_wait(at: float) -> Call:
    return Call(at, at + 0.2, "hipStreamWaitEvent")


def _in_queue(*waits: float) -> Job:
    items = [BEFORE, Collective(500, 700, 2), AFTER, *map(_event_wait, waits)]
    return Job([items])


def _tail(last: str, *, exposed_us: float = 200) -> Job:
    begin = 900 - exposed_us
    items = [
        Kernel(10, begin, 1), Collective(begin, 900, 2), Kernel(900, 1010, 3, last),
    ]  # fmt: skip
    return Job([items])


def _pauses(pause_us: float) -> Job:
    """Kernels of 20 us under a collective, with pauses."""
    starts = [100 + (20 + pause_us) * i for i in range(int(780 / (20 + pause_us)) + 1)]
    kernels = [Kernel(start, start + 20, 3 + i / 10) for i, start in enumerate(starts)]
    end = starts[-1] + 20
    return Job([[Kernel(10, 100, 1), Collective(100, end, 2), *kernels, Kernel(end, 1010, 20)]])


def _unlinked(exposed_us: float) -> Job:
    end = 500 + exposed_us
    return Job([[BEFORE, Collective(500, end, 2), Kernel(end, 1010, None)]])


def _small(size: int | None) -> Job:
    """Two collectives of 100 us, behind each other."""
    reduces = [Collective(500 + 100 * i, 600 + 100 * i, 2 + i, size) for i in range(2)]
    return Job([[BEFORE, *reduces, Kernel(700, 1010, 4)]])


def _twice(second: str) -> Job:
    """Three kernels and a reduction, twice, the second time perhaps with other kernels."""

    def half(begin: float, launched: float, name: str) -> list[Item]:
        kernels = [
            Kernel(begin + 50 * i, begin + 50 * i + 50, launched + i, f"{name}{i}")
            for i in range(3)
        ]
        return [*kernels, Collective(begin + 150, begin + 350, launched + 3)]

    items = [*half(10, 1, FORWARD), *half(360, 5, second), Kernel(710, 1010, 9, OPTIMIZER)]
    return Job([items])


def _slowed(alone_us: float, beside_us: float, *streams: int, steps: int = 4) -> Job:
    """Four runs of a kernel alone, then two beside a collective on each stream, in a step."""
    begin = 10 + 4 * alone_us
    alone = [Kernel(10 + alone_us * i, 10 + alone_us * (i + 1), 1 + i) for i in range(4)]
    end = begin + 3 * beside_us
    beside = [
        Kernel(
            begin + beside_us * i, begin + beside_us * (i + 1), 6 + i + stream / 2, stream=stream
        )
        for stream in streams
        for i in range(3)
    ]
    last = Kernel(end, 1010, 12, "filler")
    return Job([[*alone, Collective(begin, end, 5), *beside, last]], steps=steps)


EXPOSED = "200.0 us a step are exposed"
MOSTLY = f"{EXPOSED}, mostly all_reduce of 2.000 MB in 0"
CASES = {
    "O9": RuleCase(
        _between(stream=0),
        Says(
            200, "high",
            f"{MOSTLY}: issued synchronously, on the stream of the compute that follows, which "
            "begins only as the communication ends",
            (0, 0, 500, 700), measured={"exposed": 200_000, "speedup": 1.25},
        ),
        _between(stream=1),
        [(_between(stream=0).without_launches(), NO_LAUNCHES)],
    ),
    "O11": RuleCase(
        _between(),
        Says(
            200, "high",
            f"{MOSTLY}: the next kernel was launched in time and begins as the communication "
            "ends, so it needed the result",
            (0, 0, 500, 700), measured={"exposed": 200_000, "speedup": 1.25},
        ),
        Job([[Kernel(10, 681, 1), Collective(500, 700, 2), AFTER]]),
        [(_between().without_launches(), NO_LAUNCHES)],
    ),
    "O2": RuleCase(
        _between(op="all_gather"),
        Says(
            200, "high",
            f"{EXPOSED}, mostly all_gather of 2.000 MB in 0: a gather runs only once the compute "
            "before it has ended, so nothing is left to hide it",
            (0, 0, 500, 700), measured={"exposed": 200_000},
        ),
        _between(op="all_gather", comm="tp"),
        [(_between(op="all_gather").without_launches(), NO_LAUNCHES)],
    ),
    "O3": RuleCase(
        _in_queue(1.2),
        Says(
            200, "high",
            f"{MOSTLY}, although the next kernel was launched in time, on another stream and "
            "without having to wait for it: the two streams share a hardware queue, or the driver "
            "starts them in the order of their launches",
            (0, 0, 500, 700), measured={"exposed": 200_000},
        ),
        _in_queue(2.5),
        [(_in_queue(1.2).without_launches(), NO_LAUNCHES)],
    ),
    "O10": RuleCase(
        _tail(OPTIMIZER),
        Says(
            200, "high",
            f"{EXPOSED} at the end of the step, mostly all_reduce of 2.000 MB in 0: "
            "nothing but the optimizer is left to hide it",
            (0, 0, 700, 900), measured={"exposed": 200_000},
        ),
        _tail(FORWARD),
        [(_tail(OPTIMIZER).without_launches(), NO_ENDS)],
    ),
    "O12": RuleCase(
        _pauses(10),
        Says(
            260, "high",
            "260.0 us a step are exposed in pauses of under 25 us between kernels while "
            "communication runs on: no overlap is lost, the kernels are short and far apart",
            (0, 0, 120, 130), measured={"exposed": 260_000},
        ),
        _pauses(25),
        [(_pauses(10).withheld(), WITHHELD)],
    ),
    "O1": RuleCase(
        _unlinked(60),
        Says(
            60, "medium",
            "60.0 us a step are exposed, mostly all_reduce of 2.000 MB in 0, and the trace does "
            "not tell why: the launch of the next activity is not in the file",
            (0, 0, 500, 560), measured={"exposed": 60_000},
        ),
        _unlinked(50),
        [(_unlinked(60).withheld(), WITHHELD)],
    ),
    "O6": RuleCase(
        _small(999_999),
        Says(
            200, "high",
            f"{EXPOSED} in collectives under 1.000 MB, 2 of them a step: 100.0 % of all exposed "
            "time; latency, not bandwidth, decides how long they take",
            (0, 0, 500, 700), measured={"exposed": 200_000},
        ),
        _small(1_000_000),
        [(_small(None), NO_SIZES)],
    ),
    "O7": RuleCase(
        _twice(FORWARD),
        Says(
            200, "high",
            "gradients are reduced 2 times for one step of the optimizer (mostly all_reduce of "
            "2.000 MB in 0); 200.0 us a step of this are exposed before the last micro-step",
            (0, 0, 160, 360), measured={"exposed": 200_000, "times": 2},
        ),
        _twice("other"),
        [
            (replace(_twice(FORWARD), marked=False, steps=1), NOT_MARKED),
            (Job([[BEFORE, Collective(500, 700, 2, None), AFTER]]), NO_SIZES),
        ],
    ),
    # In a step 3 runs take 30 us longer beside a collective of 240 us.
    "O4": RuleCase(
        _slowed(50, 80, 0),
        Says(
            90, "medium",
            f"kernels run longer beside communication than alone, 90.0 us a step in all (most "
            f"{FORWARD}, 1.60 times as long); overlap hides 240.0 us, so that 150.0 us are won",
            (0, 0, 210, 450), measured={"slowdown": 90_000, "stretch": 1.6, "net_gain": 150_000},
        ),
        _slowed(40, 50, 0),
        [(_slowed(50, 80, 0, steps=3), TOO_FEW)],
    ),
    # In a step 6 runs take 110 us longer beside a collective of 480 us.
    "O5": RuleCase(
        _slowed(50, 160, 0, 2),
        Says(
            180, "high",
            "overlap costs 180.0 us a step more than it hides: kernels take 660.0 us longer "
            "beside communication, of which 480.0 us are hidden",
            (0, 0, 210, 690), measured={"loss": 180_000},
        ),
        _slowed(50, 160, 0),
        [(_slowed(50, 160, 0, 2, steps=1), TOO_FEW)],
    ),
}  # fmt: skip
