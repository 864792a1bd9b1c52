"""Rules on settings: forced choices, settings without effect or with a price, disputed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from commscope.findings.log_case import LogCase, Row, quotes, version_of
from commscope.findings.log_sources import NCCL_ENV, PRIMUS, RADEON_P2P, UCX, USAGE_TIPS
from commscope.findings.model import Advice, Grade
from commscope.findings.rule import NOTHING, LogDraft, LogRule, Outcome, Rule
from commscope.wording import listed

_CHOICES = ("NCCL_ALGO", "NCCL_PROTO", "RCCL_OVERRIDE_ALGO", "RCCL_OVERRIDE_PROTO")
_SIZES = (
    *("NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_NCHANNELS_PER_NET_PEER"),
    *("NCCL_MIN_CTAS", "NCCL_MAX_CTAS", "NCCL_NTHREADS", "NCCL_BUFFSIZE"),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is to be said of some variables, where they are set and it holds."""

    holds: Callable[[LogCase], Sequence[Row]]  #: the rows of the environment that are meant
    says: str
    severity: Grade
    advice: Advice


def _set(*names: str) -> Callable[[LogCase], Sequence[Row]]:
    return lambda case: [row for name in names for row in case.variables.get(name, ())]


def _on(*names: str) -> Callable[[LogCase], Sequence[Row]]:
    return lambda case: [row for name in names if (row := case.switched_on(name)) is not None]


def environment(case: LogCase) -> str | None:
    """Variables of the environment."""
    if case.summary.environment:
        return None
    return "the logs name no setting: none is set, or NCCL_DEBUG_SUBSYS lacks ENV"


def _look(settings: Sequence[Setting], case: LogCase) -> Outcome[LogDraft]:
    drafts = []
    for setting in settings:
        rows = setting.holds(case)
        if rows:
            named = listed(dict.fromkeys(f"{row['variable']}={row['value']}" for row in rows))
            says = setting.says.format(named=named)
            advice = (setting.advice,)
            drafts.append(LogDraft(says, setting.severity, quotes(*rows[:3]), advice=advice))
    return Outcome(tuple(drafts)) if drafts else NOTHING


# S4: forced

_FORCED = (
    Setting(
        _set(*_CHOICES),
        "{named} decides in place of the library",
        "medium",
        Advice(
            "Measure without it; keep it only where that is slower, and test it after each update.",
            "The library chooses by size, ranks and links; one forced choice is wrong for some.",
            NCCL_ENV,
        ),
    ),
    Setting(
        _set(*_SIZES),
        "{named} is set by hand",
        "low",
        Advice(
            "Measure without it; more channels take compute units from the model's kernels.",
            "The default fits the device; what helped one size or version may cost in another.",
            USAGE_TIPS,
        ),
    ),
)


# S5: without effect


def _ignored(case: LogCase) -> Sequence[Row]:
    return [row for row in case.summary.environment if row["ignored"]]


def _ucx_unused(case: LogCase) -> Sequence[Row]:
    """UCX's variables where the communicators say which network they use, and it is not UCX."""
    networks = {name for one in case.communicators for name in one.networks}
    if not networks or "UCX" in networks:
        return ()
    return [r for name, rows in case.variables.items() if name.startswith("UCX_") for r in rows]


def _fine_grain(case: LogCase) -> Sequence[Row]:
    """The variable of PCIe where ROCm does not need it any more (from RCCL 2.17 on)."""
    rccl = [version_of(row["version"]) for row in case.versions("rccl")]
    newer = bool(rccl) and min(rccl) >= (2, 17)
    return _on("HSA_FORCE_FINE_GRAIN_PCIE")(case) if newer else ()


_WITHOUT_EFFECT = (
    Setting(
        _ignored,
        "the library ignores {named}",
        "low",
        Advice(
            "Remove it: RCCL takes the number of channels from the environment with 8 GPUs only.",
            "A setting that does nothing misleads whoever compares two runs.",
            USAGE_TIPS,
        ),
    ),
    Setting(
        _ucx_unused,
        "{named} has no effect: the communicators do not use UCX",
        "low",
        Advice(
            "Tune NCCL_* instead; UCX_* is for MPI, unless the log says Using network UCX.",
            "RCCL does not send through UCX without its plugin.",
            UCX,
        ),
    ),
    Setting(
        _fine_grain,
        "{named} is not needed from ROCm 5.7 on, nor over xGMI",
        "low",
        Advice(
            "Remove it, unless GPUs reach each other over PCIe on older ROCm.",
            "It changes how memory is allocated and is known to break network plugins.",
            UCX,
        ),
    ),
)


# S6: disputed

_DISPUTED_NAMES = (
    *("HSA_ENABLE_SDMA", "HSA_NO_SCRATCH_RECLAIM", "GPU_MAX_HW_QUEUES"),
    "CUDA_DEVICE_MAX_CONNECTIONS",
)
_DISPUTED = (
    Setting(
        _set(*_DISPUTED_NAMES),
        "{named}: recipes contradict each other on this setting",
        "low",
        Advice(
            "Measure both values on this job; neither is recommended here.",
            "What helped one model and version slowed another: vendors' own recipes set opposite "
            "values.",
            PRIMUS,
        ),
    ),
)


# S7: with a price


def _p2p_off(case: LogCase) -> Sequence[Row]:
    """P2P is off, and the logs do not show what the ranks use instead."""
    return () if case.table("CHANNELS").num_rows else _on("NCCL_P2P_DISABLE")(case)


_COSTLY = (
    Setting(
        _on("TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"),
        "{named} makes the host wait in each collective",
        "medium",
        Advice(
            "Unset it; time-outs work without (TORCH_NCCL_ASYNC_ERROR_HANDLING).",
            "A host that waits launches nothing ahead: communication cannot be hidden.",
            "https://pytorch.org/docs/stable/torch_nccl_environment_variables.html",
        ),
    ),
    Setting(
        _on("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "NCCL_LAUNCH_BLOCKING"),
        "{named} makes the host wait for each kernel",
        "medium",
        Advice(
            "Unset it: it is for debugging.",
            "Nothing overlaps when each launch waits for its kernel.",
            "https://pytorch.org/docs/stable/notes/cuda.html",
        ),
    ),
    Setting(
        _on("NCCL_SHM_DISABLE"),
        "{named} takes shared memory away: ranks of a host without P2P use the network",
        "low",
        Advice(
            "Unset it, unless /dev/shm is too small to be used.",
            "The network is the slowest way between GPUs of one host.",
            NCCL_ENV,
        ),
    ),
    Setting(
        _p2p_off,
        "{named} keeps GPUs of a host from reaching each other's memory",
        "medium",
        Advice(
            "Unset it, unless the GPUs are Radeon cards over PCIe, or iommu=pt is missing.",
            "Data goes through host memory instead; on two gfx1100 over PCIe that was faster.",
            RADEON_P2P,
        ),
    ),
)


def look_forced(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """S4: variables that decide what the library would choose."""
    return _look(_FORCED, case)


def look_without_effect(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """S5: variables that do nothing here."""
    return _look(_WITHOUT_EFFECT, case)


def look_disputed(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """S6: variables on which recipes contradict each other."""
    return _look(_DISPUTED, case)


def look_costly(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """S7: variables that take something away."""
    return _look(_COSTLY, case)


def _advice(settings: Sequence[Setting]) -> tuple[Advice, ...]:
    return tuple(setting.advice for setting in settings)


RULES: tuple[LogRule, ...] = (
    Rule(
        "S4", "log", "Choices forced by settings",
        "Do settings decide what the library would choose?",
        look_forced, _advice(_FORCED), needs=(environment,),
    ),
    Rule(
        "S5", "log", "Settings without effect",
        "Are there settings that do nothing here?",
        look_without_effect, _advice(_WITHOUT_EFFECT), needs=(environment,),
    ),
    Rule(
        "S6", "log", "Settings in dispute",
        "Are there settings on which recipes contradict each other?",
        look_disputed, _advice(_DISPUTED), needs=(environment,),
    ),
    Rule(
        "S7", "log", "Settings with a price",
        "Do settings slow the job down?",
        look_costly, _advice(_COSTLY), needs=(environment,),
    ),
)  # fmt: skip
