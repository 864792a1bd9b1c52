"""The logical trace with the calls of RCCL in which its collectives were launched."""

from __future__ import annotations

from dataclasses import replace

from logical_trace import ApiCall, LogicalTrace, three_steps

#: What RCCL was asked for in each step: alone, in a group, as a pair of send and receive.
STEPS = (
    ("ncclAllReduce",),
    ("ncclGroupStart", "ncclReduceScatter", "ncclReduceScatter", "ncclGroupEnd"),
    ("ncclGroupStart", "ncclSend", "ncclRecv", "ncclGroupEnd"),
)
OPS = ("all_reduce", "reduce_scatter", "send_recv")


def with_rccl_calls(trace: LogicalTrace | None = None) -> LogicalTrace:
    """Each collective is launched in the last of its calls of RCCL, 500 ns after that began."""
    trace = trace or three_steps()
    launches = [call.start_ns for call in trace.calls if call.name == "hipExtLaunchKernel"]
    calls = [
        _call(name, launch - 500 - 1_000 * back, 3_000 if back == 0 else 500, 10 * step + back)
        for step, (launch, names) in enumerate(zip(launches, STEPS))
        for back, name in enumerate(reversed(names))
    ]
    return replace(trace, calls=(*trace.calls, *calls))


def _call(name: str, start_ns: int, length_ns: int, number: int) -> ApiCall:
    return ApiCall(name, start_ns, start_ns + length_ns, 5_000 + number, domain="RCCL_API")
