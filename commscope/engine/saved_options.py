"""What the user said about traces, as a saved run keeps it, and back.

Of regular expressions the names that they fit are kept, and used again in their stead: an
expression that another wrote may run for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from commscope.analysis.roles import group_text
from commscope.classify import Expression, FoundNames, Patterns
from commscope.classify.kernel_name import EXAMINED
from commscope.classify.user import CLASS_NAMES
from commscope.columns import codes, where_equal
from commscope.engine.run import Roles, Run
from commscope.errors import CorruptTrace, UsageError
from commscope.normalize import Options
from commscope.normalize.parts import known_rank
from commscope.normalize.selection import StepSelection
from commscope.parsers.base import Reading
from commscope.parsers.saved.documents import SavedGroups, SavedNames, SavedOptions

_Group = tuple["str | None", "str | None"]


def saved_options(run: Run) -> SavedOptions:
    """The options and the roles of process groups that a run is analysed with."""
    options, steps = run.options, run.options.steps
    patterns = _patterns(options.patterns)
    kernels = _kernels(run.readings) if patterns else []
    marker = options.step_marker
    groups = _groups(run) if run.roles else []
    return SavedOptions(
        ranks=dict(options.ranks),
        capture=options.capture,
        steps=",".join(f"{first}-{last}" for first, last in steps.ranges) or None,
        skip_first=steps.skip_first,
        step_marker=None if marker is None else _fitting(marker, _annotations(run.readings)),
        patterns={
            name: tuple(_fitting(one, kernels) for one in expressions)
            for name, expressions in patterns.items()
        },
        roles={name: _groups_fitting(one, groups) for name, one in run.roles.items()},
    )


def with_options(run: Run, options: Options, roles: Roles) -> Run:
    """The run with what is said now, and what it was saved with where nothing is."""
    saved = run.options
    return replace(
        run,
        options=Options(
            patterns=options.patterns.with_others(saved.patterns),
            ranks=options.ranks or saved.ranks,
            capture=saved.capture if options.capture is None else options.capture,
            step_marker=options.step_marker or saved.step_marker,
            steps=options.steps if options.steps.is_active else saved.steps,
        ),
        roles=roles or run.roles,
    )


def options_of(saved: SavedOptions) -> tuple[Options, Roles]:
    """The options and the roles; raises CorruptTrace where a saved run holds what cannot be."""
    try:
        if any(known_rank(rank) is None for rank in saved.ranks):
            raise UsageError("a rank that cannot be")
        if isinstance(saved.capture, str) and saved.capture != "all":
            raise UsageError(f"capture {saved.capture}")
        options = Options(
            patterns=Patterns.by_name(
                {name: tuple(map(_found, found)) for name, found in saved.patterns.items()}
            ),
            ranks=saved.ranks,
            capture=saved.capture,
            step_marker=None if saved.step_marker is None else _found(saved.step_marker),
            steps=StepSelection.parse(saved.steps, max(saved.skip_first, 0)),
        )
    except UsageError as error:
        raise CorruptTrace(f"what a saved run was read with cannot be used: {error}") from error
    return options, {name: _found_groups(found) for name, found in saved.roles.items()}


def _patterns(patterns: Patterns) -> Mapping[str, Sequence[Expression]]:
    """The expressions of each class and family that has any."""
    by_class = {name: getattr(patterns, name) for name in CLASS_NAMES}
    return {name: them for name, them in {**by_class, **patterns.families}.items() if them}


def _fitting(expression: Expression, names: Iterable[str]) -> SavedNames:
    return SavedNames(expression.pattern, tuple(filter(expression.search, names)))


def _groups_fitting(expression: Expression, groups: Iterable[_Group]) -> SavedGroups:
    fitting = (group for group in groups if expression.search(group_text(*group)))
    return SavedGroups(expression.pattern, tuple(fitting))


def _found(saved: SavedNames) -> FoundNames:
    return FoundNames(saved.pattern, frozenset(saved.names))


def _found_groups(saved: SavedGroups) -> FoundNames:
    return FoundNames(saved.pattern, frozenset(group_text(*group) for group in saved.groups))


def _kernels(readings: Sequence[Reading]) -> list[str]:
    """The names of all activities, as far as patterns look at them."""
    names = {name for reading in readings for name in _words(reading.events)}
    return sorted({name[:EXAMINED] for name in names})


def _annotations(readings: Sequence[Reading]) -> list[str]:
    hosts = [reading.host for reading in readings]
    marked = [host.filter(pa.array(where_equal(host, "kind", "annotation"))) for host in hosts]
    return sorted({name for host in marked for name in _words(host)})


def _words(table: pa.Table) -> list[str]:
    """The names that any row has."""
    rows, words = codes(table, "name")
    return [words[code] for code in np.unique(rows[rows >= 0]).tolist()]


def _groups(run: Run) -> list[_Group]:
    """Name and description of every process group that an analysis may find in the run.

    It may know the name of one from logs, or from other collectives of its stream.
    """
    told = {group for reading in run.readings for group in _told(reading.collectives)}
    names = {name for name, _ in told} | {None}
    if run.logs is not None:
        names |= set(codes(run.logs.tables["COMMS"], "comm_id")[1])
    nameless = {description for name, description in told if name is None} | {None}
    found = told | {(name, description) for name in names for description in nameless}
    return sorted(found, key=lambda group: group_text(*group))


def _told(collectives: pa.Table) -> list[_Group]:
    (names, words), (descriptions, texts) = (
        codes(collectives, column) for column in ("comm", "description")
    )
    pairs = np.unique(np.stack((names, descriptions)), axis=1)
    return [
        (None if name < 0 else words[name], None if text < 0 else texts[text])
        for name, text in pairs.T.tolist()
    ]
