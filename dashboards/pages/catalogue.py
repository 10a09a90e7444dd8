"""The pages: what each is made of, and the order in which they are offered.

The report's file has all of them, and its server makes each when it is asked for. A page on a
scenario takes the series of its runs, and is None where the scenario has nothing of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from analysis.compare.boards import group, on_board
from base.run_folder.folder import EDGES
from base.run_folder.manifest import VIRTUAL_BOARD
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, HIT, LATENCY, PROBES, SECTION, TASK
from base.run_index import configuration
from dashboards import boards as of_boards
from dashboards import placements, tables
from dashboards.answer import answer, recommended, standings, under_limits
from dashboards.blocks import (
    Belief,
    Block,
    Cell,
    Column,
    Fact,
    Grid,
    Group,
    Line,
    Page,
    Prose,
    Verbatim,
    per_run,
    present,
)
from dashboards.caveats import NO_CAPTURE, SIMULATED
from dashboards.figures import interrupts, sections
from dashboards.figures.waveform import worst_waveform
from dashboards.formatting import MISSING, every_run, grouped, microseconds
from dashboards.headline import facts, headline, holders
from dashboards.loaded.lanes import lanes
from dashboards.loaded.quantities import bound_of, bounds_sentence
from dashboards.loaded.series import Series, counter_of

_MOST_OF_A_WARNING = 90


def believed(page: Page, series: Sequence[Series]) -> Page:
    """The page with a line on whether to believe the runs it is of."""
    return replace(page, belief=belief(series))


def belief(series: Sequence[Series]) -> Belief | None:
    """How many runs are complete, what they warn of, how far the witnesses differ, the budget, n
    and the board.

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
        for warning in [warning for warning in member.run.manifest.warnings if HIT.key not in warning][:1]
    ]
    said = [Fact(f"{every_run(len(series))} complete", "matrix")]
    if doubtful:
        said = [Fact(f"{len(doubtful)} of {len(series)} not complete", "run", doubtful[0])]
    elif len(series) == 1:
        said = [Fact("the run is complete", "run", series[0].run.id)]
    if warned:
        (text, run_id), *others = warned
        text = text if len(text) <= _MOST_OF_A_WARNING else f"{text[: _MOST_OF_A_WARNING - 1]}…"
        head = f"{len(warned)} runs with warnings, such as" if others else "a warning"
        said.append(Fact(f"{head}: {text}", "run", run_id))
    differences = [manifest.agreement.wire_minus_dwt_cycles_max_abs for manifest in manifests]
    if measured := [value for value in differences if value is not None]:
        furthest = f"{max(measured):.2g}"
        counters = " and ".join(dict.fromkeys(map(counter_of, manifests)))
        apart = f"{float(furthest):g} {'cycle' if furthest == '1' else 'cycles'}"
        words = "agree to the cycle" if max(measured) < 0.005 else f"differ by {apart} at most"
        said.append(Fact(f"wire and {counters} {words}", "agreement"))
    if budgets := [value for member in series if (value := member.run.budget(LATENCY)) is not None]:
        said.append(Fact(f"waits true to ±{microseconds(max(budgets))}", "agreement"))
    if counts := [m.statistics[LATENCY.key].n for m in manifests if LATENCY.key in m.statistics]:
        words = " to ".join(dict.fromkeys(map(grouped, (min(counts), max(counts)))))
        said.append(Fact(f"{words} interrupts{' each' if len(counts) > 1 else ''}", "distributions"))
    virtual = sum(VIRTUAL_BOARD in manifest.tools for manifest in manifests)
    words = f"{virtual} on the virtual board" if 0 < virtual < len(manifests) else "virtual board"
    said.append(Fact(words if virtual else "real board", "agreement"))
    return Belief("red" if doubtful else "amber" if warned else "green", tuple(said))


def agreement(series: Sequence[Series]) -> Page:
    """Tables of agreement and error budget, and the differences of each run that has any.

    Runs whose witnesses never differ by more than a cycle, the least that DWT can tell, are apart.
    """
    near: list[Series] = []
    apart: list[Series] = []
    for member in series:
        furthest = member.run.manifest.agreement.wire_minus_dwt_cycles_max_abs
        (near if furthest is not None and furthest <= 1 else apart).append(member)
    figures = ((member.style.entry, sections.agreement(member)) for member in apart)
    count = "1 run that agrees" if len(near) == 1 else f"{len(near)} runs that agree"
    title = f"Wire and DWT: {count} to a cycle"
    simulated = any(VIRTUAL_BOARD in member.run.manifest.tools for member in series)
    blocks = present(
        tables.agreement(apart) if apart else None,
        replace(tables.agreement(near), key="near", title=title, folded=True) if near else None,
        tables.error_budget(series),
        per_run("differences", "Wire minus DWT", figures),
        Prose("What a simulated microsecond is worth", SIMULATED) if simulated else None,
    )
    whose = every_run(len(near)) if len(near) == len(series) else f"{len(near)} of {len(series)} runs"
    lead = f"In {whose} wire and DWT never differ by more than a cycle."
    return Page("agreement", "Agreement", (lead,) if near else (), blocks)


def comparison(series: Sequence[Series]) -> Page:
    """The tables of one scenario."""
    blocks = present(tables.comparison(series), tables.differences(series))
    return Page("comparison", "Comparison", ("Choose a maximum to see its instant.",), blocks)


def boards(series: Sequence[Series]) -> Page | None:
    """Figure and table of each allocator that ran on two boards or more. None without any."""
    lines = (on_board(member.run.id, member.run.manifest, member.run.operations) for member in series)
    groups = group(line for line in lines if line is not None)
    if not groups:
        return None
    lead = ("No board is better than another: what is the same is the allocator.",)
    blocks = present(of_boards.figure(groups), of_boards.table(groups, series))
    return Page("boards", "Across boards", lead, blocks)


def distributions(series: Sequence[Series]) -> Page | None:
    """Survival curves, latencies by what they met, and cycles by size."""
    figures = (
        *(sections.survival, sections.latency_survival),
        *(interrupts.interrupt_latency, interrupts.other_latency, sections.cycles_by_size),
    )
    blocks = present(*(figure(series) for figure in figures))
    lead = ("./lab histograms RUN writes each distribution for HdrHistogram's plotter.",)
    return Page("distributions", "Distributions", lead, blocks) if blocks else None


def phase(series: Sequence[Series]) -> Page | None:
    """Latency against phase, and who masks. None without a sweep."""
    blocks = present(interrupts.masking_by_call(series), interrupts.latency_by_phase(series))
    lead = ("Stimuli met each call at phases all through it.",)
    return Page("phase", "Phase", lead, blocks) if blocks else None


def ramp(series: Sequence[Series]) -> Page | None:
    """Cost and latency against depth, or without depths against probes. None without either."""
    met = [interrupts.at_depth(member.run) for member in series]
    blocks = present(
        sections.ramp(series),
        interrupts.latency_by_depth(series, met),
        interrupts.task_latency_by_depth(series, met),
        sections.cycles_by_probes(series),
        tables.cycles_by_probes(series),
    )
    lead = ("A line that rises is a search that grows with the heap's fragments.",)
    return Page("ramp", "Ramp", lead, blocks) if blocks else None


def waveforms(series: Sequence[Series]) -> Page | None:
    """Captures, each run's own. None where there are none."""
    pulses, waits = [], []
    for member in series:
        pulses.append((member.style.entry, worst_waveform(member, CRITICAL)))
        waits.append((member.style.entry, worst_waveform(member, LATENCY)))
        member.run.release("edges", "operations")
    blocks = present(
        per_run("pulse", "The worst critical section, as captured", pulses),
        per_run("interrupt", "The worst interrupt, as captured", waits),
    )
    return Page("waveforms", "Waveforms", _without_capture(series), blocks) if blocks else None


def _without_capture(series: Sequence[Series]) -> tuple[str, ...]:
    """The sentence on runs that are skipped where captures are drawn; none without such."""
    skipped = [member.name for member in series if not (member.run.folder / EDGES).exists()]
    return (NO_CAPTURE.format(names=", ".join(skipped)),) if skipped else ()


def run(series: Series, *, whole: bool = True) -> Page:
    """The page of one run, with all of run.json if it is `whole`; others have its figures."""
    loaded, manifest = series.run, series.run.manifest
    bound, folder = bounds_sentence(loaded), f"runs/{loaded.id}"
    # Where its operations are from, why it is not complete, its warnings.
    sentences = (
        *_without_capture([series]),
        *((loaded.origin,) if loaded.origin else ()),
        *(*manifest.reasons, *loaded.notes, *manifest.warnings),
        *((f"{bound}.",) if bound else ()),
    )
    elsewhere = (
        f"PulseView, at the worst instant: ./lab pulseview {folder} --worst",
        f"HdrHistogram's plotter: ./lab histograms {folder}",
        f'A notebook: polars.read_parquet("{folder}/operations.parquet"), and interrupts.parquet beside it',
        f"The instructions behind the worst section: ./lab explain {folder}",
    )
    text = json.dumps(manifest.as_json(), indent=2, ensure_ascii=False)
    blocks = present(
        Prose("What to know", sentences, listed=True) if sentences else None,
        tables.comparison([series]),
        Prose("Open it elsewhere", elsewhere, listed=True, folded=True),
        Verbatim("run.json", text) if whole else None,
    )
    what = f"{manifest.scenario} with {configuration(manifest)} on {manifest.board}"
    lead = (f"{what}. The run is {manifest.verdict}.", f"Its folder: {loaded.id}.")
    return Page("run", series.name, lead, blocks)


def overview(scenarios: Mapping[str, Sequence[Series]]) -> Page:
    """Which allocator to take; then for each scenario who waits how long, and what else to know."""
    ordered = {scenario: lanes(series) for scenario, series in scenarios.items()}
    among = standings(ordered)
    blocks: list[Block | None] = [Prose("", tuple(recommended(among))), under_limits(among)]
    for place, (scenario, series) in enumerate(scenarios.items()):
        ordering = ordered[scenario]
        behind = (*holders(ordering), *facts(series, ordering))
        blocks += [
            Prose(scenario, headline(scenario, ordering)),
            answer(scenario, series, ordering, legend=place == 0),
            Prose(f"{scenario}: what held it, and what else to know", behind, True, True) if behind else None,
        ]
    doubtful = sum(not member.run.manifest.complete for series in scenarios.values() for member in series)
    noun, verb = ("run", "is") if doubtful == 1 else ("runs", "are")
    doubt = f"{doubtful} {noun} shown here {verb} not complete: see the reasons before any number."
    return Page("overview", "Overview", (doubt,) if doubtful else (), present(*blocks))


_WORST = {
    SECTION: Column("section_ns", "longest section (µs)"),
    CRITICAL: Column("allocate_ns", "allocate (µs)"),
    FREE_CRITICAL: Column("free_ns", "free (µs)"),
    LATENCY: Column("interrupt_ns", "interrupt (µs)"),
    TASK: Column("task_ns", "task (µs)"),
}
_MATRIX_COLUMNS = (
    Column("possible_ns", "possible wait (µs)"),
    Column("bound_ns", "static bound, allocate (µs)"),
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


def matrix(scenarios: Mapping[str, Sequence[Series]]) -> Page:
    """Every allocator in every scenario, the longest possible wait first."""
    every = [member for series in scenarios.values() for member in series]
    groups = []
    for scenario, series in scenarios.items():
        shared = [tables.among(quantity, series, every) for quantity in _WORST]
        rows: list[tuple[float, Line]] = []
        for member in series:
            manifest = member.run.manifest
            maxima = (tables.brief(member, among) for among in shared)
            footprint, memory = manifest.footprint, manifest.memory
            why = memory.why_not or "" if memory else ""
            used, lost = (
                replace(tables.number(getattr(memory, name, None)), why=why)
                for name in ("used_bytes", "fragmentation_percent")
            )
            bytes_of = (
                tables.number(getattr(footprint, name, None)) for name in ("flash_bytes", "static_ram_bytes")
            )
            cells = (*maxima, tables.possible(member), _bound(member), used, *bytes_of, lost)
            wait_ns = manifest.possible_wait.ns if manifest.possible_wait else 0
            rows.append((-(wait_ns or 0), tables.line_of(member, cells)))
        groups.append(Group(scenario, tuple(line for _, line in sorted(rows, key=lambda row: row[0]))))
    # Above a column stands the error that all rows share.
    maxima_columns = (
        replace(column, note=tables.among(quantity, every).total) for quantity, column in _WORST.items()
    )
    of_placements = [
        f"{scenario}: {sentence}"
        for scenario, series in scenarios.items()
        for sentence in placements.undecided(series)
    ]
    legend = " ".join((_LEGEND, *placements.meaning(every), *of_placements))
    columns = (*maxima_columns, *_MATRIX_COLUMNS)
    title = "Worst case by allocator and scenario"
    return Page("matrix", "Matrix", (), (Grid("matrix", title, columns, tuple(groups), legend=legend),))


def _bound(series: Series) -> Cell:
    bound = bound_of(series.run, "allocate")
    if bound is None:
        return Cell(MISSING)
    return tables.plain(bound.ns, "ns", "grows with heap size" if bound.region_decided else "")


OF_ALL: tuple[Callable[[Mapping[str, Sequence[Series]]], Page], ...] = (overview, matrix)
"""Pages on all scenarios at once."""

OF_SCENARIO: tuple[Callable[[Sequence[Series]], Page | None], ...] = (
    comparison,
    boards,
    ramp,
    phase,
    distributions,
    waveforms,
    agreement,
)
"""Pages on one scenario, by its runs. None where the scenario has nothing of it."""


def offered(series: Sequence[Series]) -> list[str]:
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
        "waveforms": any((member.run.folder / EDGES).exists() for member in series),
    }
    return [page.__name__ for page in OF_SCENARIO if has.get(page.__name__, True)]
