"""What a profile of hardware counters says of a kernel that communication slows."""

from __future__ import annotations

from commscope.counters.model import KernelCounters
from commscope.units import percent

_ROOFS = {
    "hbm": "HBM", "mall": "the Infinity Cache", "l2": "L2", "l1": "L1", "lds": "LDS",
    "mfma": "the matrix cores", "valu": "the vector units",
}  # fmt: skip
#: Levels of memory that all compute units share; the others are each one's own.
_SHARED = ("hbm", "mall", "l2")


def counted_says(counters: KernelCounters | None, what: str = "it") -> str | None:
    """Its position against the roofline and what follows; null where that is not known.

    ``what`` is how the sentence calls the kernel.
    """
    if counters is None or counters.position is None or counters.binding_roof is None:
        return None
    roof, share = _ROOFS[counters.binding_roof], percent(counters.binding_share)
    is_near = counters.position != "neither"
    where = counters.position if is_near else "far from every roof"
    reached = f"{share} of the measured rate of {roof}" + ("" if is_near else " at most")
    return (
        f"by its counters {what} is {where} ({reached}), {_meaning(counters.binding_roof, is_near)}"
    )


def _meaning(roof: str, is_near: bool) -> str:
    if not is_near:
        return "so neither memory nor compute limits it when it runs alone"
    needs = "memory bandwidth" if roof in _SHARED else "compute units"
    return f"so it needs the {needs} that communication takes"


def counted_share(counters: KernelCounters | None) -> float | None:
    """The share that it reaches of the roof it is nearest to; null where nothing is said of it."""
    if counters is None or counters.position is None:
        return None
    return counters.binding_share
