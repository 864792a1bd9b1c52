"""Several files of one process become one source, where their format is written that way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from commscope.parsers.base import GroupingParser, Parser
from commscope.parsers.opening import Source


def grouped(chosen: Sequence[tuple[Source, Parser]]) -> list[tuple[Source, Parser]]:
    """The files with those of one group made companions of its largest, where its first was."""
    groups: dict[Hashable, list[tuple[Source, Parser]]] = defaultdict(list)
    for source, parser in chosen:
        groups[_key(source, parser)].append((source, parser))
    return [(_together([source for source, _ in group]), group[0][1]) for group in groups.values()]


def _key(source: Source, parser: Parser) -> Hashable:
    """The parser and what it calls the group; the file itself where it forms none."""
    if isinstance(parser, GroupingParser):
        return parser.name, parser.group(source)
    return source


def _together(sources: Sequence[Source]) -> Source:
    lead = max(sources, key=lambda source: source.size or 0)
    return replace(lead, companions=tuple(source for source in sources if source is not lead))
