"""Simulated jobs, written as traces, read back and matched, next to what the simulator knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matched import Matched, match_trace

import commscope
from commscope.columns import Int64, int64
from commscope.generator import Clock, Simulation, Style, instance_truths, write_traces
from commscope.generator.simulation import RankRun


@dataclass(frozen=True)
class Compared:
    """What was found, and for each collective its true instance, wait and start.

    The wait is -1 where a member of the instance is in no file.
    """

    found: Matched
    instance: Int64
    wait_ns: Int64
    start_ns: Int64

    @property
    def is_matched(self) -> np.ndarray:
        return self.found.matching.instance >= 0

    def assert_nothing_wrong(self) -> None:
        """Every instance is a true one, and every wait within the stated error."""
        matching, ok = self.found.matching, self.is_matched
        assert ok.any()
        assert (self.wait_ns[ok] >= 0).all()
        pairs = np.unique(np.stack((matching.instance[ok], self.instance[ok])), axis=1)
        assert len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]
        error = np.zeros(len(matching.first_row), np.int64)
        of_row = matching.clocks.error_ns[self.found.rank]
        np.maximum.at(error, matching.instance[ok], of_row[ok])
        apart = np.abs(matching.wait_ns - self.wait_ns)[ok]
        # A wait is as long as the rank's own clock says, which is up to 20 ppm wrong.
        own = self.wait_ns[ok] // 50_000 + 2
        assert (apart <= error[matching.instance[ok]] + own).all()
        assert sum(matching.left_out.values()) == (~ok).sum()

    def assert_everything_matched(self) -> None:
        """Whatever has all its members in the files is matched, rightly."""
        self.assert_nothing_wrong()
        assert np.array_equal(self.is_matched, self.wait_ns >= 0)
        outside = self.found.matching.left_out["partner outside the files"]
        assert outside == (self.wait_ns < 0).sum()

    def clock_errors_ns(self) -> list[int]:
        """How far each rank's clock, as corrected, is from that of the first rank, at most."""
        ahead = self.found.matching.arrival_ns - self.start_ns
        first = int(np.median(ahead[self.found.rank == 0]))
        ranks = np.unique(self.found.rank)
        return [int(np.abs(ahead[self.found.rank == rank] - first).max()) for rank in ranks]


def compare(
    simulation: Simulation,
    folder: Path,
    style: Style | None = None,
    clocks: Mapping[str, Clock] | None = None,
    hosts: Sequence[str | None] | None = None,
) -> Compared:
    """Writes, reads and matches; ``hosts`` are told to the matching."""
    write_traces(simulation, folder, style or Style(), clocks)
    found = match_trace(commscope.load(folder), hosts)
    times = found.analysis.collectives
    events = found.analysis.trace.events.take(times.column("event"))
    keys = list(zip(int64(times, "rank").tolist(), int64(events, "correlation").tolist()))
    true = {
        (rank, activity.correlation): activity
        for rank, run in enumerate(simulation.ranks)
        for activity in run.activities
    }
    waits = {
        (truth.index, member.rank): member.wait_ns
        for truth in instance_truths(simulation)
        for member in truth.members
    }
    instance = np.array([true[key].instance for key in keys])
    wait = [waits.get((index, rank), -1) for index, (rank, _) in zip(instance.tolist(), keys)]
    start = np.array([true[key].start_ns for key in keys])
    return Compared(found, instance, np.array(wait), start)


def without(simulation: Simulation, lost: Mapping[int, Sequence[int]]) -> Simulation:
    """The simulation as it would be recorded if some collectives of ranks were lost."""
    runs = [_without(run, lost.get(rank, ())) for rank, run in enumerate(simulation.ranks)]
    return replace(simulation, ranks=tuple(runs))


def _without(run: RankRun, lost: Sequence[int]) -> RankRun:
    ops = sorted(
        (a for a in run.activities if a.instance is not None), key=lambda a: (a.start_ns, a.end_ns)
    )
    gone = {ops[number].correlation for number in lost}
    return replace(run, activities=tuple(a for a in run.activities if a.correlation not in gone))
