"""Runs of one allocator on several boards, side by side: cycles and times of each, and no verdict
of which is better. As JSON (docs/how-to/compare.md):

    schema                        1
    groups [{
      scenario, allocator, headline
      boards [{
        run                       the folder's name
        board, board_folder       the entry of bench.toml, the folder's name
        title, core               what people call both; core and the next three are null of a core
                                  of which the bench knows no manual
        entry_cycles              from an interrupt to its handler, by the manual
        clz, counter              whether the core has CLZ, and CYCCNT
        locking, heap_bytes, verdict, core_hz, wait_states, samplerate_hz, resolution_ns
        allocate, free, interrupt, answer, control
                                  null or {ns, cycles, counted, n, budget_ns, seq}
        growth                    null or {cycles, cycles_uncertainty, ns, ns_uncertainty, n}
      }]
    }]
    left_out[]                    sentences

- *allocate*, *free*, *interrupt* and *control* are the longest samples. *answer* is the median of
  the interrupts that met nothing, an interrupt's *baseline* in run.json.
- *counted*: the cycles are the counter's; else *ns* times the core's clock.
- *growth* is of the allocations with a depth that no interrupt met: null without four depths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import RootModel

from analysis.compare import pairing as of_run
from analysis.compare.pairing import find
from analysis.compare.text import WIDE_COLUMNS
from analysis.errors import CompareError
from base.files.documents import Table, open_toml
from base.heap_size import DEFAULT_BYTES
from base.metrology.slope import fit_slope
from base.microseconds import digits
from base.run_folder.alike import Options, latest, parameters_of
from base.run_folder.edges import NS_PER_S
from base.run_folder.manifest import FIRST_BOARD, Manifest
from base.run_folder.quantities import (
    CONTROL,
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    LATENCY,
    Quantity,
)
from base.text_table import TextTable, printed
from firmware.build import boards
from firmware.build.boards import Board, BoardError

_LATENCY_BITS = 0xF
"""Wait states in FLASH_ACR, alike in all STM32 (RM0368 §3.8.1, RM0091 §3.5.1, RM0008 §3.3.3)."""
_LEAST_DEPTHS = 4


@dataclass(frozen=True)
class Worst:
    """The greatest of `n` samples: on the wire in ns, true to plus or minus `budget_ns`, and in
    cycles of the core.

    `counted` says that the core's counter told the cycles; else the wire did. `budget_ns` is None
    where nobody knows, `seq` where the sample fell outside all operations.
    """

    ns: float
    cycles: float
    counted: bool
    n: int
    budget_ns: float | None
    seq: int | None


@dataclass(frozen=True)
class Growth:
    """How much a critical section grows with each freed block: the slope of a line through `n`
    allocations, and the most by which their distances from it can have turned it.
    """

    cycles: float
    cycles_uncertainty: float
    ns: float
    ns_uncertainty: float
    n: int


@dataclass(frozen=True)
class Figures:
    """What a run says of its board. What it has nothing of is None.

    `answer` is the median wait of an interrupt that met nothing, in cycles by the wire.
    """

    core_hz: int
    wait_states: int | None
    samplerate_hz: int
    allocate: Worst | None
    free: Worst | None
    growth: Growth | None
    interrupt: Worst | None
    answer: Worst | None
    control: Worst | None

    @property
    def resolution_ns(self) -> float:
        """A sample of the wire."""
        return NS_PER_S / self.samplerate_hz


def figures_of(manifest: Manifest, operations: pl.DataFrame, core_hz: int) -> Figures:
    """The figures of a run whose core ran at `core_hz`. `operations` is its table."""
    acr = manifest.firmware.flash_acr or manifest.asked.flash_acr
    idle, interrupt = manifest.baselines.get(LATENCY.key), _worst(manifest, LATENCY, core_hz)
    answer = None
    if idle and interrupt:
        ns = float(idle.value)
        answer = replace(interrupt, ns=ns, cycles=ns * core_hz / NS_PER_S, n=idle.n, seq=None)
    return Figures(
        core_hz=core_hz,
        wait_states=None if acr is None else int(acr, 16) & _LATENCY_BITS,
        samplerate_hz=manifest.samplerate_hz,
        allocate=_worst(manifest, CRITICAL, core_hz, DWT_CYCLES),
        free=_worst(manifest, FREE_CRITICAL, core_hz, FREE_DWT_CYCLES),
        growth=_growth(operations, core_hz),
        interrupt=interrupt,
        answer=answer,
        control=_worst(manifest, CONTROL, core_hz),
    )


def _worst(
    manifest: Manifest, quantity: Quantity, core_hz: int, counted: Quantity | None = None
) -> Worst | None:
    summary, maximum = manifest.statistics.get(quantity.key), manifest.maxima.get(quantity.key)
    if summary is None or summary.max is None:
        return None
    counter = manifest.statistics.get(counted.key) if counted else None
    cycles = counter.max if counter else None
    budget = manifest.error_budget.get(quantity.key)
    return Worst(
        ns=float(summary.max),
        cycles=summary.max * core_hz / NS_PER_S if cycles is None else float(cycles),
        counted=cycles is not None,
        n=summary.n,
        budget_ns=None if budget is None or budget.total.ns is None else float(budget.total.ns),
        seq=maximum.seq if maximum else None,
    )


def _growth(operations: pl.DataFrame, core_hz: int) -> Growth | None:
    """Of allocations that no interrupt met; None without depths."""
    alone = (pl.col("control_hits").fill_null(0) == 0) & (pl.col("isr_hits").fill_null(0) == 0)
    table = operations.filter(pl.col("measured") & pl.col("kind").is_in(["A", "O"]) & alone)
    table = table.drop_nulls(["depth", "wire_critical_ns"])
    if table["depth"].n_unique() < _LEAST_DEPTHS:
        return None
    per_cycle_ns = NS_PER_S / core_hz
    on_wire = _slope(table["depth"], table["wire_critical_ns"], per_cycle_ns)
    counted = table.drop_nulls("dwt_cycles")
    if counted.height == table.height:
        cycles = _slope(table["depth"], table["dwt_cycles"], 0.5)
    else:
        cycles = on_wire[0] / per_cycle_ns, on_wire[1] / per_cycle_ns
    return Growth(*cycles, *on_wire, n=table.height)


def _slope(x: pl.Series, y: pl.Series, error: float) -> tuple[float, float]:
    across, up = (np.asarray(series, np.float64) - float(series.mean()) for series in (x, y))  # type: ignore[arg-type]
    slope = fit_slope(across, up, error)
    return slope.value, slope.uncertainty


_FILE = Path(__file__).with_name("cores.toml")


class Core(Table):
    """One core; cores.toml says what its keys mean."""

    title: str
    entry_cycles: int
    counter: bool
    clz: bool


class _Cores(RootModel[dict[str, Core]]):
    """The whole file."""


_cores = cache(lambda: open_toml(_FILE, CompareError).check(_Cores).root)


def core_of(board: Board | None) -> Core | None:
    """The core of a board; None where the file has nothing of it."""
    return None if board is None else _cores().get(board.core)


def board_of(manifest: Manifest) -> Board | None:
    """The board of a run; None where its folder is here no more."""
    try:
        return boards.board_of(manifest.asked)
    except BoardError:
        return None


@dataclass(frozen=True)
class OnBoard:
    """A run and its figures. `core` is None where its manual's figures are not known here; `apart`
    are the parameters in which it differs from others of its group.
    """

    run: str
    manifest: Manifest
    title: str
    core: Core | None
    figures: Figures
    apart: tuple[str, ...] = ()

    @property
    def counter(self) -> str:
        """What counted the core's cycles: DWT, or the timer that stands in for it."""
        board = board_of(self.manifest)
        return board.counter if board else "counter"

    @property
    def name(self) -> str:
        """The board, and what of the run is not as usual for it."""
        lock = self.manifest.locking
        own = board_of(self.manifest)
        usual = own.locks[0] if own else "basepri"
        heap = self.manifest.firmware.heap_bytes
        words = [] if lock in (None, usual) else [str(lock)]
        words += [] if heap in (None, DEFAULT_BYTES) else [f"heap {heap:,}"]
        words += [] if self.manifest.complete else [self.manifest.verdict]
        return ", ".join([self.title, *self.apart, *words])


@dataclass(frozen=True)
class Group:
    """The runs of one scenario on one allocator, a line for each board."""

    scenario: str
    allocator: str
    lines: tuple[OnBoard, ...]

    @property
    def title(self) -> str:
        return f"{self.scenario} on {self.allocator}"

    @property
    def remark(self) -> str:
        """A sentence where the runs did not run the same operations; empty where they did."""
        if len({line.manifest.image_crc32 for line in self.lines}) == 1:
            return ""
        return (
            f"{self.title}: the boards did not run the same operations, so the longest sections are not of "
            "the same search; give all of them the same --parameter. A slope per freed block is not "
            "concerned."
        )


@dataclass(frozen=True)
class Across:
    """All groups that have two boards or more. `left_out` are sentences on the other runs."""

    groups: tuple[Group, ...]
    left_out: tuple[str, ...] = ()

    @property
    def lines(self) -> list[OnBoard]:
        """All runs, those of the first group first."""
        return [line for group in self.groups for line in group.lines]

    @property
    def boards(self) -> list[OnBoard]:
        """The first run of each board."""
        return list({line.manifest.board_folder: line for line in reversed(self.lines)}.values())[::-1]


def on_board(run: str, manifest: Manifest, operations: pl.DataFrame) -> OnBoard | None:
    """The run with its figures; None where nobody knows its core's clock."""
    board = board_of(manifest)
    core_hz = manifest.core_hz or (board.core_hz if board else None)
    if core_hz is None:
        return None
    title = board.title if board else manifest.board_folder
    return OnBoard(run, manifest, title, core_of(board), figures_of(manifest, operations, core_hz))


def group(lines: Iterable[OnBoard]) -> tuple[Group, ...]:
    """The groups of two boards or more; in each the first board of the bench is first, then by
    name.
    """
    by_matter: dict[tuple[object, ...], list[OnBoard]] = {}
    for line in lines:
        by_matter.setdefault(_matter(line.manifest), []).append(line)
    groups = []
    for _, alike in sorted(by_matter.items(), key=lambda item: item[0][:2]):
        if len({line.manifest.board_folder for line in alike}) == 1:
            continue
        labels = {line.run: parameters_of(line.manifest) for line in alike}
        names = dict.fromkeys(name for label in labels.values() for name in label)
        apart = [name for name in names if len({label.get(name) for label in labels.values()}) > 1]
        told_apart = [
            replace(
                line,
                apart=tuple(f"{name} {labels[line.run][name]}" for name in apart if name in labels[line.run]),
            )
            for line in alike
        ]
        told_apart.sort(
            key=lambda line: (
                line.manifest.board_folder != FIRST_BOARD,
                line.manifest.board_folder,
                line.name,
            )
        )
        # The allocator and its knobs, without what boards differ in.
        first = told_apart[0].manifest
        knobs = (f"{name}={value}" for name, value in first.turned_knobs.items())
        groups.append(Group(first.scenario, ", ".join((first.allocator, *knobs)), tuple(told_apart)))
    return tuple(groups)


def across(paths: Sequence[Path], tell: Callable[[str], None] = lambda _: None) -> Across:
    """The runs in `paths`, each a run folder or a folder of such; of those that are alike the
    latest.

    Raises TailscopeError where a path holds no run, and CompareError where no allocator ran the
    same on two boards.
    """
    sides = [find(path) for path in paths]
    stored = list({run.folder.resolve(): run for side in sides for run in side.runs}.values())
    chosen = latest(stored, lambda run: Options.of(run.manifest), lambda run: run.name)
    lines = []
    for run in chosen:
        tell(f"{run.manifest.scenario}, {run.manifest.configuration}")
        line = on_board(run.name, run.manifest, of_run.read(run).operations)
        lines += [line] if line else []
    groups = group(lines)
    if not groups:
        names = " and ".join(sorted({line.manifest.board_folder for line in lines})) or "no board"
        raise CompareError(
            f"No allocator ran the same scenario on two boards (there is {names}): run it with "
            "--board a,b first."
        )
    taken = {line.run for group_ in groups for line in group_.lines}
    alone = [f"{run.folder}: no run of another board is like it." for run in chosen if run.name not in taken]
    sentences = [sentence for side in sides for sentence in (*side.broken, *side.left_out)]
    return Across(groups, tuple(dict.fromkeys((*sentences, *alone))))


def _matter(manifest: Manifest) -> tuple[object, ...]:
    """What must be equal of runs that stand in one group: the scenario and the allocator. A small
    board may have run it with smaller parameters.
    """
    options = Options.of(manifest)
    return (
        manifest.scenario,
        manifest.allocator,
        options.seed,
        options.knobs,
        manifest.outside.sha256 if manifest.outside else None,
    )


MISSING = "–"
MEANING = (
    "No board is better than another: cycles say what the core had to do, µs how long it took. Cycles are "
    "the counter's, or the wire's where nothing counts. ± is the error budget; the resolution is one "
    "sample. The slope is that of a line through all allocations that no interrupt met; its ± is the most "
    "that their distances from the line can have turned it, no confidence interval."
)


def of_boards(lines: Sequence[OnBoard]) -> TextTable:
    """A line for each board: core, clock, and how soon an interrupt is answered."""
    headings = (
        *("board", "core", "clock (MHz)", "wait states", "CLZ", "cycle counter", "control interrupt"),
        *(
            "entry by the manual (cycles)",
            "entry in µs",
            "answer when idle (cycles)",
            "answer in µs",
            "n",
            "run",
        ),
    )
    return TextTable("Boards", headings, tuple(map(_board, lines)), (2, 3, 7, 8, 9, 10, 11))


def _board(line: OnBoard) -> tuple[str, ...]:
    figures, core = line.figures, line.core
    hz = figures.core_hz
    entry = (
        (f"{core.entry_cycles}", digits(core.entry_cycles * NS_PER_S / hz)) if core else (MISSING, MISSING)
    )
    return (
        line.title,
        core.title if core else MISSING,
        f"{hz / 1e6:g}",
        MISSING if figures.wait_states is None else f"{figures.wait_states}",
        MISSING if core is None else "yes" if core.clz else "none",
        # What stands in for DWT, where the core has none.
        line.counter if core is None or core.counter else f"none: {line.counter} stands in",
        "none" if figures.control is None else "yes",
        *entry,
        *_cycles_and_us(figures.answer),
        MISSING if figures.answer is None else f"{figures.answer.n:,}",
        line.run,
    )


def of_sections(group: Group) -> TextTable:
    """The worst critical sections of an allocation and of a free, and the worst wait."""
    headings = (
        *("worst of", "board", "cycles", "counted by", "µs", "± µs", "n"),
        *("resolution (µs)", "operation", "run"),
    )
    lines: list[tuple[str, ...]] = []
    for words, name in (
        ("allocation", "allocate"),
        ("free", "free"),
        ("interrupt latency", "interrupt"),
    ):
        pairs = [(line, getattr(line.figures, name)) for line in group.lines]
        if any(worst for _, worst in pairs):
            lines += (_section(words, line, worst) for line, worst in pairs)
    return TextTable(group.title, headings, tuple(lines), (2, 4, 5, 6, 7, 8))


def _section(words: str, line: OnBoard, worst: Worst | None) -> tuple[str, ...]:
    if worst is None:
        return (words, line.name, *([MISSING] * 7), line.run)
    by = line.counter if worst.counted else "wire"
    return (
        words,
        line.name,
        *_cycles_and_us(worst, whole=worst.counted)[:1],
        by,
        digits(worst.ns),
        MISSING if worst.budget_ns is None else digits(worst.budget_ns),
        f"{worst.n:,}",
        _fine(line.figures.resolution_ns),
        MISSING if worst.seq is None else f"{worst.seq:,}",
        line.run,
    )


def of_growth(groups: Sequence[Group]) -> TextTable:
    """A line for each run whose scenario is a ramp: the slope per freed block."""
    headings = (
        *("slope per freed block of", "board", "cycles", "± cycles", "µs", "± µs", "n"),
        *("resolution (µs)", "run"),
    )
    lines = tuple(
        (
            group.title,
            line.name,
            signed(growth.cycles, 2),
            signed(growth.cycles_uncertainty, 2),
            _fine(growth.ns),
            _fine(growth.ns_uncertainty),
            f"{growth.n:,}",
            _fine(line.figures.resolution_ns),
            line.run,
        )
        for group in groups
        for line in group.lines
        if (growth := line.figures.growth) is not None
    )
    return TextTable("Slope per freed block", headings, lines, range(2, 8))


def every(boards: Across) -> list[TextTable]:
    """All tables that have a line."""
    tables = [of_boards(boards.boards), *map(of_sections, boards.groups), of_growth(boards.groups)]
    return [rows for rows in tables if rows.lines]


def headline(group: Group) -> str:
    """`mem_frag on tlsf, …: Nucleo-F401RE 534 cycles, 6.40 µs; Nucleo-F411RE 465 cycles, …`."""
    sentences = [
        f"{line.title} {worst.cycles:,.0f} cycles, {digits(worst.ns)} µs"
        for line in group.lines
        if (worst := line.figures.allocate) is not None
    ]
    return f"{group.title}, the longest section of an allocation: {'; '.join(sentences)}."


def _cycles_and_us(worst: Worst | None, *, whole: bool = False) -> tuple[str, str]:
    if worst is None:
        return MISSING, MISSING
    return f"{worst.cycles:,.0f}" if whole else f"{worst.cycles:,.1f}", digits(worst.ns)


def _fine(ns: float) -> str:
    """In µs with four decimals, of what is less than a cycle or a few of them."""
    return signed(ns / 1000, 4)


def signed(value: float, decimals: int) -> str:
    """A number with its sign, and none of what rounds to nothing."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def as_text(boards: Across) -> str:
    """A sentence for each group, the tables, and what is left out."""
    remarks = [group.remark for group in boards.groups if group.remark]
    return printed(
        [*map(headline, boards.groups), *remarks, *every(boards), "", MEANING, *boards.left_out], WIDE_COLUMNS
    )


SCHEMA = 1


def as_json(boards: Across) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "groups": [
            {
                "scenario": group.scenario,
                "allocator": group.allocator,
                "headline": headline(group),
                "boards": [_line(line) for line in group.lines],
            }
            for group in boards.groups
        ],
        "left_out": boards.left_out,
    }


def _line(line: OnBoard) -> dict[str, Any]:
    manifest, core = line.manifest, line.core
    return {
        "run": line.run,
        **{name: getattr(manifest, name) for name in ("board", "board_folder", "locking", "verdict")},
        "title": line.title,
        "core": core and core.title,
        **{name: core and getattr(core, name) for name in ("entry_cycles", "clz", "counter")},
        "heap_bytes": manifest.firmware.heap_bytes,
        "resolution_ns": line.figures.resolution_ns,
        **asdict(line.figures),
    }
