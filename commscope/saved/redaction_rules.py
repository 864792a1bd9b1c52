"""What is renamed in a run that is shared: the rules for text, in the order in which they apply.

What no rule is about is free text. Of that only words of ``vocabulary`` and short numbers stay; so
what nobody thought of is renamed rather than told. Names of kernels are the code of libraries, and
stay but for what the rules marked so find in them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from commscope.collect.host_facts import is_allowed
from commscope.saved.vocabulary import WORDS


@dataclass(frozen=True, slots=True)
class Rule:
    """What is found in a text, and what kind of name it gets; see ``Names``."""

    kind: str
    says: str
    pattern: re.Pattern[str]  #: its group ``it``, or all of it, is renamed
    in_kernels: bool = False  #: whether it applies to names of kernels too


def _rule(kind: str, says: str, pattern: str, *, in_kernels: bool = False) -> Rule:
    return Rule(kind, says, re.compile(pattern), in_kernels)


#: No part of a word: names of kernels are glued together with underscores.
_BEGIN, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_HEX4 = "[0-9A-Fa-f]{1,4}"

RULES: tuple[Rule, ...] = (
    _rule("url", "addresses of pages and services",
          r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>]+", in_kernels=True),
    _rule("user", "who logs in where, and addresses of mail",
          r"(?<![\w.+-])[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*", in_kernels=True),
    _rule("path", "paths that begin at the root, at home, or with a drive",
          r"(?<![A-Za-z0-9/.)\]>])(?:~[\w.-]*|\$\{?\w+\}?|[A-Za-z]:)?(?:[/\\][\w.+@%~=,-]+)+[/\\]?",
          in_kernels=True),
    _rule("code", "places in programs",
          r"(?<![\w.<>/-])(?:[\w.<>-]+/)*[\w<>-]+\.(?:pyx?|ipynb|cu|hip|sh)\b"
          r"(?:[:(]\d+\)?)?(?:: ?[\w<>.]+)?"
          r"|<ipython-input-[\w-]+>", in_kernels=True),
    _rule("address", "universally unique ids",
          r"(?:GPU-)?\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b", in_kernels=True),
    _rule("address", "addresses of Ethernet and InfiniBand",
          rf"{_BEGIN}(?:[0-9A-Fa-f]{{2}}[:-]){{5,19}}[0-9A-Fa-f]{{2}}{_END}"
          rf"|{_BEGIN}0x[0-9A-Fa-f]{{16,32}}{_END}", in_kernels=True),
    _rule("address", "addresses of IPv4",
          rf"{_BEGIN}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?:<\d{{1,5}}>|:\d{{1,5}})?(?!\.?\d){_END}",
          in_kernels=True),
    _rule("address", "addresses of IPv6, and port ids of InfiniBand",
          rf"{_BEGIN}(?:{_HEX4}:){{3,7}}{_HEX4}{_END}"
          rf"|{_BEGIN}(?:[Ff][Ee]80|[Ff][CcDd][0-9A-Fa-f]{{2}}|2[0-9A-Fa-f]{{3}})"
          rf"(?::{_HEX4}){{0,6}}::(?:{_HEX4}:){{0,6}}(?:{_HEX4})?{_END}", in_kernels=True),
    _rule("command", "command lines",
          r"\b(?:python[\d.]*|torchrun|srun|sbatch|mpirun|mpiexec|accelerate|deepspeed|bash)"
          r" +(?P<it>\S.*)"),
    _rule("number", "numbers of jobs",
          r"(?i)\bjob(?:[_ -]?id)?[ =:#_-]{0,3}(?P<it>\d+)"),
)  # fmt: skip

#: Values of these are what a reader of the run needs; paths and addresses in them are renamed.
_KEPT_VARIABLE = re.compile(r"(?:NCCL|RCCL|HSA|HIP|UCX|TORCH_NCCL)_[A-Z0-9_]+")
_NUMBER = re.compile(r"-?\d{1,4}")

#: A piece of free text that is looked at on its own: a word of one case, or a number.
PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")
#: Calls of the libraries, and what the profiler and generated jobs write themselves.
KNOWN = re.compile(
    r"(?:hip|cuda|cu|hsa|nccl|rccl|roctx|rocm)[A-Z]\w{0,100}|ProfilerStep#\d{1,18}"
    r"|csg\.(?:warmup|step#\d{1,18}|coll;(?:seq=\d{1,18};)?op=[a-z_]{1,20};bytes=\d{1,18})"
)
#: Numbers in hexadecimal: places in memory, ids of communicators, and of devices on their bus.
HEXADECIMAL = re.compile(r"(?:0x)?[0-9A-Fa-f]{1,16}(?:[:./][0-9A-Fa-f]{1,16}){0,4}")
#: Times as logs print them.
TIME = re.compile(r"[\d\s:.,TZ+/\[\]-]{1,40}")
#: Longer numbers may be those of jobs and users; in versions they are dates at most.
MOST_DIGITS, MOST_DIGITS_OF_VERSIONS = 4, 8


def stays(piece: str, most_digits: int = MOST_DIGITS) -> bool:
    """Whether a word or number of free text tells nothing of whose run it is."""
    if piece.isdigit():
        return len(piece) <= most_digits
    return len(piece) == 1 or piece.lower() in WORDS


def keeps_value(variable: str, value: str) -> bool:
    """Whether the value of a variable stays but for paths, addresses and words nobody knows."""
    is_kept = is_allowed(variable) and _KEPT_VARIABLE.fullmatch(variable) is not None
    return is_kept or _NUMBER.fullmatch(value) is not None
