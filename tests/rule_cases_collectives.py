"""Jobs of two ranks for the rules on collectives: see rule_cases."""

from __future__ import annotations

from dataclasses import replace

from rule_cases import MI300X, Collective, Job, Kernel, Pattern, RuleCase, Says
from rule_cases_overlap import WITHHELD

ALONE = "no collective was matched across ranks: nothing shows who waited"
NO_PIPELINE = "no pipeline is known (see --role pp=REGEX)"
UNKNOWN = "no bandwidth is known: sizes, partners or the links of this GPU are missing"
IMPOSSIBLE = "no bandwidth is known: all are more than the links carry"
ONE_SIZE = "no operation was matched at several sizes"
NO_SPLITS = "no all_to_all with split sizes"


def arriving(at: float, *, computing_until: float = 300, launched: float = 2) -> Pattern:
    """A rank that arrives then at a collective, which ends at 900."""
    return [
        Kernel(10, computing_until, 1),
        Collective(at, 900, launched),
        Kernel(900, 1010, launched + 2),
    ]


def _late_host(at: float = 700) -> Job:
    return Job([arriving(300), arriving(at, launched=at - 10)])


def taking_turns(first_us: float, second_us: float | None = None) -> Job:
    """In a step the first rank waits so long for the second, and then this for the first."""
    second_us = first_us if second_us is None else second_us

    def rank(first: float, second: float) -> Pattern:
        return [
            Kernel(10, first, 1),
            Collective(first, 500, 2),
            Kernel(500, second, 3),
            Collective(second, 900, 4),
            Kernel(900, 1010, 5),
        ]

    return Job([rank(200, 800), rank(200 + first_us, 800 - second_us)])


def _pipeline(us: float, comm: str = "pp") -> Job:
    """Two stages, each of which waits so long for a message of the other."""
    first = [
        Kernel(10, 300, 1), Collective(300, 400, 2, op="send", comm=comm, peer=1),
        Collective(600 - us, 800, 3, op="recv", comm=comm, peer=1),
    ]  # fmt: skip
    second = [
        Kernel(10, 300 - us, 1), Collective(300 - us, 400, 2, op="recv", comm=comm, peer=0),
        Kernel(400, 600, 3), Collective(600, 800, 4, op="send", comm=comm, peer=0),
    ]  # fmt: skip
    if us < 200:
        first.insert(2, Kernel(400, 600 - us, 2.5))
    last = Kernel(800, 1010, 5)
    return Job([[*first, last], [*second, last]])


def transfers(*sizes: tuple[int, float], gpu: str | None = MI300X, op: str = "all_reduce") -> Job:
    """All-reduces of so many bytes that take so many us, each behind compute, in 20 ms."""
    items: list[Kernel | Collective] = []
    begin, launched = 10.0, 1.0
    for size, us in sizes:
        items += [
            Kernel(begin, begin + 1000, launched),
            Collective(begin + 1000, begin + 1000 + us, launched + 1, size, op),
        ]
        begin, launched = begin + 1000 + us, launched + 2
    items.append(Kernel(begin, 20_010, launched))
    return Job([items, items], step_us=20_000, gpu=gpu)


def _experts(to_second: int) -> Job:
    """Each of two ranks sends so many of 8 rows, of 1 MB each, to the second."""
    send = (8 - to_second, to_second)
    items = [
        Kernel(10, 5000, 1),
        Collective(5000, 8000, 2, 8_000_000, "all_to_all", "ep", send_sizes=send),
        Kernel(8000, 20_010, 3),
    ]
    return Job([items, items], step_us=20_000)


def without_splits(job: Job) -> Job:
    ranks = [
        [replace(i, send_sizes=None) if isinstance(i, Collective) else i for i in job.pattern(r, 0)]
        for r in range(2)
    ]
    return replace(job, ranks=ranks)


def expected_us(size: int) -> float:
    """What an all-reduce takes between two MI300X: 15 us, and 48 GB/s over one link."""
    return 15 + size / 48_000


_BIG, _MIDDLE = (128_000_000, 8_000), (32_000_000, 4_000)
_SHARE = expected_us(_BIG[0]) / _BIG[1]
_C8_SHARE = expected_us(_MIDDLE[0]) / _MIDDLE[1]
CASES = {
    "C1": RuleCase(
        _late_host(),
        Says(
            400, "high",
            "rank 1 is late: before it arrives its GPU idles 400.0 us a step longer than its "
            "peers' (up to 400.0 us at a time) while its host launches nothing and shows no "
            "call; rank 0 waits up to 400.0 us a step for it, 100.0 % of all waiting",
            (1, 0, 300, 700), 1,
            {"waiting": 400_000, "cause": 400_000, "share_of_waiting": 1, "speedup": 1 / 0.6},
        ),
        taking_turns(200),
        [(_late_host().alone(), ALONE), (_late_host().withheld(), WITHHELD)],
    ),
    "C9": RuleCase(
        taking_turns(200),
        Says(
            200, "medium",
            "ranks wait up to 200.0 us a step for each other, and no one rank is to blame: the "
            "waiting moves between ranks (rank 0 50%, rank 1 50%)",
            (0, 0, 200, 400), measured={"waiting": 200_000},
        ),
        taking_turns(19),
        [(taking_turns(200).alone(), ALONE)],
    ),
    "P1": RuleCase(
        _pipeline(200),
        Says(
            200, "medium",
            "stages wait up to 200.0 us a step for their neighbours in the pipeline",
            (0, 0, 400, 600), measured={"waiting": 200_000},
        ),
        _pipeline(19),
        [(taking_turns(200), NO_PIPELINE), (_pipeline(200).alone(), ALONE)],
    ),
    "C4": RuleCase(
        transfers(_BIG),
        Says(
            (8_000_000 - int(8_000_000 * _SHARE)) / 1000, "high",
            "all_reduce of 128.0 MB over 2 ranks reaches 16 GB/s, 33.5 % of the 47.7 GB/s to "
            "expect; at that rate 5.32 ms a step less would be exposed",
            (0, 0, 1010, 9010), measured={"busbw": 16, "expected": 16 / _SHARE},
        ),
        transfers((128_000_000, expected_us(128_000_000) / 0.601)),
        [
            (transfers(_BIG).alone(), UNKNOWN),
            (transfers(_BIG, gpu="a GPU of the future"), UNKNOWN),
            (transfers((128_000_000, 1_000)), IMPOSSIBLE),
        ],
    ),
    "C8": RuleCase(
        transfers(_MIDDLE),
        Says(
            (4_000_000 - int(4_000_000 * _C8_SHARE)) / 1000, "medium",
            "all_reduce of 32.00 MB gives each of 2 ranks 16.00 MB, more than a buffer of the "
            "library (4.194 MB), and reaches 17.0 % of the bandwidth to expect",
            (0, 0, 1010, 5010), measured={"share_of_expected": _C8_SHARE},
        ),
        transfers((8_000_000, 4_000)),
        [(transfers(_MIDDLE).alone(), UNKNOWN), (transfers(_MIDDLE, gpu=None), UNKNOWN)],
    ),
    "C3": RuleCase(
        transfers((1_000_000, 2_000), (32_000_000, 2_000), gpu=None),
        Says(
            4_000, "high",
            "all_reduce takes about 2.00 ms from 1.000 MB to 32.00 MB: a floor that does not "
            "depend on the size",
            (0, 0, 1010, 3010), measured={"floor": 2_000_000},
        ),
        transfers((1_000_000, 2_000), (32_000_000, 2_401), gpu=None),
        [(transfers(_MIDDLE), ONE_SIZE)],
    ),
    "C2": RuleCase(
        transfers((1_000_000, 100), (4_000_000, 2_000), gpu=None),
        Says(
            1_600, "medium",
            "all_reduce of 4.000 MB reaches 2 GB/s, but 10 GB/s at 1.000 MB: larger messages are "
            "slower",
            (0, 0, 2110, 4110), measured={"share": 0.2},
        ),
        transfers((1_000_000, 100), (4_000_000, 800), gpu=None),
        [(transfers(_MIDDLE), ONE_SIZE)],
    ),
    "C6": RuleCase(
        _experts(6),
        Says(
            1_000, "medium",
            "rank 1 receives 1.50 times the mean of ep: the tokens, not the links, decide how long "
            "all_to_all takes",
            (0, 0, 5000, 8000), 1, {"skew": 1.5},
        ),
        _experts(5),
        [(without_splits(_experts(6)), NO_SPLITS)],
    ),
    "C7": RuleCase(
        transfers((128_000_000, 1_999)),
        Says(
            0, "low",
            "all_reduce of 128.0 MB over 2 ranks: 64 GB/s is more than the links carry: size, "
            "group or kernel is wrong",
            (0, 0, 1010, 3009),
        ),
        transfers((128_000_000, 2_000)),
        [
            (transfers((128_000_000, 1_999), gpu=None), UNKNOWN),
            (transfers((128_000_000, 1_999)).alone(), UNKNOWN),
        ],
    ),
}  # fmt: skip
