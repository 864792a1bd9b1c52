"""The report as JSON: the contract that other programs rely on (docs/json-report.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from commscope._version import __version__
from commscope.analysis.breakdown import PARTITION
from commscope.analysis.waiting import EXPOSED_PARTS
from commscope.findings.model import Check, Finding, Trust
from commscope.findings.rule import AnyRule
from commscope.report.finding_json import finding_dict
from commscope.report.model import (
    SCHEMA,
    Environment,
    LogSection,
    Report,
    ReportTable,
    Summary,
    WaitedFor,
    WorstStep,
)
from commscope.sanitize import json_text

#: The longest gaps; ``commscope gaps`` gives all.
_MOST_GAPS = 200
_PARTITION = (*PARTITION, *EXPOSED_PARTS, "overlap_ratio")
_STEP = ("rank", "step", "name", "open", "start_ns", "end_ns", "host_lag_ns", "kernels")
_LAUNCH = ("rank", "launch_bound_share", "host_pause_ns", "graph_share", "kernels", "unlinked")


def report_json(report: Report, *, more: Sequence[str] = ()) -> str:
    """The contract as text: keys sorted, one line feed at the end."""
    return json_text(report_dict(report, more=more))


def report_dict(report: Report, *, more: Sequence[str] = ()) -> dict[str, Any]:
    """The contract as plain dictionaries and lists, without NaN or Infinity.

    ``more`` names long sections that are left out by default: ``instances``.
    """
    document = {
        "schema": SCHEMA,
        "tool": {"name": "commscope", "version": __version__},
        "inputs": [asdict(file) for file in report.inputs],
        "environment": _environment(report.environment),
        "clock": asdict(report.clock),
        "trust": _trust(report.trust),
        "summary": _summary(report.summary),
        "ranks": [_rank(row) for row in report.ranks],
        "steps": [_step(row) for row in report.steps],
        "communicators": list(report.communicators),
        "collectives": [_collective(row) for row in report.collectives],
        "bandwidth": list(report.bandwidth),
        "roles": list(report.roles),
        "pipeline": list(report.bubbles),
        "imbalance": list(report.imbalance),
        "all_to_all": list(report.traffic),
        "waiting": list(report.waiting),
        "stragglers": list(report.stragglers),
        "straggler_verdicts": list(report.verdicts),
        **{name: list(getattr(report, name)) for name in more},
        "kernels": _ranking(report.kernels),
        "kernel_families": _ranking(report.families),
        "launch": [_launch(row) for row in report.launch],
        "gap_sums": list(report.gap_sums),
        "gaps": report.gaps.head(_MOST_GAPS),
        "worst_step": _worst_step(report.worst_step),
        "log": _log(report.log),
        "rules": [asdict(looked) for looked in report.looked],
        "findings": [_finding(finding, report.origin_ns) for finding in report.findings],
        "notes": list(report.notes),
    }
    return {key: _finite(value) for key, value in document.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(item) for item in value]
    return value


def _environment(environment: Environment) -> dict[str, Any]:
    return {
        "versions": dict(environment.versions),
        "gpus": list(environment.gpus),
        "platform": environment.platform,
        "source": environment.source,
    }


def _ranking(table: ReportTable) -> list[dict[str, Any]] | None:
    """The rows of a table that a rule of trust may withhold: null then."""
    return None if table.withheld else list(table)


def _trust(trust: Trust) -> dict[str, Any]:
    return {"verdict": trust.verdict, "checks": [check_dict(check) for check in trust.checks]}


def check_dict(check: Check) -> dict[str, Any]:
    """A check of trust."""
    return {
        "rule": check.rule,
        "title": check.title,
        "result": check.result.value,
        "says": check.says,
        "withheld": [str(withheld) for withheld in check.withheld],
    }


def _summary(summary: Summary) -> dict[str, Any]:
    times, shares, bound = summary.step_times, summary.shares, summary.upper_bound
    return {
        "ranks": summary.ranks,
        "steps": summary.steps,
        "step_source": summary.step_source,
        "step_confidence": summary.step_confidence,
        "step_ns": times and {"p50": times.p50_ns, "p95": times.p95_ns, "max": times.max_ns},
        "shares": shares
        and {
            "compute": shares.compute,
            "exposed_comm": shares.exposed_comm,
            "exposed_copy": shares.exposed_copy,
            "idle": shares.idle,
        },
        "overlap_ratio": summary.overlap_ratio,
        "verdict": summary.verdict,
        "upper_bound": bound
        and {"exposed_hidden_ns": bound.exposed_hidden_ns, "speedup": bound.speedup},
    }


def _partition(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The partition of a row; null for a step that had no activity."""
    if row["window_ns"] is None:
        return None
    return {name: row[name] for name in _PARTITION}


def _rank(row: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in row.items() if name not in _PARTITION}
    return {**rest, "partition": _partition(row)}


def _step(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: row[name] for name in _STEP}, "partition": _partition(row)}


def _collective(row: Mapping[str, Any]) -> dict[str, Any]:
    transfer = {"p50": row["transfer_p50_ns"], "p95": row["transfer_p95_ns"]}
    rest = {name: value for name, value in row.items() if not name.startswith("transfer_")}
    return {**rest, "transfer_ns": transfer}


def _worst_step(worst: WorstStep | None) -> dict[str, Any] | None:
    """The step to look at first; null where no communication is known to be exposed."""
    if worst is None:
        return None
    return {
        "step": worst.step,
        "rank": worst.rank,
        "exposed_comm_ns": worst.exposed_comm_ns,
        "start_ns": worst.start_ns,
        "end_ns": worst.end_ns,
        "resolution_ns": worst.resolution_ns,
        "says": worst.says,
        "ranks": list(worst.ranks),
        "lanes": list(worst.lanes),
        "waited_for": _waited_for(worst.waited_for),
        "notes": list(worst.notes),
    }


def _waited_for(found: WaitedFor | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "communicator": found.communicator,
        "op": found.op,
        "bytes": found.bytes,
        "straggler": found.straggler,
        "last_arrival_ns": found.last_arrival_ns,
        "skew_ns": found.skew_ns,
        "arrivals": list(found.arrivals),
    }


def _log(log: LogSection | None) -> dict[str, Any] | None:
    """What the logs add; null without logs."""
    if log is None:
        return None
    return {
        "files": list(log.files),
        "joined_by": log.joined_by,
        "communicators": list(log.communicators),
        "paths": list(log.paths),
        "transports": list(log.transports),
        "stretches": list(log.stretches),
        "notes": list(log.notes),
    }


def _launch(row: Mapping[str, Any]) -> dict[str, Any]:
    delay = {"p50": row["queue_delay_p50_ns"], "p95": row["queue_delay_p95_ns"]}
    depth = {"p50": row["queue_depth_p50"], "p95": row["queue_depth_p95"]}
    return {**{n: row[n] for n in _LAUNCH}, "queue_delay_ns": delay, "queue_depth": depth}


def rule_dict(rule: AnyRule) -> dict[str, Any]:
    """A rule as ``commscope rules --format json`` gives it."""
    return {
        "id": rule.id,
        "family": rule.family,
        "title": rule.title,
        "asks": rule.asks,
        "thresholds": {
            name: {"value": limit.value, "unit": limit.unit, "says": limit.says}
            for name, limit in rule.limits.items()
        },
        "advice": [asdict(advice) for advice in rule.advice],
    }


def _finding(finding: Finding, origin_ns: int) -> dict[str, Any]:
    """A finding with its times, which count from the origin."""
    evidence = [
        {"rank": e.rank, "step": e.step, "t0_ns": e.t0_ns - origin_ns, "t1_ns": e.t1_ns - origin_ns}
        for e in finding.evidence
    ]
    return {**finding_dict(finding), "evidence": evidence, "bound_ns": finding.bound_ns}
