"""Measured peaks of one profile, for others of the same GPU that come without."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.parsers.omniperf import Profile

#: What must agree where both profiles tell it: models of one architecture differ.
_ALIKE = ("arch", "compute_units")


def lend_peaks(profiles: Sequence[Profile]) -> None:
    """Gives profiles without peaks those of another one of such a GPU, and says so.

    Where several have any, those of the first one.
    """
    lenders = [profile for profile in profiles if profile.peaks]
    for profile in profiles:
        if profile.peaks:
            continue
        lender = next((one for one in lenders if _is_same_gpu(one, profile)), None)
        if lender is None:
            profile.notes.append(profile.without_peaks)
        else:
            profile.peaks = list(lender.peaks)
            profile.notes.append(f"{profile.file}: the measured peaks are those of {lender.file}")


def _is_same_gpu(one: Profile, other: Profile) -> bool:
    if any(one.facts.get(n) is None or one.facts[n] != other.facts.get(n) for n in _ALIKE):
        return False
    # "MI300X_A1" and "AMD Instinct MI300X" are one.
    names = sorted((str(it.facts.get("gpu") or "") for it in (one, other)), key=len)
    return names[0].partition("_")[0].lower() in names[1].lower()
