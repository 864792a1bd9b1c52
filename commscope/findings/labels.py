"""Rules on names: collectives (Q5), streams (Q6), classes of kernels (Q11), versions (QV)."""

from __future__ import annotations

import numpy as np

from commscope.analysis.result import Analysis
from commscope.columns import int64
from commscope.findings.model import Check, Metric, Result, Withheld
from commscope.findings.versions import known_problems
from commscope.schema import Flag

#: Q11: share of GPU time in kernels of unknown family that is worth saying.
MAX_OTHER = 0.02


def check_metadata(analysis: Analysis) -> Check:
    """Q5: do the collectives say what they are?"""
    title = "Collectives' metadata"
    table = analysis.trace.collectives
    if not table.num_rows:
        return Check("Q5", title, Result.NOT_CHECKED, "no communication kernel")
    missing = {name: table.column(name).null_count for name in ("op", "comm", "bytes")}
    if not any(missing.values()):
        return Check("Q5", title, Result.PASS, "all collectives have operation, group and size")
    says = f"of {table.num_rows:,} collectives " + ", ".join(
        f"{count:,} have no {word}"
        for count, word in zip(missing.values(), ("operation", "communicator", "size"))
        if count
    )
    return Check("Q5", title, Result.FAIL, says)


def check_streams(analysis: Analysis) -> Check:
    """Q6: is it known on which stream everything ran?"""
    flags = np.asarray(analysis.trace.events.column("flags").to_numpy())
    ambiguous = int((flags & Flag.STREAM_AMBIGUOUS != 0).sum())
    repaired = int((flags & Flag.STREAM_REPAIRED != 0).sum())
    if ambiguous:
        says = f"{ambiguous:,} activities have no stream, and which one cannot be told"
        return Check("Q6", "Streams", Result.FAIL, says, (Withheld(Metric.LAUNCH),))
    says = "every activity has a stream"
    says += f" ({repaired:,} were told from their kernel's name)" if repaired else ""
    return Check("Q6", "Streams", Result.PASS, says)


def check_classification(analysis: Analysis) -> Check:
    """Q11: is it known what the kernels are?"""
    title = "Classification"
    kernels = analysis.kernels
    total = int64(kernels, "total_ns")
    other = np.array([family == "other" for family in kernels.column("family").to_pylist()], bool)
    share = int(total[other].sum()) / int(total.sum()) if total.sum() else 0.0
    by_metadata = np.asarray(analysis.trace.events.column("flags").to_numpy()) & Flag.BY_METADATA
    says = f"{1 - share:.1%} of the GPU time is in kernels of known family"
    if by_metadata.any():
        says += f"; {np.count_nonzero(by_metadata):,} kernels are communication by metadata only"
    if share <= MAX_OTHER:
        return Check("Q11", title, Result.PASS, says)
    names = [name for name, o in zip(kernels.column("name").to_pylist(), other) if o]
    says = (
        f"{share:.1%} of the GPU time is in kernels of unknown family, which count as compute: "
        f"{', '.join(name[:60] for name in names[:3])}. Name them with --pattern FAMILY=REGEX"
    )
    return Check("Q11", title, Result.FAIL, says)


def check_versions(analysis: Analysis) -> Check:
    """QV: are the versions known to lose or distort records?"""
    title = "Versions"
    files = analysis.trace.files
    known = {p.versions: p for file in files for p in known_problems(file.versions)}
    if not any(file.versions for file in files):
        return Check("QV", title, Result.NOT_CHECKED, "the files name no versions")
    if not known:
        return Check("QV", title, Result.PASS, "no known problem with these versions")
    says = "; ".join(f"{p.versions}: {p.says} ({p.source})" for p in known.values())
    return Check("QV", title, Result.FAIL, says)
