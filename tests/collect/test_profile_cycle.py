from __future__ import annotations

from commscope.collect.profiling.inject.cycle import Cycle


class Optimizer:
    """Stands for one of torch."""


def steps_begun(calls: list[tuple[Optimizer, bool]]) -> list[int | None]:
    cycle = Cycle()
    return [cycle.called(it, after_forward=forward) for it, forward in calls]


A, B = Optimizer(), Optimizer()


def test_each_call_of_a_lone_optimizer_ends_a_step() -> None:
    assert steps_begun([(A, True)] * 4) == [1, 2, 3, 4]


def test_two_optimizers_after_one_backward_pass_share_a_step() -> None:
    calls = [(A, True), (B, False)] * 3
    # What belongs together shows only once the first step is over.
    assert steps_begun(calls) == [1, None, None, 2, None, 3]


def test_the_two_of_a_gan_share_a_step_though_each_has_a_pass_of_its_own() -> None:
    assert steps_begun([(A, True), (B, True)] * 3) == [1, None, None, 2, None, 3]


def test_an_optimizer_that_is_called_now_and_then_does_not_change_the_count() -> None:
    calls = [(A, True), (A, True), (A, True), (B, True)] * 2
    assert [step for step in steps_begun(calls) if step] == [1, 2, 3, 4, 5, 6]


def test_calls_once_a_group_of_parameters_are_one_step() -> None:
    assert steps_begun([(A, True), (A, False), (A, False)] * 3) == [
        *(1, None, None),
        *(None, None, 2),
        *(None, None, 3),
    ]


def test_a_step_without_its_last_call_is_counted_still() -> None:
    calls = [(A, True), (B, False), (A, True), (B, False), (A, True), (A, True), (A, True)]
    assert steps_begun(calls) == [1, None, None, 2, None, 4, 5]


def test_another_leads_when_the_first_is_gone() -> None:
    cycle = Cycle()
    gone = Optimizer()
    assert cycle.called(gone, after_forward=True) == 1
    del gone
    assert [cycle.called(B, after_forward=True) for _ in range(2)] == [2, 3]


def test_another_leads_when_the_first_is_no_longer_called() -> None:
    begun = [step for step in steps_begun([(A, True)] + [(B, True)] * 20) if step]
    assert begun == [1, 3, 4, 5]
