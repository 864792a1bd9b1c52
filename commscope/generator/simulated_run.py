"""A plan carried out in exact time, with traces, logs and truth as if it had been recorded."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

from commscope._version import __version__
from commscope.errors import UsageError
from commscope.generator.catalog.plan import Plan
from commscope.generator.clocks import ORIGIN_NS
from commscope.generator.kineto_style import Style
from commscope.generator.kineto_writer import trace_text
from commscope.generator.rccl_log_writer import log_text
from commscope.generator.rocprofv3.csv_files import write_csv
from commscope.generator.rocprofv3.json_document import write_json
from commscope.generator.rocprofv3.of_simulation import recorded
from commscope.generator.rocprofv3.rocpd_database import write_rocpd
from commscope.generator.run_folder import GeneratedRun, files_of, rank_folder
from commscope.generator.simulation import Simulation
from commscope.generator.truth_writing import ClockReading, RankHeader, write_truth

GPU = "commscope simulated GPU"
_BACKENDS = {"auto": "amd", "amd": "amd", "nvidia": "nvidia"}
_STYLES = {
    "amd": Style(vendor="rocm", gpu=GPU, with_host=True),
    "nvidia": Style(vendor="cuda", gpu=GPU, with_host=True),
}


def _kineto(simulation: Simulation, rank: int, backend: str, folder: Path) -> None:
    text = trace_text(simulation, rank, _STYLES[backend])
    (folder / "trace.json.gz").write_bytes(gzip.compress(text.encode(), 6, mtime=0))


def _csv(simulation: Simulation, rank: int, _backend: str, folder: Path) -> None:
    write_csv(folder, recorded(simulation, rank, GPU), prefix="trace")


def _json(simulation: Simulation, rank: int, _backend: str, folder: Path) -> None:
    write_json(folder / "trace_results.json", recorded(simulation, rank, GPU))


def _rocpd(simulation: Simulation, rank: int, _backend: str, folder: Path) -> None:
    write_rocpd(folder / "trace_results.db", recorded(simulation, rank, GPU))


#: Writes the trace of a rank into its folder: PyTorch's, or one of rocprofv3.
FORMATS: dict[str, Callable[[Simulation, int, str, Path], None]] = {
    "kineto": _kineto,
    "csv": _csv,
    "json": _json,
    "rocpd": _rocpd,
}


def simulate_run(plan: Plan, backend: str, formats: Sequence[str], folder: Path) -> GeneratedRun:
    """Simulates a plan and writes what a profiler would have.

    Raises UsageError for a backend or format that cannot be simulated.
    """
    vendor = _BACKENDS.get(backend)
    if vendor is None:
        raise UsageError(f"--backend {backend}: simulate writes traces of amd or nvidia")
    formats = formats or ("kineto",)
    for name in formats:
        if name not in FORMATS:
            raise UsageError(f"--formats {name}: simulate writes {', '.join(FORMATS)}")
        if vendor != "amd" and name != "kineto":
            raise UsageError(f"--formats {name}: rocprofv3 is of amd; of {backend} write kineto")
    simulation = plan.simulated()
    for rank in range(plan.knobs.ranks):
        place = rank_folder(folder, rank)
        for name in formats:
            FORMATS[name](simulation, rank, vendor, place)
        (place / "rccl.log").write_text(log_text(simulation, rank), encoding="utf-8")
    write_truth(folder, simulation, _headers(plan, vendor), plan, engine="simulate")
    return GeneratedRun(
        scenario=plan.scenario,
        engine="simulate",
        backend=vendor,
        profiler="none",
        world=plan.knobs.ranks,
        steps=plan.knobs.steps,
        warmup=plan.knobs.warmup,
        versions={"commscope": __version__},
        files=files_of(folder, plan.knobs.ranks),
    )


def _headers(plan: Plan, backend: str) -> list[RankHeader]:
    clock = ClockReading(
        realtime_ns=_STYLES[backend].base_ns + ORIGIN_NS,
        boottime_ns=ORIGIN_NS,
        monotonic_ns=ORIGIN_NS,
    )
    return [
        RankHeader(
            backend="simulate",
            vendor=backend,
            ccl="simulate",
            world=plan.knobs.ranks,
            rank=rank,
            clock=clock,
            device_name=GPU,
            ticks_per_us=1_000.0,
            tick_step_us=0.001,
        )
        for rank in range(plan.knobs.ranks)
    ]
