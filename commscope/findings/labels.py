"""Rules on names: collectives (Q5), streams (Q6), classes of kernels (Q11), versions (QV)."""

from __future__ import annotations

import numpy as np

from commscope.analysis.result import Analysis
from commscope.columns import flagged, int64
from commscope.findings.model import Check, Metric, Result, Withheld
from commscope.findings.versions import known_problems
from commscope.schema import Flag
from commscope.wording import counted, on_ranks

#: Q6: share of a rank's activities without a sure stream from which what rests on it is withheld.
MAX_AMBIGUOUS = 0.01
#: Q11: share of GPU time in kernels of unknown family that is worth saying.
MAX_OTHER = 0.02
_SHOWN = 3
_LONGEST_NAME = 60


def check_metadata(analysis: Analysis) -> Check:
    """Q5: do the collectives say what they are?"""
    title = "Collectives' metadata"
    table = analysis.trace.collectives
    if not table.num_rows:
        return Check("Q5", title, Result.NOT_CHECKED, "no communication kernel")
    words = {"op": "operation", "comm": "communicator", "bytes": "size"}
    missing = [
        f"{word} ({count:,} of {table.num_rows:,})"
        for name, word in words.items()
        if (count := table.column(name).null_count)
    ]
    if not missing:
        says = "all collectives have operation, communicator and size"
        return Check("Q5", title, Result.PASS, says)
    says = (
        f"not all collectives tell their {', '.join(missing)}: they count as communication, but "
        "their bandwidth is not known"
    )
    return Check("Q5", title, Result.FAIL, says)


def check_streams(analysis: Analysis) -> Check:
    """Q6: is it known on which stream everything ran?"""
    title, ranks = "Streams", int64(analysis.ranks, "rank")
    ambiguous = flagged(analysis.trace.events, Flag.STREAM_AMBIGUOUS)
    repaired = int(flagged(analysis.trace.events, Flag.STREAM_REPAIRED).sum())
    if not ambiguous.any():
        told = counted(repaired, "was", "were")
        says = "every activity has a stream"
        says += f" ({told} told from the name of the kernel)" if repaired else ""
        return Check("Q6", title, Result.PASS, says)
    rank = np.searchsorted(ranks, int64(analysis.trace.events, "rank"))
    of_all = np.bincount(rank, minlength=len(ranks))
    share = np.bincount(rank[ambiguous], minlength=len(ranks)) / np.maximum(of_all, 1)
    activities = counted(int(ambiguous.sum()), "activity has", "activities have")
    says = (
        f"{activities} no stream, or several fit{on_ranks(ranks[share > 0].tolist(), len(ranks))}: "
        "whether a stream was empty cannot be told there"
    )
    bad = ranks[share > MAX_AMBIGUOUS].tolist()
    withheld = tuple(Withheld(Metric.LAUNCH, rank) for rank in bad)
    return Check("Q6", title, Result.FAIL, says, withheld)


def check_classification(analysis: Analysis) -> Check:
    """Q11: is it known what the kernels are?"""
    title, kernels = "Classification", analysis.kernels
    total = int64(kernels, "total_ns")
    labels = zip(kernels.column("family").to_pylist(), kernels.column("class").to_pylist())
    unknown = np.array([label == ("other", "compute") for label in labels], np.bool_)
    share = int(total[unknown].sum()) / max(int(total.sum()), 1)
    by_metadata = int(flagged(analysis.trace.events, Flag.BY_METADATA).sum())
    told = counted(by_metadata, "kernel is", "kernels are")
    also = f"; {told} communication by metadata only" if by_metadata else ""
    if share <= MAX_OTHER:
        says = f"{1 - share:.1%} of the GPU time is in kernels of known family"
        return Check("Q11", title, Result.PASS, says + also)
    names = [kernels.column("name")[row].as_py() for row in np.flatnonzero(unknown)[:_SHOWN]]
    says = (
        f"{share:.1%} of the GPU time is in kernels of unknown family, which count as compute: "
        f"{', '.join(name[:_LONGEST_NAME] for name in names)}; name them with "
        f"--pattern FAMILY=REGEX{also}"
    )
    return Check("Q11", title, Result.FAIL, says)


def check_versions(analysis: Analysis) -> Check:
    """QV: are the versions known to lose or distort records?"""
    title = "Versions"
    files = analysis.trace.files
    known = {p.versions: p for file in files for p in known_problems(file.versions)}
    if not any(file.versions for file in files):
        says = f"the {'files name' if len(files) > 1 else 'file names'} no versions"
        return Check("QV", title, Result.NOT_CHECKED, says)
    if not known:
        return Check("QV", title, Result.PASS, "no known problem with these versions")
    says = "; ".join(f"{p.versions}: {p.says} ({p.source})" for p in known.values())
    return Check("QV", title, Result.FAIL, says)
