"""How a job ended, and what is missing of it, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commscope.automation.nodes import Job, Node
from commscope.wording import counted, listed, rank_spans

_MOST_NODES = 4
_MOST_PROBLEMS = 20


def ending(job: Job) -> str | None:
    """How the job ended, if not well; null where it did, and where no node tells."""
    bad = [node for node in job.nodes if node.status is not None and not node.status.is_well]
    if not bad:
        return None
    ways: dict[str, list[Node]] = {}
    for node in bad:
        ways.setdefault(_way(node), []).append(node)
    if len(job.nodes) == 1:
        return f"the job {next(iter(ways))}"
    told = (f"{way} on {_named(nodes)}" for way, nodes in ways.items())
    return f"the job {listed(told, _MOST_NODES)}"


def _way(node: Node) -> str:
    status = node.status
    if status is None:
        return "did not end"
    if status.hung:
        return "hung and was ended"
    if status.signal is not None:
        return f"was ended by {status.signal}"
    if status.exit_code is None:
        return "ended, nothing tells how,"
    return f"failed with exit code {status.exit_code}"


def missing(job: Job, there: Sequence[Node]) -> str | None:
    """Which nodes and ranks are not among those there; null where all are."""
    absent = [node for node in job.nodes if node not in there or node.status is None]
    told = [f"{_name(node)} {_why(node)}" for node in absent]
    unseen = _unseen(job)
    if unseen:
        told.append(f"{_nodes(unseen)} never wrote into {job.folder.name}")
    if not told:
        return None
    ranks = _missing_ranks(job, there)
    which = f" ({rank_spans(ranks)})" if ranks else ""
    return f"missing: {listed(told, _MOST_NODES)}{which}"


def problems(job: Job) -> list[str]:
    """What went wrong while files were collected, one sentence each."""
    found = [
        f"{_name(node)}: {problem}" if len(job.nodes) > 1 else problem
        for node in job.nodes
        if node.status is not None
        for problem in node.status.problems
    ]
    return list(dict.fromkeys(found))[:_MOST_PROBLEMS]


def _why(node: Node) -> str:
    if node.status is None:
        return "has not ended"
    return "has not been read"


def _unseen(job: Job) -> list[int]:
    """Numbers of nodes that were to come and are not in the folder."""
    if job.expected is None or len(job.nodes) >= job.expected:
        return []
    seen = {node.number for node in job.nodes}
    return [number for number in range(job.expected) if number not in seen]


def _missing_ranks(job: Job, there: Iterable[Node]) -> list[int]:
    """Ranks of the job that are on no node that is there; none where its size is not known."""
    size = max((node.world_size or 0 for node in job.nodes), default=0)
    found = {rank for node in there for rank in node.ranks or ()}
    return [rank for rank in _range(size) if rank not in found] if found or not there else []


def _range(size: int) -> Iterator[int]:
    """Ranks of a job; a damaged document may tell any size."""
    return iter(range(min(size, 1 << 20)))


def _named(nodes: Sequence[Node]) -> str:
    return listed(map(_name, nodes), _MOST_NODES)


def _name(node: Node) -> str:
    number = node.folder.name if node.number is None else f"node {node.number}"
    return number if node.host is None else f"{number} ({node.host})"


def _nodes(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"node {numbers[0]}"
    return f"{counted(len(numbers), 'node')} ({listed(numbers, _MOST_NODES)})"
