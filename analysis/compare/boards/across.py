"""Runs of one allocator on several boards, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from pydantic import RootModel

from analysis.compare import pairing as of_run
from analysis.compare.pairing import Stored, find
from analysis.errors import CompareError
from base.files.documents import Table, open_toml
from base.heap_size import DEFAULT_BYTES
from base.metrology.slope import fit_slope
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
from firmware.build import boards
from firmware.build.boards import Board, BoardError

# The figures of a run that are set beside those of other boards.


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


def figures(manifest: Manifest, operations: pl.DataFrame, core_hz: int) -> Figures:
    """The figures of a run whose core ran at `core_hz`. `operations` is its table."""
    acr = manifest.firmware.flash_acr or manifest.asked.flash_acr
    return Figures(
        core_hz=core_hz,
        wait_states=None if acr is None else int(acr, 16) & _LATENCY_BITS,
        samplerate_hz=manifest.samplerate_hz,
        allocate=_worst(manifest, CRITICAL, core_hz, DWT_CYCLES),
        free=_worst(manifest, FREE_CRITICAL, core_hz, FREE_DWT_CYCLES),
        growth=_growth(operations, core_hz),
        interrupt=_worst(manifest, LATENCY, core_hz),
        answer=_idle(manifest, core_hz),
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


def _idle(manifest: Manifest, core_hz: int) -> Worst | None:
    idle, worst = manifest.baselines.get(LATENCY.key), _worst(manifest, LATENCY, core_hz)
    if idle is None or worst is None:
        return None
    ns = float(idle.value)
    return replace(worst, ns=ns, cycles=ns * core_hz / NS_PER_S, n=idle.n, seq=None)


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


# What the manuals say of the cores (cores.toml).


_FILE = Path(__file__).with_name("cores.toml")


class Core(Table):
    """One core; cores.toml says what its keys mean."""

    title: str
    entry_cycles: int
    counter: bool
    clz: bool


class _Cores(RootModel[dict[str, Core]]):
    """The whole file."""


@cache
def _cores() -> dict[str, Core]:
    return open_toml(_FILE, CompareError).check(_Cores).root


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
    return OnBoard(run, manifest, title, core_of(board), figures(manifest, operations, core_hz))


def group(lines: Iterable[OnBoard]) -> tuple[Group, ...]:
    """The groups of two boards or more; in each the first board of the bench is first, then by
    name.
    """
    groups: dict[tuple[object, ...], list[OnBoard]] = {}
    for line in lines:
        groups.setdefault(_matter(line.manifest), []).append(line)
    return tuple(
        Group(ones[0].manifest.scenario, _allocator(ones), _told_apart(sorted(ones, key=_order)))
        for ones in sorted(groups.values(), key=lambda ones: _matter(ones[0].manifest)[:2])
        if len({board.manifest.board_folder for board in ones}) > 1
    )


def across(paths: Sequence[Path], tell: Callable[[str], None] = lambda _: None) -> Across:
    """The runs in `paths`, each a run folder or a folder of such; of those that are alike the
    latest.

    Raises TailscopeError where a path holds no run, and CompareError where no allocator ran the
    same on two boards.
    """
    sides = [find(path) for path in paths]
    stored = list({run.folder.resolve(): run for side in sides for run in side.runs}.values())
    chosen = latest(stored, lambda run: Options.of(run.manifest), lambda run: run.name)
    lines = [line for run in chosen if (line := _read(run, tell)) is not None]
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


def _read(run: Stored, tell: Callable[[str], None]) -> OnBoard | None:
    tell(f"{run.manifest.scenario}, {run.manifest.configuration}")
    return on_board(run.name, run.manifest, of_run.read(run).operations)


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


def _told_apart(lines: Sequence[OnBoard]) -> tuple[OnBoard, ...]:
    every = [parameters_of(line.manifest) for line in lines]
    names = dict.fromkeys(name for label in every for name in label)
    differing = [name for name in names if len({label.get(name) for label in every}) > 1]
    return tuple(
        replace(line, apart=tuple(f"{name} {label[name]}" for name in differing if name in label))
        for line, label in zip(lines, every, strict=True)
    )


def _allocator(lines: Sequence[OnBoard]) -> str:
    """The allocator and its knobs, without what boards differ in."""
    manifest = lines[0].manifest
    knobs = [f"{name}={value}" for name, value in manifest.turned_knobs.items()]
    return ", ".join([manifest.allocator, *knobs])


def _order(line: OnBoard) -> tuple[bool, str, str]:
    name = line.manifest.board_folder
    return name != FIRST_BOARD, name, line.name
