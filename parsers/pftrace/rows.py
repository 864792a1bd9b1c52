"""Slices by category: activities of devices, and calls and annotations of the host."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from commscope.columns import NONE, Int64, distinct_of
from commscope.parsers.device_tables import COPY, KERNEL, Activities, Calls
from commscope.parsers.pftrace.events import Events
from commscope.parsers.pftrace.state import Track
from commscope.parsers.placing import UNKNOWN
from commscope.parsers.rocprof_domains import domain_of, kinds_of_calls
from commscope.parsers.rocprof_names import copy_name
from commscope.parsers.words import Words

KERNELS, COPIES, CALLS, OTHER = range(4)
_COPY_NAME = re.compile(r"MEMORY_COPY_|(?:HOST|DEVICE)_TO_(?:HOST|DEVICE)")
_NUMBER = re.compile(r"\d{1,9}")
#: A device, queue, stream or thread in the name of a track.
_DEVICE = re.compile(r"(?:Dispatch|COMPUTE \w+|to A(?:gent|GENT)) \[(\d+)\]|Device (\d+)")
_QUEUE = re.compile(r"Queue (\d+)|QUEUE \[(\d+)\]")
_STREAM = re.compile(r"STREAM \[\W*(\d+)|Stream (\d+)")
_THREAD = re.compile(r"THREAD \d+ \((\d+)\)")
#: Kernels and copies that are drawn together, a row for each stream.
_ON_STREAM = 4
_DEVICE_ROLES = {"KERNEL_DISPATCH": KERNELS, "MEMORY_COPY": COPIES, "HIP_STREAM": _ON_STREAM}
_DOMAINS = re.compile(r"HIP_\w*API|HSA_\w*API|MARKER_\w*API|RCCL_API")


def roles(slices: Events, words: Words) -> Int64:
    """What each slice is: of KERNELS, COPIES, CALLS or OTHER."""
    role = by_word(slices.category, words, _role)
    streamed = np.flatnonzero(role == _ON_STREAM)
    is_copy = by_word(slices.name[streamed], words, lambda name: bool(_COPY_NAME.search(name)))
    role[streamed] = np.where(is_copy == 1, COPIES, KERNELS)
    return role


def _role(category: str) -> int:
    domain = domain_of(category)
    if domain in _DEVICE_ROLES:
        return _DEVICE_ROLES[domain]
    return CALLS if _DOMAINS.fullmatch(domain) else OTHER


def by_word(codes: Int64, words: Words, of: Callable[[str], int]) -> Int64:
    """A function of each word, called once for each in use; no word counts as an empty one."""
    distinct, place = distinct_of(np.where(codes == NONE, -1, codes))
    texts = words.spelled
    found = [of("" if code < 0 else texts[code]) for code in distinct.tolist()]
    return np.asarray(np.array(found, np.int64)[place])


class RowMaker:
    """Makes rows of slices; ``tracks`` are those of the whole trace."""

    def __init__(self, tracks: Mapping[int, Track], words: Words) -> None:
        self._tracks, self._words = tracks, words

    def activities(self, slices: Events, role: int) -> Activities:
        """Kernels or copies."""
        count = len(slices.kind)
        is_copy = role == COPIES
        stream = self._told(slices.stream, slices.track, _STREAM)
        queue = self._told(slices.queue, slices.track, _QUEUE)
        return Activities(
            kind=np.full(count, COPY if is_copy else KERNEL),
            name=self._copy_names(slices.name) if is_copy else self._named(slices.name, "kernel"),
            device=self._device(slices, is_copy),
            stream=np.where(stream == NONE, queue, stream),
            queue=queue,
            start_ns=slices.begin_ns,
            end_ns=slices.end_ns,
            correlation=slices.correlation,
            bytes=slices.bytes,
            workgroups=_workgroups(slices.grid, slices.group),
        )

    def calls(self, slices: Events) -> Calls:
        """Calls and annotations."""
        name = self._named(slices.name, "call")
        return Calls(
            kind=kinds_of_calls(slices.category, name, self._words),
            name=name,
            thread=self._thread(slices),
            start_ns=slices.begin_ns,
            end_ns=slices.end_ns,
            correlation=slices.correlation,
        )

    def _named(self, codes: Int64, what: str) -> Int64:
        return np.where(codes == NONE, self._words[f"unnamed {what}"], codes)

    def _copy_names(self, codes: Int64) -> Int64:
        return by_word(codes, self._words, lambda name: self._words[_copy(name)])

    def _device(self, slices: Events, is_copy: bool) -> Int64:
        """The GPU by the annotation that names it, else by the name of the track."""
        agent = self._copied_by(slices) if is_copy else slices.agent
        told = by_word(agent, self._words, _first_number)
        device = self._told(told, slices.track, _DEVICE)
        return np.where(device == NONE, UNKNOWN, device)

    def _copied_by(self, slices: Events) -> Int64:
        """The agent that is a GPU: the target, but of copies to the host the source."""
        to_host = by_word(slices.name, self._words, lambda name: "_TO_HOST" in name)
        return np.where(to_host == 1, slices.source, slices.target)

    def _thread(self, slices: Events) -> Int64:
        told = self._told(slices.thread, slices.track, _THREAD)
        known = {uuid: track.tid for uuid, track in self._tracks.items() if track.tid is not None}
        by_track = _by_value(slices.track, lambda uuid: known.get(uuid, NONE))
        return np.where(told == NONE, by_track, told)

    def _told(self, values: Int64, track: Int64, pattern: re.Pattern[str]) -> Int64:
        """The values, and where there is none the number in the name of the track."""
        missing = np.flatnonzero(values == NONE)
        if not len(missing):
            return values
        result: Int64 = values.copy()
        result[missing] = _by_value(track[missing], lambda uuid: self._in_name(uuid, pattern))
        return result

    def _in_name(self, uuid: int, pattern: re.Pattern[str]) -> int:
        track = self._tracks.get(uuid)
        found = pattern.search(track.name) if track else None
        number = next((group for group in found.groups() if group), None) if found else None
        return int(number) if number and len(number) < 19 else NONE


def _by_value(values: Int64, of: Callable[[int], int]) -> Int64:
    """A function of each value, called once for each that there is."""
    distinct, inverse = np.unique(values, return_inverse=True)
    results = np.array([of(value) for value in distinct.tolist()], np.int64)
    return np.asarray(results[inverse.reshape(-1)])


def _copy(name: str) -> str:
    return copy_name(name) if _COPY_NAME.search(name) else name or "unnamed copy"


def _first_number(text: str) -> int:
    found = _NUMBER.search(text)
    return int(found[0]) if found else NONE


def _workgroups(grid: Int64, group: Int64) -> Int64:
    """Work-groups of grids that count work-items; products are all that the trace tells."""
    known = (grid > 0) & (group > 0)
    return np.where(known, -(-grid // np.where(known, group, 1)), NONE)
