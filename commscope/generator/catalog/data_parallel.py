"""Data parallel: gradients are reduced in buckets while backward goes on."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.generator.catalog.building import RankProgram, build, world
from commscope.generator.catalog.knobs import Knobs
from commscope.generator.planted_shape import read_scalar
from commscope.generator.programs import COMPUTE
from commscope.generator.schedule import (
    Copy,
    EventSync,
    Pop,
    Push,
    Record,
    Schedule,
    StreamSync,
    Sync,
    Wait,
)

_DP = "dp"
_SMALL_COPY = 64 << 10


def data_parallel(knobs: Knobs) -> Schedule:
    """The job whose overlap, buckets, micro-steps and hosts the knobs tell."""
    after = buckets(knobs)

    def write_step(program: RankProgram) -> None:
        for number in range(knobs.streams):
            # Compute's stream is used first, as queues are given in that order.
            program.order(COMPUTE, f"stream{number}")
            program.add(Copy(f"stream{number}", "h2d", _SMALL_COPY))
        for micro in range(knobs.accum):
            is_reduced = micro == knobs.accum - 1 or not knobs.no_sync
            _pass(program, after if is_reduced else [()] * knobs.layers)
            if is_reduced and micro < knobs.accum - 1:
                _wait_for_all(program)
        _optimize(program, sum(map(len, after)))
        if knobs.read_loss:
            read_scalar(program)

    return build(knobs, [world(knobs)], write_step)


def buckets(knobs: Knobs) -> list[Sequence[int]]:
    """Bytes of the buckets that are ready after each layer's backward, in its order."""
    after: list[Sequence[int]] = []
    held = 0
    for layer in reversed(range(knobs.layers)):
        held += knobs.layer_bytes
        pieces = [knobs.bucket_bytes] * (held // knobs.bucket_bytes)
        held -= sum(pieces)
        if layer == 0 and held:
            pieces, held = [*pieces, held], 0
        if layer == 0 and knobs.last_bucket_bytes:
            pieces = [knobs.last_bucket_bytes]
        after.append(pieces)
    return after


def _pass(program: RankProgram, after: Sequence[Sequence[int]]) -> None:
    """Forward and backward, with the buckets that are ready after each layer."""
    knobs = program.knobs
    program.add(Push("DistributedDataParallel.forward"))
    for layer in range(knobs.layers):
        program.forward(layer)
    program.add(Pop())
    number = 0
    for layer, sizes in zip(reversed(range(knobs.layers)), after):
        program.backward(layer)
        for size in sizes:
            _reduce(program, number, size)
            number += 1


def _reduce(program: RankProgram, number: int, size_bytes: int) -> None:
    stream = COMPUTE if program.knobs.overlap == "same-stream" else _DP
    program.collective(stream, "0", program.knobs.collective, size_bytes)
    program.add(Record(stream, f"bucket{number}"))
    if program.knobs.overlap == "none":
        program.add(Wait(COMPUTE, f"bucket{number}"))
    _wait_on_host(program, number)


def _wait_on_host(program: RankProgram, number: int) -> None:
    sync = program.knobs.loop_sync
    if sync == "device":
        program.add(Sync())
    elif sync == "stream":
        program.add(StreamSync(_DP))
    elif sync == "event":
        program.add(EventSync(f"bucket{number}"))
    elif sync == "item":
        program.order(_DP, COMPUTE)
        read_scalar(program)


def _optimize(program: RankProgram, parts: int) -> None:
    if program.knobs.overlap == "full":
        program.optimize(parts, lambda part: program.add(Wait(COMPUTE, f"bucket{part}")))
    else:
        _wait_for_all(program)
        program.optimize()


def _wait_for_all(program: RankProgram) -> None:
    if program.knobs.overlap != "same-stream":
        program.order(_DP, COMPUTE)
