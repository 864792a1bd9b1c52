"""Scenarios in which one rank is late, by what it does differently."""

from __future__ import annotations

from commscope.generator.catalog.data_parallel import data_parallel
from commscope.generator.catalog.knobs import Knobs
from commscope.generator.catalog.plan import PlannedCause, Scenario
from commscope.generator.planted_shape import US
from commscope.generator.programs import Straggler, Where

_DELAY_NS = 3_000 * US
_DID = {"host": "host", "device": "compute", "input": "input"}


def late(knobs: Knobs) -> tuple[PlannedCause, ...]:
    """Each straggler is to blame."""
    return tuple(
        PlannedCause("C1", late.rank, _DID[late.where], late.step) for late in knobs.stragglers
    )


_SAYS: dict[Where, str] = {
    "host": "The host of one rank does something else before each step.",
    "device": "The device of one rank computes longer.",
    "input": "One rank waits for its data loader.",
}
SCENARIOS = tuple(
    Scenario(
        name=f"straggler-{where}",
        summary=says,
        build=data_parallel,
        causes=late,
        min_ranks=2,
        needs_real_collectives=True,
        defaults={"stragglers": (Straggler(1, _DELAY_NS, None, where),)},
    )
    for where, says in _SAYS.items()
)
