"""What ``commscope generate`` prints: scenarios, plans, commands, and what was written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from commscope.generator.bundling import Packed
from commscope.generator.catalog import GROUPS, SCENARIOS, Suite
from commscope.generator.catalog.plan import Plan
from commscope.generator.engines import Choice, commands, compile_command
from commscope.generator.schedule import Communication
from commscope.units import size
from commscope.wording import counted


def listed() -> Iterator[str]:
    """All scenarios, and the groups of them."""
    width = max(map(len, (*SCENARIOS, *GROUPS)))
    for scenario in SCENARIOS.values():
        more = f" At least {scenario.min_ranks} ranks." if scenario.min_ranks > 1 else ""
        yield f"{scenario.name:{width}}  {scenario.summary}{more}"
    for name, members in GROUPS.items():
        says = "all of these" if name == "all" else ", ".join(members)
        yield f"{name:{width}}  {says}"


def planned(suite: Suite) -> Iterator[str]:
    """What each run would be."""
    for name, plan in suite:
        collectives = sum(isinstance(o, Communication) for o in plan.schedule.programs[0])
        yield (
            f"{name}: {counted(plan.knobs.ranks, 'rank')}, {counted(plan.knobs.steps, 'step')} "
            f"after {plan.knobs.warmup} of warm-up, {counted(collectives, 'collective')} a rank; "
            f"{causes(plan)}"
        )


def causes(plan: Plan) -> str:
    """What a right analysis names."""
    said = [
        cause.rule + ("" if cause.rank is None else f" on rank {cause.rank}")
        for cause in plan.causes
    ]
    return f"to be found: {', '.join(said)}" if said else "healthy"


def shown_commands(suite: Suite, choice: Choice, folders: Sequence[Path]) -> Iterator[str]:
    """What compiles the program, and what is run for each rank."""
    compiling = compile_command(choice)
    if compiling:
        yield shlex.join(compiling)
    for (name, plan), folder in zip(suite, folders):
        ranks = commands(plan, choice, folder)
        if not ranks:
            yield f"# {name}: simulated, nothing is run"
        for one in ranks:
            variables = [f"{key}={value}" for key, value in one.environment.items()]
            yield shlex.join(["env", *variables, *one.words])


def packed(found: Sequence[Packed], output: Path) -> Iterator[str]:
    """What is in a bundle, and how large it is."""
    for one in found:
        lacks = f"; without traces: {one.lacks}" if one.lacks else ""
        yield f"  {one.name}: {size(one.size_bytes)}{lacks}"
    yield f"wrote {output} ({size(output.stat().st_size)}): {counted(len(found), 'run')}, redacted"
