"""What a communicator is for: data, tensor, pipeline or expert parallelism."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from commscope.analysis.communicators import Communicator, Communicators


def _words(short: str, long: str) -> re.Pattern[str]:
    """Short words that stand alone, or long ones anywhere."""
    return re.compile(rf"(?<![a-z])(?:{short})(?![a-z])|{long}", re.I)


#: Words of group names and descriptions, in the spellings of the large frameworks.
_WORDS = (
    ("tp", _words("tp|sp|tensor", "tensor_(?:and_)?model_parallel")),
    ("pp", _words("pp|pipe|pipeline", "pipeline_model_parallel")),
    ("ep", _words("ep|expert|moe", "expert_(?:model_)?parallel")),
    ("cp", _words("cp|context", "context_parallel")),
    ("dp", _words("d?dp|data|fsdp|shard|replicate|hsdp", "data_parallel")),
)


#: Roles whose communication is of activations, between layers: compute waits for its result.
IN_LINE = ("tp", "pp", "ep", "cp")


def role_of(
    communicator: Communicator, ops: Sequence[str], given: Mapping[str, re.Pattern[str]]
) -> str | None:
    """The role that the user, the group's name or description, or its use tells; else null.

    By use: messages between two ranks are pipeline parallel, and a group that only exchanges
    all-to-all is expert parallel. Reductions and gathers do not tell: tensor and data parallel
    groups both have them.
    """
    text = f"{communicator.name or ''} {communicator.description or ''}"
    for role, pattern in (*given.items(), *_WORDS):
        if pattern.search(text):
            return role
    used = set(ops)
    if used and used <= {"send", "recv", "send_recv"}:
        return "pp"
    return "ep" if used == {"all_to_all"} else None


def roles_of(
    communicators: Communicators, ops: Sequence[str | None], given: Mapping[str, re.Pattern[str]]
) -> tuple[str | None, ...]:
    """The role of each communicator; ``ops`` has the operation of each collective."""
    used: defaultdict[int, set[str]] = defaultdict(set)
    for number, op in zip(communicators.of_row.tolist(), ops):
        if op is not None:
            used[number].add(op)
    found = enumerate(communicators.found)
    return tuple(role_of(c, sorted(used[number]), given) for number, c in found)
