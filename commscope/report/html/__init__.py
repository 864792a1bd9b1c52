"""The report as one HTML file: it opens anywhere, asks the network for nothing, and prints."""

from commscope.report.html.page import render

__all__ = ["render"]
