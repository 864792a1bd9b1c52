"""Jobs in which one rank is late, each in another way."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from commscope.generator.planted_ddp import Part, synchronous
from commscope.generator.planted_scenario import Scenario
from commscope.generator.planted_shape import draw_shape, load_input
from commscope.generator.programs import ProgramBuilder
from commscope.generator.schedule import Pop, Push, Sleep


def straggler_compute(random: Random) -> Scenario:
    """The kernels of one rank take longer: all of them, or those of backward."""
    shape = draw_shape(random)
    rank = random.randrange(shape.ranks)
    kinds = random.choice([("fwd", "bwd", "opt"), ("bwd",), ("fwd",)])
    percent = random.randint(125, 160) if len(kinds) > 1 else random.randint(140, 190)
    slow = replace(shape, percent={(rank, kind): percent for kind in kinds})
    return Scenario(synchronous(slow).setup(), synchronous(shape).setup(), rank, "compute", (rank,))


def straggler_host(random: Random) -> Scenario:
    """One host does something else before a step's first launch, or between two of its passes."""
    shape = draw_shape(random)
    rank, delay = random.randrange(shape.ranks), _delay_ns(random, shape.step_ns)
    label = random.choice(["", "", "save_metrics"])
    labels = (Push(label), Pop()) if label else ()

    def stall(builder: ProgramBuilder) -> None:
        builder.add(*labels[:1], Sleep(delay), *labels[1:])

    base = synchronous(shape)
    late = replace(base, at_begin=_only(rank, stall))
    return Scenario(late.setup(), base.setup(), rank, "host", (rank,))


def straggler_input(random: Random) -> Scenario:
    """One rank waits for its data loader."""
    shape = draw_shape(random)
    rank, delay = random.randrange(shape.ranks), _delay_ns(random, shape.step_ns)
    base = synchronous(shape)
    late = replace(base, at_begin=_only(rank, lambda b: load_input(b, delay)))
    return Scenario(late.setup(), base.setup(), rank, "input", (rank,))


def straggler_copy(random: Random) -> Scenario:
    """One rank copies far more to its device before it can begin."""
    shape = draw_shape(random)
    rank, delay = random.randrange(shape.ranks), _delay_ns(random, shape.step_ns)
    usual, huge = 1 << 20, delay // 1000 * shape.network.copies.bytes_per_us
    base = replace(synchronous(shape), at_begin=lambda b: b.load_input(usual))
    late = replace(base, at_begin=lambda b: b.load_input(huge if b.rank == rank else usual))
    return Scenario(late.setup(), base.setup(), rank, "copy", (rank,))


def _delay_ns(random: Random, step_ns: int) -> int:
    return step_ns * random.randint(15, 60) // 100


def _only(rank: int, part: Part) -> Part:
    """What one rank alone does."""

    def of_rank(builder: ProgramBuilder) -> None:
        if builder.rank == rank:
            part(builder)

    return of_rank
