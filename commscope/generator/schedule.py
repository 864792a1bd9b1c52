"""What every rank of a job does, as data: communicators, hosts, and a program for each rank.

A program is the list of what the host issues, one after the other. Device work goes to streams,
named by words; each is an in-order queue. The same schedule is simulated, and played on GPUs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from commscope.errors import UsageError
from commscope.generator.dtypes import DEFAULT, DTYPES

#: No member of these ends before the last one has arrived.
SYNCHRONISING = frozenset({"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier"})
#: From the root to all others, and from all others to the root.
FROM_ROOT = frozenset({"broadcast", "scatter"})
TO_ROOT = frozenset({"reduce", "gather"})
COLLECTIVE_OPS = SYNCHRONISING | FROM_ROOT | TO_ROOT
DIRECTIONS = ("h2d", "d2h")
#: The host goes on during a copy of pinned memory, and waits for one of pageable memory.
MEMORIES = ("pinned", "pageable")
#: What records a range of the host: a label of the program, an operator, a Python function.
CATEGORIES = ("user_annotation", "cpu_op", "python_function")


class ScheduleError(UsageError):
    """A schedule cannot be read, or not be carried out."""


@dataclass(frozen=True, slots=True)
class Step:
    """Begins a step."""

    number: int


@dataclass(frozen=True, slots=True)
class EndStep:
    """Ends the step."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """The host does something else for a time."""

    duration_ns: int


@dataclass(frozen=True, slots=True)
class Push:
    """Begins a labelled range of the host; ranges nest."""

    label: str
    category: str = "user_annotation"


@dataclass(frozen=True, slots=True)
class Pop:
    """Ends the labelled range begun last."""


@dataclass(frozen=True, slots=True)
class Compute:
    """A kernel; ``kind`` is what it does (fwd, bwd, opt), ``layer`` for what, if that is known."""

    stream: str
    kind: str
    duration_ns: int
    layer: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """The event happens when what was issued to the stream so far has ended."""

    stream: str
    event: str


@dataclass(frozen=True, slots=True)
class Wait:
    """What is issued to the stream from now on begins after the event, as it was recorded last."""

    stream: str
    event: str


@dataclass(frozen=True, slots=True)
class Collective:
    """An operation of all members of a communicator.

    ``size_bytes`` is counted as for ``bytes`` in the reports: the total for all_gather and
    reduce_scatter. ``seq`` is checked where given, ``root`` is a rank, ``transfer_ns`` is used
    instead of what the size takes. ``shares`` are the bytes that every member sends to each, of an
    all_to_all that is uneven.
    """

    stream: str
    communicator: str
    op: str
    size_bytes: int
    seq: int | None = None
    root: int | None = None
    transfer_ns: int | None = None
    shares: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Send:
    """A message to a member of the communicator."""

    stream: str
    communicator: str
    peer: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Receive:
    """A message from a member of the communicator."""

    stream: str
    communicator: str
    peer: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy between host and device."""

    stream: str
    direction: str
    size_bytes: int
    memory: str = "pinned"


@dataclass(frozen=True, slots=True)
class Sync:
    """The host waits until all that it issued has ended."""


@dataclass(frozen=True, slots=True)
class StreamSync:
    """The host waits until all that it issued to the stream has ended."""

    stream: str


@dataclass(frozen=True, slots=True)
class EventSync:
    """The host waits until the event, as it was recorded last, has happened."""

    event: str


@dataclass(frozen=True, slots=True)
class Query:
    """The host asks again and again, once in ``every_ns``, until the event has happened."""

    event: str
    every_ns: int


@dataclass(frozen=True, slots=True)
class Allocate:
    """The host gets device memory from the driver."""

    size_bytes: int
    duration_ns: int


@dataclass(frozen=True, slots=True)
class Free:
    """The host gives device memory back to the driver, which first waits for the device."""

    duration_ns: int


Communication = Collective | Send | Receive
DeviceOperation = Compute | Copy | Communication
HostWait = Sync | StreamSync | EventSync | Query
HostOperation = Step | EndStep | Sleep | Push | Pop | Record | Wait | Allocate | Free | HostWait
Operation = HostOperation | DeviceOperation
Program = tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Communicator:
    """A process group: its members in the order of their ranks in it."""

    name: str
    members: tuple[int, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A job: ``programs[r]`` is what rank r does, on the host ``hosts[r]``.

    Its collectives send elements of the type ``dtype``, one of ``dtypes.DTYPES``.
    Raises ScheduleError where communicators, ranks and operations do not fit together.
    """

    programs: tuple[Program, ...]
    hosts: tuple[str, ...]
    communicators: dict[str, Communicator] = field(default_factory=dict)
    dtype: str = DEFAULT

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ScheduleError(f"no type is called {self.dtype}; types: {', '.join(DTYPES)}")
        if len(self.hosts) != len(self.programs):
            raise ScheduleError(f"{len(self.programs)} programs, but {len(self.hosts)} hosts")
        for communicator in self.communicators.values():
            self._check_members(communicator)
        for rank, program in enumerate(self.programs):
            for number, operation in enumerate(program):
                problem = self._problem(rank, operation)
                if problem:
                    raise ScheduleError(f"rank {rank}, operation {number}: {problem}")

    def local_rank(self, rank: int) -> int:
        """Number of the rank among those of its host."""
        return self.hosts[:rank].count(self.hosts[rank])

    def _check_members(self, communicator: Communicator) -> None:
        members = communicator.members
        known = set(members) <= set(range(len(self.programs)))
        if not members or not known or len(set(members)) < len(members):
            raise ScheduleError(
                f"communicator {communicator.name}: members {list(members)} are not distinct ranks "
                f"from 0 to {len(self.programs) - 1}"
            )

    def _problem(self, rank: int, operation: Operation) -> str | None:
        if isinstance(operation, Communication):
            return self._communication_problem(rank, operation)
        if isinstance(operation, (Compute, Sleep, Allocate, Free)) and operation.duration_ns < 0:
            return f"a duration of {operation.duration_ns} ns"
        if isinstance(operation, Query) and operation.every_ns <= 0:
            return f"a query every {operation.every_ns} ns"
        if isinstance(operation, Push) and operation.category not in CATEGORIES:
            return f"a label of the category {operation.category}; it is {_one_of(CATEGORIES)}"
        return _copy_problem(operation) if isinstance(operation, Copy) else None

    def _communication_problem(self, rank: int, operation: Communication) -> str | None:
        communicator = self.communicators.get(operation.communicator)
        if communicator is None or rank not in communicator.members:
            return f"is no member of a communicator {operation.communicator}"
        if operation.size_bytes < 0:
            return f"a size of {operation.size_bytes} bytes"
        if isinstance(operation, Collective):
            return _collective_problem(operation, communicator)
        if operation.peer == rank or operation.peer not in communicator.members:
            return f"rank {operation.peer} is no peer in communicator {communicator.name}"
        return None


def _copy_problem(operation: Copy) -> str | None:
    if operation.direction not in DIRECTIONS:
        return f"a copy in the direction {operation.direction}; it is {_one_of(DIRECTIONS)}"
    if operation.memory not in MEMORIES:
        return f"a copy of {operation.memory} memory; it is {_one_of(MEMORIES)}"
    return None


def _one_of(words: tuple[str, ...]) -> str:
    return " or ".join(words)


def _collective_problem(operation: Collective, communicator: Communicator) -> str | None:
    if operation.op not in COLLECTIVE_OPS:
        return f"no collective is called {operation.op}"
    has_root = operation.op in FROM_ROOT | TO_ROOT
    if has_root and operation.root not in communicator.members:
        return f"{operation.op} needs a member of {communicator.name} as root"
    if not has_root and operation.root is not None:
        return f"{operation.op} has no root"
    return _shares_problem(operation, communicator) if operation.shares else None


def _shares_problem(operation: Collective, communicator: Communicator) -> str | None:
    shares = operation.shares
    if operation.op != "all_to_all":
        return f"{operation.op} has no shares"
    if len(shares) != len(communicator.members) or min(shares) < 0:
        return f"shares {list(shares)}, but {len(communicator.members)} members"
    if sum(shares) != operation.size_bytes:
        return f"shares of {sum(shares)} bytes in all, but a size of {operation.size_bytes}"
    return None


def op_of(operation: Communication) -> str:
    """The operation of a collective; of messages ``send`` or ``recv``."""
    if isinstance(operation, Collective):
        return operation.op
    return "send" if isinstance(operation, Send) else "recv"


def communicators(given: Iterable[Communicator]) -> dict[str, Communicator]:
    """Communicators by name; raises ScheduleError where two have the same."""
    found: dict[str, Communicator] = {}
    for communicator in given:
        if communicator.name in found:
            raise ScheduleError(f"two communicators are called {communicator.name}")
        found[communicator.name] = communicator
    return found
