"""The pages: what each is made of, and the order in which they are offered.

The report's file has all of them, and its server makes each when it is asked for. A page on a
scenario takes the series of its runs, and is None where the scenario has nothing of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from analysis.compare.boards import MEANING, Across, group, on_board
from analysis.compare.boards import tables as board_tables
from base.run_folder.folder import EDGES
from base.run_folder.manifest import VIRTUAL_BOARD
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, HIT, LATENCY, PROBES, SECTION, TASK
from dashboards import placements, tables
from dashboards.answer import answer, recommended, standings, under_limits
from dashboards.blocks import (
    Belief,
    Block,
    Chart,
    Column,
    Fact,
    Grid,
    Group,
    Page,
    Prose,
    Verbatim,
    present,
)
from dashboards.caveats import SIMULATED
from dashboards.figures import interrupts, sections
from dashboards.formatting import microseconds
from dashboards.headline import facts, headline, holders
from dashboards.loaded.lanes import lanes
from dashboards.loaded.runs import bounds_sentence
from dashboards.loaded.series import Members, Series, counter_of
from dashboards.page.templates import grid_of

TITLES = {
    "overview": "Overview",
    "matrix": "Matrix",
    "history": "History",
    "runs": "Runs",
    "comparison": "Comparison",
    "boards": "Across boards",
    "ramp": "Ramp",
    "phase": "Phase",
    "distributions": "Distributions",
    "agreement": "Agreement",
    "run": "Run",
}
"""Of pages, by key, in the order in which they are offered."""

_MOST_OF_A_WARNING = 90


def belief(series: Members) -> Belief | None:
    """How many runs are complete, what they warn of, how far the witnesses differ, the budget and
    the board.

    Red if a run is not complete, amber if a complete one has a warning, green otherwise. That some
    interrupts are undecided is told by a warning and no reason to doubt: the budgets have it. None
    without runs.
    """
    if not series:
        return None
    manifests = [member.run.manifest for member in series]
    doubtful = [member.run.id for member in series if not member.run.manifest.complete]
    warned = [
        (warning, member.run.id)
        for member in series
        for warning in member.run.manifest.warnings
        if HIT.key not in warning
    ]
    complete = len(series) - len(doubtful)
    said = [Fact(f"{complete} of {len(series)} complete", "matrix")]
    if doubtful:
        said = [Fact(f"{len(doubtful)} of {len(series)} not complete", "run", doubtful[0])]
    if warned:
        text, run_id = warned[0]
        text = text if len(text) <= _MOST_OF_A_WARNING else f"{text[: _MOST_OF_A_WARNING - 1]}…"
        said.append(Fact(f"{len(warned)} × a warning, such as: {text}", "run", run_id))
    differences = [manifest.agreement.wire_minus_dwt_cycles_max_abs for manifest in manifests]
    if measured := [value for value in differences if value is not None]:
        counters = " and ".join(dict.fromkeys(map(counter_of, manifests)))
        said.append(Fact(f"wire and {counters} differ by {max(measured):.2g} cycles at most", "agreement"))
    if budgets := [value for member in series if (value := member.run.budget(LATENCY)) is not None]:
        said.append(Fact(f"waits true to ±{microseconds(max(budgets))}", "agreement"))
    if without := [member.run.id for member in series if member.run.without_ticks]:
        said.append(Fact("without what a tick may have delayed", "run", without[0]))
    virtual = sum(VIRTUAL_BOARD in manifest.tools for manifest in manifests)
    said.append(Fact(f"{virtual} of {len(series)} on the virtual board", "agreement"))
    return Belief("red" if doubtful else "amber" if warned else "green", said)


def agreement(series: Members) -> Page:
    """Tables of agreement and error budget, and the differences of the runs whose witnesses differ
    by more than a cycle, the least that DWT can tell.
    """
    apart = [
        member
        for member in series
        if (furthest := member.run.manifest.agreement.wire_minus_dwt_cycles_max_abs) is None or furthest > 1
    ]
    simulated = any(VIRTUAL_BOARD in member.run.manifest.tools for member in series)
    blocks = present(
        tables.agreement(series),
        tables.error_budget(series),
        sections.agreement(apart),
        Prose("What a simulated microsecond is worth", SIMULATED) if simulated else None,
    )
    near = len(series) - len(apart)
    lead = f"In {near} of {len(series)} runs wire and DWT never differ by more than a cycle."
    return Page("agreement", TITLES["agreement"], (lead,), blocks)


def comparison(series: Members) -> Page:
    """The table of one scenario."""
    lead = ("Choose a maximum to see its instant.",)
    return Page("comparison", TITLES["comparison"], lead, (tables.comparison(series),))


def boards(series: Members) -> Page | None:
    """The tables of each allocator that ran on two boards or more. None without any."""
    lines = (on_board(member.run.id, member.run.manifest, member.run.operations) for member in series)
    groups = group(line for line in lines if line is not None)
    if not groups:
        return None
    remarks = (group.remark for group in groups if group.remark)
    grids = tuple(grid_of("boards", table) for table in board_tables(Across(groups)))
    return Page("boards", TITLES["boards"], (MEANING, *remarks), grids)


def _page(
    key: str,
    lead: str,
    series: Members,
    *figures: Callable[[Members], Chart | None],
) -> Page | None:
    """The figures that have something to show. None without any."""
    blocks = present(*(figure(series) for figure in figures))
    return Page(key, TITLES[key], (lead,), blocks) if blocks else None


def distributions(series: Members) -> Page | None:
    """Survival curves, latencies by what they met, and cycles by size."""
    return _page(
        "distributions",
        "./lab histograms RUN writes each distribution for HdrHistogram's plotter.",
        series,
        *(sections.survival, sections.latency_survival, interrupts.interrupt_latency),
        sections.cycles_by_size,
    )


def phase(series: Members) -> Page | None:
    """Latency against phase, and who masks. None without a sweep."""
    lead = "Stimuli met each call at phases all through it."
    return _page("phase", lead, series, interrupts.masking_by_call, interrupts.latency_by_phase)


def ramp(series: Members) -> Page | None:
    """Cost and latency against depth, or without depths against probes. None without either."""
    return _page(
        "ramp",
        "A line that rises is a search that grows with the heap's fragments.",
        series,
        *(sections.ramp, interrupts.latency_by_depth, interrupts.task_latency_by_depth),
        sections.cycles_by_probes,
    )


def run(series: Series, *, whole: bool = True) -> Page:
    """The page of one run, with all of run.json if it is `whole`."""
    loaded, manifest = series.run, series.run.manifest
    bound, folder = bounds_sentence(loaded), f"runs/{loaded.id}"
    # Where its operations are from, why it is not complete, its warnings.
    missing = "" if (loaded.folder / EDGES).exists() else f"{EDGES} is missing: there are no waveforms."
    reasons = (*manifest.reasons, *loaded.notes, *manifest.warnings)
    sentences = tuple(filter(None, (missing, loaded.origin, *reasons, bound and f"{bound}.")))
    elsewhere = (
        f"PulseView, at the worst instant: ./lab pulseview {folder} --worst",
        f"HdrHistogram's plotter: ./lab histograms {folder}",
        f'A notebook: polars.read_parquet("{folder}/operations.parquet"), and interrupts.parquet beside it',
        f"The instructions behind the worst section: ./lab explain {folder}",
    )
    blocks = present(
        Prose("What to know", sentences, listed=True) if sentences else None,
        tables.comparison([series]),
        Prose("Open it elsewhere", elsewhere, listed=True, folded=True),
        Verbatim("run.json", json.dumps(manifest.as_json(), indent=2, ensure_ascii=False)) if whole else None,
    )
    what = f"{manifest.scenario} with {loaded.configuration} on {manifest.board}"
    lead = (f"{what}. The run is {manifest.verdict}.", f"Its folder: {loaded.id}.")
    return Page("run", series.name, lead, blocks)


def overview(scenarios: Mapping[str, Members]) -> Page:
    """Which allocator to take; then for each scenario who waits how long, and what else to know."""
    ordered = {scenario: lanes(series) for scenario, series in scenarios.items()}
    among = standings(ordered)
    blocks: list[Block | None] = [Prose("", tuple(recommended(among))), under_limits(among)]
    for place, (scenario, series) in enumerate(scenarios.items()):
        ordering = ordered[scenario]
        behind = (*holders(ordering), *facts(ordering))
        blocks += [
            Prose(scenario, headline(scenario, ordering)),
            answer(scenario, series, ordering, legend=place == 0) if ordering else None,
            Prose(f"{scenario}: what held it, and what else to know", behind, True, True) if behind else None,
        ]
    doubtful = sum(not member.run.manifest.complete for series in scenarios.values() for member in series)
    doubt = f"Not complete, of the runs shown here: {doubtful}. See the reasons before any number."
    return Page("overview", TITLES["overview"], (doubt,) if doubtful else (), present(*blocks))


_WORST = {
    SECTION: Column("section_ns", "longest section (µs)"),
    CRITICAL: Column("allocate_ns", "allocate (µs)"),
    FREE_CRITICAL: Column("free_ns", "free (µs)"),
    LATENCY: Column("interrupt_ns", "interrupt (µs)"),
    TASK: Column("task_ns", "task (µs)"),
}
_MATRIX_COLUMNS = (
    Column("possible_ns", "possible wait (µs)"),
    Column("heap_used_bytes", "heap used (bytes)"),
    Column("flash_bytes", "flash (bytes)"),
    Column("static_ram_bytes", "static RAM (bytes)"),
    Column("fragmentation_percent", "fragmentation (%)"),
)
_LEGEND = (
    "The worst that the run saw: the longest masked section of any operation, of a measured allocation "
    "and of a measured free, the longest wait of an interrupt and of the task that it wakes. Possible: "
    "the longest section and the entry. ± is the error budget of the value."
)


def possible_ns(series: Series) -> float:
    """The longest wait that the run shows to be possible; 0 for none."""
    wait = series.run.manifest.possible_wait
    return wait.ns if wait else 0


def matrix(scenarios: Mapping[str, Members]) -> Page:
    """Every allocator in every scenario, the longest possible wait first."""
    every = [member for series in scenarios.values() for member in series]
    groups = []
    for scenario, series in scenarios.items():
        shared = [tables.among(quantity, series, every) for quantity in _WORST]
        lines = []
        for member in sorted(series, key=possible_ns, reverse=True):
            manifest = member.run.manifest
            maxima = (tables.worst(member, among, brief=True) for among in shared)
            footprint, memory = manifest.footprint, manifest.memory
            why = memory.why_not or "" if memory else ""
            used, lost = (
                tables.number(getattr(memory, name, None))._replace(why=why)
                for name in ("used_bytes", "fragmentation_percent")
            )
            bytes_of = (
                tables.number(getattr(footprint, name, None)) for name in ("flash_bytes", "static_ram_bytes")
            )
            cells = (*maxima, tables.possible(member), used, *bytes_of, lost)
            lines.append(tables.line_of(member, cells))
        groups.append(Group(scenario, lines))
    # Above a column stands the error that all rows share.
    maxima_columns = (
        column._replace(note=tables.among(quantity, every).budget) for quantity, column in _WORST.items()
    )
    of_placements = (words for series in scenarios.values() for words in placements.undecided(series))
    legend = " ".join((_LEGEND, *of_placements))
    columns = (*maxima_columns, *_MATRIX_COLUMNS)
    grid = Grid("matrix", "Worst case by allocator and scenario", columns, groups, legend=legend)
    return Page("matrix", TITLES["matrix"], (), (grid,))


OF_ALL: dict[str, Callable[[Mapping[str, Members]], Page]] = {
    page.__name__: page for page in (overview, matrix)
}
"""Pages on all scenarios at once, by key."""

OF_SCENARIO: dict[str, Callable[[Members], Page | None]] = {
    page.__name__: page for page in (comparison, boards, ramp, phase, distributions, agreement)
}
"""Pages on one scenario, by its runs. None where the scenario has nothing of it."""


def offered(series: Members) -> list[str]:
    """The keys of the pages that a scenario has something for, as far as run.json tells."""
    manifests = [member.run.manifest for member in series]
    probes, critical, latency = (
        any(member.run.summary(quantity).n for member in series) for quantity in (PROBES, CRITICAL, LATENCY)
    )
    has = {
        "boards": len({manifest.board_folder for manifest in manifests}) > 1,
        "ramp": any(manifest.ramp for manifest in manifests) or probes,
        "phase": any(manifest.swept for manifest in manifests),
        "distributions": critical or latency,
    }
    return [key for key in OF_SCENARIO if has.get(key, True)]
