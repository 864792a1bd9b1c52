"""Thresholds that the user sets: ``RULE.NAME=VALUE``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from commscope.errors import UsageError
from commscope.findings.rule import AnyRule


def parse_limits(given: Iterable[str]) -> dict[str, float]:
    """Reads ``C1.min_share=0.7``; raises UsageError on anything else."""
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise UsageError(
                f"threshold {text}: write a rule, a name and a number, such as C1.min_share=0.7"
            ) from None
    return found


def require_known(limits: Mapping[str, float], rules: Sequence[AnyRule]) -> None:
    """Raises UsageError where a threshold belongs to no rule, or is no possible number."""
    known = {f"{rule.id}.{name}" for rule in rules for name in rule.limits}
    for name, value in limits.items():
        if name not in known:
            rule = name.partition(".")[0]
            near = sorted(one for one in known if one.startswith(f"{rule}.")) or sorted(known)
            raise UsageError(f"no threshold {name}: there are {', '.join(near[:8])}")
        if not math.isfinite(value) or value < 0:
            raise UsageError(f"threshold {name}={value}: a number from 0")
