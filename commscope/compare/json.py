"""The comparison as JSON: the contract ``commscope.compare/1``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from commscope._version import __version__
from commscope.compare.model import (
    SCHEMA,
    Cause,
    Comparison,
    KernelPair,
    Part,
    StepTime,
)

#: Kernels by name whose time changed most.
_MOST_KERNELS = 50


def comparison_dict(found: Comparison) -> dict[str, Any]:
    """The contract as plain dictionaries and lists, without NaN or Infinity."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "commscope", "version": __version__},
        "verdict": found.verdict,
        "is_significant": found.is_significant,
        "judged_by": found.judged_by,
        "units": found.units and asdict(found.units),
        "base": [asdict(run) for run in found.base],
        "new": [asdict(run) for run in found.new],
        "unit": found.unit,
        "step_ns": found.step_time and _step_time(found.step_time),
        "parts": [_part(part) for part in found.parts],
        "causes": None if found.causes is None else [_cause(cause) for cause in found.causes],
        "steps": [asdict(step) for step in found.steps],
        "ranks": [asdict(rank) for rank in found.ranks],
        "collectives": [asdict(pair) for pair in found.collectives],
        "kernel_families": [_kernel(pair) for pair in found.families],
        "kernels": None
        if found.kernels is None
        else [_kernel(pair) for pair in found.kernels[:_MOST_KERNELS]],
        "environment": [asdict(fact) for fact in found.environment],
        "findings": [asdict(pair) for pair in found.findings],
        "not_compared": list(found.not_compared),
    }


def _step_time(time: StepTime) -> dict[str, Any]:
    return {
        "base": {"mean": time.base_ns, "p50": time.base_p50_ns},
        "new": {"mean": time.new_ns, "p50": time.new_p50_ns},
        "change": time.change_ns,
        "ratio": time.ratio,
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "part": part.name,
        "base_ns": part.base_ns,
        "new_ns": part.new_ns,
        "change_ns": part.change_ns,
        "judgement": part.judgement and asdict(part.judgement),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    parts = [{**asdict(part), "change_ns": part.change_ns} for part in cause.parts]
    return {**asdict(cause), "parts": parts, "change_ns": cause.change_ns}


def _kernel(pair: KernelPair) -> dict[str, Any]:
    return {**asdict(pair), "change_ns": pair.change_ns}
