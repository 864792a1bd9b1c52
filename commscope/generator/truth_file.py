"""Truth files: what a generated job measured of itself, beside the traces of its profiler.

JSON Lines, ``commscope.truth/1`` or its ancestor ``csg-truth/0``: a header, then one line an
operation, in the order in which they were issued, one a step, and one a planned cause. Times of
operations are microseconds on a clock of the rank's own; they become int ns, exactly. What a line
holds beyond what is read here is ignored.
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
#: Nor are nanoseconds that do not fit into 63 bits; counts and sizes are smaller, too.
_MOST = 1 << 62


class TruthClock(msgspec.Struct, frozen=True):
    """The clocks of the host, read together."""

    realtime_ns: int
    boottime_ns: int
    monotonic_ns: int


class TruthHeader(msgspec.Struct, frozen=True):
    """Which rank of which job; ``anchor_err_us``: of times by events against those by stamps.

    Times of operations count from ``clock.monotonic_ns``, but in ``csg-truth/0``, which does not
    say from when. ``steps`` and ``warmup`` are how many steps the job has.
    """

    schema: str
    rank: int
    world: int
    vendor: str | None = None
    anchor_err_us: float | None = None
    scenario: str | None = None
    engine: str | None = None
    backend: str | None = None
    clock: TruthClock | None = None
    steps: int | None = None
    warmup: int | None = None
    plan: dict[str, Any] = {}

    @property
    def is_simulated(self) -> bool:
        """Whether nothing ran: all of it is exact."""
        return self.engine == "simulate"

    @property
    def is_crowded(self) -> bool:
        """Whether matrix products filled a GPU, so that mocks had to wait for room on it."""
        return self.engine == "hip" and self.plan.get("compute") == "gemm"

    @property
    def tells_begin(self) -> bool:
        """Whether it is known from when times of operations count."""
        return self.clock is not None and self.schema != SCHEMAS[0]


class TruthOperation(msgspec.Struct, frozen=True):
    """An operation; ``src`` is how its times are known.

    ``device``: its blocks took them, from the first to begin to the last to end. ``event``: of
    events on its stream before and after it, so that launching and queueing count. ``host_ns`` is
    when the host issued it, on its monotonic clock; ``wait_us`` how long it waited for the other
    members, null where that is not known; ``step`` is null outside of steps.
    """

    op: Literal["compute", "collective", "copy"]
    step: int | None
    name: str
    src: Literal["device", "event"]
    begin_us: Decimal
    end_us: Decimal
    coll: str = ""
    comm: str = ""
    seq: int = -1
    bytes: int = 0
    host_ns: int | None = None
    wait_us: Decimal | None = None

    @property
    def begin_ns(self) -> int:
        """On the clock of the rank's truth."""
        return _ns(self.begin_us)

    @property
    def end_ns(self) -> int:
        """On the clock of the rank's truth."""
        return _ns(self.end_us)

    @property
    def wait_ns(self) -> int | None:
        """Waiting for the other members."""
        return None if self.wait_us is None else _ns(self.wait_us)


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
    span_us: Decimal
    exposed_wait_us: Decimal | None = None
    exposed_copy_us: Decimal | None = None

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

    @property
    def exposed_wait_ns(self) -> int | None:
        """Of that, waiting for other ranks; null where that is not known."""
        return None if self.exposed_wait_us is None else _ns(self.exposed_wait_us)

    @property
    def idle_ns(self) -> int:
        """Neither computing, nor communicating, nor copying."""
        return _ns(self.idle_us)

    @property
    def window_ns(self) -> int:
        """All of the step on the device."""
        return _ns(self.span_us)

    @property
    def exposed_copy_ns(self) -> int:
        """Copying without computing or communicating: as told, else what the other parts leave."""
        if self.exposed_copy_us is not None:
            return _ns(self.exposed_copy_us)
        return self.window_ns - self.compute_ns - self.exposed_comm_ns - self.idle_ns


class TruthCause(msgspec.Struct, frozen=True):
    """What was planned to be wrong: the rule that names it, and who does what in which step."""

    rule: str
    rank: int | None = None
    did: str = ""
    step: int | None = None


class TruthMessages(msgspec.Struct, frozen=True):
    """How many collectives or messages of a kind, and their bytes together."""

    count: int
    bytes: int


class TruthHostStep(msgspec.Struct, frozen=True):
    """A step of which only the host's times are known, and what it communicates by operation.

    Of jobs that are not played but written in PyTorch; operations that are not known are left out.
    """

    step: int
    host_begin_ns: int
    host_end_ns: int
    collectives: dict[str, TruthMessages] = {}

    @property
    def is_warmup(self) -> bool:
        """Whether it is of the steps that connect and warm up."""
        return self.step < 0


@dataclass(frozen=True, slots=True)
class TruthFile:
    """The truth of one rank; steps are of the device, or else ``host_steps`` are there."""

    header: TruthHeader
    operations: tuple[TruthOperation, ...]
    steps: tuple[TruthStep, ...]
    causes: tuple[TruthCause, ...] = ()
    host_steps: tuple[TruthHostStep, ...] = ()

    @property
    def on_host(self) -> tuple[TruthStep | TruthHostStep, ...]:
        """The steps, with the host's times."""
        return self.steps or self.host_steps


_Line = TruthOperation | TruthStep | TruthCause | TruthHostStep


class _Kind(msgspec.Struct):
    op: Literal["compute", "collective", "copy", "step", "cause", "host_step"]


_HEADER = msgspec.json.Decoder(TruthHeader)
_KIND = msgspec.json.Decoder(_Kind)
_OPERATION = msgspec.json.Decoder(TruthOperation)
_OTHERS: dict[str, msgspec.json.Decoder[Any]] = {
    "step": msgspec.json.Decoder(TruthStep),
    "cause": msgspec.json.Decoder(TruthCause),
    "host_step": msgspec.json.Decoder(TruthHostStep),
}


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
        tuple(row for row in found if isinstance(row, TruthCause)),
        tuple(row for row in found if isinstance(row, TruthHostStep)),
    )


def _header(path: Path, line: bytes) -> TruthHeader:
    wanted = " or ".join(SCHEMAS)
    try:
        header = _HEADER.decode(line)
        _check(header)
        if header.clock is not None:
            _check(header.clock)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise UnknownFormat(f"{path}: line 1 is no header of {wanted}: {error}") from error
    if header.schema not in SCHEMAS:
        raise UnknownFormat(f"{path}: schema {header.schema!r}, known are {wanted}")
    return header


def _rows(path: Path, lines: list[bytes]) -> Iterator[_Line]:
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            try:
                yield _row(line)
            except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
                raise CorruptTrace(f"{path}: line {number}: {error}") from error


def _row(line: bytes) -> _Line:
    kind = _KIND.decode(line).op
    if kind in _OTHERS:
        row: _Line = _OTHERS[kind].decode(line)
        _check(row)
        return row
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
        if isinstance(value, int) and abs(value) > _MOST:
            raise ValueError(f"{name} is larger than anything that is counted or timed")


def _ns(us: Decimal) -> int:
    return round(us * 1000)
