"""What one file of rocprof holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.base import Health, Input
from commscope.parsers.rocprof_names import copy_name
from commscope.parsers.rocprof_process import Process
from commscope.parsers.words import Words

FORMAT = "rocprof_v1"
_SUFFIX = re.compile(r"(?: \[clone \.kd\]|\.kd)$")
_DIRECTIONS = {"Host": "HOST", "Device": "DEVICE", "Peer": "DEVICE"}
_COPY = re.compile(r"Copy(Host|Device|Peer)To(Host|Device|Peer)$")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The rows of a file, and how well it could be read."""

    file: Input
    process: Process
    pids: Int64  #: of each row
    health: Health


def kernel_names(codes: Int64, words: Words) -> Int64:
    """Names of kernels without what the compiler put behind them."""
    return _renamed(codes, words, lambda name: _SUFFIX.sub("", name))


def copy_names(codes: Int64, words: Words) -> Int64:
    """Names of copies as rocprofv3 has them: ``MEMORY_COPY_HOST_TO_DEVICE``."""
    return _renamed(codes, words, _direction)


def _direction(name: str) -> str:
    found = _COPY.match(name)
    if found is None:
        return name
    return copy_name(f"{_DIRECTIONS[found[1]]}_TO_{_DIRECTIONS[found[2]]}")


def _renamed(codes: Int64, words: Words, rename: Callable[[str], str]) -> Int64:
    texts = [*words, "unnamed"]
    distinct, inverse = np.unique(np.where(codes == NONE, -1, codes), return_inverse=True)
    named = [words[rename(texts[code])] for code in distinct.tolist()]
    return np.asarray(np.array(named, np.int64)[inverse.reshape(-1)])
