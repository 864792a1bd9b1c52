"""Bandwidth of collectives, from the transfer alone (DEFINITIONS 4), against what links give."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.analysis.factors import bus_factor
from commscope.analysis.hardware import Part, expected_busbw_gbps
from commscope.analysis.reference import Expected, Reference


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Of one kind of collective; GB/s = 1e9 bytes/s. Null with the reason in ``note``.

    ``exceeds_links``: it is null since it would be more than the links carry.
    """

    algbw_gbps: float | None = None
    busbw_gbps: float | None = None
    expected_busbw_gbps: float | None = None
    expected_from: str | None = None  #: file it was measured in, or the model of these links
    note: str | None = None
    exceeds_links: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What a bandwidth rests on: the time is that of the transfer, or with waiting in it."""

    op: str | None
    size_bytes: int | None
    members: int | None
    time_ns: int | None
    is_matched: bool
    one_host: bool


def bandwidth_of(
    message: Message, part: Part | None, reference: Reference | None = None
) -> Bandwidth:
    """The bandwidth of a message; withheld where it lacks a number or exceeds the links.

    What to expect is what was measured on this machine, else what the links are known to give.
    """
    if not message.size_bytes or not message.members or not message.time_ns:
        missing = "size" if not message.size_bytes else "group" if not message.members else "time"
        return Bandwidth(note=f"the {missing} is not known")
    factor = bus_factor(message.op, message.members)
    if message.members < 2:
        return Bandwidth(note="a group of one sends nothing")
    if factor is None:
        return Bandwidth(note="the operation is not known")
    algbw = message.size_bytes / message.time_ns
    busbw = algbw * factor
    known = part if message.one_host else None
    if known is not None and busbw > known.peak(message.members):
        says = f"{busbw:,.0f} GB/s is more than the links carry: size, group or kernel is wrong"
        return Bandwidth(note=says, exceeds_links=True)
    expected = Expected(None, None)
    if reference is not None and message.op is not None:
        expected = reference.expected_busbw(message.op, message.members, message.size_bytes)
    if expected.busbw_gbps is None and known is not None:
        gbps = expected_busbw_gbps(known, message.members, message.size_bytes, factor)
        expected = Expected(gbps, f"model of the links of {known.name}")
    note = None if message.is_matched else "a lower bound: the time may hold waiting"
    return Bandwidth(algbw, busbw, expected.busbw_gbps, expected.source, note)
