"""One answer of a tool for all ranks of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from commscope.errors import UsageError
from commscope.parsers.kineto.beside import Beside
from commscope.peers.hta import TOOL as HTA
from commscope.peers.hta import hta_answers
from commscope.peers.model import Answer, PeerAnswer, Tool
from commscope.peers.tensorboard import TOOL as TENSORBOARD
from commscope.peers.tensorboard import tensorboard_answers
from commscope.peers.tracelens import TOOL as TRACELENS
from commscope.peers.tracelens import tracelens_answers
from commscope.trace import Trace

_NOTHING: Mapping[int, Beside] = MappingProxyType({})
_Answers = Callable[[Trace, Mapping[int, Beside]], list[Answer]]
#: Every tool by the name that ``--as`` takes.
TOOLS: Mapping[str, tuple[Tool, _Answers]] = {
    "hta": (HTA, hta_answers),
    "tracelens": (TRACELENS, tracelens_answers),
    "tb": (TENSORBOARD, tensorboard_answers),
}


def answer_as(trace: Trace, tool: str, beside: Mapping[int, Beside] = _NOTHING) -> PeerAnswer:
    """What a tool of ``TOOLS`` says of the whole trace, rank by rank, beside what commscope says.

    ``beside`` is what ``files_beside`` found: without it some figures are approximate, and the
    answers say so. Raises UsageError for another tool.
    """
    if tool not in TOOLS:
        raise UsageError(f"as {tool}: there are {', '.join(TOOLS)}")
    described, answers_of = TOOLS[tool]
    answers = tuple(answers_of(trace, beside))
    return PeerAnswer(tool, described, _notes(trace, described.title), answers)


def _notes(trace: Trace, title: str) -> tuple[str, ...]:
    notes = []
    formats = sorted({file.format for file in trace.files} - {"kineto"})
    if formats:
        notes.append(
            f"{title} cannot read {', '.join(formats)}: this is its definition on this trace"
        )
    if trace.selection is not None:
        notes.append(f"the whole trace is measured: {trace.selection} does not apply")
    return tuple(notes)
