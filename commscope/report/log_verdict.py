"""The verdict on a job's logs in one sentence."""

from __future__ import annotations

from commscope.report.log_report import LogReport
from commscope.wording import counted

_NO_TRACE = "No activity of a GPU was recorded"


def log_verdict(report: LogReport) -> str:
    """Where the job hangs, else the worst finding that is more than a hint, else that all is well.

    It begins with what there is not: this report stands for one on traces.
    """
    if report.hangs:
        return f"{_NO_TRACE}. Hang: {report.hangs[0].says}."
    for finding in report.findings[:1]:
        if finding.severity != "low":
            return f"{_NO_TRACE}. {finding.title}: {finding.says}."
    if not report.summary.files:
        return f"{_NO_TRACE}, and no record of RCCL or NCCL."
    files = counted(len(report.summary.files), "log")
    return f"{_NO_TRACE}; in {files} of RCCL or NCCL nothing is worth telling."
