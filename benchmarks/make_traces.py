"""Makes a large trace of a real one, by repeating it in time, or one for each rank of a job.

    python benchmarks/make_traces.py --megabytes 200 --output trace.json [TRACE]
    python benchmarks/make_traces.py --megabytes 200 --ranks 8 --output folder [TRACE]

The events of the trace (JSON or JSON.gz, as the PyTorch profiler writes it) are laid end to end
until the file has the size. Each tile is later than the one before and has identifiers and step
numbers of its own, so the result is one long recording of one process. Only those numbers change:
the text of an event, down to the fraction of its time stamp, stays as the profiler wrote it.

The ranks of a job are the same recording under other ranks. Their collectives end together and
begin at different times: each rank in its turn comes last, so that there is waiting to find.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASES = (
    ROOT.parent / "shared/cases/amd/kineto/mi300_resnet_ddp8_rank0.json.gz",
    *sorted((ROOT / "sample_traces").glob("ddp_straggler/*.json.gz")),
)

_EVENTS = re.compile(rb'"traceEvents":\s*\[')
_BETWEEN = re.compile(rb"\}(\s*,\s*)\{")
_SPAN = re.compile(rb'"ts":\s*(\d+)[^,]*,\s*"dur":\s*(\d+)')
_WORLD = re.compile(rb'"world_size":\s*(\d+)')
_RANK = re.compile(rb'("(?:rank|Rank)":\s*)\d+')
_COLLECTIVE = re.compile(
    rb'("cat":\s*"kernel",\s*"name":\s*"nccl[^"]*",[^{}]*?"ts":\s*)(\d+)(\.\d+)?'
    rb'(,\s*"dur":\s*)(\d+)'
)
# 0 means "none" in the identifiers, and there is nothing before it to be told apart from.
_NUMBER = re.compile(
    rb'("ts":\s*|ProfilerStep#'
    rb'|"(?:correlation|External id|id|Ev Idx|Python id|Python parent id|Sequence number)":\s*'
    rb"(?=[1-9]))(\d+)"
)


@dataclass(frozen=True, slots=True)
class Strides:
    """What a number grows by from one tile to the next."""

    time_us: int
    step: int
    identifier: int

    def of(self, key: bytes) -> int:
        """The stride of the number that follows the key."""
        if key.startswith(b'"ts"'):
            return self.time_us
        return self.step if key.startswith(b"Profiler") else self.identifier


@dataclass(frozen=True, slots=True)
class Pattern:
    """The events of a trace, cut at the numbers that change: text, number, text, ..., text."""

    texts: tuple[bytes, ...]
    numbers: tuple[int, ...]
    strides: tuple[int, ...]

    def tile(self, index: int) -> bytes:
        """The events as they are in the tile of that index."""
        shifted = (
            b"%d" % (number + index * stride)
            for number, stride in zip(self.numbers, self.strides, strict=True)
        )
        pairs = zip(self.texts, shifted, strict=False)
        return b"".join(itertools.chain.from_iterable(pairs)) + self.texts[-1]


def read(path: Path) -> bytes:
    """The text of a trace, decompressed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def split(text: bytes) -> tuple[bytes, bytes, bytes]:
    """What precedes the events, the events without their brackets, and what follows."""
    opening = _EVENTS.search(text)
    # The events end at the last bracket: only plain fields of the root object follow them.
    end = text.rfind(b"]")
    if opening is None or end < opening.end():
        raise SystemExit("not a trace of the PyTorch profiler: it has no list traceEvents")
    return text[: opening.end()], text[opening.end() : end].strip(), text[end:]


def as_rank(text: bytes, rank: int) -> bytes:
    """The trace as another rank of its job would have recorded it."""
    world = _WORLD.search(text)
    if world is None or rank >= int(world[1]):
        raise SystemExit(f"the trace is of no job with a rank {rank}: name another, or fewer ranks")
    ranks, turn = int(world[1]), itertools.count(rank)

    def later(found: re.Match[bytes]) -> bytes:
        start, length = int(found[2]), int(found[5])
        late = length * (next(turn) % ranks) // (2 * ranks)
        return b"%s%d%s%s%d" % (
            found[1],
            start + late,
            found[3] or b"",
            found[4],
            length - late,
        )

    return _COLLECTIVE.sub(later, _RANK.sub(rb"\g<1>%d" % rank, text))


def duration_us(events: bytes) -> int:
    """From the begin of the first event to the end of the last one, rounded up."""
    spans = [(int(start), int(length)) for start, length in _SPAN.findall(events)]
    return max(start + length for start, length in spans) - min(spans)[0] + 3


def analyse(events: bytes) -> Pattern:
    """Find the numbers that change, and by how much."""
    pieces = _NUMBER.split(events)
    keys, numbers = pieces[1::3], [int(number) for number in pieces[2::3]]
    found = list(zip(keys, numbers, strict=True))
    steps = {number for key, number in found if key.startswith(b"Profiler")} or {0}
    identifiers = [number for key, number in found if key[:4] not in {b'"ts"', b"Prof"}]
    strides = Strides(
        time_us=duration_us(events),
        step=max(steps) - min(steps) + 1,
        identifier=max(identifiers, default=0) + 1,
    )
    heads = (text + key for text, key in zip(pieces[::3], keys, strict=False))
    return Pattern((*heads, pieces[-1]), tuple(numbers), tuple(map(strides.of, keys)))


def tiles(text: bytes, size: int) -> Iterator[bytes]:
    """The pieces of a trace of at least that many bytes."""
    head, events, tail = split(text)
    pattern = analyse(events)
    between = _BETWEEN.search(events)
    separator = between[1] if between else b","
    written = len(head) + len(tail)
    yield head
    for index in itertools.count():
        tile = (separator if index else b"") + pattern.tile(index)
        yield tile
        written += len(tile)
        if written >= size:
            break
    yield tail


def write(text: bytes, size: int, output: Path) -> None:
    """Write the large trace; the file has its name once it is whole."""
    output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = output.with_suffix(".part")
    with unfinished.open("wb") as file:
        file.writelines(tiles(text, size))
    unfinished.replace(output)
    print(f"{output}: {output.stat().st_size:,} bytes")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description="Make a large trace by repeating a real one.")
    parser.add_argument("trace", nargs="?", type=Path, help="default: the first of these at hand")
    parser.add_argument("--megabytes", type=int, required=True, help="size to reach, in 10^6 bytes")
    parser.add_argument("--ranks", type=int, help="make a folder of as many ranks of one job")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    base = options.trace or next((path for path in BASES if path.exists()), None)
    if base is None:
        parser.error("no trace at hand: name one")
    text, size = read(base), options.megabytes * 1_000_000
    if options.ranks is None:
        write(text, size, options.output)
        return
    for rank in range(options.ranks):
        write(as_rank(text, rank), size, options.output / f"rank{rank}.json")


if __name__ == "__main__":
    main()
