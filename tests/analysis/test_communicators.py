"""Communicators by name, members and stream, also where some collectives lack metadata."""

from __future__ import annotations

from collections.abc import Sequence

from matched import Op, streams_of, times_of

from commscope.analysis.communicators import Communicators, find_communicators


def _found(ops: Sequence[Op]) -> Communicators:
    return find_communicators(times_of(ops), streams_of(ops))


def test_groups_of_one_name_with_other_members_are_different() -> None:
    ops = [Op(rank, 0, 1, comm="tp", members=(0, 1) if rank < 2 else (3, 2)) for rank in range(4)]
    found = _found(ops)
    assert [c.members for c in found.found] == [(0, 1), (2, 3)]
    assert found.of_row.tolist() == [0, 0, 1, 1]


def test_the_order_of_members_does_not_matter() -> None:
    ops = [Op(0, 0, 1, members=(0, 1)), Op(1, 0, 1, members=(1, 0))]
    assert len(_found(ops).found) == 1


def test_any_collective_tells_what_the_first_does_not() -> None:
    ops = [
        Op(0, 0, 1, comm=None),
        Op(0, 2, 3, comm="dp", description="mesh_dp", members=(0, 1), group_size=2),
        Op(1, 0, 1, comm="dp", group_size=2),
    ]
    found = _found(ops)
    (only,) = found.found
    assert (only.name, only.description, only.members, only.size) == ("dp", "mesh_dp", (0, 1), 2)
    assert found.guessed.tolist() == [True, False, False]


def test_a_collective_without_a_group_is_not_guessed_where_the_stream_has_several() -> None:
    ops = [Op(0, 0, 1, comm=None), Op(0, 2, 3, comm="a"), Op(0, 4, 5, comm="b")]
    found = _found(ops)
    assert not found.guessed.any()
    assert sorted(str(c.name) for c in found.found) == ["None", "a", "b"]


def test_members_of_a_namesake_are_only_taken_where_one_fits() -> None:
    ops = [
        Op(0, 0, 1, comm="tp", members=(0, 1)),
        Op(1, 0, 1, comm="tp"),
        Op(2, 0, 1, comm="tp", members=(2, 3)),
        Op(4, 0, 1, comm="tp"),
    ]
    found = _found(ops)
    assert [found.found[number].members for number in found.of_row] == [
        (0, 1), (0, 1), (2, 3), (4,),
    ]  # fmt: skip


def test_without_names_streams_stand_for_communicators_in_their_order() -> None:
    ops = [
        Op(rank, 10 * stream, 10 * stream + 1, comm=None, stream=stream + 5 * rank)
        for rank in range(2)
        for stream in range(2)
    ]
    found = _found(ops)
    assert [c.by_stream for c in found.found] == [True, True]
    assert found.of_row.tolist() == [0, 1, 0, 1]
    assert found.found[0].members == (0, 1)


def test_the_declared_size_may_exceed_the_ranks_at_hand() -> None:
    (found,) = _found([Op(0, 0, 1, group_size=8), Op(1, 0, 1, group_size=8)]).found
    assert (found.members, found.size) == ((0, 1), 8)


def test_no_collectives_have_no_communicators() -> None:
    assert _found([]).found == ()
