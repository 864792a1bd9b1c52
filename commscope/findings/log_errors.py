"""Rules on what failed: the network, and whoever failed first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commscope.findings.log_case import LogCase, Row, quotes
from commscope.findings.log_sources import NCCL_TROUBLE
from commscope.findings.log_warnings import messages, rule_of_warning
from commscope.findings.model import Advice, Measured
from commscope.findings.rule import NOTHING, LogDraft, LogRule, Outcome, Rule
from commscope.sanitize import shortened
from commscope.wording import counted, listed, rank_list

_COMPLETION = re.compile(
    r"Got completion (?:from peer (?P<peer>\S+) )?with (?:status|error)[ =](?P<status>\d+)"
)
_FLUSHED = "5"
#: What fails while the library tries something is told as INFO: a notice.
_SERIOUS = ("warn", "error")
_STATUSES = {
    "4": "4 (local protection: memory that is not registered)",
    "5": "5 (flushed after another error)",
    "9": "9 (remote invalid request)",
    "10": "10 (remote access refused)",
    "11": "11 (remote operation failed)",
    "12": "12 (the peer did not answer: retries exceeded)",
    "13": "13 (the peer was not ready: retries exceeded)",
}
#: What those say who lost a peer: they are not the first to fail.
_VICTIM = re.compile(
    r"Connection closed by|Socket recv failed|Proxy Call to rank| -> 6$"
    r"|Error encountered progressing"
)
_CODES = {
    1: "HIP or CUDA error",
    2: "system error",
    3: "internal error",
    4: "invalid argument",
    5: "invalid usage",
    6: "error of a peer",
    7: "still in progress",
}
_TEXT = 120


@dataclass(frozen=True, slots=True)
class _NetworkError:
    """A kind of error of the network."""

    pattern: str
    says: Callable[[Sequence[Row]], str]
    advice: Advice


def _completions(rows: Sequence[Row]) -> str:
    found = [match for row in rows if (match := _COMPLETION.search(row["text"]))]
    statuses = dict.fromkeys(match["status"] for match in found)
    first = [status for status in statuses if status != _FLUSHED] or list(statuses)
    named = listed(_STATUSES.get(status, status) for status in first)
    peers = listed(sorted({match["peer"] for match in found if match["peer"]}), most=2)
    return f"RDMA sends failed with status {named}" + (f", peer {peers}" if peers else "")


def _events(rows: Sequence[Row]) -> str:
    events = {row["text"].partition("async event")[2].strip(" :") for row in rows}
    return f"a port or link reported {shortened(listed(sorted(events), most=2), _TEXT)}"


def _calls(rows: Sequence[Row]) -> str:
    calls = {match[0] for row in rows if (match := re.search(r"ibv_\w+", row["text"]))}
    return f"{listed(sorted(calls))} failed"


_NETWORK = (
    _NetworkError(
        r"Got completion ",
        _completions,
        Advice(
            "Status 12: look at routes, firewall, NCCL_IB_GID_INDEX, cable. Status 4: at memory "
            "registration (peer memory, DMA-BUF, IOMMU). Status 5 follows another error: look "
            "earlier.",
            "The first status that is not 5 names the cause; all other ranks only lose their peer.",
            "https://github.com/NVIDIA/nccl/issues/1170",
        ),
    ),
    _NetworkError(
        r"Got async event",
        _events,
        Advice(
            "Look at the port, cable and switch (ibstat, error counters).",
            "A link that goes down and up again leaves the job hanging later.",
            "https://github.com/NVIDIA/nccl/issues/905",
        ),
    ),
    _NetworkError(
        r"ibv_(?!get_async|fork_init)\w+ failed",
        _calls,
        Advice(
            "ibv_reg_mr, ibv_create_qp or ibv_create_cq: ulimit -l unlimited in the job. "
            "ibv_modify_qp with Invalid argument on RoCE: NCCL_IB_GID_INDEX.",
            "RDMA needs locked memory, and on RoCE the address of the right version.",
            NCCL_TROUBLE,
        ),
    ),
)


def look_network(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L7: errors of the network."""
    drafts = []
    for kind in _NETWORK:
        rows = [
            row for row in case.messages
            if row["level"] in _SERIOUS and re.search(kind.pattern, row["text"])
        ]  # fmt: skip
        if rows:
            says = f"{kind.says(rows)}{_by_whom(rows)}"
            measured = {"warnings": Measured(len(rows), "count")}
            first = _not_flushed(rows)
            drafts.append(
                LogDraft(says, "high", quotes(first), first["rank"], measured,
                         advice=(kind.advice,))
            )  # fmt: skip
    return Outcome(tuple(drafts)) if drafts else NOTHING


def _not_flushed(rows: Sequence[Row]) -> Row:
    """The first row that is no consequence of another error."""
    return next((row for row in rows if f"status={_FLUSHED} " not in row["text"]), rows[0])


def _by_whom(rows: Sequence[Row]) -> str:
    ranks = sorted({row["rank"] for row in rows if row["rank"] is not None})
    hosts = sorted({row["host"] for row in rows if row["host"] is not None})
    who = f" on {rank_list(ranks)}" if ranks else ""
    return who + (f" ({listed(hosts)})" if hosts else "")


# L8: failures


def look_failures(case: LogCase, _limits: Mapping[str, float]) -> Outcome[LogDraft]:
    """L8: who failed first, and with what."""
    rows = [row for row in case.messages if rule_of_warning(row["text"]) == "L8"]
    network = {_process(row) for row in case.messages if rule_of_warning(row["text"]) == "L7"}
    rows = [r for r in rows if r["level"] != "notice" and _process(r) not in network]
    drafts = [
        *_duplicates(rows),
        *_failures(case, [r for r in rows if "Duplicate" not in r["text"]]),
    ]
    return Outcome(tuple(drafts)) if drafts else NOTHING


def _process(row: Row) -> tuple[Any, ...]:
    return (row["host"], row["pid"], None if row["pid"] is not None else row["file"])


def _duplicates(rows: Sequence[Row]) -> Iterator[LogDraft]:
    found = [row for row in rows if "Duplicate GPU detected" in row["text"]]
    if found:
        yield LogDraft(
            f"two ranks use one GPU: {shortened(found[0]['text'], _TEXT)}",
            "high",
            quotes(found[0]),
            found[0]["rank"],
            advice=(_DUPLICATE,),
        )


def _failures(case: LogCase, rows: Sequence[Row]) -> Iterator[LogDraft]:
    """One finding: the first process that failed by itself, and how many others followed."""
    told = [row for row in rows if row["level"] != "trace"]
    if not rows or (not told and not any(one.aborted for one in case.communicators)):
        return
    causes = [row for row in rows if not _VICTIM.search(row["text"])] or list(rows)
    first = _process(causes[0])
    mine = [row for row in rows if _process(row) == first]
    telling = next(
        (r for r in mine if r["level"] != "trace" and not _VICTIM.search(r["text"])), mine[0]
    )
    others = len({_process(row) for row in rows} - {first})
    yield LogDraft(
        f"{_named(causes[0])} failed first{_code(mine)}: {shortened(telling['text'], _TEXT)}"
        + (f"; {counted(others, 'process', 'processes')} followed" if others else ""),
        "high",
        quotes(telling, causes[0]),
        causes[0]["rank"],
        {"messages": Measured(len(rows), "count")},
        confidence="medium" if others else "high",
        advice=(_FIRST,),
    )


def _named(row: Row) -> str:
    who = "a process" if row["rank"] is None else f"rank {row['rank']}"
    return who + (f" ({row['host']})" if row["host"] else "")


def _code(rows: Sequence[Row]) -> str:
    """What the first code says, of those that are no consequence of a peer's failure."""
    codes = [row["code"] for row in rows if row["code"] is not None and row["code"] != 6]
    return f" with {_CODES.get(codes[0], f'code {codes[0]}')}" if codes else ""


_DUPLICATE = Advice(
    "Give each rank a device of its own (torch.cuda.set_device(local_rank), *_VISIBLE_DEVICES).",
    "A communicator has one rank a GPU; two on one cannot be.",
    NCCL_TROUBLE,
)
_FIRST = Advice(
    "Look at the output of this process before the quoted lines; ranks that report a closed "
    "connection or code 6 only lost their peer.",
    "One process fails, and all others say so louder than it does.",
    "https://github.com/ROCm/rccl/issues/1026",
)
RULES: tuple[LogRule, ...] = (
    Rule(
        "L7", "log", "Network errors",
        "Did the network fail?",
        look_network,
        tuple(kind.advice for kind in _NETWORK),
        needs=(messages,),
    ),
    Rule(
        "L8", "log", "Failed process",
        "Which process failed first?",
        look_failures,
        (_FIRST, _DUPLICATE),
        needs=(messages,),
    ),
)  # fmt: skip
