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
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, PROBES, SECTION, TASK, Quantity
from base.run_index import configuration
from dashboards import placements
from dashboards.answer import answer, recommended, standings, under_limits
from dashboards.belief import belief
from dashboards.blocks import (
    Block,
    Cell,
    Column,
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
from dashboards.figures import boards as boards_figure
from dashboards.figures import cycles as probes_figure
from dashboards.figures import ramp as figure
from dashboards.figures.agreement import agreement as agreement_figure
from dashboards.figures.cycles import cycles_by_size
from dashboards.figures.interrupt_latency import interrupt_latency, other_latency
from dashboards.figures.latency_by_depth import at_depth, latency_by_depth, task_latency_by_depth
from dashboards.figures.phase import latency_by_phase, masking_by_call
from dashboards.figures.survival import latency_survival, survival
from dashboards.figures.waveform import worst_critical_section, worst_interrupt
from dashboards.formatting import MISSING, every_run, grouped, short, whole
from dashboards.headline import facts, headline, holders
from dashboards.loaded.lanes import lanes
from dashboards.loaded.quantities import bound_of, bounds_sentence
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series
from dashboards.tables import boards as boards_table
from dashboards.tables import witnesses as probes_table
from dashboards.tables.comparison import Among, among, brief, line_of, possible
from dashboards.tables.comparison import comparison as comparison_table
from dashboards.tables.differences import differences
from dashboards.tables.witnesses import agreement as agreement_table
from dashboards.tables.witnesses import error_budget, nearly_equal


def believed(page: Page, series: Sequence[Series]) -> Page:
    """The page with a line on whether to believe the runs it is of."""
    return replace(page, belief=belief(series))


def agreement(series: Sequence[Series]) -> Page:
    """Tables of agreement and error budget, and the differences of each run that has any."""
    near = [member for member in series if nearly_equal(member)]
    apart = [member for member in series if not nearly_equal(member)]
    figures = per_run(
        "differences", "Wire minus DWT", ((series.style.entry, agreement_figure(series)) for series in apart)
    )
    all_near = replace(agreement_table(near), key="near", title=_near(len(near)), folded=True)
    simulated = any(VIRTUAL_BOARD in member.run.manifest.tools for member in series)
    blocks = present(
        agreement_table(apart) if apart else None,
        all_near if near else None,
        error_budget(series),
        figures,
        Prose("What a simulated microsecond is worth", SIMULATED) if simulated else None,
    )
    whose = every_run(len(near)) if len(near) == len(series) else f"{len(near)} of {len(series)} runs"
    lead = f"In {whose} wire and DWT never differ by more than a cycle."
    return Page("agreement", "Agreement", (lead,) if near else (), blocks)


def _near(count: int) -> str:
    return f"Wire and DWT: {'1 run that agrees' if count == 1 else f'{count} runs that agree'} to a cycle"


def comparison(series: Sequence[Series]) -> Page:
    """The tables of one scenario."""
    lead = ("Choose a maximum to see its instant.",)
    return Page("comparison", "Comparison", lead, present(comparison_table(series), differences(series)))


def boards(series: Sequence[Series]) -> Page | None:
    """Figure and table of each allocator that ran on two boards or more. None without any."""
    lines = (on_board(member.run.id, member.run.manifest, member.run.operations) for member in series)
    groups = group(line for line in lines if line is not None)
    if not groups:
        return None
    lead = ("No board is better than another: what is the same is the allocator.",)
    blocks = present(
        boards_figure.boards(groups),
        boards_table.boards(groups, {member.run.id: member for member in series}),
    )
    return Page("boards", "Across boards", lead, blocks)


def distributions(series: Sequence[Series]) -> Page | None:
    """Survival curves, latencies by what they met, and cycles by size."""
    figures = (survival, latency_survival, interrupt_latency, other_latency, cycles_by_size)
    blocks = present(*(figure(series) for figure in figures))
    lead = ("./lab histograms RUN writes each distribution for HdrHistogram's plotter.",)
    return Page("distributions", "Distributions", lead, blocks) if blocks else None


def phase(series: Sequence[Series]) -> Page | None:
    """Latency against phase, and who masks. None without a sweep."""
    blocks = present(masking_by_call(series), latency_by_phase(series))
    lead = ("Stimuli met each call at phases all through it.",)
    return Page("phase", "Phase", lead, blocks) if blocks else None


def ramp(series: Sequence[Series]) -> Page | None:
    """Cost and latency against depth, or without depths against probes. None without either."""
    met = [at_depth(member.run) for member in series]
    by_depth = present(figure.ramp(series), latency_by_depth(series, met), task_latency_by_depth(series, met))
    by_probes = present(probes_figure.cycles_by_probes(series), probes_table.cycles_by_probes(series))
    lead = ("A line that rises is a search that grows with the heap's fragments.",)
    return Page("ramp", "Ramp", lead, (*by_depth, *by_probes)) if by_depth or by_probes else None


def waveforms(series: Sequence[Series]) -> Page | None:
    """Captures, each run's own. None where there are none."""
    pulses, interrupts, without = [], [], _without_capture(series)
    for member in series:
        pulses.append((member.style.entry, worst_critical_section(member)))
        interrupts.append((member.style.entry, worst_interrupt(member)))
        member.run.release("edges")
    blocks = present(
        per_run("pulse", "The worst critical section, as captured", pulses),
        per_run("interrupt", "The worst interrupt, as captured", interrupts),
    )
    return Page("waveforms", "Waveforms", without, blocks) if blocks else None


def _without_capture(series: Sequence[Series]) -> tuple[str, ...]:
    """The sentence on runs that are skipped where captures are drawn; none without such."""
    skipped = [member.name for member in series if not (member.run.folder / EDGES).exists()]
    return (NO_CAPTURE.format(names=", ".join(skipped)),) if skipped else ()


def run(one: Series, *, whole: bool = True) -> Page:
    """The page of one run, with all of run.json if it is `whole`; others have its figures."""
    sentences = (*_without_capture([one]), *_sentences(one.run))
    manifest = json.dumps(one.run.manifest.as_json(), indent=2, ensure_ascii=False)
    blocks = present(
        Prose("What to know", sentences, listed=True) if sentences else None,
        comparison_table([one]),
        Prose("Open it elsewhere", _elsewhere(one.run), listed=True, folded=True),
        Verbatim("run.json", manifest) if whole else None,
    )
    manifest_of = one.run.manifest
    what = f"{manifest_of.scenario} with {configuration(manifest_of)} on {manifest_of.board}"
    lead = (f"{what}. The run is {manifest_of.verdict}.", f"Its folder: {one.run.id}.")
    return Page("run", one.name, lead, blocks)


def _elsewhere(run: LoadedRun) -> tuple[str, ...]:
    """The commands that open a run in other programs."""
    folder = f"runs/{run.id}"
    return (
        f"PulseView, at the worst instant: ./lab pulseview {folder} --worst",
        f"Perfetto: ./lab explain {folder} --perfetto timeline.json.gz, for ui.perfetto.dev",
        f"HdrHistogram's plotter: ./lab histograms {folder}",
        f'A notebook: polars.read_parquet("{folder}/operations.parquet"), and interrupts.parquet beside it',
        f"The instructions behind the worst section: ./lab explain {folder}",
    )


def _sentences(run: LoadedRun) -> tuple[str, ...]:
    """Sentences on a run: where its operations are from, why it is not complete, its warnings."""
    bound = bounds_sentence(run)
    return (
        *((run.origin,) if run.origin else ()),
        *run.manifest.reasons,
        *run.notes,
        *run.manifest.warnings,
        *((f"{bound}.",) if bound else ()),
    )


def overview(scenarios: Mapping[str, Sequence[Series]]) -> Page:
    """Which allocator to take; then for each scenario who waits how long, and what else to know."""
    ordered = {scenario: lanes(series) for scenario, series in scenarios.items()}
    among = standings(ordered)
    blocks: list[Block | None] = [Prose("", tuple(recommended(among))), under_limits(among)]
    for scenario, series in scenarios.items():
        ordering = ordered[scenario]
        behind = (*holders(ordering), *facts(series, ordering))
        first = scenario == next(iter(scenarios))
        blocks += [
            Prose(scenario, headline(scenario, ordering)),
            answer(scenario, series, ordering, legend=first),
        ]
        if behind:
            blocks.append(Prose(f"{scenario}: what held it, and what else to know", behind, True, True))
    return Page("overview", "Overview", _lead(scenarios), present(*blocks))


def _noted(
    columns: Sequence[Column], quantities: Sequence[Quantity], every: Sequence[Series]
) -> tuple[Column, ...]:
    """The columns, of which the first show `quantities`, with the error that all rows share."""
    notes = [among(quantity, every).total for quantity in quantities]
    shown = (replace(column, note=note) for column, note in zip(columns, notes, strict=False))
    return (*shown, *columns[len(notes) :])


def _lead(scenarios: Mapping[str, Sequence[Series]]) -> tuple[str, ...]:
    """Sentences to read before any number; none if every run is complete."""
    doubtful = sum(not member.run.manifest.complete for series in scenarios.values() for member in series)
    if not doubtful:
        return ()
    noun, verb = ("run", "is") if doubtful == 1 else ("runs", "are")
    return (f"{doubtful} {noun} shown here {verb} not complete: see the reasons before any number.",)


_WORST = (SECTION, CRITICAL, FREE_CRITICAL, LATENCY, TASK)
_MATRIX_COLUMNS = (
    Column("section_ns", "longest section (µs)"),
    Column("allocate_ns", "allocate (µs)"),
    Column("free_ns", "free (µs)"),
    Column("interrupt_ns", "interrupt (µs)"),
    Column("task_ns", "task (µs)"),
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
    groups = tuple(_group(scenario, series, every) for scenario, series in scenarios.items())
    columns = _noted(_MATRIX_COLUMNS, _WORST, every)
    of_placements = [
        f"{scenario}: {sentence}"
        for scenario, series in scenarios.items()
        for sentence in placements.undecided(series)
    ]
    meant = placements.meaning(every)
    legend = " ".join((_LEGEND, *meant, *of_placements))
    grid = Grid("matrix", "Worst case by allocator and scenario", columns, groups, legend=legend)
    return Page("matrix", "Matrix", (), (grid,))


def _group(scenario: str, series: Sequence[Series], every: Sequence[Series]) -> Group:
    shared = [among(quantity, series, every) for quantity in _WORST]
    ordered = sorted(
        series, key=lambda series: -(((wait := series.run.manifest.possible_wait) and wait.ns) or 0)
    )
    return Group(scenario, tuple(_matrix_line(series, shared) for series in ordered))


def _matrix_line(series: Series, shared: Sequence[Among]) -> Line:
    maxima = tuple(brief(series, rows) for rows in shared)
    used, lost = _memory(series)
    return line_of(series, (*maxima, possible(series), _bound(series), used, *_footprint(series), lost))


def _bound(series: Series) -> Cell:
    bound = bound_of(series.run, "allocate")
    if bound is None:
        return Cell(MISSING)
    notes = ("grows with heap size",) if bound.region_decided else ()
    return Cell(short(bound.ns, "ns"), bound.ns, notes, whole=whole(bound.ns, "ns"))


def _memory(series: Series) -> tuple[Cell, Cell]:
    memory = series.run.manifest.memory
    if memory is None:
        return Cell(MISSING), Cell(MISSING)
    why = memory.why_not or ""
    used, lost = memory.used_bytes, memory.fragmentation_percent
    return Cell(grouped(used), used, why=why), Cell(grouped(lost), lost, why=why)


def _footprint(series: Series) -> tuple[Cell, Cell]:
    """Cells of the allocator's flash and RAM; dashes for a run without them."""
    allocator_footprint = series.run.manifest.footprint
    values = (
        (allocator_footprint.flash_bytes, allocator_footprint.static_ram_bytes)
        if allocator_footprint
        else (None, None)
    )
    flash, ram = (Cell(grouped(value), value) for value in values)
    return flash, ram


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
    measured = {
        quantity.key
        for quantity in (PROBES, CRITICAL, LATENCY)
        if any(member.run.summary(quantity).n for member in series)
    }
    has = {
        "boards": len({manifest.board_folder for manifest in manifests}) > 1,
        "ramp": any(manifest.ramp for manifest in manifests) or PROBES.key in measured,
        "phase": any(manifest.swept for manifest in manifests),
        "distributions": bool(measured - {PROBES.key}),
        "waveforms": any((member.run.folder / EDGES).exists() for member in series),
    }
    return [page.__name__ for page in OF_SCENARIO if has.get(page.__name__, True)]
