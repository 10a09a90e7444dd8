"""All pages, in the order in which they are offered. The report draws all of them at once, the app
one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page
from dashboards.pages.matrix import matrix

OF_ALL: tuple[Callable[[Mapping[str, Sequence[Series]]], Page | None], ...] = (matrix,)
"""Pages on all scenarios at once. None where there is nothing to show."""

OF_SCENARIO: tuple[Callable[[str, Sequence[Series]], Page | None], ...] = ()
"""Pages on one scenario, by its name and its runs. None where the scenario has nothing of it."""
