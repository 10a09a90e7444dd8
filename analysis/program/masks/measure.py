"""A program is run once, and what held interrupts off in it is found, placed and counted.

The document of `./lab masks --json`:

    elf, options[], until, kernel   its name; null if none is known
    cycles, instructions          of the whole run; the same as of a run without
    ended                         why it ended early, in the simulator's words; else null
    reasons[]                     sentences on why this is not all that the program does: it
                                  stopped, hangs, or its start-up never ended
    polls                         a sentence on what it waits for in vain at the end; else null
    clock_hz, clocks [{cycle, ns, core_hz}]   at the end; each since reset, from its first cycle
    notes[]                       other sentences that must be known beside the numbers; one of them
                                  if the program sleeps for ever
    noted[]                       what it did that is odd, and that did not stop it
    start {from, until, why, cycle, ns}   from when on the figures count: in the words of a
                                  baseline, in those of the report, and why; the first cycle, null
                                  if the run did not come there
    start_up {intervals {}, worst []}     of start-up, as below; null if all of the run counts
    intervals {primask, faultmask, basepri, handler, scheduler}, each
        {count, open, total_cycles, cycles{}, ns{}, distribution [[cycles, count], …],
         by_level [{level, name, and the same}]}
    worst [{kind, name, level, cycles, ns, begin_cycle, end_cycle, asleep_cycles,
            stalled_cycles, lock, begin{}, end{}, stack [{}, …], task, held[], count, most_ns}]
                                  longest first, those of the scheduler last
    open [as worst, what is not known null]   those that did not end; in no count or statistic;
                                  asleep_cycles are those up to the end
    priorities [{priority, number, exceptions[], share, and as intervals,
                 worst {cycles, ns, begin_cycle, end_cycle, asleep_cycles, begin{}, end{},
                        parts []}}]
    idle_cycles                   in which the core slept, or the kernel's idle task ran
    tasks {address: name}
    explained {<kind> {instructions, cycles, functions[], dearest[], steps[]}}

- A place (`begin`, `end`, an entry of `stack`) is `{function, file, line, address, interrupted,
  likely, lock}`: a frame that was *interrupted* called nothing. File and line are null if the
  program does not tell them; an address stands for a function without a name. `begin` and `end` are
  in the function whose code it is: of an inline function, the line of its call. `stack` has the
  inline functions too, innermost first. An entry of it is *likely* if LR alone tells of it: there
  is no call frame information of the function that it called. Where the call before LR is one of
  another function, the stack ends instead. What a handler returns to is what it interrupted,
  whatever frame information says.
- `lock` is the kernel's word for the inlined function that raised the mask, as in `raised by
  k_spin_lock in z_impl_k_sem_take`; else null.
- *primask*, *faultmask*: from the end of the instruction that sets it to the end of the one that
  clears it. *scheduler*: while the kernel's scheduler is locked, which holds tasks off and no
  interrupt: FreeRTOS's `vTaskSuspendAll`, Zephyr's `k_sched_lock`, ThreadX's
  `_tx_thread_preempt_disable`, NuttX's `sched_lock`. The headline is of interrupts, not of it.
- *basepri*: `level` is its value. An interval of a level lasts while all that the level holds is
  held, if BASEPRI was that level meanwhile. So a stronger level lies within the weaker one.
- *handler*: `level` is its exception. The interval runs from where the core begins to enter the
  handler to where it begins to return, or enters the next one; what interrupts it is within.
  `begin` is its first instruction; `stack` goes on with what it interrupted. `end` has no line if
  another handler followed.
- A reset ends everything; `end` is then the function `(reset)`.
- `cycles` and `ns` of an interval leave out `asleep_cycles`: those of *primask* in which the core
  slept in WFI, since an interrupt would have woken it; and those of a *handler* that held no other
  exception off, as a kernel's that idles in it.
- `most_ns` is the longest time at that place: where the clock changed, another interval's than the
  most cycles.
- `stalled_cycles` are those, of `cycles`, in which the core waited for the flash that was
  programmed or erased (RM0368 §3.5): code in flash, and what reads flash, stands still for so long.
- `noted` are the notes of the run. The text has them at its end.
- `worst` has the longest interval of each place: of what began at the same `begin`, called from the
  same line, and ended at the same `end`; `count` says how many there were. `held` names the
  exceptions that were enabled in it and that it held off; those of the core if they were ever
  taken.
- *priorities*: for each priority of the NVIC (`number` 5 is the byte 0x50 of four bits), also those
  that no exception has, the intervals in which an interrupt of that priority could not have been
  taken: masks and handlers of the same or a more urgent priority, together. What follows without a
  cycle between is one interval. `parts` says what held the longest, added up: `{kind, name, level,
  cycles, count}`.
- `cycles{}` and `ns{}` are `n`, `min`, `mean`, `stdev`, percentiles and `max`, as in run.json.
- `explained`, with `--explain`, is of the longest interval of each kind: totals as in explain, and
  `steps` {cycle, cycles, address, function, place, text, source}, the first 20,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.explain import execution
from analysis.explain.execution import Step
from analysis.program.beginning import Beginning
from analysis.program.clock import Clock
from analysis.program.masks import tasks
from analysis.program.masks import worst as masks_worst
from analysis.program.masks.intervals import KINDS, Sleep, intervals, sleep, stalls
from analysis.program.masks.priorities import Exceptions, Holding, executed, held, parts
from analysis.program.masks.worst import Stop, Worst, name_of, stop, worst_by_place
from analysis.program.parts import Address, Counted, Hidden, NoteRow, OrNull, counted
from analysis.program.places import Place, Places
from analysis.program.subject import Subject
from base.processes import signals
from base.run_folder.explanation import Total
from base.tell import Tell
from simulator import masks as simulator
from simulator.build import build
from simulator.masks import MaskRun

_MOST_STEPS = 20_000
"""So many instructions of an interval are listed."""


@dataclass(frozen=True, kw_only=True)
class AtLevel(Counted):
    """Intervals of a level of BASEPRI, or of a handler."""

    level: int
    name: str


@dataclass(frozen=True, kw_only=True)
class OfKind(Counted):
    """Intervals of a kind, and of each of its levels."""

    by_level: tuple[AtLevel, ...]


@dataclass(frozen=True)
class LongestWait:
    """The longest time in which an interrupt of a priority could not be taken; `parts` held it."""

    cycles: int
    ns: float
    begin_cycle: int
    end_cycle: int
    asleep_cycles: int
    begin: Place
    end: Place
    parts: tuple[Holding, ...]

    @property
    def held_by(self) -> str:
        """`basepri 0x60 1,580 + handler of SysTick (tick) 380 (19 times)`."""
        left = sorted(self.parts, key=lambda part: -part.cycles)[6:]
        words = [
            f"{part.name} {part.cycles:,}" + (f" ({part.count:,} times)" if part.count > 1 else "")
            for part in self.parts
            if part not in left
        ]
        if left:
            words.append(f"{len(left):,} more {sum(part.cycles for part in left):,}")
        return " + ".join(words)


@dataclass(frozen=True, kw_only=True)
class AtPriority(Counted):
    """The times in which an interrupt of `priority` could not have been taken.

    `number` is that of the NVIC, 5 for 0x50 of 4 bits. `exceptions` have that priority; there are
    rows of priorities that none has, too. `share` is that of the cycles counted. `worst` is the
    longest that ended. `intervals` has the columns of priorities.held() and `ns`.
    """

    priority: int
    number: int
    exceptions: tuple[str, ...]
    share: float
    worst: LongestWait | None
    intervals: Hidden[pl.DataFrame]


@dataclass(frozen=True)
class StartUp:
    """What began before the first cycle that counts; `worst` are the longest at each place."""

    intervals: dict[str, Counted]
    worst: tuple[Worst, ...]


@dataclass(frozen=True)
class Executed:
    """The instructions of an interval: totals, and the first of the steps."""

    instructions: int
    cycles: int
    functions: tuple[Total, ...]
    dearest: tuple[Total, ...]
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, steps: list[Step]) -> Executed:
        """That of all steps."""
        return cls(
            sum(step.address != 0 for step in steps),
            sum(step.cycles for step in steps),
            tuple(execution.by_function(steps)),
            tuple(execution.by_instruction(steps)),
            tuple(steps[:_MOST_STEPS]),
        )


@dataclass(frozen=True, kw_only=True)
class MaskReport:
    """The result of a run of a program.

    `all_intervals` has the columns of intervals.INTERVALS, `ns` and `stalled_cycles`; `slept` says
    when the core slept. What began before `start` is in `start_up`. `worst` are those that ended,
    the longest at each place, and `open` those that did not, whenever they began.
    """

    subject: Hidden[Subject]
    run: Hidden[MaskRun]
    clock: Hidden[Clock]
    slept: Hidden[Sleep]
    places: Hidden[Places]
    all_intervals: Hidden[pl.DataFrame]
    cycles: int
    instructions: int
    ended: OrNull[str]
    reasons: tuple[str, ...]
    polls: OrNull[str]
    clock_hz: float
    clocks: tuple[dict[str, float], ...]
    notes: tuple[str, ...]
    noted: tuple[NoteRow, ...]
    start: Beginning
    start_up: StartUp | None
    intervals: dict[str, OfKind]
    worst: tuple[Worst, ...]
    open: tuple[Worst, ...]
    priorities: tuple[AtPriority, ...]
    idle_cycles: int
    tasks: dict[Address, str]
    explained: dict[str, Executed]

    @property
    def complete(self) -> bool:
        """Whether this is all that the program does."""
        return not self.reasons and not self.polls

    @property
    def counted_cycles(self) -> int:
        """The cycles from the beginning on."""
        return _counted_cycles(self.cycles, self.start)

    @property
    def counted_intervals(self) -> pl.DataFrame:
        """All intervals that count."""
        return self.all_intervals.filter(pl.col("begin_cycle") >= self.start.first_cycle)

    @property
    def used_priorities(self) -> list[AtPriority]:
        """Those that an exception has."""
        return [row for row in self.priorities if row.exceptions]

    @property
    def longest(self) -> Worst | None:
        """The longest of all that hold interrupts off; None if none has ended."""
        return next((section for section in self.worst if section.holds_interrupts), None)


def measure(subject: Subject, explain: bool, tell: Tell) -> MaskReport:
    """Runs the program and finds what held interrupts off. Raises TailscopeError."""
    with signals.orderly():
        build(tell)
        tell(f"running {subject.name}")
        request = subject.start
        run = simulator.run_masks(
            subject.user,
            str(subject.until),
            kernel=subject.words,
            marked=request.addresses,
            once=request.once,
        )
    tell("reading debug information")
    return of_run(subject, run, explain, tell)


def of_run(
    subject: Subject, run: MaskRun, explain: bool, tell: Tell, image: bytes | None = None
) -> MaskReport:
    """The report of a run of the program, with the operations of `image`."""
    cycles, kernel = run.stats.cycles, subject.kernel
    clock = Clock(run.stats.clocks)
    start = subject.start.locate(run.passages, clock)
    memory = tasks.read(subject, run.changes, image)
    places = Places(subject.elf, run.stacks, kernel, memory.behind, run.stats.vectors)
    slept = sleep(run.changes, cycles, subject.elf.code)
    exceptions = Exceptions(run.changes)
    table = _timed(_awake(intervals(run.changes, slept), slept, exceptions), clock)
    waited = stalls(run.changes, cycles).within(table["begin_cycle"], table["end_cycle"].fill_null(cycles))
    table = table.with_columns(stalled_cycles=pl.Series(waited, dtype=pl.Int64))
    counts, over = pl.col("begin_cycle") >= start.first_cycle, pl.col("end_row").is_not_null()
    worst, early, still_open = (
        worst_by_place(table.filter(which), run.changes, places, memory.tasks, exceptions)
        for which in (over & counts, over & ~counts, ~over)
    )
    explained: dict[str, Executed] = {}
    for section in worst if explain else ():
        if section.kind not in explained:
            tell(f"running again for the instructions of the longest {section.kind}")
            explained[section.kind] = Executed.of(masks_worst.steps_of(subject, section))
    idle_tasks = [task for task, name in memory.tasks.items() if kernel and name in kernel.idle]
    halt: Stop | None
    if run.ended:
        halt = Stop(f"The run ended at cycle {cycles:,}: {run.ended.rstrip('.')}.")
    else:
        idles = not run.changes.is_empty() and run.changes["task"][-1] in idle_tasks
        halt = stop(subject.elf, places, run.stats, still_open, clock, idles)
    return MaskReport(
        subject=subject,
        run=run,
        clock=clock,
        slept=slept,
        places=places,
        all_intervals=table,
        cycles=cycles,
        instructions=run.stats.instructions,
        ended=run.ended,
        reasons=(*([halt.sentence] if halt and not halt.only_polls else []), *start.never),
        polls=halt.sentence if halt and halt.only_polls else "",
        clock_hz=clock.last_hz,
        clocks=clock.rows,
        notes=tuple(_notes(subject, run, table, exceptions, halt is not None)),
        noted=run.stats.notes,
        start=start,
        start_up=_start_up(table.filter(~counts), early) if start.first_cycle else None,
        intervals={kind: _of_kind(table.filter(counts), kind, places) for kind in KINDS},
        worst=worst,
        open=still_open,
        priorities=tuple(_priorities(subject, run, exceptions, slept, places, clock, start)),
        idle_cycles=tasks.idle_cycles(run.changes, idle_tasks, start.first_cycle, cycles),
        tasks=memory.tasks,
        explained=explained,
    )


def _counted_cycles(cycles: int, start: Beginning) -> int:
    return max(cycles - start.first_cycle, 1)


def _start_up(rows: pl.DataFrame, worst: tuple[Worst, ...]) -> StartUp:
    return StartUp({kind: Counted(**counted(rows.filter(kind=kind))) for kind in KINDS}, worst)


def _of_kind(table: pl.DataFrame, kind: str, places: Places) -> OfKind:
    rows = table.filter(kind=kind)
    levels = rows["level"].drop_nulls().unique().sort().to_list()
    return OfKind(
        **counted(rows),
        by_level=tuple(
            AtLevel(level=level, name=name_of(kind, level, places), **counted(rows.filter(level=level)))
            for level in levels
        ),
    )


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
    asleep = table["asleep_cycles"]
    if idle:
        asleep = asleep.clone().scatter(idle, of_handlers.gather(idle))
    more = asleep - table["asleep_cycles"]
    return table.with_columns(asleep_cycles=asleep, cycles=pl.col("cycles") - more)


def _timed(table: pl.DataFrame, clock: Clock) -> pl.DataFrame:
    """With `ns`, the awake time of intervals. Sleep is at the clock of the end, where the core
    woke.
    """
    begins, ends = (
        table[name].fill_null(table["begin_cycle"]).to_numpy() for name in ("begin_cycle", "end_cycle")
    )
    asleep = clock.between_ns(ends - table["asleep_cycles"].to_numpy(), ends)
    ns = pl.Series(clock.between_ns(begins, ends) - asleep, dtype=pl.Float64)
    return table.with_columns(ns=pl.when(pl.col("end_cycle").is_not_null()).then(ns))


def _priorities(
    subject: Subject,
    run: MaskRun,
    exceptions: Exceptions,
    slept: Sleep,
    places: Places,
    clock: Clock,
    start: Beginning,
) -> list[AtPriority]:
    state, bits = executed(run.changes), subject.priority_bits
    of_all = _counted_cycles(run.stats.cycles, start)
    rows = []
    for priority, numbers in exceptions.priorities(bits).items():
        # What began from there on, and what is still open.
        counts = (pl.col("begin_cycle") >= start.first_cycle) | pl.col("end_cycle").is_null()
        asleep = (pl.col("end_cycle") - pl.col("begin_cycle") - pl.col("cycles")).fill_null(0)
        waits = held(state, priority, slept).filter(counts).with_columns(asleep_cycles=asleep)
        table = _timed(waits, clock)
        ended = table.filter(pl.col("cycles").is_not_null())
        rows.append(
            AtPriority(
                **counted(table),
                priority=priority,
                number=priority >> 8 - bits,
                exceptions=tuple(map(places.exception, numbers)),
                share=float(ended["cycles"].sum()) / of_all,
                worst=None if ended.is_empty() else _longest(ended, run.changes, state, places),
                intervals=table,
            )
        )
    return rows


def _longest(ended: pl.DataFrame, changes: pl.DataFrame, state: pl.DataFrame, places: Places) -> LongestWait:
    """Of the most cycles, the first of several."""
    row = ended.row(int(ended["cycles"].arg_max() or 0), named=True)
    first = changes.row(row["begin_row"], named=True)
    # For the entry of a handler, the handler's first instruction.
    entry = places.entry(first["value"]) if first["what"] == "exception" else None
    shown: dict[str, Any] = {
        name: row[name] for name in ("cycles", "ns", "begin_cycle", "end_cycle", "asleep_cycles")
    }
    return LongestWait(
        **shown,
        begin=entry or places.place(first["pc"]),
        end=places.place(int(changes["pc"][row["end_row"]])),
        parts=tuple(
            part.called(name_of(part.kind, part.level, places))
            for part in parts(state, row["begin_cycle"], row["end_cycle"])
        ),
    )


def _notes(
    subject: Subject, run: MaskRun, table: pl.DataFrame, exceptions: Exceptions, halted: bool
) -> list[str]:
    """Sentences that must be known beside the numbers."""
    program, kernel, end_state = subject.elf, subject.kernel, run.stats.standstill
    notes = [f"{end_state.sentence[:1].upper()}{end_state.sentence[1:]}."] if end_state and not halted else []
    end = "it ended" if run.ended else subject.until
    if not program.functions:
        notes.append(f"{subject.name} is stripped: addresses stand where names would.")
    elif not program.has_lines:
        notes.append(f"{subject.name} has no debug information: build it with -g to have files and lines.")
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
