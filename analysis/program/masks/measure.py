"""A program is run once, and what held interrupts off in it is found, placed and counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from analysis.explain.execution import Step
from analysis.explain.kernels import kernel as kernels
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Program
from analysis.program.masks import beginning, tasks
from analysis.program.masks import worst as masks_worst
from analysis.program.masks.beginning import START, WHOLE, Asked, Beginning
from analysis.program.masks.intervals import Clock, Sleep, intervals, sleep, stalls
from analysis.program.masks.places import Place, Places
from analysis.program.masks.priorities import Exceptions, Holding, held, parts
from analysis.program.masks.priorities import executed as executed_priorities
from analysis.program.masks.stop import Stop, stop
from analysis.program.masks.worst import Worst, worst_by_place
from base.processes import signals
from base.tell import Tell
from simulator import masks as simulator
from simulator.build import build
from simulator.interrupts import priority_bits
from simulator.masks import MaskRun
from simulator.program import UserProgram


@dataclass(frozen=True)
class AtPriority:
    """The time in which an interrupt of `priority` could not have been taken.

    `number` is that of the NVIC, 5 for 0x50 of 4 bits. `exceptions` have that priority; there are
    rows of priorities that none has, too. `intervals` has the columns of priorities.held() and
    `ns`. Of the longest that ended, `begin` and `end` are the places, and `parts` what held it.
    """

    priority: int
    number: int
    exceptions: tuple[str, ...]
    intervals: pl.DataFrame
    begin: Place | None
    end: Place | None
    parts: tuple[Holding, ...]

    @property
    def ended(self) -> pl.DataFrame:
        """The intervals that ended."""
        return self.intervals.filter(pl.col("cycles").is_not_null())

    @property
    def longest(self) -> dict[str, Any] | None:
        """The row of the longest that ended; None if none has."""
        return longest_of(self.ended)


def longest_of(ended: pl.DataFrame) -> dict[str, Any] | None:
    """The row with the most cycles, the first of several; None without rows."""
    return None if ended.is_empty() else ended.row(int(ended["cycles"].arg_max() or 0), named=True)


@dataclass(frozen=True)
class StartUp:
    """What began before the first cycle that counts.

    `intervals` has the columns of MaskReport.intervals, `worst` the longest at each place.
    """

    intervals: pl.DataFrame
    worst: tuple[Worst, ...]


@dataclass(frozen=True)
class MaskReport:
    """The result of a run of `program` up to `until`.

    `slept` says when the core slept. `intervals` has the columns of intervals.INTERVALS, `ns` and
    `stalled_cycles`, of all that began at `beginning` or later; what began before is in `start_up`.
    `worst` are those that ended, the longest at each place, and `still_open` those that did not,
    whenever they began.
    `kernel` is the program's, None if none is known. In `idle_cycles` of those that count the core
    slept, or the kernel's idle task ran.
    `steps` are the instructions of the longest of each kind, where they were asked for. `stop` says
    that the program came to a stop before the end, or that the run did. It is the first of `notes`.
    """

    program: UserProgram
    until: str
    run: MaskRun
    clock: Clock
    slept: Sleep
    places: Places
    intervals: pl.DataFrame
    worst: tuple[Worst, ...]
    still_open: tuple[Worst, ...]
    priorities: tuple[AtPriority, ...]
    tasks: dict[int, str]
    notes: tuple[str, ...]
    stop: Stop | None = None
    steps: dict[str, list[Step]] = field(default_factory=dict)
    kernel: Kernel | None = None
    beginning: Beginning = WHOLE
    start_up: StartUp | None = None
    idle_cycles: int = 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Sentences on why this is not all that the program does: it stopped, or its start-up never
        ended. One that only polls is told by `polls`.
        """
        halt = [self.stop.sentence] if self.stop and not self.stop.only_polls else []
        return (*halt, *beginning.never(self.beginning))

    @property
    def polls(self) -> str:
        """A sentence on what the program waits for in vain; empty if it does not."""
        return self.stop.sentence if self.stop and self.stop.only_polls else ""

    @property
    def complete(self) -> bool:
        """Whether this is all that the program does."""
        return not self.reasons and not self.polls

    @property
    def cycles(self) -> int:
        """The cycles of the whole run."""
        return self.run.stats.cycles

    @property
    def counted_cycles(self) -> int:
        """The cycles from `beginning` on."""
        return max(self.cycles - self.beginning.first_cycle, 1)

    def share(self, ended: pl.DataFrame) -> float:
        """What these intervals take of the cycles counted."""
        return float(ended["cycles"].sum()) / self.counted_cycles

    @property
    def used_priorities(self) -> list[AtPriority]:
        """Those that an exception has."""
        return [row for row in self.priorities if row.exceptions]

    @property
    def longest(self) -> Worst | None:
        """The longest of all that hold interrupts off; None if none has ended."""
        return next((section for section in self.worst if section.holds_interrupts), None)

    @property
    def all_intervals(self) -> pl.DataFrame:
        """Those of start-up, too."""
        return pl.concat([self.start_up.intervals, self.intervals]) if self.start_up else self.intervals


def measure(
    program: UserProgram,
    until: str,
    explain: bool,
    tell: Tell,
    *,
    start: str = START,
    kernel: str = "",
) -> MaskReport:
    """Runs `program` up to `until` and finds what held interrupts off. Raises TailscopeError.

    `start` is that of beginning.asked(), `kernel` that of kernel.find().
    """
    elf = Program(program.elf, stripped=True)
    layout = kernels.find(elf, kernel)
    request = beginning.asked(elf, layout, start)
    tell("building the virtual Nucleo")
    with signals.orderly():
        build()
        tell(f"running {program.elf.name}")
        words = kernels.words_of(layout)
        run = simulator.run_masks(program, until, kernel=words, marked=request.addresses, once=request.once)
    tell("reading debug information")
    return of_run(program, until, run, explain, tell, kernel=layout, asked=request, elf=elf)


def of_run(
    program: UserProgram,
    until: str,
    run: MaskRun,
    explain: bool,
    tell: Tell,
    image: bytes | None = None,
    *,
    kernel: Kernel | None = None,
    asked: Asked = WHOLE.asked,
    elf: Program | None = None,
) -> MaskReport:
    """The report of `run` of `program`, with the operations of `image`.

    `elf` is the program's file, if it is read already.
    """
    elf = elf or Program(program.elf, stripped=True)
    clock = Clock(run.stats.clocks)
    start_of_run = asked.found(run.passages, clock)
    remembered = tasks.told(program, elf, kernel, run.changes, image)
    names = remembered.tasks
    places = Places(elf, run.stacks, kernel, remembered.behind, run.stats.vectors)
    slept = sleep(run.changes, run.stats.cycles, elf.code)
    exceptions = Exceptions(run.changes)
    table = _awake(intervals(run.changes, slept), slept, exceptions)
    table = table.with_columns(ns=_ns(clock, table), stalled_cycles=_stalled(run, table))
    counts, over = pl.col("begin_cycle") >= start_of_run.first_cycle, pl.col("end_row").is_not_null()
    worst, early, still_open = (
        worst_by_place(table.filter(which), run.changes, places, names, exceptions)
        for which in (over & counts, over & ~counts, ~over)
    )
    state = executed_priorities(run.changes)
    at_priorities = [
        _at_priority(
            interval,
            numbers,
            _counted(held(state, interval, slept), start_of_run),
            state,
            run,
            places,
            clock,
            program,
        )
        for interval, numbers in exceptions.priorities(priority_bits(program.chip)).items()
    ]
    steps = {}
    if explain:
        for interval in _longest_of_each_kind(worst):
            tell(f"running again for the instructions of the longest {interval.kind}")
            steps[interval.kind] = masks_worst.steps_of(program, elf, interval)
    idle_tasks = [task for task, of in names.items() if kernel and of in kernel.idle]
    halt: Stop | None
    if run.ended:
        halt = Stop(f"The run ended at cycle {run.stats.cycles:,}: {run.ended.rstrip('.')}.")
    else:
        idles = not run.changes.is_empty() and run.changes["task"][-1] in idle_tasks
        halt = stop(elf, places, run.stats, still_open, clock, idles)
    notes = _notes(program.elf, elf, run, table, exceptions, until, kernel, halt is not None)
    return MaskReport(
        program=program,
        until=until,
        run=run,
        clock=clock,
        slept=slept,
        places=places,
        intervals=table.filter(counts),
        worst=tuple(worst),
        still_open=tuple(still_open),
        priorities=tuple(at_priorities),
        tasks=names,
        notes=(*([halt.sentence] if halt else []), *notes),
        stop=halt,
        steps=steps,
        kernel=kernel,
        beginning=start_of_run,
        idle_cycles=tasks.idle_cycles(run.changes, idle_tasks, start_of_run.first_cycle, run.stats.cycles),
        start_up=StartUp(table.filter(~counts), tuple(early)) if start_of_run.first_cycle else None,
    )


def _stalled(run: MaskRun, table: pl.DataFrame) -> pl.Series:
    """The cycles of each interval in which the core waited for the flash."""
    ends = table["end_cycle"].fill_null(run.stats.cycles)
    waited = stalls(run.changes, run.stats.cycles).within(table["begin_cycle"], ends)
    return pl.Series("stalled_cycles", waited, dtype=pl.Int64)


def _awake(table: pl.DataFrame, slept: Sleep, exceptions: Exceptions) -> pl.DataFrame:
    """The intervals, of which handlers that hold no other off do not count sleep.

    A kernel may idle in the handler that switches tasks, the least urgent: whatever is enabled ends
    that.
    """
    of_handlers = pl.Series(slept.within(table["begin_cycle"], table["end_cycle"]), dtype=pl.Int64)
    in_handlers = table.with_row_index("at").filter((pl.col("kind") == "handler") & (of_handlers > 0))
    idle = [
        at
        for at, *interval in in_handlers.select("at", "kind", "level", "begin_row", "end_row").iter_rows()
        if not exceptions.held(*interval)
    ]
    asleep = (
        table["asleep_cycles"].scatter(idle, of_handlers.gather(idle)) if idle else table["asleep_cycles"]
    )
    more = asleep - table["asleep_cycles"]
    return table.with_columns(asleep_cycles=asleep, cycles=pl.col("cycles") - more)


def _counted(table: pl.DataFrame, begun: Beginning) -> pl.DataFrame:
    """What began from there on, and what is still open."""
    return table.filter((pl.col("begin_cycle") >= begun.first_cycle) | pl.col("end_cycle").is_null())


def _ns(clock: Clock, table: pl.DataFrame) -> pl.Series:
    """The awake time of intervals. Sleep is at the clock of the end, where the core woke."""
    ended = table["end_cycle"].fill_null(table["begin_cycle"])
    whole = clock.between_ns(table["begin_cycle"].to_numpy(), ended.to_numpy())
    asleep = table["asleep_cycles"].to_numpy() if "asleep_cycles" in table.columns else 0
    awake_from = ended.to_numpy() - asleep
    ns = pl.Series("ns", whole - clock.between_ns(awake_from, ended.to_numpy()), dtype=pl.Float64)
    return ns.zip_with(table["end_cycle"].is_not_null(), pl.Series("ns", [None] * len(ns), dtype=pl.Float64))


def _at_priority(
    priority: int,
    exceptions: list[int],
    table: pl.DataFrame,
    state: pl.DataFrame,
    run: MaskRun,
    places: Places,
    clock: Clock,
    program: UserProgram,
) -> AtPriority:
    asleep = (pl.col("end_cycle") - pl.col("begin_cycle") - pl.col("cycles")).fill_null(0)
    table = table.with_columns(asleep_cycles=asleep)
    table = table.with_columns(ns=_ns(clock, table))
    longest = longest_of(table.filter(pl.col("cycles").is_not_null()))
    names = tuple(places.exception(exception) for exception in exceptions)
    number = priority >> 8 - priority_bits(program.chip)
    if longest is None:
        return AtPriority(priority, number, names, table, None, None, ())
    begin = _raised(run.changes.row(longest["begin_row"], named=True), places)
    end = places.place(int(run.changes["pc"][longest["end_row"]]))
    held_by = parts(state, longest["begin_cycle"], longest["end_cycle"])
    return AtPriority(priority, number, names, table, begin, end, tuple(held_by))


def _raised(row: dict[str, Any], places: Places) -> Place:
    """The place of a change; for the entry of a handler, the handler's first instruction."""
    entry = places.entry(row["value"]) if row["what"] == "exception" else None
    return entry or places.place(row["pc"])


def _longest_of_each_kind(worst: list[Worst]) -> list[Worst]:
    worsts: dict[str, Worst] = {}
    for interval in worst:
        worsts.setdefault(interval.kind, interval)
    return list(worsts.values())


def _notes(
    elf: Path,
    program: Program,
    run: MaskRun,
    table: pl.DataFrame,
    exceptions: Exceptions,
    until: str,
    kernel: Kernel | None,
    halted: bool,
) -> list[str]:
    """Sentences that must be known beside the numbers."""
    end_state = run.stats.standstill
    notes = [f"{end_state.sentence[:1].upper()}{end_state.sentence[1:]}."] if end_state and not halted else []
    end = "it ended" if run.ended else until
    if not program.functions:
        notes.append(f"{elf.name} is stripped: addresses stand where names would.")
    elif not program.has_lines:
        notes.append(f"{elf.name} has no debug information: build it with -g to have files and lines.")
    if kernel is not None and kernel.untold:
        what = ", ".join(kernel.untold)
        notes.append(
            f"The program does not tell of {kernel.name}: {what}; its debug information (-g) and its "
            "settings decide that."
        )
    if not exceptions.used:
        notes.append(f"The program enabled no interrupt before {end}: there was nothing to hold off.")
    elif table.is_empty():
        notes.append(f"Nothing held an interrupt off before {end}.")
    return notes
