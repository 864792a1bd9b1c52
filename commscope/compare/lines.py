"""The rows of the comparison's tables in words, for a terminal, Markdown and HTML alike.

Every row is a mapping from a column's head to its text, the first column names the row; texts hold
names from outside as they are, for each output to make harmless in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from commscope.compare.environment import VARIABLE
from commscope.compare.model import (
    CausePart,
    CollectiveFacts,
    CollectivePair,
    Comparison,
    KernelPair,
    Part,
)
from commscope.compare.statistics import Judgement
from commscope.compare.verdict import (
    IDLE_NAMES,
    PART_NAMES,
    effect_in_words,
    signed,
    signed_percent,
    waited_for,
    whole_percent,
)
from commscope.units import size, span

Line = dict[str, str]
_Facts = TypeVar("_Facts")

_NONE = "-"
_UNKNOWN = "?"
#: Pieces of a cause that are less than this share of the change are not worth a line.
_LEAST_SHARE = 0.01


def part_rows(found: Comparison) -> list[Line]:
    """The step and its parts."""
    return [_part(part) for part in found.parts]


def _part(part: Part) -> Line:
    change = part.change_ns
    return {
        "part": PART_NAMES[part.name],
        "base": _span(part.base_ns),
        "new": _span(part.new_ns),
        "change": _UNKNOWN if change is None else signed(change),
        "%": signed_percent(change / part.base_ns) if change is not None and part.base_ns else "",
        "more than noise": _judged(part.judgement),
    }


def _judged(judgement: Judgement | None) -> str:
    if judgement is None:
        return ""
    if judgement.adjusted_p_value is None:
        return "cannot judge"
    word = "yes" if judgement.is_significant else "no"
    return f"{word}, p {judgement.adjusted_p_value:.2g}{effect_in_words(judgement)}"


def cause_rows(found: Comparison) -> list[Line]:
    """Causes, each with the pieces of it that matter, and their sum."""
    rows = []
    change = found.step_time.change_ns if found.step_time else 0
    for cause in found.causes or ():
        if not cause.base_ns and not cause.new_ns:
            continue
        share = whole_percent(cause.share)
        rows.append(_cause(cause.name, cause.rank, cause.base_ns, cause.new_ns, share))
        least = _LEAST_SHARE * abs(change)
        rows += [_piece(line) for line in cause.parts if abs(line.change_ns) > least]
    return [*rows, _sum(found)] if rows else []


def _cause(name: str, rank: int | None, base: int, new: int, share: str) -> Line:
    return {
        "cause": cause_name(name, rank), "base": span(base), "new": span(new),
        "change": signed(new - base), "share": share, "what it is": "",
    }  # fmt: skip


def cause_name(name: str, rank: int | None) -> str:
    """What a cause is called."""
    words = {"late_rank": f"rank {rank} late", "unmatched": "exposed, not matched"}
    return words.get(name, name)


def _sum(found: Comparison) -> Line:
    time = found.step_time
    base, new = (time.base_ns, time.new_ns) if time else (0, 0)
    return _cause("sum", None, base, new, "100 %" if base != new else "")


def _piece(line: CausePart) -> Line:
    what = PART_NAMES[f"{line.part}_ns"]
    return {
        "cause": f"  {what}", "base": span(line.base_ns), "new": span(line.new_ns),
        "change": signed(line.change_ns), "share": "", "what it is": _what(line),
    }  # fmt: skip


def _what(line: CausePart) -> str:
    if line.part == "exposed_wait":
        return waited_for(line)
    on = "" if line.rank is None else f"on rank {line.rank}"
    if line.part == "idle":
        return f"{on} {IDLE_NAMES[line.detail]}".strip()
    if line.base_count is None or line.new_count is None:
        return " ".join(word for word in (on, line.detail) if word)
    told = f"{line.detail} {on}".strip()
    before, after = f"{line.base_count:.4g}", f"{line.new_count:.4g}"
    counts = f"{after} a step" if before == after else f"{before} to {after} a step"
    effects = f"by number {signed(line.by_count_ns or 0)}, by time of each"
    return f"{told}: {counts}, {effects} {signed(line.by_each_ns or 0)}"


def rank_rows(found: Comparison) -> list[Line]:
    """The parts of each rank: base and new."""
    return [{"rank": str(pair.rank), **_both(pair.base_ns, pair.new_ns)} for pair in found.ranks]


def step_rows(found: Comparison) -> list[Line]:
    """The steps of both sides in their order, not by the clock."""
    return [
        {
            "step": f"{_number(pair.base_step)} / {_number(pair.new_step)}",
            **_both(pair.base_ns, pair.new_ns),
        }
        for pair in found.steps
    ]


def _number(step: int | None) -> str:
    return _NONE if step is None else str(step)


def _both(base: dict[str, int] | None, new: dict[str, int] | None) -> Line:
    """Each part as base and new in one cell."""
    names = base or new or {}
    return {_HEADS.get(name, PART_NAMES[name]): _pair(base, new, name) for name in names}


_HEADS = {"window_ns": "length"}


def _pair(base: dict[str, int] | None, new: dict[str, int] | None, name: str) -> str:
    return _cell((base, new), lambda side: span(side[name]))


def collective_rows(found: Comparison) -> list[Line]:
    """Kinds of collectives, base and new in one cell."""
    return [_collective(pair) for pair in found.collectives]


def _collective(pair: CollectivePair) -> Line:
    sides = (pair.base, pair.new)
    return {
        "collective": f"{pair.op or _UNKNOWN} in {pair.group}",
        "size": _UNKNOWN if pair.bytes is None else size(pair.bytes),
        "count": _cell(sides, lambda of: f"{of.count:.4g}"),
        "exposed": _cell(sides, lambda of: _span(of.exposed_ns)),
        "waiting": _cell(sides, lambda of: _span(of.wait_ns)),
        "transfer (p50)": _cell(sides, lambda of: _span(of.transfer_p50_ns)),
        "bus GB/s": _cell(sides, _rate),
    }


def _cell(sides: Sequence[_Facts | None], show: Callable[[_Facts], str]) -> str:
    """Base and new in one cell."""
    return " / ".join(_NONE if of is None else show(of) for of in sides)


def _span(ns: int | None) -> str:
    return _UNKNOWN if ns is None else span(ns)


def _rate(of: CollectiveFacts) -> str:
    if of.busbw_gbps is None:
        return _UNKNOWN
    return f"{'>' if of.bandwidth_note else ''}{of.busbw_gbps:,.1f}"


def kernel_rows(pairs: Sequence[KernelPair]) -> list[Line]:
    """Families or kernels, those first whose time changed most."""
    return [_kernel(pair) for pair in pairs]


def _kernel(pair: KernelPair) -> Line:
    sides = (pair.base, pair.new)
    return {
        "kernel": pair.name,
        "count": _cell(sides, lambda of: f"{of.count:.4g}"),
        "time": _cell(sides, lambda of: span(of.total_ns)),
        "each": _cell(sides, lambda of: span(of.each_ns)),
        "change": signed(pair.change_ns),
    }


def environment_rows(found: Comparison) -> list[Line]:
    """What differs around the runs."""
    return [
        {
            "what": fact.name,
            **{
                side: value or ("not in its log" if fact.name.startswith(VARIABLE) else _NONE)
                for side, value in (("base", fact.base), ("new", fact.new))
            },
        }
        for fact in found.environment
    ]


def finding_rows(found: Comparison) -> list[Line]:
    """What rules found: only on the new side, on both, only in the base."""
    return [
        {
            "rule": f"{pair.rule} {pair.title}",
            "": "both" if pair.base and pair.new else "only new" if pair.new else "only base",
            "base can win": _bound(pair.base_bound_ns),
            "new can win": _bound(pair.new_bound_ns),
        }
        for pair in found.findings
    ]


def _bound(ns: int | None) -> str:
    return _NONE if ns is None else span(ns)
