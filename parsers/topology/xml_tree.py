"""XML of a stranger as a tree: no document type, no entities, bounded in depth and number."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

_MOST_DEPTH = 48
_MOST_ELEMENTS = 50_000
_MOST_ATTRIBUTES = 64


@dataclass(slots=True)
class Element:
    """An element with its attributes; text between elements is not kept."""

    name: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str | None:
        """An attribute, null where there is none."""
        return self.attributes.get(name)


@dataclass(frozen=True, slots=True)
class Tree:
    """The elements of a document; ``cut`` says why it ends early."""

    root: Element
    cut: str | None


def tree_of(text: str) -> Tree:
    """The document, or its first part where it is cut.

    Raises ValueError where there is no element, where it declares a document type (entities could
    make it grow without bound), or where it is too deep or too large.
    """
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    cut = None
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        cut = f"{expat.ErrorString(error.code)} in line {error.lineno}"
    if builder.root is None:
        raise ValueError(cut or "no element in it")
    return Tree(builder.root, cut)


def _refuse(name: str, *_: object) -> None:
    raise ValueError(f"it declares {name[:40]!r}: documents with declarations are not read")


class _Builder:
    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS or len(self._open) >= _MOST_DEPTH:
            raise ValueError(f"more than {_MOST_ELEMENTS:,} elements, or {_MOST_DEPTH} in another")
        if len(attributes) > _MOST_ATTRIBUTES:
            raise ValueError(f"an element has more than {_MOST_ATTRIBUTES} attributes")
        element = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(element)
        elif self.root is None:
            self.root = element
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop()
