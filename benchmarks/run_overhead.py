"""Measures what ``commscope run`` costs a job that it does not profile.

    python benchmarks/run_overhead.py [--pairs N] [--steps N]

The same training loop runs with and without it, in turns, and takes its own time. Half of the pairs
begin with the one, half with the other. What the wrapper itself needs meanwhile is measured too: of
a machine that does other things as well, its processor time says more than a difference of times.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_SIZE = 384
_TICKS = os.sysconf("SC_CLK_TCK")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_RESAMPLES = 10_000
_JOB = "--job"


@dataclass(frozen=True)
class Times:
    """What the job measured, in seconds; ``wrapper`` is the wrapper's processor time meanwhile."""

    median: float
    total: float
    processor: float
    wrapper: float


def train(steps: int) -> None:
    """The job: a perceptron of two layers on random data; prints its times as JSON."""
    generator = np.random.default_rng(0)
    first, second, batch = (generator.standard_normal((_SIZE, _SIZE)) * 0.05 for _ in range(3))
    taken = np.empty(steps)
    before, began = _wrapper_time(), time.process_time()
    for step in range(steps):
        start = time.perf_counter()
        hidden = np.maximum(batch @ first, 0)
        error = hidden @ second - batch
        second -= 1e-4 * hidden.T @ error
        first -= 1e-4 * batch.T @ ((error @ second.T) * (hidden > 0))
        taken[step] = time.perf_counter() - start
    print(json.dumps({
        "median": float(np.median(taken)),
        "total": float(taken.sum()),
        "processor": time.process_time() - began,
        "wrapper": _wrapper_time() - before,
    }))  # fmt: skip


def _wrapper_time() -> float:
    """Processor time of the process that started this one, with that of its ended children."""
    fields = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def measure(steps: int, prefix: Sequence[str]) -> Times:
    """Runs the job once."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.format(folder) for word in prefix]
        done = subprocess.run(
            [*words, sys.executable, os.path.abspath(__file__), _JOB, "--steps", str(steps)],
            cwd=folder,
            env={**os.environ, **_ONE_THREAD},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    return Times(**json.loads(done.stdout))


def pairs(count: int, steps: int) -> Iterator[tuple[Times, Times]]:
    """Times without and with the wrapper."""
    wrapped = [
        sys.executable,
        "-m",
        "commscope",
        "run",
        "--no-analyze",
        "--run-dir",
        "{}/run",
        "--",
    ]
    for number in range(count):
        if number % 2:
            after = measure(steps, wrapped)
            yield measure(steps, ()), after
        else:
            yield measure(steps, ()), measure(steps, wrapped)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Where the median of the values lies with 95 %, by resampling."""
    drawn = np.random.default_rng(0).choice(values, (_RESAMPLES, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument(_JOB, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        train(given.steps)
        return
    found = list(pairs(given.pairs, given.steps))
    print(f"{given.pairs} pairs of {given.steps} steps, times in the job:")
    for name in ("median", "total", "processor"):
        without, with_ = ([getattr(pair[at], name) for pair in found] for at in (0, 1))
        change = [100 * (b / a - 1) for a, b in zip(without, with_, strict=True)]
        low, high = interval(change)
        middle = statistics.median(without), statistics.median(with_), statistics.median(change)
        print("{:>9}: {:.6f} s without, {:.6f} s with: {:+.2f} %".format(name, *middle), end="")
        print(f" (95 %: {low:+.2f} to {high:+.2f})")
    shares = [100 * pair[1].wrapper / pair[1].total for pair in found]
    print(f"  wrapper: {statistics.mean(shares):.3f} % of the job's time on a processor")


if __name__ == "__main__":
    main()
