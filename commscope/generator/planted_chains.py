"""Jobs in which ranks are late because they waited for another one, in another communicator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from commscope.generator.planted_ddp import Part, healthy_buckets
from commscope.generator.planted_scenario import Scenario
from commscope.generator.planted_shape import (
    US,
    Setup,
    Shape,
    draw_shape,
    nothing,
    read_scalar,
    setup,
)
from commscope.generator.programs import COMPUTE, ProgramBuilder, group_of
from commscope.generator.schedule import Communicator, Sleep

_Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Mesh:
    """Ranks along axes: the first varies fastest, the last is data parallel."""

    axes: dict[str, int]

    def places(self) -> list[_Place]:
        """Of all ranks, in order."""
        return [place[::-1] for place in product(*map(range, reversed(self.axes.values())))]

    def rank(self, place: _Place) -> int:
        """The rank at a place."""
        return self.places().index(place)

    def groups(self, axis: str) -> list[Communicator]:
        """The ranks that differ in this axis alone, as communicators."""
        number = list(self.axes).index(axis)
        members: dict[_Place, list[int]] = {}
        for rank, place in enumerate(self.places()):
            members.setdefault(place[:number] + place[number + 1 :], []).append(rank)
        return [
            Communicator(f"{axis}{index}", tuple(ranks), f"mesh_{axis}")
            for index, ranks in enumerate(members.values())
        ]


@dataclass(frozen=True, slots=True)
class _MeshJob:
    """Forward needs a small all-reduce after every layer, and one of each other axis after it.

    Gradients are all-reduced along the last axis while backward goes on.
    """

    shape: Shape
    mesh: _Mesh
    at_begin: Part = nothing

    def setup(self) -> Setup:
        known = [group for axis in self.mesh.axes for group in self.mesh.groups(axis)]
        return setup(self.shape, known, self._write_step)

    def _write_step(self, builder: ProgramBuilder) -> None:
        first, *middle, last = self.mesh.axes
        self.at_begin(builder)
        for layer in range(self.shape.layers):
            self.shape.forward(builder, layer)
            self._in_line(builder, first)
        for axis in middle:
            self._in_line(builder, axis)
        data = group_of(self.mesh.groups(last), builder.rank)
        for number, size in enumerate(healthy_buckets(self.shape, 30)):
            self.shape.backward(builder, self.shape.layers - 1 - number)
            builder.collective(last, data.name, "all_reduce", size)
        builder.order(last, COMPUTE)
        self.shape.optimize(builder)
        read_scalar(builder)

    def _in_line(self, builder: ProgramBuilder, axis: str) -> None:
        group = group_of(self.mesh.groups(axis), builder.rank)
        size = self.shape.bytes_for(15 * US, ranks=len(group.members))
        builder.in_line(axis, group.name, "all_reduce", size)


def straggler_other_communicator(random: Random) -> Scenario:
    """A rank is late for its data parallel group, as it waited for one of its tensor group."""
    return _chain(random, _Mesh({"tp": 2, "dp": random.choice([2, 2, 4])}))


def chain_of_three(random: Random) -> Scenario:
    """The same with a third group between."""
    return _chain(random, _Mesh({"tp": 2, "cp": 2, "dp": 2}))


def _chain(random: Random, mesh: _Mesh) -> Scenario:
    base = _MeshJob(draw_shape(random, len(mesh.places())), mesh)
    place = random.choice(mesh.places())
    rank, did = mesh.rank(place), random.choice(["compute", "host"])
    if did == "compute":
        slow = {(rank, "fwd"): random.randint(150, 220)}
        late = replace(base, shape=replace(base.shape, percent=slow))
    else:
        delay = base.shape.step_ns * random.randint(15, 40) // 100
        late = replace(base, at_begin=lambda b: b.add(*[Sleep(delay)] * (b.rank == rank)))
    return Scenario(late.setup(), base.setup(), rank, did, _path(mesh, place))


def _path(mesh: _Mesh, place: _Place) -> tuple[int, ...]:
    """From the rank that waited in the last group but one, back to the place."""
    places: Sequence[_Place] = [
        tuple(1 - at if axis < waited else at for axis, at in enumerate(place))
        for waited in range(len(mesh.axes))
    ]
    return tuple(mesh.rank(p) for p in reversed(places))
