"""A page as a browser would find it."""

from __future__ import annotations

from html.parser import HTMLParser

#: Elements that have no end.
_VOID = {"meta", "link", "img"}


class Page(HTMLParser):
    """What a browser would find: elements in order, attributes, and whether tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def shapes(self) -> set[tuple[str, frozenset[str]]]:
        """Which elements there are, each with the names of its attributes but hints."""
        return {(tag, frozenset(found) - {"title"}) for tag, found in self.elements}
