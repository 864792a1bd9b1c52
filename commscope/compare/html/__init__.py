"""The comparison as one HTML file, made like the report: offline, in light and dark, for print."""

from commscope.compare.html.page import render

__all__ = ["render"]
