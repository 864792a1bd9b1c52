"""Which collective a kernel or a profiler record is, in one set of words, and element sizes.

The words: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, send_recv,
send, recv, gather, scatter, barrier.
"""

from __future__ import annotations

import re

from commscope.classify import kernel_name
from commscope.classify.communication import is_communication

#: In this order: the longer words hold the shorter ones. Ranks that each scatter to all gather from
#: all; Transformer Engine marks the halves of its all-reduce.
_IN_KERNEL = tuple(
    (op, re.compile(pattern, re.IGNORECASE))
    for op, pattern in (
        ("reduce_scatter", r"reduce_?scatter|userbuffers_\w*_rs(?:_|$)"),
        ("all_gather", r"all_?gather|all_scatter|fcollect|userbuffers_\w*_ag(?:_|$)"),
        ("all_reduce", r"all_?reduce|cross_device_reduce|userbuffers_\w*_sum_inplace"),
        ("all_to_all", r"all_?(?:to|2)_?all|dispatch|combine"),
        ("send_recv", r"send_?recv"),
        ("broadcast", r"broadcast"),
        ("send", r"send"),
        ("recv", r"recv"),
        ("gather", r"gather"),
        ("scatter", r"scatter"),
        ("barrier", r"barrier"),
        ("reduce", r"(?<!quick)(?<!onerank)reduce"),
    )
)
#: What goes before or after a dispatch or combine on one rank alone.
_BESIDE = re.compile(
    r"(?:get_|convert|prepare)(?:dispatch|combine)|(?:dispatch|combine)reset", re.IGNORECASE
)

#: Spellings of torch.distributed and of the libraries, without underscores.
_SPELLINGS = {
    "all_reduce": ("allreduce", "allreducecoalesced", "allreducesparse"),
    "all_gather": (
        "allgather",
        "allgatherbase",
        "allgathercoalesced",
        "allgatherintotensor",
        "allgatherintotensorcoalesced",
        "allgatherintotensorout",
        "allgatherv",
    ),
    "reduce_scatter": (
        "reducescatter",
        "reducescatterbase",
        "reducescattercoalesced",
        "reducescattertensor",
        "reducescattertensorcoalesced",
        "reducescatterv",
    ),
    "all_to_all": ("alltoall", "alltoallbase", "alltoallpivot", "alltoallsingle", "alltoallv"),
    "broadcast": ("bcast", "broadcast", "broadcastcoalesced", "broadcastoop"),
    "reduce": ("reduce", "reduceoop"),
    "send_recv": ("sendrecv", "batchsendrecv"),
    "send": ("send", "isend"),
    "recv": ("recv", "irecv", "recvanysource"),
    "gather": ("gather",),
    "scatter": ("scatter",),
    "barrier": ("barrier", "allreducebarrier"),
}
_OP_OF = {spelling: op for op, spellings in _SPELLINGS.items() for spelling in spellings}
_PREFIX = re.compile(r"(?:\w+:{1,2}|[nr]ccl)")

_BYTES_OF = {
    name: size
    for size, names in {
        1: (
            *("bool", "byte", "char", "int8", "uint8", "qint8", "quint8"),
            *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
            *("float8_e8m0fnu", "float4_e2m1fn_x2"),
        ),
        2: ("half", "bfloat16", "float16", "short", "int16", "uint16"),
        4: ("float", "float32", "int", "int32", "uint32", "qint32", "complexhalf"),
        8: ("double", "float64", "long", "int64", "uint64", "complexfloat"),
        16: ("complexdouble",),
    }.items()
    for name in names
}


def op_from_name(name: str) -> str | None:
    """The collective a communication kernel's name tells, or None: most of RCCL's tell nothing.

    Names that are not communication by the built-in rules give None.
    """
    head = kernel_name.split(name).head
    if not is_communication(head) or _BESIDE.search(head):
        return None
    return next((op for op, pattern in _IN_KERNEL if pattern.search(head)), None)


def canonical_op(text: str) -> str | None:
    """The collective a profiler or a library call names, such as ``_allgather_base``.

    Takes the values of ``Collective name``, annotations (``nccl:all_reduce``, ``nccl:send 0->1``),
    operators (``c10d::allreduce_``) and calls (``ncclAllReduce``). None for what is no collective
    (``wait``, ``init``) or does not say which one (``coalesced``).
    """
    word = text[:200].strip().lower().partition(" ")[0]
    prefix = _PREFIX.match(word)
    bare = word[prefix.end() :] if prefix else word
    return _OP_OF.get(bare.replace("_", ""))


def dtype_bytes(text: str) -> int | None:
    """Bytes of one element of a torch dtype, as the profiler prints it (``BFloat16``, ``Long``)."""
    return _BYTES_OF.get(text.strip().lower().removeprefix("torch."))
