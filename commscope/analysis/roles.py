"""What a communicator is for: data, tensor, pipeline, context or expert parallelism.

Sources of the spellings: Megatron-LM (megatron/core/parallel_state.py), torchtitan
(torchtitan/distributed/parallel_dims.py) with PyTorch's device mesh, which puts ``mesh_`` in front
(torch/distributed/device_mesh.py), vLLM (vllm/distributed/parallel_state.py), which appends
``:device``, and SGLang (python/sglang/srt/distributed/parallel_state.py).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from commscope.analysis.communicators import Communicator, Communicators
from commscope.classify import Expression

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ROLE_OF = {
    word: role
    for role, words in {
        "tp": "tp etp sp tensor",
        "pp": "pp pipe pipeline",
        "ep": "ep eplb expert moe",
        "cp": "cp dcp pcp context",
        "dp": "dp ddp edp data fsdp efsdp hsdp shard replicate",
    }.items()
    for word in words.split()
}

#: Roles whose communication is of activations, between layers: compute waits for its result.
IN_LINE = ("tp", "pp", "ep", "cp")


def role_of(
    communicator: Communicator, ops: Sequence[str], given: Mapping[str, Expression]
) -> str | None:
    """The role that the user, the group's name or description, or its use tells; else null.

    By use: messages between two ranks are pipeline parallel, and a group that only exchanges
    all-to-all is expert parallel. Reductions and gathers do not tell: tensor and data parallel
    groups both have them.
    """
    text = group_text(communicator.name, communicator.description)
    for role, pattern in given.items():
        if pattern.search(text):
            return role
    words = [word.lower() for word in _WORD.findall(text)]
    named = {_ROLE_OF[word] for word in words if word in _ROLE_OF}
    return _of_several(named, words) if named else _by_use(set(ops))


def group_text(name: str | None, description: str | None) -> str:
    """What expressions for roles are looked for in."""
    return f"{name or ''} {description or ''}"


def _of_several(named: set[str], words: Sequence[str]) -> str | None:
    """One role for all that a name tells, or null: a group over a whole model has none.

    Gradients and shards of data parallel ranks lie over the context parallel ranks too, and those
    of experts over their own ranks: such groups are data parallel. An expert cut by tensor
    parallelism has groups of that kind; only the one of both (``TENSOR_AND_MODEL``) moves tokens.
    """
    if len(named) == 1:
        return next(iter(named))
    if "dp" in named and named <= {"dp", "cp", "ep"}:
        return "dp"
    if named == {"tp", "ep"}:
        return "ep" if "and" in words else "tp"
    return "tp" if named == {"tp", "cp"} else None


def _by_use(used: set[str]) -> str | None:
    if used and used <= {"send", "recv", "send_recv"}:
        return "pp"
    return "ep" if used == {"all_to_all"} else None


def roles_of(
    communicators: Communicators, ops: Sequence[str | None], given: Mapping[str, Expression]
) -> tuple[str | None, ...]:
    """The role of each communicator; ``ops`` has the operation of each collective."""
    used: defaultdict[int, set[str]] = defaultdict(set)
    for number, op in zip(communicators.of_row.tolist(), ops):
        if op is not None:
            used[number].add(op)
    found = enumerate(communicators.found)
    return tuple(role_of(c, sorted(used[number]), given) for number, c in found)
