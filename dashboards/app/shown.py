"""From an address to the page that it asks for, with its runs loaded and its figures ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from capture.files.errors import TailscopeError
from capture.run_folder.quantities import CRITICAL
from dashboards.app.address import RUN, Address
from dashboards.app.library import Library, Recent
from dashboards.figures.chart import Chart
from dashboards.figures.decimate import LongTrace, thin
from dashboards.formatting import microseconds
from dashboards.index.latest import latest
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, by_scenario
from dashboards.pages.blocks import Page, PerRun
from dashboards.pages.catalogue import OF_ALL, OF_RUN, OF_SCENARIO

PAGES_MOST = 12
"""Pages that stay ready, with all points of their figures."""

WORDS = {"overview": "Headlines", "tradeoff": "Trade-off", "probes": "Cycles by probe"}
"""What a link calls a page, where that is not its key."""


class AddressError(TailscopeError):
    """An address asks for what is not there."""


@dataclass(frozen=True)
class Entry:
    """What the picker offers (dashboards/page/picker.js): `entry` is that of the traces' `meta`.

    `worst` orders it, and is `told` in words.
    """

    entry: int
    name: str
    worst: float | None
    told: str


@dataclass(frozen=True)
class Shown:
    """A page and what belongs to it.

    `ids` leads from a run's id in figures and tables to its id in the index. `long` are the traces
    that are drawn in part, by the figure's key. `remarks` are sentences on runs that are not shown.
    """

    page: Page
    address: Address
    scenarios: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    entries: tuple[Entry, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    long: Mapping[str, Sequence[LongTrace]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def offered() -> dict[str, str]:
    """The pages on many runs: what each is called, by its key."""
    keys = [page.__name__ for page in (*OF_ALL, *OF_SCENARIO)]
    return {key: WORDS.get(key, key.replace("_", " ").capitalize()) for key in keys}


class Pages:
    """The pages of a library; those asked for last stay ready."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._ready: Recent[Shown] = Recent(PAGES_MOST)

    def at(self, address: Address) -> Shown:
        """The page at `address`, of one run or of many. Raises AddressError, RunError."""
        return self.shown_run(address) if address.page == RUN else self.shown(address)

    def shown(self, address: Address) -> Shown:
        """The page at `address`. Raises AddressError, RunError."""
        if address.page not in offered():
            raise AddressError(
                f"There is no page {address.page!r}; the row of links above has those there are."
            )
        chosen, scenarios, remarks = self._chosen(address)
        versions = tuple((one, self.library.version(one)) for one in chosen)
        return self._ready.get((address, versions), lambda: self._made(address, chosen, scenarios, remarks))

    def _chosen(self, address: Address) -> tuple[list[str], tuple[str, ...], list[str]]:
        """The ids of the runs to show, the scenarios to choose from, and remarks."""
        finished = self.library.table().filter(pl.col("state") == "finished")
        if finished.is_empty():
            raise AddressError("There are no finished runs yet; run a scenario: ./lab scenario mem_frag.")
        remarks = [
            f"There is no finished run {one!r}, so it is not shown."
            for one in address.runs
            if one not in finished["id"]
        ]
        runs = finished.filter(pl.col("id").is_in(address.runs)) if address.runs else finished
        if not address.runs and not address.every:
            runs = latest(runs)
        scenarios = tuple(runs["scenario"].unique(maintain_order=True).sort())
        if address.scenario and address.scenario not in scenarios:
            raise AddressError(f"There is no run of the scenario {address.scenario!r} to show.")
        of_one = address.page in {page.__name__ for page in OF_SCENARIO}
        scenario = address.scenario or (runs["scenario"].first() if of_one and len(runs) else "")
        if scenario:
            runs = runs.filter(pl.col("scenario") == scenario)
        return runs["id"].to_list(), scenarios, remarks

    def _made(
        self, address: Address, chosen: Sequence[str], scenarios: tuple[str, ...], remarks: list[str]
    ) -> Shown:
        loaded, refused = self.library.load_each(chosen)
        series = by_scenario(list(loaded.values()))
        page = _page(address.page, series)
        if page is None:
            page = Page(address.page, offered()[address.page], ("These runs have nothing to show here.",))
        return _shown(page, address, series, loaded, scenarios, (*remarks, *refused))

    def shown_run(self, address: Address) -> Shown:
        """The page of one run. Raises RunError."""
        run = self.library.load(address.run)
        key = (address, self.library.version(address.run))

        def made() -> Shown:
            series = by_scenario([run])
            return _shown(OF_RUN(series[run.manifest.scenario][0]), address, series, {address.run: run})

        return self._ready.get(key, made)


def _shown(
    page: Page,
    address: Address,
    series: Mapping[str, Sequence[Series]],
    loaded: Mapping[str, LoadedRun],
    scenarios: tuple[str, ...] = (),
    remarks: tuple[str, ...] = (),
) -> Shown:
    long = {key: found for key, chart in keyed_charts(page) if (found := thin(chart.figure))}
    ids = {run.id: identity for identity, run in loaded.items()}
    every = tuple(one for group in series.values() for one in group)
    return Shown(page, address, scenarios, every, _entries(series), ids, long, remarks)


def keyed_charts(page: Page) -> list[tuple[str, Chart]]:
    """All figures of a page, each with a key of its own."""
    found = []
    for block in page.blocks:
        if isinstance(block, Chart):
            found.append((block.key, block))
        elif isinstance(block, PerRun):
            found += [(chart.key, chart) for _, chart in block.charts]
    return found


def _page(key: str, scenarios: Mapping[str, Sequence[Series]]) -> Page | None:
    for of_all in OF_ALL:
        if of_all.__name__ == key:
            return of_all(scenarios)
    of_one = next(page for page in OF_SCENARIO if page.__name__ == key)
    return next((of_one(series) for series in scenarios.values()), None)


def _entries(scenarios: Mapping[str, Sequence[Series]]) -> tuple[Entry, ...]:
    """Each name once, with the worst that it showed in any of the scenarios."""
    found: dict[int, Entry] = {}
    for one in (one for series in scenarios.values() for one in series):
        worst = one.run.summary(CRITICAL).max
        before = found.get(one.style.entry)
        if before is None or (worst or 0) > (before.worst or 0):
            found[one.style.entry] = Entry(one.style.entry, one.name, worst, microseconds(worst))
    return tuple(found[entry] for entry in sorted(found))
