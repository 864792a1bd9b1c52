"""Steps by the annotations that frameworks are known to make."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from tables import Gpu, Row, annotation, step, trace

from commscope.trace import Trace

#: Length of a step on the host, and what it launches in a regular way.
STEP, LAUNCHES = 1000, 40


def _launched(*times: int) -> list[Row]:
    """Kernels that differ, so that no period can be found."""
    return [Gpu(10**6 + 10 * i, 5, f"kernel_{i}", launched=t) for i, t in enumerate(times)]


def _evenly(begin: int, end: int, count: int) -> list[int]:
    return [begin + (end - begin) * i // count for i in range(count)]


def _training(*rows: Row, steps: int = 4, head: int = 0, tail: int = 0) -> list[Row]:
    """Steps of 1000 ns, of which the last 100 are the optimizer's, after and before other work."""
    times = _evenly(0, STEP, head)
    for number in range(1, steps + 1):
        times += _evenly(number * STEP, (number + 1) * STEP, LAUNCHES)
    times += _evenly((steps + 1) * STEP, (steps + 2) * STEP, tail)
    return [*_launched(*times), *rows]


def _optimizers(*numbers: int, name: str = "Optimizer.step#AdamW.step", dur: int = 90) -> list[Row]:
    return [annotation(name, (number + 1) * STEP - 100, dur) for number in numbers]


def _begins(found: Trace) -> list[int]:
    begins: list[int] = found.steps.column("host_start_ns").to_pylist()
    return begins


def _source(found: Trace) -> tuple[str, str]:
    return found.step_source.kind, found.step_source.says


FRAMEWORKS: dict[str, Callable[[int], str]] = {
    "vLLM's annotation execute_context_...": lambda i: (
        f"execute_context_{i}({i})_generation_64(64)"
    ),
    "vLLM's annotation execute_context_": lambda i: (
        f"execute_{i}_context_0(sq0sk0)_generation_{i}("
    ),
    "vLLM's annotation gpu_model_runner: forward": lambda _: "gpu_model_runner: forward",
    "SGLang's annotation step[...]": lambda i: (
        f"step[DECODE bs={i}]" if i % 2 else f"step[EXTEND bs=1 toks={i}]"
    ),
    "PyTorch Lightning's annotation run_training_batch": lambda _: (
        "[pl][profile]run_training_batch"
    ),
}


class TestKnownNames:
    """A framework's own annotation begins a step."""

    @pytest.mark.parametrize("says", FRAMEWORKS)
    def test_of_each_framework(self, says: str) -> None:
        marks = [annotation(FRAMEWORKS[says](i), i * STEP, 700) for i in range(1, 5)]
        found = trace(*_training(*marks, head=2))
        assert _begins(found) == [1000, 2000, 3000, 4000]
        kind, told = _source(found)
        assert kind == "marker"
        assert told.startswith(says)
        assert "holds 69.1% of the launches and begins each step" in told
        assert found.events.column("step").to_pylist().count(None) == 2

    @pytest.mark.parametrize(
        "name",
        [
            "DeepSpeedEngine.step", "DeepSpeedEngine.forward", "DistributedDataParallel.forward",
            "FSDP::pre_forward (layers.0)", "TransformerLayer.forward.self_attention",
            "[pl][profile][Strategy]DDPStrategy.training_step", "## forward ##",
            "gpu_model_runner: preprocess", "my execute_context_0(0)", "step[decode",
        ],
    )  # fmt: skip
    def test_parts_of_a_step_are_none(self, name: str) -> None:
        marks = [annotation(name, i * STEP, 700) for i in range(1, 5)]
        assert _source(trace(*_training(*marks)))[0] == "whole_trace"

    @pytest.mark.parametrize(
        ("length", "head"), [(450, 0), (700, 20)], ids=["too little inside", "too much before"]
    )
    def test_must_be_of_the_whole_work(self, length: int, head: int) -> None:
        marks = [annotation("step[DECODE bs=1]", i * STEP, length) for i in range(1, 5)]
        assert _source(trace(*_training(*marks, head=head)))[0] == "whole_trace"

    def test_once_is_no_repetition(self) -> None:
        rows = _training(annotation("step[DECODE bs=1]", STEP, 4 * STEP))
        assert _source(trace(*rows))[0] == "whole_trace"

    def test_wins_over_what_repeats(self) -> None:
        marks = [annotation("step[DECODE bs=1]", i * STEP, 700) for i in range(1, 5)]
        rounds = [annotation("benchmark", i * STEP, 2 * STEP) for i in (1, 3)]
        assert "SGLang" in _source(trace(*_training(*marks, *rounds)))[1]

    def test_yields_to_the_profiler_and_to_the_user(self) -> None:
        rows = _training(*(annotation("step[DECODE bs=1]", i * STEP, 700) for i in range(1, 5)))
        rows += [annotation("mine", 1000, 5), annotation("mine", 3000, 5)]
        assert _begins(trace(*rows, step_marker=re.compile("mine"))) == [1000, 3000]
        assert _source(trace(*rows, step(7, 1000, 4000)))[0] == "annotation"


class TestCalledAStep:
    """Of several annotations that hold nearly all launches, the one that is called so."""

    @pytest.mark.parametrize("name", ["train_step", "training_step 3", "iteration 7", "Step#2"])
    def test_is_the_step(self, name: str) -> None:
        marks = [annotation(name, i * STEP, 990) for i in range(1, 5)]
        epochs = [annotation("epoch", i * STEP, 2 * STEP) for i in (1, 3)]
        assert len(_begins(trace(*_training(*marks, *epochs)))) == 4

    @pytest.mark.parametrize("name", ["steps_before", "stepwise", "batch", "forward"])
    def test_else_what_holds_most(self, name: str) -> None:
        marks = [annotation(name, i * STEP, 970) for i in range(1, 5)]
        epochs = [annotation("epoch", i * STEP, 2 * STEP) for i in (1, 3)]
        assert "annotation epoch" in _source(trace(*_training(*marks, *epochs)))[1]


def _of_optimizers(found: Trace) -> bool:
    return _source(found) == ("marker", "the optimizer: a step ends where Optimizer.step returns")


class TestOptimizer:
    """Where the optimizer returns, a step ends."""

    @pytest.mark.parametrize(
        ("name"),
        ["Optimizer.step#AdamW.step", "Optimizer.step#SGD.step, op_id = 12",
         "DeepSpeedZeroOptimizer_Stage3.step"],
    )  # fmt: skip
    def test_ends_a_step(self, name: str) -> None:
        found = trace(*_training(*_optimizers(1, 2, 3, 4, name=name)))
        assert _of_optimizers(found)
        assert _begins(found) == [1000, 1990, 2990, 3990]
        assert found.step_source.confidence == 1.0

    def test_a_first_step_that_the_recording_cut_is_left_out(self) -> None:
        found = trace(*_training(*_optimizers(0, 1, 2, 3, 4), head=15))
        assert _begins(found) == [990, 1990, 2990, 3990]
        assert found.events.column("step").to_pylist()[:16] == [None] * 15 + [0]

    def test_much_before_the_first_one_is_more_than_a_step(self) -> None:
        assert not _of_optimizers(trace(*_training(*_optimizers(0, 1, 2, 3, 4), head=200)))

    def test_work_after_the_last_one_is_an_open_step(self) -> None:
        found = trace(*_training(*_optimizers(1, 2, 3, 4), tail=20))
        assert _begins(found) == [1000, 1990, 2990, 3990, 4990]
        assert found.steps.column("open").to_pylist() == [False] * 4 + [True]

    def test_one_that_the_recording_cut_ends_nothing(self) -> None:
        rows = _training(*_optimizers(1, 2, 3), *_optimizers(4, dur=0))
        assert _begins(trace(*rows)) == [1000, 1990, 2990, 3990]

    def test_those_of_the_parts_of_a_model_are_one(self) -> None:
        parts = [
            annotation(f"Optimizer.step#{name}.step", (i + 1) * STEP + at, 30)
            for i in range(1, 5)
            for name, at in (("Muon", -100), ("AdamW", -40))
        ]
        found = trace(*_training(*parts))
        assert _of_optimizers(found)
        assert _begins(found) == [1000, 1990, 2990, 3990]

    def test_a_validation_between_two_is_of_a_step(self) -> None:
        rows = _training(*_optimizers(*range(1, 7), *range(8, 12)), steps=11)
        found = trace(*rows)
        assert _of_optimizers(found)
        assert _begins(found) == [1000, *(i * STEP + 990 for i in (1, 2, 3, 4, 5, 6, 8, 9, 10))]

    def test_two_that_take_turns_are_no_steps(self) -> None:
        turns = [annotation("Optimizer.step#Adam.step", i * STEP + 300, 10) for i in range(1, 5)]
        assert not _of_optimizers(trace(*_training(*turns, *_optimizers(1, 2, 3, 4))))

    def test_one_alone_is_no_repetition(self) -> None:
        assert not _of_optimizers(trace(*_training(*_optimizers(2))))

    def test_without_launches_it_marks_nothing(self) -> None:
        rows: Sequence[Row] = [Gpu(10, 5), *_optimizers(1, 2, 3)]
        assert _source(trace(*rows))[0] == "whole_trace"


class TestMicroBatches:
    """What comes several times an optimizer step is no step."""

    @staticmethod
    def _rows(name: str, optimizers: Sequence[int]) -> list[Row]:
        marks = [annotation(f"{name} {i}", i * STEP, 995) for i in range(1, 9)]
        return _training(*marks, *_optimizers(*optimizers), steps=8)

    @pytest.mark.parametrize("name", ["micro_batch", "step", "[pl][profile]run_training_batch"])
    def test_are_no_steps(self, name: str) -> None:
        found = trace(*self._rows(name, (2, 4, 6, 8)))
        assert _of_optimizers(found)
        assert _begins(found) == [1000, 2990, 4990, 6990]

    @pytest.mark.parametrize("name", ["micro_batch", "step", "[pl][profile]run_training_batch"])
    def test_one_an_optimizer_step_is_the_step(self, name: str) -> None:
        found = trace(*self._rows(name, range(1, 9)))
        assert not _of_optimizers(found)
        assert _begins(found) == [1000 * i for i in range(1, 9)]
