"""The pages of the app, in the order of its navigation."""

from __future__ import annotations

from typing import Protocol

from dash import Dash
from dash.development.base_component import Component

from commscope.dashboards.app_data import AppData
from commscope.dashboards.pages import (
    collectives,
    compare,
    environment,
    kernels,
    overview,
    ranks,
    steps,
    timeline,
    unmeasured,
)
from commscope.dashboards.urlstate import UrlState


class Page(Protocol):
    """What the module of a page has."""

    @property
    def PATH(self) -> str:  # noqa: N802 - a module's constant
        """Its address, such as ``/steps``."""

    @property
    def TITLE(self) -> str:  # noqa: N802 - a module's constant
        """Its name in the navigation."""

    def layout(self, app_data: AppData, state: UrlState, /) -> Component:
        """The page as the address asks for it; raises UsageError where it cannot be."""

    def register(self, app: Dash, app_data: AppData, /) -> None:
        """Adds its callbacks to an app."""


PAGES: tuple[Page, ...] = (
    overview,
    timeline,
    steps,
    collectives,
    ranks,
    kernels,
    compare,
    environment,
    unmeasured,
)
