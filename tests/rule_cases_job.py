"""Jobs with the logs of their library, for the rules that need both: see rule_cases."""

from __future__ import annotations

from dataclasses import replace

from job_logs import JobLog
from rule_cases import Collective, Job, Kernel, RuleCase, Says
from rule_cases_collectives import expected_us, transfers

NO_LOG = "no log of RCCL or NCCL was given (--log)"
NO_LINKS = "it is not known what the links between these GPUs give"
NO_STRETCH = "no stretch of the log's calls fits the collectives of the trace"
NO_HOSTS = "the logs do not tell the host of every rank"

_PAIR = ((0, 1),)
_BIG = transfers((128_000_000, 8_000))
_SHARE = expected_us(128_000_000) / 8_000
_STAGED = replace(_BIG, log=str(JobLog(_PAIR, via="SHM/direct/direct", link="PHB")))
_DIRECT = replace(_BIG, log=str(JobLog(_PAIR)))

_TWO_SIZES = transfers((1_000_000, 100), (4_000_000, 800))
_STEP = [("all_reduce", 1_000_000), ("all_reduce", 4_000_000)]
#: Before the steps, and what the file of neither rank has, in the second step.
_BEFORE, _LOST = [("broadcast", 512)], [("all_reduce", 2_000_000)]
_WHOLE = replace(_TWO_SIZES, log=str(JobLog(_PAIR, calls=_BEFORE + 4 * _STEP)))
_HOLED = replace(_TWO_SIZES, log=str(JobLog(_PAIR, calls=_BEFORE + _STEP + _LOST + 3 * _STEP)))
#: The log of one size only.
STRANGE = replace(_TWO_SIZES, log=str(JobLog(_PAIR, calls=8 * _STEP[:1])))

#: Pairs of ranks that move most, two hosts, and the pairs that share one.
_ALL, _TP, _HOSTS = (0, 1, 2, 3), ((0, 2), (1, 3)), "ab"


def _four(log: JobLog | None) -> Job:
    """Each rank reduces 50 MB in its pair and 1 MB over all."""

    def rank(number: int) -> list[Kernel | Collective]:
        pair = _TP[number % 2]
        return [
            Kernel(10, 100, 1),
            Collective(100, 300, 2, 50_000_000, comm=f"tp{number % 2}", members=pair),
            Kernel(300, 400, 3),
            Collective(400, 500, 4, 1_000_000, comm="world"),
            Kernel(500, 1010, 5),
        ]

    return Job([rank(number) for number in range(4)], log=None if log is None else str(log))


_CROSSING = JobLog((_ALL, *_TP), host=lambda rank: _HOSTS[rank // 2])
_INSIDE = replace(_CROSSING, host=lambda rank: _HOSTS[rank % 2])
_NAMELESS = str(_CROSSING).replace("a:103:103 [3] ", "").replace("b:103:103 [3] ", "")
CASES = {
    "C5": RuleCase(
        _STAGED,
        Says(
            (8_000_000 - int(8_000_000 * _SHARE)) / 1000, "high",
            "communication goes over SHM (host memory): all_reduce of 128.0 MB reaches 16 GB/s, "
            "33.5 % of the 47.7 GB/s that the links between these GPUs give; at that rate 5.32 ms "
            "a step less would be exposed",
            (0, 0, 1010, 9010), measured={"busbw": 16, "expected": 16 / _SHARE},
        ),
        _DIRECT,
        [(_BIG, NO_LOG), (replace(_STAGED, gpu=None), NO_LINKS)],
    ),
    "C10": RuleCase(
        _HOLED,
        Says(
            0, "low",
            "the log of rank 0 holds 1 call between those that its trace shows (all_reduce of "
            "2.000 MB): kernels are missing in the trace; so do those of 1 other rank",
            (0, 0, 2110, 2910), 0,
        ),
        _WHOLE,
        [(_TWO_SIZES, NO_LOG), (_STAGED, NO_STRETCH)],
    ),
    "P2": RuleCase(
        _four(_CROSSING),
        Says(
            200, "high",
            "2 of 2 groups of tp, which move most (200.0 MB a rank), cross hosts; another order of "
            "ranks moves 100.0 % less that way: a: 0 2; b: 3 1",
            (0, 0, 100, 300), measured={"outside": 800_000_000, "saved": 800_000_000},
        ),
        _four(_INSIDE),
        [(_four(None), NO_LOG), (replace(_four(None), log=_NAMELESS), NO_HOSTS)],
    ),
}  # fmt: skip
