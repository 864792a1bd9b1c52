"""Truth files: what a generated job measured of itself, beside the traces of its profiler.

JSON Lines, ``commscope.truth/1`` or its ancestor ``csg-truth/0``: a header, then one line an
operation or step, in any order. Times of operations are microseconds on a clock of the rank's own;
they become int ns, exactly. What a line holds beyond what is read here is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import msgspec

from commscope.errors import CorruptTrace, UnknownFormat, UsageError

SCHEMAS = ("csg-truth/0", "commscope.truth/1")

#: Times beyond this many microseconds (thousands of years) are no times.
_MOST_US = Decimal(1 << 53)


class TruthHeader(msgspec.Struct, frozen=True):
    """Which rank of which job; ``anchor_err_us``: of times by events against those by stamps."""

    schema: str
    rank: int
    world: int
    vendor: str | None = None
    anchor_err_us: float | None = None


class TruthOperation(msgspec.Struct, frozen=True):
    """An operation; ``src`` is how its times are known.

    ``device``: its blocks took them, from the first to begin to the last to end. ``event``: of
    events on its stream before and after it, so that launching and queueing count.
    """

    op: Literal["compute", "collective", "copy"]
    step: int
    name: str
    src: Literal["device", "event"]
    begin_us: Decimal
    end_us: Decimal
    coll: str = ""
    seq: int = -1
    bytes: int = 0

    @property
    def begin_ns(self) -> int:
        """On the clock of the rank's truth."""
        return _ns(self.begin_us)

    @property
    def end_ns(self) -> int:
        """On the clock of the rank's truth."""
        return _ns(self.end_us)


class TruthStep(msgspec.Struct, frozen=True):
    """The partition of a step from its first operation to its last; of warm-up, ``step`` is < 0.

    ``host_begin_ns`` and ``host_end_ns`` are on the host's monotonic clock.
    """

    step: int
    host_begin_ns: int
    host_end_ns: int
    compute_us: Decimal
    comm_us: Decimal
    overlap_us: Decimal
    exposed_comm_us: Decimal
    idle_us: Decimal

    @property
    def is_warmup(self) -> bool:
        """Whether it is of the steps that connect and warm up."""
        return self.step < 0

    @property
    def compute_ns(self) -> int:
        """Computing, whatever else ran."""
        return _ns(self.compute_us)

    @property
    def communication_ns(self) -> int:
        """Communicating, whatever else ran."""
        return _ns(self.comm_us)

    @property
    def hidden_comm_ns(self) -> int:
        """Communicating while computing."""
        return _ns(self.overlap_us)

    @property
    def exposed_comm_ns(self) -> int:
        """Communicating without computing."""
        return _ns(self.exposed_comm_us)


@dataclass(frozen=True, slots=True)
class TruthFile:
    """The truth of one rank."""

    header: TruthHeader
    operations: tuple[TruthOperation, ...]
    steps: tuple[TruthStep, ...]


class _Kind(msgspec.Struct):
    op: Literal["compute", "collective", "copy", "step"]


_HEADER = msgspec.json.Decoder(TruthHeader)
_KIND = msgspec.json.Decoder(_Kind)
_OPERATION = msgspec.json.Decoder(TruthOperation)
_STEP = msgspec.json.Decoder(TruthStep)


def read_truth(path: Path) -> TruthFile:
    """Reads the truth of one rank.

    Raises UsageError where the file cannot be read, UnknownFormat where it is no truth file,
    CorruptTrace where a line is broken, with its number.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    header = _header(path, lines[0] if lines else b"")
    found = list(_rows(path, lines))
    return TruthFile(
        header,
        tuple(row for row in found if isinstance(row, TruthOperation)),
        tuple(row for row in found if isinstance(row, TruthStep)),
    )


def _header(path: Path, line: bytes) -> TruthHeader:
    wanted = " or ".join(SCHEMAS)
    try:
        header = _HEADER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnknownFormat(f"{path}: line 1 is no header of {wanted}: {error}") from error
    if header.schema not in SCHEMAS:
        raise UnknownFormat(f"{path}: schema {header.schema!r}, known are {wanted}")
    return header


def _rows(path: Path, lines: list[bytes]) -> Iterator[TruthOperation | TruthStep]:
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            try:
                yield _row(line)
            except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
                raise CorruptTrace(f"{path}: line {number}: {error}") from error


def _row(line: bytes) -> TruthOperation | TruthStep:
    if _KIND.decode(line).op == "step":
        step = _STEP.decode(line)
        _check(step)
        return step
    operation = _OPERATION.decode(line)
    _check(operation)
    if operation.end_us < operation.begin_us:
        raise ValueError(f"it ends at {operation.end_us} us, before it begins")
    return operation


def _check(row: msgspec.Struct) -> None:
    values: dict[str, Any] = msgspec.structs.asdict(row)
    for name, value in values.items():
        if isinstance(value, Decimal) and not (value.is_finite() and 0 <= value <= _MOST_US):
            raise ValueError(f"{name} {value} is no time")


def _ns(us: Decimal) -> int:
    return round(us * 1000)
