"""What is to be played, on what it is simulated, and which causes a right analysis names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from commscope.generator.catalog.knobs import Knobs
from commscope.generator.costs import Device, HostCosts, Network
from commscope.generator.schedule import Schedule
from commscope.generator.simulate import simulate
from commscope.generator.simulation import Simulation

Strategy = Literal["ddp", "fsdp", "tp", "ep", "pp"]


@dataclass(frozen=True, slots=True)
class PlannedCause:
    """The finding that has to come first: the rule, and where one rank is to blame what it did.

    ``did`` is compute, host, input or copy; ``step`` is null where every step is affected.
    """

    rule: str
    rank: int | None = None
    did: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A job with its causes; without any it is healthy, and nothing above low may be found.

    ``env`` are variables that the job needs; a job in PyTorch is parallel by its ``strategy``.
    """

    scenario: str
    knobs: Knobs
    schedule: Schedule
    causes: tuple[PlannedCause, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    strategy: Strategy = "ddp"
    costs: HostCosts = field(default_factory=HostCosts)
    network: Network = field(default_factory=Network)
    device: Device = field(default_factory=Device)

    def simulated(self) -> Simulation:
        """What happens, in exact time."""
        return simulate(self.schedule, self.costs, self.network, self.device)


#: Runs of a suite by their names, which are those of their folders.
Suite = tuple[tuple[str, Plan], ...]


def healthy(_: Knobs) -> tuple[PlannedCause, ...]:
    """Nothing is wrong."""
    return ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A job that can be asked for by name.

    ``defaults`` are knobs that differ from those of others, unless they are given. On fewer ranks
    than ``min_ranks`` its cause cannot show, nor ``not_on`` some engines and vendors. ``strategy``
    is how a job in PyTorch does the same.
    """

    name: str
    summary: str
    build: Callable[[Knobs], Schedule]
    causes: Callable[[Knobs], tuple[PlannedCause, ...]]
    min_ranks: int = 1
    needs_real_collectives: bool = False
    not_on: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    strategy: Strategy = "ddp"
