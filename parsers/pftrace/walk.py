"""Where packets end: each tells the length of its own only, so one is found behind the other.

That is done at many places of a block at once. Where they begin is guessed: at a packet that is
followed by others, as it seems. A guess counts only if going on from the one before ends at it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.columns import Int64

_TAG = 0x0A  # field 1, with a length
#: No packet of a profiler is larger: its buffers are not.
MOST_PACKET_BYTES = 64 << 20
_MOST_LENGTH_BYTES = 5
#: How far the guesses lie from each other, and how many packets must follow one.
_LANE_BYTES, _SURE_PACKETS = 8 << 10, 6
#: Places that are looked at for a guess.
_MOST_TRIES = 64
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Walk:
    """The packets of a block."""

    starts: Int64
    ends: Int64
    end: int  #: behind the last whole packet
    is_damaged: bool


def walk(data: bytes) -> Walk:
    """The whole packets at the begin of these bytes."""
    guesses = _guesses(data)
    ends = _ends(data, [0, *guesses]) if guesses else _NONE
    more, is_damaged = _walk_on(data, int(ends[-1]) if len(ends) else 0)
    if more:
        ends = np.append(ends, np.array(more, np.int64))
    if not len(ends):
        return Walk(_NONE, _NONE, 0, is_damaged)
    return Walk(_starts(data, ends), ends, int(ends[-1]), is_damaged)


def _walk_on(data: bytes, at: int) -> tuple[list[int], bool]:
    """Goes from packet to packet: their ends, and whether what follows is damaged."""
    size = len(data)
    ends: list[int] = []
    while at + 2 < size and data[at] == _TAG:
        end = _end(data, at)
        if end > size:
            return ends, end > size + MOST_PACKET_BYTES
        ends.append(end)
        at = end
    return ends, at < size and data[at] != _TAG


def _guesses(data: bytes) -> list[int]:
    """Places at which packets seem to begin, in order."""
    places = range(_LANE_BYTES, len(data) - _LANE_BYTES, _LANE_BYTES)
    return [guess for place in places if (guess := _guess(data, place)) >= 0]


def _guess(data: bytes, place: int) -> int:
    """The first place from here on at which some packets seem to begin, or -1."""
    at, stop = place - 1, place + _LANE_BYTES
    for _ in range(_MOST_TRIES):
        at = data.find(_TAG, at + 1, stop)
        if at < 0 or _seems_to_begin(data, at):
            return at
    return -1


def _seems_to_begin(data: bytes, at: int) -> bool:
    for _ in range(_SURE_PACKETS):
        if at + 2 >= len(data) or data[at] != _TAG:
            return False
        at = _end(data, at)
    return True


def _ends(data: bytes, starts: list[int]) -> Int64:
    """The ends of packets, as long as going on from each of these places leads to the next."""
    at = np.array(starts)
    limits = np.append(at[1:], len(data) - 2)
    lanes = np.arange(len(at))
    found: list[tuple[Int64, Int64]] = []
    while len(lanes):
        end = _next_ends(data, at[lanes])
        is_whole = end <= len(data)
        lanes, end = lanes[is_whole], end[is_whole]
        at[lanes] = end
        found.append((lanes, end))
        lanes = lanes[end < limits[lanes]]
    is_met = at[:-1] == starts[1:]
    last = len(is_met) if is_met.all() else int(is_met.argmin())
    lane, end = map(np.concatenate, zip(*found))
    order = np.argsort(lane.astype(np.uint16), kind="stable")
    return np.asarray(end[order[: np.searchsorted(lane[order], last, "right")]])


def _next_ends(data: bytes, at: Int64) -> Int64:
    """Where the packets end that begin at each place; behind the data where there is none."""
    raw = np.frombuffer(data, np.uint8)
    length = raw[at + 1].astype(np.int64)
    end = at + 2 + length
    long = np.flatnonzero(length > 127)
    if len(long):
        second = raw[at[long] + 2].astype(np.int64)
        end[long] += (second << 7) - 127
        for row in long[second > 127].tolist():
            end[row] = _end(data, int(at[row]))
    end[raw[at] != _TAG] = len(data) + 1
    return end


def _end(data: bytes, at: int) -> int:
    """Where the packet ends that begins here; behind the data where that is not told in it."""
    length = data[at + 1]
    if length < 128:
        return at + 2 + length
    if data[at + 2] < 128:
        return at + 3 + length - 128 + (data[at + 2] << 7)
    length, begin = _long(data, at + 1)
    return begin + length


def _starts(data: bytes, ends: Int64) -> Int64:
    """Where the packets begin that follow each other up to these ends: behind their lengths."""
    raw = np.frombuffer(data, np.uint8)
    at = np.append(0, ends[:-1]) + 1
    goes_on = np.ones(len(ends), np.bool_)
    for _ in range(_MOST_LENGTH_BYTES):
        goes_on &= raw[np.minimum(at, len(raw) - 1)] > 127
        at += goes_on
    return np.asarray(at + 1)


def _long(data: bytes, at: int) -> tuple[int, int]:
    """A length of several bytes, and where it ends: behind the data where that is cut in it."""
    length = 0
    for number, byte in enumerate(data[at : at + _MOST_LENGTH_BYTES]):
        length |= (byte & 127) << (7 * number)
        if byte < 128:
            return length, at + number + 1
    is_cut = at + _MOST_LENGTH_BYTES > len(data)
    return (0, len(data) + 1) if is_cut else (len(data) + MOST_PACKET_BYTES + 1, at)
