"""One process's activities, written in every format, and what must be read back.

Times begin with ``ORIGIN_NS``.
"""

from __future__ import annotations

from commscope.generator.rocprofv3.process import (
    ApiCall,
    Dispatch,
    LogicalTrace,
    Marker,
    Transfer,
)

__all__ = ["ORIGIN_NS", "ApiCall", "Dispatch", "LogicalTrace", "Marker", "Transfer", "three_steps"]

ORIGIN_NS = 1_000_000_000_000


def three_steps() -> LogicalTrace:
    """Three steps of 1 ms: a GEMM, an all-reduce half hidden by it, an optimizer, a copy."""
    dispatches, transfers, calls, markers = [], [], [], []
    number = 0

    def launch(name: str, at: int) -> int:
        nonlocal number
        number += 1
        calls.append(ApiCall(name, at, at + 2_000, number))
        return number

    for step in range(3):
        begin = ORIGIN_NS + step * 1_000_000
        markers.append(Marker(f"step {step}", begin, begin + 900_000, 900 + step))
        gemm = launch("hipExtModuleLaunchKernel", begin + 10_000)
        dispatches.append(
            Dispatch("Cijk_Ailk_Bljk_BBS_BH_MT128x128x64_MI", begin + 20_000, begin + 300_000, gemm)
        )
        reduce = launch("hipExtLaunchKernel", begin + 15_000)
        dispatches.append(
            Dispatch(
                "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", begin + 200_000,
                begin + 500_000, reduce, stream=2, queue=2, grid=(8192, 1, 1),
                workgroup=(256, 1, 1),
            )
        )  # fmt: skip
        adam = launch("hipLaunchKernel", begin + 30_000)
        dispatches.append(
            Dispatch(
                "void multi_tensor_apply_kernel<FusedAdam>", begin + 500_000, begin + 600_000, adam
            )
        )
        copy = launch("hipMemcpyAsync", begin + 40_000)
        transfers.append(
            Transfer("HOST_TO_DEVICE", begin + 610_000, begin + 650_000, copy, bytes=1 << 20)
        )
    calls.append(
        ApiCall("hipDeviceSynchronize", ORIGIN_NS + 2_700_000, ORIGIN_NS + 2_800_000, number + 1)
    )
    return LogicalTrace(tuple(dispatches), tuple(transfers), tuple(calls), tuple(markers))
