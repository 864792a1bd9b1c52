"""Files in which rocprofv3 may have counted: of one process the one that tells most is read.

Processes that counted the same are ranks of one run; those that counted something else are of
another run of the program, whether or not folders of passes keep them apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from commscope.parsers.base import Progress
from commscope.parsers.opening import Source
from commscope.parsers.rocprof_counters import (
    Collected,
    Form,
    Place,
    read_database,
    read_document,
    read_table,
)
from commscope.parsers.rocprof_counters.agents import facts_of_agents
from commscope.parsers.rocprof_counters.table import read_agents


@dataclass(frozen=True, slots=True)
class CollectedFile:
    """A file that may hold counters, and how to read it when its turn comes."""

    source: Source
    place: Place
    form: Form
    progress: Progress
    content: Callable[[], bytes]  #: the whole file

    def collected(self) -> list[Collected]:
        """What each process counted; none where the file holds no counters."""
        if self.form is Form.DATABASE:
            return read_database(self.source, self.progress)
        if self.form is Form.DOCUMENT:
            return read_document(self.source, self.progress)
        found = read_table(self.content(), self.source.label)
        return [found] if len(found.value) else []


@dataclass(frozen=True, slots=True)
class Runs:
    """What was counted, by run, and which files hold none, one sentence each."""

    passes: list[list[Collected]]
    without: list[str]


def runs_of(files: Sequence[CollectedFile]) -> Runs:
    """Reads the files of a folder; what is wrong with one is raised."""
    by_process: defaultdict[Place, list[CollectedFile]] = defaultdict(list)
    for file in files:
        if file.form is not Form.AGENTS:
            by_process[file.place].append(file)
    passes: defaultdict[tuple[str, frozenset[str]], list[Collected]] = defaultdict(list)
    without = []
    for place, views in by_process.items():
        for file in sorted(views, key=lambda file: -file.form):
            found = file.collected()
            for one in found:
                passes[place.run, frozenset(one.counters)].append(one)
            if found:
                break
            without.append(f"{file.source.label}: holds no counters; record with rocprofv3 --pmc")
    return Runs(list(passes.values()), without)


def facts_in(files: Sequence[CollectedFile]) -> dict[str, Any]:
    """Columns of WORKLOADS on which the lists of agents in a folder agree."""
    lists = [read_agents(file.content()) for file in files if file.form is Form.AGENTS]
    return facts_of_agents(agent for agents in lists for agent in agents)
