"""What the user said about traces, as text that a saved run keeps, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from commscope.classify import Patterns
from commscope.classify.user import CLASS_NAMES
from commscope.errors import CorruptTrace, UsageError
from commscope.normalize import Options
from commscope.normalize.parts import known_rank
from commscope.normalize.selection import StepSelection
from commscope.parsers.saved.documents import SavedOptions

Roles = Mapping[str, re.Pattern[str]]


def saved_options(options: Options, roles: Roles) -> SavedOptions:
    """The options and the roles of process groups as text."""
    marker, steps = options.step_marker, options.steps
    by_class = {name: getattr(options.patterns, name) for name in CLASS_NAMES}
    patterns = {**by_class, **options.patterns.families}
    return SavedOptions(
        ranks=dict(options.ranks),
        capture=options.capture,
        steps=",".join(f"{first}-{last}" for first, last in steps.ranges) or None,
        skip_first=steps.skip_first,
        step_marker=None if marker is None else marker.pattern,
        patterns={name: tuple(r.pattern for r in regexes) for name, regexes in patterns.items()
                  if regexes},
        roles={name: pattern.pattern for name, pattern in roles.items()},
    )  # fmt: skip


def together(given: SavedOptions, saved: SavedOptions) -> SavedOptions:
    """What is given now, and what a saved run was read with where nothing is."""
    is_chosen = given.steps is not None or given.skip_first
    steps = given if is_chosen else saved
    names = dict.fromkeys((*given.patterns, *saved.patterns))
    return SavedOptions(
        ranks=given.ranks or saved.ranks,
        capture=saved.capture if given.capture is None else given.capture,
        steps=steps.steps,
        skip_first=steps.skip_first,
        step_marker=saved.step_marker if given.step_marker is None else given.step_marker,
        patterns={n: (*given.patterns.get(n, ()), *saved.patterns.get(n, ())) for n in names},
        roles=given.roles or saved.roles,
    )


def options_of(saved: SavedOptions) -> tuple[Options, Roles]:
    """The options and the roles; raises CorruptTrace where a saved run holds what cannot be."""
    try:
        if any(known_rank(rank) is None for rank in saved.ranks):
            raise UsageError("a rank that cannot be")
        if isinstance(saved.capture, str) and saved.capture != "all":
            raise UsageError(f"capture {saved.capture}")
        marker = None if saved.step_marker is None else re.compile(saved.step_marker)
        options = Options(
            patterns=Patterns.of(saved.patterns),
            ranks=saved.ranks,
            capture=saved.capture,
            step_marker=marker,
            steps=StepSelection.parse(saved.steps, max(saved.skip_first, 0)),
        )
        return options, {name: re.compile(pattern) for name, pattern in saved.roles.items()}
    except (UsageError, re.error) as error:
        raise CorruptTrace(f"what a saved run was read with cannot be used: {error}") from error
