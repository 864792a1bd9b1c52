"""What all pages share: the runs that the app shows, and the addresses of its pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commscope.dashboards.beside import Beside
from commscope.dashboards.comparisons import Comparisons
from commscope.dashboards.urlstate import link
from commscope.report.model import Report
from commscope.sanitize import shortened

if TYPE_CHECKING:
    from commscope.dashboards.data import RunView

_MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """A run: what is told of it, what its timeline is drawn from, and what else pages show."""

    name: str
    report: Report
    view: RunView
    beside: Beside


@dataclass(frozen=True, slots=True)
class AppData:
    """The runs, in the order in which they were given: a run's number is its place here."""

    runs: tuple[LoadedRun, ...]
    prefix: str = "/"  #: of all addresses, as the browser sees them
    comparisons: Comparisons | None = None  #: of the runs; null where there is one only

    @property
    def names(self) -> list[str]:
        """What the runs are called, harmless and short enough for a line."""
        return [shortened(run.name, _MOST_NAME) for run in self.runs]

    def link(self, path: str, run: int = 0, **values: object) -> str:
        """The address of a page; it names the run where there are several."""
        several = {"run": run} if len(self.runs) > 1 else {}
        return link(path, self.prefix, **several, **values)
