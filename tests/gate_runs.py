"""Runs as the gate sees them, without a trace: what expressions look at, and nothing else."""

from __future__ import annotations

from typing import Any

from commscope._version import DEFINITIONS_VERSION
from commscope.gate.measures import PER_STEP, GateRun, Setup

SETUP = Setup(("MI300X",), (0, 1), 2, "annotation")


def document(step_ns: float = 10e6, unprofiled_ns: float | None = None, **sections: Any) -> Any:
    """A report of a step time, with other sections as given."""
    return {
        "summary": {
            "step_ns": {"p50": step_ns},
            "shares": {"exposed_comm": 0.1, "idle": None},
            "overlap_ratio": None,
            "step_source": "annotation",
        },
        "trust": {"verdict": "ok", "checks": []},
        "rules": [],
        "findings": [],
        "per_step": dict.fromkeys(PER_STEP, step_ns / 4),
        "unprofiled": {
            "step_ns": unprofiled_ns,
            "inflation": unprofiled_ns and step_ns / unprofiled_ns,
        },
        **sections,
    }


def run(
    name: str = "new", *, closed_steps: int = 50, setup: Setup = SETUP, **given: Any
) -> GateRun:
    definitions = given.pop("definitions", DEFINITIONS_VERSION)
    contents = given.pop("contents", frozenset({name}))
    return GateRun(name, document(**given), closed_steps, setup, contents, definitions)


def runs(*step_ns: float, **given: Any) -> list[GateRun]:
    """A baseline of so many runs."""
    return [run(f"run-{n}", step_ns=value, **given) for n, value in enumerate(step_ns, 1)]


STEADY = (10.00e6, 10.02e6, 9.98e6, 10.01e6, 9.99e6, 10.03e6)
