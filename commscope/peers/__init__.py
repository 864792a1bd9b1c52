"""What other tools say of a trace, by their own definitions, and why commscope says otherwise."""

from commscope.peers.answers import TOOLS, answer_as
from commscope.peers.files import files_beside
from commscope.peers.model import Answer, Figure, PeerAnswer, Quantity, Reason, shown

__all__ = [
    "TOOLS",
    "Answer",
    "Figure",
    "PeerAnswer",
    "Quantity",
    "Reason",
    "answer_as",
    "files_beside",
    "shown",
]
