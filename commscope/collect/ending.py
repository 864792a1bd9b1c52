"""What is kept once the job has ended: logs, facts of the host, how it ended; and the report."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from commscope.collect import host_facts, logs
from commscope.collect.options import RunOptions
from commscope.collect.preparing import Prepared
from commscope.collect.profiling.options import ProfileOptions
from commscope.collect.report import can_report, make_report
from commscope.collect.run_folder import STATUS, NodeFolder, iso_time, write_json
from commscope.collect.signals import Patience, Signals
from commscope.collect.told import Told, reason, say
from commscope.collect.variables import users_log_files
from commscope.collect.watching import Ended

#: Seconds after which all that is left to do is cut short, once somebody has asked to end: Slurm
#: kills all processes 30 s after it has asked.
_BOUND_S = 12.0
#: Seconds that a tool of the host may take, and all of them together.
_TOOL_S = 5.0
_TOOLS_S = 20.0


def finish(job: Prepared, options: RunOptions, ended: Ended, signals: Signals, told: Told) -> None:
    """Fills the node's folder, and has the report made where that is wanted and can be done.

    What cannot be kept is told, in one line.
    """
    patience = Patience(signals, _BOUND_S, asked=ended.asked)
    if job.node is None:
        return
    keeping = _Keeping(job, job.node, patience, _of_profiling(job, options.profile, told))
    is_complete = keeping.keep(ended, told.problems)
    told.tell_first(keeping.problems)
    if is_complete:
        _report(job.node, options, signals, patience)


def _of_profiling(job: Prepared, options: ProfileOptions, told: Told) -> list[str]:
    """What is still to be told of a profiler that was made ready; its processes told the rest."""
    if job.told is None or job.node is None:
        return []
    from commscope.collect.profiling.missing import missing_traces  # noqa: PLC0415
    from commscope.collect.profiling.prepare import told_inside  # noqa: PLC0415

    inside = told_inside(job.told)
    told.problems.extend(inside)
    return missing_traces(options, job.node.traces, job.told, job.place, explained=bool(inside))


def _report(node: NodeFolder, options: RunOptions, signals: Signals, patience: Patience) -> None:
    if options.no_analyze or not can_report():
        say(f"the run is in {node.run}; to report on it: commscope analyze {node.run}")
        return
    failed = make_report(node, options.wait, signals, patience)
    if failed is not None:
        say(f"the report {failed}; to make it again: commscope analyze {node.run}")


@dataclass(frozen=True)
class _Keeping:
    """The filling of a node's folder, and what goes wrong with it."""

    job: Prepared
    node: NodeFolder
    patience: Patience
    problems: list[str]

    def keep(self, ended: Ended, problems_before: Sequence[str]) -> bool:
        """Keeps all; whether the folder is complete."""
        if not self.node.path.is_dir():
            self.problems[:] = [f"{self.node.path} has vanished{self._where_logs_are()}"]
            return False
        self._keep_logs()
        self._keep_host()
        status = _status(ended, [*problems_before, *self.problems])
        return self._done(self.node.path / STATUS, lambda path: write_json(path, status))

    def _done(self, path: Path, write: Callable[[Path], object]) -> bool:
        """Whether something could be written; if not, the problem is noted."""
        try:
            write(path)
        except OSError as error:
            self.problems.append(f"{path} cannot be written ({reason(error)})")
            return False
        return True

    def _keep_logs(self) -> None:
        """Moves the logs; the temporary folder goes, unless some have to stay in it."""
        if not self._done(self.node.logs, self._gather):
            self.problems[-1] += self._where_logs_are()
        elif self.job.scratch is not None:
            logs.remove_folder(self.job.scratch)

    def _gather(self, target: Path) -> None:
        if self.job.logs is not None and self.job.logs_locally:
            logs.gather(self.job.logs, target, self.patience.over)
        users = users_log_files(self.job.environment, self.job.host)
        if users is not None and users[0] != self.job.logs:
            logs.gather_users(*users, self.job.began_ns, target, self.patience.over)

    def _where_logs_are(self) -> str:
        """Where the logs are that were not moved; empty where there are none."""
        folder = self.job.logs
        if folder is None or not self.job.logs_locally or not logs.has_files(folder):
            return ""
        return f"; logs stay in {folder}"

    def _keep_host(self) -> None:
        """Saves what tells of the host, once a host."""
        if self.job.place.local == 0:
            tools = self._tools_in_time()
            self._done(
                self.node.environment,
                lambda path: host_facts.collect(path, timeout_s=_TOOL_S, tools=tools),
            )

    def _tools_in_time(self) -> Iterator[host_facts.Tool]:
        """The tools, as long as there is time for them and nobody asks to end."""
        end = time.monotonic() + _TOOLS_S
        for tool in host_facts.TOOLS:
            if self.patience.asked() or time.monotonic() >= end:
                return
            yield tool


def _status(ended: Ended, problems: Sequence[str]) -> Mapping[str, object]:
    """``exit_code`` is what a shell shows: 128 and its number for a signal."""
    code = ended.code
    return {
        "exit_code": code if code >= 0 else 128 - code,
        "signal": None if code >= 0 else _signal_name(-code),
        "ended": iso_time(),
        "hung": ended.hanging is not None,
        "hanging": [asdict(it) for it in ended.hanging or ()],
        "problems": list(problems),
    }


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one of those for real-time use
        return f"signal {number}"
