"""Which process is which rank, and which communicator of the logs which of the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from job_logs import JobLog
from log_samples import read_text
from rule_cases import Collective, Job, Kernel, trace_of

from commscope.analysis.result import Analysis, analyse
from commscope.joined.result import Joined, join
from commscope.joined.transports import Route

WORLD, PAIRS = (0, 1, 2, 3), ((0, 1), (2, 3))


def collective(
    comm: str, members: Sequence[int], size: int = 1_000_000, op: str = "all_reduce"
) -> Job:
    """A job of four ranks, whose members run one collective a step."""
    mine = Collective(100, 200, 2, size, op, comm=comm, members=tuple(members))
    every = [Kernel(10, 100, 1), Kernel(200, 1010, 3)]
    return Job([[*every[:1], mine, *every[1:]] if r in members else every for r in range(4)])


def analysed(job: Job, **told: Sequence[Any]) -> Analysis:
    """The job's analysis; ``told`` are columns of the table of ranks."""
    trace = trace_of(job)
    ranks = trace.ranks
    for name, values in told.items():
        place = ranks.schema.get_field_index(name)
        field = ranks.schema.field(place)
        ranks = ranks.set_column(place, field, pa.array(values, field.type))
    return analyse(replace(trace, ranks=ranks))


def joined(job: Job, log: JobLog | str, **told: Sequence[Any]) -> Joined:
    return join(analysed(job, **told), read_text(str(log).encode()))


def numbers(found: Joined) -> list[str | None]:
    """The name in the logs of each communicator of the trace."""
    return [
        None if group.number is None else found.grouped.communicators[group.number].name
        for group in found.groups
    ]


def test_processes_are_found_by_their_ids() -> None:
    found = joined(collective("0", WORLD), JobLog((WORLD,)), pid=[100, 101, 102, 103])
    assert found.processes.by == "process id"
    assert found.processes.comms == ((0,), (1,), (2,), (3,))


def test_without_ids_they_are_found_by_rank_where_all_are_there() -> None:
    found = joined(collective("0", WORLD), JobLog((WORLD,)))
    assert (found.processes.by, found.processes.comms) == ("rank", ((0,), (1,), (2,), (3,)))
    of_two = joined(collective("0", WORLD), JobLog(((0, 1),)))
    assert of_two.processes.by == "nothing"
    of_more = joined(collective("0", WORLD), JobLog((WORLD,)), world_size=[8] * 4)
    assert of_more.processes.by == "nothing"


def test_ids_that_are_none_of_the_trace_s_are_of_another_run() -> None:
    found = joined(collective("0", WORLD), JobLog((WORLD,)), pid=[1, 2, 3, 4])
    (note,) = found.processes.notes
    assert note == (
        "the logs are of another run: their processes are 100, 101, 102 and 1 more, "
        "those of the trace 1, 2, 3 and 1 more"
    )
    assert not found.is_joined


def test_a_rank_without_a_process_is_named() -> None:
    log = "\n".join(line for line in str(JobLog((WORLD,))).split("\n") if ":102:" not in line)
    found = joined(collective("0", WORLD), log, pid=[100, 101, 102, 103])
    assert found.processes.notes == ("the logs hold no process of rank 2",)
    assert found.processes.found == 3
    assert found.is_joined


def test_equal_ids_on_two_hosts_are_told_apart_by_host_or_by_rank() -> None:
    log = str(JobLog((WORLD,), host=lambda rank: "ab"[rank // 2]))
    for rank in (2, 3):
        log = log.replace(f":{100 + rank}:{100 + rank} ", f":{98 + rank}:{98 + rank} ")
    pids = [100, 101, 100, 101]
    job = collective("0", WORLD)
    by_host = joined(job, log, pid=pids, host=["a.cluster", "a", "b", "b"])
    by_rank = joined(job, log, pid=pids, world_size=[4] * 4)
    neither = joined(job, log, pid=pids)
    expected = ((0,), (1,), (2,), (3,))
    assert by_host.processes.comms == by_rank.processes.comms == expected
    assert neither.processes.found == 0


def test_one_process_with_several_ranks_is_split_by_device() -> None:
    log = str(JobLog((WORLD,)))
    for rank in range(4):
        log = log.replace(f":{100 + rank}:{100 + rank} ", f":100:{100 + rank} ")
    found = joined(collective("0", WORLD), log, pid=[100] * 4, world_size=[4] * 4)
    assert found.processes.comms == ((0,), (1,), (2,), (3,))


def test_communicators_are_told_apart_by_members() -> None:
    log = JobLog((WORLD, *PAIRS))
    assert numbers(joined(collective("tp", PAIRS[1]), log)) == ["0x3a"]
    assert numbers(joined(collective("0", WORLD), log)) == ["0x1a"]


def test_members_in_another_order_are_another_communicator() -> None:
    log = JobLog((WORLD, (3, 2)))
    (group,) = joined(collective("tp", PAIRS[1]), log).groups
    assert (group.number, group.note) == (None, "none of the logs has 2 ranks in its order")


def test_of_two_with_the_same_members_the_one_that_made_the_calls() -> None:
    log = JobLog((PAIRS[0], PAIRS[0], WORLD), calls=[("all_reduce", 1_000_000)])
    assert numbers(joined(collective("tp", PAIRS[0]), log)) == ["0x1a"]
    (group,) = joined(collective("tp", PAIRS[0], 7), log).groups
    assert group.note == "2 of the logs fit: their sizes tell them not apart"


def route_of(found: Joined) -> Route:
    """The route of all collectives; each rank's is told by a line of its own."""
    routes = [replace(found.routes[number], line=0) for number in found.route.tolist()]
    assert len(set(routes)) == 1
    return routes[0]


def test_a_route_is_what_the_rank_itself_sends_over() -> None:
    log = str(JobLog((PAIRS[0], WORLD), via="NET/IB/3/GDRDMA"))
    assert str(route_of(joined(collective("tp", PAIRS[0]), log))) == "NET/IB (network)"
    found = joined(collective("tp", PAIRS[0]), log.replace("/GDRDMA", ""))
    assert (route_of(found).gpu_direct, route_of(found).net_devices) == (False, (3,))


def test_messages_have_connections_of_their_own() -> None:
    log = str(JobLog((PAIRS[0], WORLD), link="NVL"))
    shared = log.replace("Channel 00/0", "Channel 00/1").replace("P2P/IPC", "SHM/direct/direct")
    both = log + "\n".join(line for line in shared.split("\n") if "via" in line) + "\n"
    reduced = joined(collective("tp", PAIRS[0]), both)
    sent = joined(collective("tp", PAIRS[0], op="all_to_all"), both)
    assert str(route_of(reduced)) == "P2P/IPC (NVLink)"
    assert str(route_of(sent)) == "SHM (host memory)"


def test_an_all_to_all_may_be_logged_as_sends() -> None:
    log = JobLog((PAIRS[0], WORLD), calls=[("send", 500_000)] * 2)
    (found,) = joined(collective("tp", PAIRS[0], 1_000_000, "all_to_all"), log).classes.found
    assert (found.shown, found.logged, found.note) == (8, 4, "")


def test_choices_are_found_by_the_size_that_the_version_prints() -> None:
    tuned = "Algo RING proto LL128 channel{Lo..Hi}={0..3}"
    for size in (500_000, 1_000_000):
        log = JobLog((PAIRS[0], WORLD), calls=[("all_gather", size)], tuned=tuned)
        found = joined(collective("tp", PAIRS[0], 1_000_000, "all_gather"), log)
        (choice,) = found.classes.found[0].choices
        assert (choice.algorithm, choice.protocol, choice.last_channel) == ("ring", "ll128", 3)
        assert choice.count == 2
