"""Healthy jobs of several kinds: nothing in them is worth a change."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from commscope.generator import pipelines
from commscope.generator.planted_ddp import DataParallel, healthy_buckets, synchronous
from commscope.generator.planted_fsdp import FullyShard
from commscope.generator.planted_micro import Accumulation
from commscope.generator.planted_shape import LINK, US, Setup, draw_shape
from commscope.generator.programs import COMPUTE, COPY, Job, Model
from commscope.generator.schedule import Copy


def ddp(random: Random) -> Setup:
    """Data parallel whose all-reduces are hidden by backward."""
    shape = draw_shape(random)
    return DataParallel(shape, healthy_buckets(shape, random.randint(30, 70))).setup()


def ddp_reading_the_loss(random: Random) -> Setup:
    """The same, with hosts that read the loss after every step."""
    return synchronous(draw_shape(random), random.randint(30, 70)).setup()


def ddp_with_jitter(random: Random) -> Setup:
    """The same, with kernels that take up to 3 % longer, at random."""
    shape = draw_shape(random)
    shape = replace(shape, jitter_ns=shape.kernel_ns * 3 // 100)
    return DataParallel(shape, healthy_buckets(shape, random.randint(30, 60))).setup()


def ddp_copying_ahead(random: Random) -> Setup:
    """The same, with the next step's input copied from pinned memory during this one."""
    shape = draw_shape(random)
    size = shape.step_ns * random.randint(10, 40) // 100_000 * shape.network.copies.bytes_per_us
    job = replace(
        synchronous(shape, random.randint(30, 60)),
        at_begin=lambda b: b.order(COPY, COMPUTE),
        before_backward=lambda b: b.add(Copy(COPY, "h2d", size)),
    )
    return job.setup()


def fsdp(random: Random) -> Setup:
    """Fully sharded, with weights that are gathered ahead."""
    shape = draw_shape(random)
    gather = 2 * shape.kernel_ns * random.randint(20, 60) // 100
    return FullyShard(shape, gather, prefetch=random.choice([1, 2])).setup()


def accumulation(random: Random) -> Setup:
    """Micro-steps of which only the last one all-reduces."""
    shape = replace(draw_shape(random), layers=3, steps=4)
    microsteps = random.choice([2, 3, 4])
    buckets = healthy_buckets(shape, random.randint(30, 60))
    return Accumulation(shape, buckets, microsteps, microsteps - 1).setup()


def pipeline(random: Random) -> Setup:
    """Two stages with so many micro-batches that the bubble is small."""
    shape = draw_shape(random, 2)
    fwd = random.randint(400, 600) * US
    job = Job(shape.ranks, steps=3, ranks_per_host=shape.ranks_per_host, sync_every=0)
    model = Model(layer_bytes=512 << 10, fwd_ns=fwd, bwd_ns=2 * fwd)
    schedule = pipelines.pipeline(job, model, microbatches=96)
    network = replace(shape.network, link=replace(LINK, latency_ns=5 * US))
    return Setup(schedule, shape.costs, network, shape.device)


def one_device(random: Random) -> Setup:
    """One rank, which has nobody to communicate with."""
    return DataParallel(draw_shape(random, 1), ()).setup()
