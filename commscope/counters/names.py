"""Names of kernels as different tools print them, made comparable."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commscope.classify.kernel_name import split

#: What tools append to the name of a function: where its descriptor lies, or that it is a copy.
_SUFFIX = re.compile(
    r"\s*(?:\.kd|\[clone [^\]]*\]|\(\.[\w.]+\)|\.(?:constprop|isra|part|cold|llvm)\.\d+)\Z"
)
#: Only so many characters at the end are looked at for suffixes, and only so many taken off.
_TAIL, _MOST_SUFFIXES = 80, 4
_RETURNS = re.compile(r"\A(?:(?:static|__global__|inline)\s+)*void\s+")
_CUT = re.compile(r"\s*(?:\.\.\.|\u2026)\Z")
_AROUND = re.compile(r"\s*([^\w\s])\s*")
_SPACES = re.compile(r"\s+")
_ANONYMOUS = re.compile(r"\(anonymous namespace\)|\{anonymous\}")
#: Not brackets: arrows, shifts and comparisons in names of operators and in expressions.
_BRACKETS = re.compile(r"->|operator[<>]=?|operator(?:<<|>>)=?|operator\(\)|[<>()]")
#: Longer names than real ones, of a few kB, are compared as they are.
_LONGEST = 1 << 16


def tidy(name: str) -> str:
    """The name without what tools add: suffixes, return type, blanks, the mark of a cut."""
    if len(name) > _LONGEST:
        return name
    name = _CUT.sub("", name.strip())
    for _ in range(_MOST_SUFFIXES):
        name = name[:-_TAIL] + _SUFFIX.sub("", name[-_TAIL:])
    name = _RETURNS.sub("", _ANONYMOUS.sub("{anonymous}", name))
    return _SPACES.sub(" ", _AROUND.sub(r"\1", name))


def is_cut(name: str) -> bool:
    """Whether a name ends early: with the mark of a cut, or with brackets left open."""
    return _CUT.search(name) is not None or (len(name) <= _LONGEST and _open_at_end(tidy(name)))


def _open_at_end(name: str) -> bool:
    marks = [match[0] for match in _BRACKETS.finditer(name)]
    return marks.count("<") > marks.count(">") or marks.count("(") > marks.count(")")


@dataclass(frozen=True, slots=True)
class Parts:
    """A tidy name in parts; null where the name does not tell one."""

    head: str  #: without template arguments and parameters
    called: str | None  #: with its template arguments
    parameters: str | None

    def fits(self, other: Parts) -> bool:
        """Whether both may name one kernel: no part that both tell differs."""
        return self.head == other.head and all(
            mine is None or its is None or mine == its
            for mine, its in ((self.called, other.called), (self.parameters, other.parameters))
        )


def parts_of(name: str) -> Parts:
    """The parts of a tidy name."""
    if len(name) > _LONGEST:
        return Parts(name, None, None)
    if name.startswith("_Z"):
        return Parts(split(name).head, None, None)
    called, parameters = _split_parameters(name)
    head = _without_arguments(called)
    return Parts(head, None if head == called else called, parameters)


def _split_parameters(name: str) -> tuple[str, str | None]:
    body = name.removesuffix("const") if name.endswith(")const") else name
    if not body.endswith(")"):
        return name, None
    depth = 0
    for match in reversed(list(re.finditer(r"[()]", body))):
        depth += 1 if match[0] == ")" else -1
        if not depth:
            return body[: match.start()], body[match.start() :]
    return name, None


def _without_arguments(name: str) -> str:
    kept, depth, begin = [], 0, 0
    for match in _BRACKETS.finditer(name):
        if match[0] == "<":
            if not depth:
                kept.append(name[begin : match.start()])
            depth += 1
        elif match[0] == ">" and depth:
            depth -= 1
            begin = match.end()
    return name if depth else "".join((*kept, name[begin:]))
