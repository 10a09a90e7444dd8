"""From an address to the page that it asks for, with its runs loaded and its figures ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from base.files.errors import RunError, TailscopeError
from base.run_folder import folder as names
from base.run_folder.observed import read_observed_manifest
from base.run_index.index import latest, left_out
from dashboards.app.address import RUN, Address
from dashboards.app.library import Library, Recent
from dashboards.blocks import Page, PerRun
from dashboards.figures.chart import Chart
from dashboards.figures.decimate import LongTrace, thin
from dashboards.formatting import microseconds
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, by_scenario
from dashboards.pages.catalogue import OF_ALL, OF_RUN, OF_SCENARIO, believed
from dashboards.pages.observed import observed

PAGES_MOST = 12
"""Pages that stay ready, with all points of their figures."""

LACKING_MOST = 200
"""Scenarios of which it is kept what they lack."""

_LACKS = {
    "boards": "has no allocator that ran on two boards",
    "ramp": "has no depths",
    "phase": "has no sweep of stimuli, and no calls of the kernel",
    "distributions": "has no samples",
    "probes": "is a ramp, or has no run whose probes were counted",
    "tradeoff": "has no run that tells what its heap took",
    "waveforms": "has no run whose capture is kept",
}
"""Why a page has nothing of a scenario."""

_TITLES = {
    "boards": "Across boards",
    "tradeoff": "Trade-off",
    "probes": "Cycles by probes",
    "agreement": "Agreement and error budget",
}
"""What a page is called, and the link to it, where that is not its key."""


class AddressError(TailscopeError):
    """An address asks for what is not there."""


@dataclass(frozen=True)
class Entry:
    """An entry of the picker (dashboards/page/picker.js): `entry` is that of the traces' `meta`.

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
    that are drawn in part, by the figure's key. `remarks` are sentences on runs that are not shown,
    `refused` those on runs that cannot be read, by their folder. `left_out` is the one on runs for
    which a later one stands.
    """

    page: Page
    address: Address
    scenarios: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    entries: tuple[Entry, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    long: Mapping[str, Sequence[LongTrace]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    left_out: str = ""

    @property
    def picked(self) -> bool:
        """True if there is something to pick: several runs, and figures to hide them in."""
        return len(self.entries) > 1 and any(True for _ in self.page.charts())


@dataclass(frozen=True)
class _Chosen:
    """The ids of the runs to show by scenario, all scenarios to choose from, and remarks.

    `older` counts the runs of each scenario for which a later one stands.
    """

    runs: Mapping[str, Sequence[str]]
    scenarios: tuple[str, ...]
    remarks: tuple[str, ...]
    older: Mapping[str, int]


@dataclass(frozen=True)
class _Read:
    """Runs that were read, by id and by scenario, sentences on the others, and their page."""

    loaded: Mapping[str, LoadedRun]
    refused: Mapping[str, str]
    series: Mapping[str, Sequence[Series]]
    page: Page | None


def offered() -> dict[str, str]:
    """The pages on many runs: what each is called, by its key."""
    keys = [page.__name__ for page in (*OF_ALL, *OF_SCENARIO)]
    return {key: _TITLES.get(key, key.capitalize()) for key in keys}


class Pages:
    """The pages of a library; those asked for last stay ready."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._ready: Recent[Shown] = Recent(PAGES_MOST)
        self._lacking: Recent[dict[str, str]] = Recent(LACKING_MOST)

    def at(self, address: Address) -> Shown:
        """The page at `address`, of one run or of many. Raises AddressError, RunError."""
        return self.shown_run(address) if address.page == RUN else self.shown(address)

    def shown(self, address: Address) -> Shown:
        """The page at `address`. Raises AddressError, RunError."""
        if address.page not in offered():
            raise AddressError(
                f"There is no page {address.page!r}; the row of links above has those there are."
            )
        chosen = self._chosen(address)
        versions = tuple(
            (identity, self.library.version(identity)) for ids in chosen.runs.values() for identity in ids
        )
        key = (address, versions, tuple(chosen.older.items()))
        return self._ready.get(key, lambda: self._made(address, chosen))

    def _chosen(self, address: Address) -> _Chosen:
        """The runs that `address` asks for. Raises AddressError."""
        finished = self.library.table().filter(pl.col("state") == "finished")
        if finished.is_empty():
            raise AddressError("There are no finished runs yet; run a scenario: ./lab scenario mem_frag.")
        remarks = [
            f"There is no finished run {run!r}, so it is not shown."
            for run in address.runs
            if run not in finished["id"]
        ]
        runs = finished.filter(pl.col("id").is_in(address.runs)) if address.runs else finished
        older: dict[str, int] = {}
        if not address.runs and not address.every:
            before, runs = runs, latest(runs)
            gone = before.join(runs, on="id", how="anti")
            older = dict(gone.group_by("scenario", maintain_order=True).len().iter_rows())
        scenarios = tuple(runs["scenario"].unique(maintain_order=True).sort())
        if address.scenario and address.scenario not in scenarios:
            raise AddressError(f"There is no run of the scenario {address.scenario!r} to show.")
        if address.scenario:
            runs = runs.filter(pl.col("scenario") == address.scenario)
        groups = runs.group_by("scenario", maintain_order=True).agg("id")
        return _Chosen(dict(groups.iter_rows()), scenarios, tuple(remarks), older)

    def _made(self, address: Address, chosen: _Chosen) -> Shown:
        """The page; where it is on one scenario, the first that has something of it."""
        of_one = any(page.__name__ == address.page for page in OF_SCENARIO)
        every = [identity for ids in chosen.runs.values() for identity in ids]
        together = chosen.runs.values() if of_one else [every]
        result = None
        for ids in together:
            result = self._read(address.page, ids)
            if result.page is not None:
                break
        result = result or self._read(address.page, every)
        page = result.page or _nothing(address)
        sentence = left_out(sum(chosen.older.get(scenario, 0) for scenario in result.series))
        return replace(_shown(page, address, result, chosen.scenarios, chosen.remarks), left_out=sentence)

    def _read(self, key: str, ids: Sequence[str], tables: bool = False) -> _Read:
        """The page `key` of these runs; `tables` has all their tables read first."""
        loaded, refused = self.library.load_each(ids, tables)
        series = by_scenario(list(loaded.values()))
        try:
            return _Read(loaded, refused, series, _page(key, series))
        except RunError:  # a table that cannot be read, found out only now
            if tables:
                raise
            return self._read(key, ids, tables=True)

    def lacking(self, address: Address) -> dict[str, str]:
        """The pages that have nothing of the scenario of `address`: a sentence on each, by its key.

        Nothing where the address leaves the scenario to the page, which finds one that has it.
        """
        if address.page not in offered():
            return {}
        try:
            chosen = self._chosen(address)
        except AddressError:
            return {}
        if len(chosen.runs) != 1:
            return {}
        ((scenario, ids),) = chosen.runs.items()
        key = (scenario, tuple((identity, self.library.version(identity)) for identity in ids))
        return self._lacking.get(key, lambda: self._lacked_by(scenario, ids))

    def _lacked_by(self, scenario: str, ids: Sequence[str]) -> dict[str, str]:
        """The pages that lack data, each with the reason. A single run tells for all."""
        loaded, _ = self.library.load_each(ids, tables=True)
        series = by_scenario(list(loaded.values())).get(scenario, [])
        keys = {page.__name__: page for page in OF_SCENARIO}
        lacking = [key for key, page in keys.items() if not any(page([member]) for member in series)]
        return {key: _nothing_of(key, scenario) for key in lacking} if series else {}

    def shown_run(self, address: Address) -> Shown:
        """The page of one run. Raises RunError."""
        if self.library.is_observed(address.run):
            manifest = read_observed_manifest(self.library.runs / address.run / names.MANIFEST)
            return Shown(observed(address.run, manifest), address)
        run = self.library.load(address.run)
        key = (address, self.library.version(address.run))

        def made() -> Shown:
            series = by_scenario([run])
            first = series[run.manifest.scenario][0]
            page = believed(OF_RUN(first), [first])
            return _shown(page, address, _Read({address.run: run}, {}, series, page))

        return self._ready.get(key, made)


def _nothing(address: Address) -> Page:
    title = offered()[address.page]
    return Page(address.page, title, (_nothing_of(address.page, address.scenario),))


def _nothing_of(key: str, scenario: str) -> str:
    """The sentence on a page that has nothing to show; of no scenario where that is empty."""
    if not scenario:
        return "No scenario has anything of it."
    return f"{scenario} {_LACKS.get(key, 'has nothing of it')}."


def _shown(
    page: Page,
    address: Address,
    result: _Read,
    scenarios: tuple[str, ...] = (),
    remarks: tuple[str, ...] = (),
) -> Shown:
    long = {key: traces for key, chart in keyed_charts(page) if (traces := thin(chart.figure))}
    ids = {run.id: identity for identity, run in result.loaded.items()}
    every = tuple(series for group in result.series.values() for series in group)
    entries = _entries(result.series)
    return Shown(page, address, scenarios, every, entries, ids, long, remarks, result.refused)


def keyed_charts(page: Page) -> list[tuple[str, Chart]]:
    """All figures of a page, each with a key of its own."""
    chart_list = []
    for block in page.blocks:
        if isinstance(block, Chart):
            chart_list.append((block.key, block))
        elif isinstance(block, PerRun):
            chart_list += [(chart.key, chart) for _, chart in block.charts]
    return chart_list


def _page(key: str, scenarios: Mapping[str, Sequence[Series]]) -> Page | None:
    for of_all in OF_ALL:
        if of_all.__name__ == key:
            return believed(of_all(scenarios), [member for series in scenarios.values() for member in series])
    of_one = next(page for page in OF_SCENARIO if page.__name__ == key)
    for series in scenarios.values():
        page = of_one(series)
        return None if page is None else believed(page, series)
    return None


def _entries(scenarios: Mapping[str, Sequence[Series]]) -> tuple[Entry, ...]:
    """Each name once, with the worst that it showed in any of the scenarios."""
    entries: dict[int, Entry] = {}
    for member in (member for series in scenarios.values() for member in series):
        wait = member.run.manifest.possible_wait
        worst = float(wait.ns) if wait else None
        before = entries.get(member.style.entry)
        if before is None or (worst or 0) > (before.worst or 0):
            text = (wait.at_least if wait else "") + microseconds(worst)
            entries[member.style.entry] = Entry(member.style.entry, member.name, worst, text)
    return tuple(entries[entry] for entry in sorted(entries))
