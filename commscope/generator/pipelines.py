"""Jobs in stages: a pipeline with one forward, one backward; also with tensor and data parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from commscope.errors import UsageError
from commscope.generator.programs import COMPUTE, Job, Model, ProgramBuilder, build, group_of
from commscope.generator.schedule import Communicator, Receive, Schedule, Send

_MODEL = Model()


@dataclass(frozen=True, slots=True)
class Grid:
    """How many ranks share a layer, have copies of it, and follow each other in stages."""

    tp: int = 2
    dp: int = 2
    pp: int = 2

    @property
    def ranks(self) -> int:
        """Of the whole job."""
        return self.tp * self.dp * self.pp

    def rank(self, t: int, d: int, p: int) -> int:
        """The rank at a place: neighbours share layers, and the stages are furthest apart."""
        return (p * self.dp + d) * self.tp + t

    def tensor_groups(self) -> list[Communicator]:
        """The ranks that share layers."""
        return [
            self._group("tp", n, [self.rank(t, d, p) for t in range(self.tp)])
            for n, (p, d) in enumerate(_pairs(self.pp, self.dp))
        ]

    def data_groups(self) -> list[Communicator]:
        """The ranks that have the same layers."""
        return [
            self._group("dp", n, [self.rank(t, d, p) for d in range(self.dp)])
            for n, (p, t) in enumerate(_pairs(self.pp, self.tp))
        ]

    def pipeline_groups(self) -> list[Communicator]:
        """The ranks that follow each other in stages, in their order."""
        return [
            self._group("pp", n, [self.rank(t, d, p) for p in range(self.pp)])
            for n, (d, t) in enumerate(_pairs(self.dp, self.tp))
        ]

    def _group(self, role: str, number: int, members: list[int]) -> Communicator:
        return Communicator(f"{role}{number}", tuple(members), f"mesh_{role}")


def _pairs(outer: int, inner: int) -> Iterator[tuple[int, int]]:
    return ((i, j) for i in range(outer) for j in range(inner))


_GRID = Grid()


@dataclass(frozen=True, slots=True)
class Stage:
    """A rank's place in its pipeline, and what it does there with one micro-batch."""

    communicator: Communicator
    number: int
    size_bytes: int
    forward: Callable[[ProgramBuilder], None]
    backward: Callable[[ProgramBuilder, bool], None]  #: told whether it is the last of the step

    def run(self, builder: ProgramBuilder, microbatches: int) -> None:
        """Some forwards ahead, then one forward and one backward in turn, then the rest."""
        ahead = min(len(self.communicator.members) - 1 - self.number, microbatches)
        for _ in range(ahead):
            self._forward(builder)
        for done in range(microbatches):
            if done < microbatches - ahead:
                self._forward(builder)
            self._backward(builder, done == microbatches - 1)

    def _forward(self, builder: ProgramBuilder) -> None:
        self._receive(builder, -1)
        self.forward(builder)
        self._send(builder, 1)

    def _backward(self, builder: ProgramBuilder, is_last: bool) -> None:
        self._receive(builder, 1)
        self.backward(builder, is_last)
        self._send(builder, -1)

    def _peer(self, towards: int) -> int | None:
        members, number = self.communicator.members, self.number + towards
        return members[number] if 0 <= number < len(members) else None

    def _receive(self, builder: ProgramBuilder, towards: int) -> None:
        peer = self._peer(towards)
        if peer is not None:
            stream = "from_next" if towards > 0 else "from_previous"
            builder.add(Receive(stream, self.communicator.name, peer, self.size_bytes))
            builder.order(stream, COMPUTE)

    def _send(self, builder: ProgramBuilder, towards: int) -> None:
        peer = self._peer(towards)
        if peer is not None:
            stream = "to_next" if towards > 0 else "to_previous"
            builder.order(COMPUTE, stream)
            builder.add(Send(stream, self.communicator.name, peer, self.size_bytes))


def pipeline(job: Job, model: Model = _MODEL, *, microbatches: int = 4) -> Schedule:
    """One stage a rank; activations and gradients go to the neighbours, as large as a layer."""
    stages = Communicator("pp", tuple(range(job.ranks)), "mesh_pp")

    def write_step(builder: ProgramBuilder) -> None:
        stage = Stage(
            stages, builder.rank, model.layer_bytes,
            forward=lambda b: b.compute("fwd", model.fwd_ns),
            backward=lambda b, _: b.compute("bwd", model.bwd_ns),
        )  # fmt: skip
        stage.run(builder, microbatches)
        builder.compute("opt", model.opt_ns)

    return build(job, [stages], write_step)


def tp_dp_pp(
    job: Job, model: Model = _MODEL, grid: Grid = _GRID, *, microbatches: int = 4
) -> Schedule:
    """Tensor, data and pipeline parallel at once: three communicators a rank.

    The layers are divided among the stages. Raises UsageError where the grid and the ranks of the
    job differ.
    """
    if grid.ranks != job.ranks:
        raise UsageError(f"a grid of {grid.ranks} ranks does not fit a job of {job.ranks}")
    tensor, data, stages = grid.tensor_groups(), grid.data_groups(), grid.pipeline_groups()
    layers = max(model.layers // grid.pp, 1)

    def write_step(builder: ProgramBuilder) -> None:
        tp_name, dp_name = (group_of(groups, builder.rank).name for groups in (tensor, data))
        pp = group_of(stages, builder.rank)

        def forward(b: ProgramBuilder) -> None:
            for layer in range(layers):
                b.compute("fwd", model.fwd_ns, f"layer{layer}")
                b.in_line("tp", tp_name, "all_reduce", model.layer_bytes)

        def backward(b: ProgramBuilder, is_last: bool) -> None:
            for layer in reversed(range(layers)):
                b.compute("bwd", model.bwd_ns, f"layer{layer}")
                b.in_line("tp", tp_name, "all_reduce", model.layer_bytes)
                if is_last:
                    b.collective("dp", dp_name, "all_reduce", model.layer_bytes)

        place = pp.members.index(builder.rank)
        Stage(pp, place, model.layer_bytes, forward, backward).run(builder, microbatches)
        builder.order("dp", COMPUTE)
        builder.compute("opt", model.opt_ns)

    return build(job, [*tensor, *data, *stages], write_step)
