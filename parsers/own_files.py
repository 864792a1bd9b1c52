"""Files that commscope itself writes beside traces and logs: no input of the next analysis.

A report quotes lines of logs: read as a log, it would tell each of them once more.
"""

from __future__ import annotations

import re
from pathlib import Path

RUN_FILE = "run.json"
REPORTS = ("report.html", "report.json", "report.md", "report.error")

_JOB = re.compile(rb'"schema"\s*:\s*"commscope\.(?:collected|job)/\d{1,4}"')
_OF_NODE = ("node.json", "status.json")
#: What each report begins with, whatever it reports on.
_BEGINNINGS = {
    "report.html": re.compile(rb"\s*<!DOCTYPE html>"),
    "report.json": re.compile(rb'\{\n "[a-z_]+": '),
    "report.md": re.compile(rb"<!-- commscope:"),
    "report.error": re.compile(rb"commscope: "),
}


def is_job(head: bytes) -> bool:
    """Whether the first bytes are those of the ``run.json`` of a collected run."""
    return head.lstrip()[:1] == b"{" and bool(_JOB.search(head))


def is_own(path: Path, head: bytes) -> bool:
    """Whether a file is a report, or says how a job was run, by its name and first bytes."""
    if path.name in _BEGINNINGS:
        return bool(_BEGINNINGS[path.name].match(head))
    if path.name == RUN_FILE:
        return is_job(head)
    nodes = path.parent.parent
    return path.name in _OF_NODE and nodes.name == "nodes" and (nodes.parent / RUN_FILE).is_file()
