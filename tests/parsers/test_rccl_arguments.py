"""What the arguments of RCCL's calls tell of a collective."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from commscope.parsers.rccl_arguments import Arguments, Texts, Told, combined, told_by

Call = tuple[str, Texts]
_COMM = "0x55d0c0ffee00"
_HALF = {"datatype": "6", "comm": _COMM}


def told(calls: Sequence[Call], rank: int | None = None, world: int | None = None) -> list[Told]:
    """What the last calls tell, those that tell anything."""
    arguments = Arguments({row: texts for row, (_, texts) in enumerate(calls)}, rank, world)
    rows = [(row, name, row) for row, (name, _) in enumerate(calls)]
    return list(told_by(rows, arguments).values())


def begun(nranks: int = 8, myrank: int = 3, unique: str = "", address: str = _COMM) -> Call:
    texts = {"newcomm": address, "nranks": str(nranks), "myrank": str(myrank), "commId": unique}
    return "ncclCommInitRank", texts


@pytest.mark.parametrize(
    ("call", "texts", "op", "size"),
    [
        ("ncclAllReduce", {"count": "1000"}, "all_reduce", 2000),
        ("ncclBroadcast", {"count": "1000"}, "broadcast", 2000),
        ("ncclReduce", {"count": "1000"}, "reduce", 2000),
        ("ncclSend", {"count": "1000"}, "send", 2000),
        ("ncclRecv", {"count": "1000"}, "recv", 2000),
        ("ncclAllGather", {"sendcount": "1000"}, "all_gather", 16_000),
        ("ncclReduceScatter", {"recvcount": "1000"}, "reduce_scatter", 16_000),
        ("ncclAllToAll", {"count": "1000"}, "all_to_all", 16_000),
        ("ncclAllToAllv", {"sendcounts": "0x7f00"}, "all_to_all", None),
        ("ncclGather", {"sendcount": "1000"}, "gather", None),
    ],
)
def test_sizes_are_those_that_nccl_tests_counts(call, texts, op, size):
    [one] = told([begun(), (call, _HALF | texts)])
    assert (one.op, one.bytes, one.dtype, one.group_size) == (op, size, "float16", 8)


@pytest.mark.parametrize("call", ["ncclAllGather", "ncclReduceScatter", "ncclAllToAll"])
def test_a_share_alone_tells_no_size(call):
    [one] = told([(call, _HALF | {"count": "1000"})])
    assert (one.bytes, one.group_size, one.dtype) == (None, None, "float16")


@pytest.mark.parametrize(
    ("datatype", "dtype", "size"),
    [
        ("0", "int8", 10),
        ("5", "uint64", 80),
        ("7", "float32", 40),
        ("9", "bfloat16", 20),
        ("11", "float8_e5m2", 10),
        ("ncclFloat16", "float16", 20),
        ("ncclDouble", "double", 80),
        ("12", None, None),
        ("-1", None, None),
        ("", None, None),
        ("ncclNumTypes", None, None),
    ],
)
def test_types_are_numbers_or_names(datatype, dtype, size):
    [one] = told([("ncclAllReduce", {"count": "10", "datatype": datatype})])
    assert (one.dtype, one.bytes) == (dtype, size)


@pytest.mark.parametrize("count", ["", "0", "-5", "1e3", "ten", "9" * 19, "9" * 400, "(null)"])
def test_counts_that_cannot_be_tell_no_size(count):
    [one] = told([("ncclAllReduce", {"count": count, "datatype": "8"})])
    assert one.bytes is None


def test_a_communicator_is_named_by_its_unique_id_and_not_by_its_address():
    """The same on all ranks, and as RCCL's log writes it: hashed as RCCL does."""
    unique = "0x" + "00" * 127 + "ff"
    other = ("ncclAllReduce", _HALF | {"comm": "0x1"})
    here = told([begun(unique=unique), ("ncclAllReduce", _HALF)])
    there = told([begun(unique=unique, myrank=4, address="0x1"), other])
    assert here[0].comm == there[0].comm == f"0x{_hash(bytes(127) + bytes([255])):x}"
    assert told([begun(unique="0x12"), ("ncclAllReduce", _HALF)])[0].comm is None
    assert told([other])[0].comm is None


def _hash(unique: bytes) -> int:
    value = 0xDEADBEEF
    for byte in unique:
        value ^= value >> 32
        value = value * 0x8DB3DB47FA2994AD % 2**64
        value = (value + int.from_bytes(bytes([byte]), "little", signed=True)) % 2**64
    return value


@pytest.mark.parametrize(
    "ending",
    [
        ("ncclCommDestroy", {"comm": _COMM}),
        ("ncclCommAbort", {"comm": _COMM}),
        ("ncclCommSplit", {"comm": "0x1", "newcomm": _COMM}),
        begun(nranks=0),
    ],
)
def test_an_address_that_is_given_out_again_is_another_communicator(ending):
    reduce = ("ncclAllReduce", _HALF)
    assert [one.group_size for one in told([begun(4), reduce, ending, reduce])] == [4, None]
    calls = [begun(4), reduce, ending, begun(2), reduce]
    assert [one.group_size for one in told(calls)] == [4, 2]


@pytest.mark.parametrize(
    ("rank", "world", "peer"), [(3, 8, 5), (3, 16, None), (2, 8, None), (None, None, None)]
)
def test_a_peer_is_a_rank_of_the_job_only_where_the_communicator_spans_it(rank, world, peer):
    [one] = told([begun(), ("ncclSend", _HALF | {"count": "1", "peer": "5"})], rank, world)
    assert one.peer == peer


def test_a_peer_outside_the_communicator_is_none():
    [one] = told([begun(), ("ncclSend", _HALF | {"count": "1", "peer": "8"})], 3, 8)
    assert one.peer is None


def _sized(op: str, size: int | None, address: str = _COMM) -> Told:
    return Told(op=op, address=address, bytes=size, dtype="half", comm="0x1", group_size=8)


@pytest.mark.parametrize(
    ("calls", "kernels", "size"),
    [
        ([_sized("all_reduce", 10)], 1, 10),
        ([_sized("all_reduce", 10)], 2, None),
        ([_sized("all_reduce", 10), _sized("all_reduce", 20)], 1, 30),
        ([_sized("all_reduce", 10), _sized("all_reduce", 20)], 2, None),
        ([_sized("all_reduce", 10), _sized("all_reduce", None)], 1, None),
        ([_sized("all_reduce", 10), _sized("all_reduce", 20, "0x2")], 1, None),
        ([_sized("send", 10), _sized("recv", 30), _sized("send", 5)], 1, 15),
        ([_sized("recv", 10), _sized("recv", 30)], 1, 40),
        ([_sized("send", 2**62), _sized("send", 2**62)], 1, None),
    ],
)
def test_a_group_has_a_size_only_where_one_kernel_runs_it_all(calls, kernels, size):
    one = combined(calls, kernels)
    assert one.bytes == size
    assert (one.dtype, one.comm, one.group_size) == ("half", "0x1", 8)


def test_what_differs_within_a_group_is_not_told():
    one = combined([_sized("send", 1), Told(op="send", dtype="float", peer=3)], 1)
    assert (one.bytes, one.dtype, one.comm, one.group_size, one.peer) == (None,) * 5
