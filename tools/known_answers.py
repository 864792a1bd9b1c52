"""Simulated jobs with one planted cause each, and healthy ones: does the first finding name it?

python tools/known_answers.py            writes the tables of docs/known-answers.md
python tools/known_answers.py --check    tells whether they are up to date
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import commscope
from commscope.findings.model import Finding
from commscope.generator import CAUSES, clean_job, planted_job, write_job
from commscope.generator.planted import CLEAN_KINDS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/known-answers.md"
JOBS = 100
#: The rule that names each cause.
RULE = {
    "straggler_compute": "C1",
    "straggler_host": "C1",
    "straggler_input": "C1",
    "straggler_copy": "C1",
    "straggler_other_communicator": "C1",
    "chain_of_three": "C1",
    "kernel_gap": "O12",
    "host_late": "H10",
    "host_sync": "H6",
    "device_sync": "H7",
    "allocation": "H9",
    "pageable_copy": "H8",
    "stream_order": "O3",
    "dependency": "O11",
    "late_gather": "O2",
    "same_stream": "O9",
    "step_tail": "O10",
    "contention": "O4",
    "accumulation_without_no_sync": "O7",
    "small_buckets": "O6",
}
#: Words by which a sentence tells why a rank is late.
_WHY = {
    "compute": ("computes",),
    "copy": ("copies",),
    "input": ("loading input",),
    "host": ("launches nothing", "synchronising", "allocating"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What was planted in a job, and what was found first; the bound against the time lost."""

    planted: str
    seed: int
    found: str  #: a rule, or nothing
    is_right: bool
    says: str
    bound_ns: int
    lost_ns: int


def planted_answers(jobs: int = JOBS) -> Iterator[Answer]:
    """The answers for so many jobs, with causes in turn."""
    turns = ((cause, seed) for seed in range(jobs) for cause in CAUSES)
    for cause, seed in islice(turns, jobs):
        yield _planted(cause, seed)


def _planted(cause: str, seed: int) -> Answer:
    job = planted_job(cause, seed)
    with tempfile.TemporaryDirectory() as folder:
        write_job(job, Path(folder))
        first = next(iter(_findings(folder)), None)
    if first is None:
        return Answer(cause, seed, "nothing", False, "", 0, job.lost_ns())
    right = first.rule == RULE[cause] and (job.rank is None or _blames(first, job.rank, job.did))
    return Answer(cause, seed, first.rule, right, first.says, first.bound_ns or 0, job.lost_ns())


def _findings(folder: str) -> list[Finding]:
    """What the rules found, without what is said of trust."""
    report = commscope.analyze(commscope.load(folder))
    return [finding for finding in report.findings if finding.bound_ns is not None]


def _blames(finding: Finding, rank: int, did: str) -> bool:
    return finding.rank == rank and any(word in finding.says for word in _WHY[did])


def clean_answers(jobs: int = JOBS) -> Iterator[tuple[str, int, list[Finding]]]:
    """Kind, seed and findings of so many healthy jobs."""
    for seed in range(jobs):
        job = clean_job(seed)
        with tempfile.TemporaryDirectory() as folder:
            write_job(job, Path(folder))
            yield job.kind, seed, _findings(folder)


def confusion(answers: Sequence[Answer]) -> str:
    """A table: one row a cause, with the rules that were named first and how often."""
    lines = [
        "| planted | jobs | right | found first | bound / time lost |",
        "|---|--:|--:|---|--:|",
    ]
    for cause in CAUSES:
        mine = [answer for answer in answers if answer.planted == cause]
        found = Counter(answer.found for answer in mine).most_common()
        ratios = sorted(a.bound_ns / a.lost_ns for a in mine if a.is_right and a.lost_ns)
        spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}" if ratios else "-"
        names = ", ".join(f"{rule} {count}" for rule, count in found)
        right = sum(answer.is_right for answer in mine)
        lines.append(f"| {cause} | {len(mine)} | {right} | {names} | {spread} |")
    right = sum(answer.is_right for answer in answers)
    return "\n".join([*lines, f"| all | {len(answers)} | {right} | | |"])


def alarms(answers: Iterable[tuple[str, int, list[Finding]]]) -> str:
    """A table: one row a kind of healthy job, with findings by severity."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in CLEAN_KINDS}
    for kind, _, found in answers:
        counts[kind].update(["jobs", *(finding.severity for finding in found)])
    head = ("healthy", "jobs", "high", "medium", "low")
    lines = [f"| {' | '.join(head)} |", "|---|--:|--:|--:|--:|"]
    for kind, count in counts.items():
        cells = (str(count[name]) for name in head[1:])
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(text: str, tables: Sequence[str]) -> str:
    """The page with these tables between its marks."""
    for name, table in zip(("planted", "healthy"), tables):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table}\n\n{end}{rest.partition(end)[2]}"
    return text


def main(arguments: Sequence[str]) -> int:
    """Writes the page, or with ``--check`` compares; 1 where it is out of date."""
    text = PAGE.read_text(encoding="utf-8")
    new = page(text, (confusion(list(planted_answers())), alarms(clean_answers())))
    if "--check" in arguments:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
