"""The truth files of a run, and whether each of them is whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from commscope.errors import CommscopeError
from commscope.generator.grading.model import Blame, Numbers, Place, Row, failed, held
from commscope.generator.run_folder import GeneratedRun
from commscope.generator.truth_file import TruthFile, TruthHeader, read_truth

PATTERN = "truth_rank*.jsonl"
_CHECK = "truth file"
_NAME = re.compile(r"truth_rank(\d{1,9})\.jsonl")
#: What the headers of one run have in common; run.json has the first ones, too.
_SHARED = ("scenario", "engine", "world", "steps", "warmup", "vendor", "plan")
#: Ranks that are named where many are missing.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Truths:
    """The truth of every rank whose file could be read, and what is to be said of the files."""

    of_rank: Mapping[int, TruthFile]
    rows: tuple[Row, ...]

    @property
    def header(self) -> TruthHeader | None:
        """That of the first rank; null where there is none."""
        first = min(self.of_rank, default=None)
        return None if first is None else self.of_rank[first].header


def read_truths(files: Sequence[Path], run: GeneratedRun | None = None) -> Truths:
    """Reads the truth files of a run, of which run.json may tell more."""
    of_rank: dict[int, TruthFile] = {}
    rows: list[Row] = []
    for file in files:
        place = Place(_named_rank(file))
        try:
            truth = read_truth(file)
        except CommscopeError as error:
            rows.append(failed(_CHECK, place, _broken(str(error))))
            continue
        problem = _name_problem(file.name, place.rank, truth.header.rank, of_rank)
        rows.append(_whole(problem, truth.header.rank))
        of_rank.setdefault(truth.header.rank, truth)
    return Truths(of_rank, (*rows, *_together(of_rank, _unread(rows, of_rank), run)))


def _named_rank(file: Path) -> int | None:
    found = _NAME.fullmatch(file.name)
    return int(found[1]) if found else None


def _broken(says: str) -> Blame:
    return Blame("truth", says)


def _whole(problem: str, rank: int) -> Row:
    if problem:
        return failed(_CHECK, Place(rank), _broken(problem))
    return held(_CHECK, Place(rank), Numbers("whole", "whole", unit="words"), _broken(""))


def _name_problem(name: str, named: int | None, rank: int, known: Mapping[int, TruthFile]) -> str:
    if rank in known:
        return f"{name}: says that it is of rank {rank}, of which there is another file"
    if named is not None and named != rank:
        return f"{name}: says that it is of rank {rank}; were files exchanged?"
    return ""


def _unread(rows: Sequence[Row], of_rank: Mapping[int, TruthFile]) -> set[int]:
    """Ranks whose file is there, but broken."""
    named = {row.place.rank for row in rows if row.place.rank is not None}
    return named - set(of_rank)


def _together(
    of_rank: Mapping[int, TruthFile], unread: set[int], run: GeneratedRun | None
) -> Iterator[Row]:
    """What only all files together tell: of the same run, and of all its ranks."""
    first = of_rank[min(of_rank)].header if of_rank else None
    world = run.world if run else first.world if first else 0
    yield from _missing(world, set(of_rank) | unread)
    for rank, truth in sorted(of_rank.items()):
        for name in _SHARED:
            mine = getattr(truth.header, name)
            if first is not None and mine != getattr(first, name):
                says = f"its {name} is not that of rank {first.rank}: not of the same run"
                yield failed(_CHECK, Place(rank, what=name), _broken(says))
            elif hasattr(run, name) and mine != getattr(run, name):
                says = f"its {name} is not that of run.json: not of the same run"
                yield failed(_CHECK, Place(rank, what=name), _broken(says))
        others = of_rank[min(of_rank)].causes
        # Files that were cut have none: that is told of their steps.
        if truth.causes and others and truth.causes != others:
            says = f"its planned causes are not those of rank {min(of_rank)}: one was altered"
            yield failed(_CHECK, Place(rank, what="causes"), _broken(says))
        yield _steps(truth)


def _missing(world: int, there: set[int]) -> Iterator[Row]:
    lacking = world - len([rank for rank in there if rank < world])
    for rank in islice((rank for rank in range(world) if rank not in there), _NAMED):
        more = f" (one of {lacking:,} ranks without)" if lacking > 1 else ""
        yield failed(_CHECK, Place(rank), _broken(f"there is no truth_rank{rank}.jsonl{more}"))
    for rank in sorted(rank for rank in there if rank >= world):
        says = f"the job has ranks 0 to {world - 1}, and the file is of rank {rank}"
        yield failed(_CHECK, Place(rank), _broken(says))


def _steps(truth: TruthFile) -> Row:
    """Whether the steps are those that the header announces, one after the other."""
    header, numbers = truth.header, [step.step for step in truth.on_host]
    blame = _broken("the steps are not those that its header announces: lines are missing")
    if header.steps is None or header.warmup is None:
        first = numbers[0] if numbers else 0
        wanted = list(range(first, first + len(numbers)))
        blame = _broken("the steps do not follow each other: lines are missing")
    elif abs(header.steps) + abs(header.warmup) != len(numbers):
        announced = f"{header.steps} steps behind {header.warmup} of warm-up"
        return failed(
            _CHECK,
            Place(header.rank, what="steps"),
            _broken(f"{len(numbers)} steps of {announced}: was it cut?"),
        )
    else:
        wanted = list(range(-header.warmup, header.steps))
    same = Numbers("whole", "whole" if numbers == wanted else "not whole", unit="words")
    return held(_CHECK, Place(header.rank, what="steps"), same, blame)
