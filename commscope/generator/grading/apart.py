"""How far kernels lie from where the truth has them, once the clocks are aligned.

It widens tolerances where the truth itself is not that exact. Events are recorded when a stream
has come that far, which may be long before a collective finds room on the device. And threads that
stand for a device can be kept from reading their clock, the one of the truth or that of the trace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from commscope.generator.grading.clock_rows import device_offsets
from commscope.generator.grading.pairs import Pair, Pairs
from commscope.generator.truth_file import TruthOperation

Key = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Apart:
    """By operation (its id), and by instance the most that any member is apart; both in ns."""

    of_operation: Mapping[int, int]
    of_instance: Mapping[Key, int]

    def sum_ns(self, pairs: Iterable[Pair]) -> int:
        """Of these operations, each by itself."""
        return sum(self.of_operation.get(id(pair.operation), 0) for pair in pairs)

    def instance_ns(self, operation: TruthOperation) -> int:
        """Of a collective with all its members."""
        return self.of_instance.get(instance_of(operation), 0)


def instance_of(operation: TruthOperation) -> Key:
    """What the members of a collective have in common."""
    return operation.comm, operation.seq, operation.coll


def apart_of(every: Mapping[int, Pairs]) -> Apart:
    """Of all ranks; nothing is apart where no kernel ties the clocks to each other."""
    of_operation: dict[int, int] = {}
    of_instance: defaultdict[Key, int] = defaultdict(int)
    for pairs in every.values():
        offsets = device_offsets(pairs.of("compute"))
        for pair in pairs.of("compute", "collective") if offsets else ():
            row, kernel = pair.operation, pair.kernel
            ahead = offsets.at(row.begin_ns) if offsets else 0
            apart = abs(kernel.start_ns - row.begin_ns - ahead)
            apart += abs(kernel.end_ns - row.end_ns - ahead)
            of_operation[id(row)] = apart
            if row.op == "collective":
                key = instance_of(row)
                of_instance[key] = max(of_instance[key], apart)
    return Apart(of_operation, of_instance)
