"""Bandwidth of collectives, from the transfer alone (DEFINITIONS 4), against what links give."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.analysis.hardware import Part, expected_busbw_gbps


def bus_factor(op: str | None, members: int) -> float | None:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests counts; null for what has none."""
    if members < 2 or op is None:
        return None
    if op == "all_reduce":
        return 2 * (members - 1) / members
    if op in ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"):
        return (members - 1) / members
    return 1.0 if op in ("broadcast", "reduce", "send", "recv") else None


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Of one kind of collective; GB/s = 1e9 bytes/s. Null with the reason in ``note``.

    ``exceeds_links``: it is null since it would be more than the links carry.
    """

    algbw_gbps: float | None = None
    busbw_gbps: float | None = None
    expected_busbw_gbps: float | None = None
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


def bandwidth_of(message: Message, part: Part | None) -> Bandwidth:
    """The bandwidth of a message; withheld where it lacks a number or exceeds the links."""
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
    expected = None
    if known is not None:
        expected = expected_busbw_gbps(known, message.members, message.size_bytes, factor)
    note = None if message.is_matched else "a lower bound: the time may hold waiting"
    return Bandwidth(algbw, busbw, expected, note)
