"""Makes a large trace of a real one, by repeating it in time.

    python benchmarks/make_traces.py --megabytes 200 --output trace.json [TRACE]

The events of the trace (JSON or JSON.gz, as the PyTorch profiler writes it) are laid end to end
until the file has the size. Each tile is later than the one before and has identifiers and step
numbers of its own, so the result is one long recording of one process. Only those numbers change:
the text of an event, down to the fraction of its time stamp, stays as the profiler wrote it.
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the trace that the command line asks for."""
    parser = argparse.ArgumentParser(description="Make a large trace by repeating a real one.")
    parser.add_argument("trace", nargs="?", type=Path, help="default: the first of these at hand")
    parser.add_argument("--megabytes", type=int, required=True, help="size to reach, in 10^6 bytes")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    base = options.trace or next((path for path in BASES if path.exists()), None)
    if base is None:
        parser.error("no trace at hand: name one")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = options.output.with_suffix(".part")
    with unfinished.open("wb") as file:
        file.writelines(tiles(read(base), options.megabytes * 1_000_000))
    unfinished.replace(options.output)
    print(f"{options.output}: {options.output.stat().st_size:,} bytes of {base.name}")


if __name__ == "__main__":
    main()
