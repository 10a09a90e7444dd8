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
    start_up []                   the longest of each place of start-up, as `worst`
    intervals {primask, faultmask, basepri, handler, scheduler}, each
        {name, level, count, open, total_cycles, cycles{}, ns{}, distribution [[cycles, count], …],
         by_level [{the same}]}
    worst [{kind, name, level, cycles, ns, begin_cycle, end_cycle, asleep_cycles,
            lock, begin{}, end{}, stack [{}, …], task, held[], count, most_ns}]
                                  longest first, those of the scheduler last
    open [as worst, what is not known null]   those that did not end; in no count or statistic;
                                  asleep_cycles are those up to the end
    priorities [{priority, number, exceptions[], share, and as intervals,
                 worst {cycles, ns, begin_cycle, end_cycle, asleep_cycles, begin{}, end{},
                        parts []}}]
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

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.program.masks import log, tasks
from analysis.program.masks.log import KINDS, Exceptions, Holding, Interval, Spans
from analysis.program.masks.worst import Worst, name_of, stop, worst_by_place
from analysis.program.parts import Hidden
from analysis.program.places import Place, Places
from analysis.program.subject import Beginning, Clock, Subject
from base.metrology.summaries import statistics_of
from base.processes import signals
from base.tell import Tell
from simulator import masks as simulator
from simulator import run as board
from simulator.build import build
from simulator.masks import MaskRun
from simulator.outputs import Note

_MOST_STEPS = 20_000
"""So many instructions of an interval are listed."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Counts and statistics of intervals that ended, and how many did not. `distribution` has pairs
    of cycles and how often they occurred, ascending.
    """

    name: str
    count: int
    open: int
    total_cycles: int
    cycles: dict[str, Any]
    ns: dict[str, Any]
    distribution: tuple[tuple[int, int], ...]


def counted(rows: Sequence[Interval]) -> dict[str, Any]:
    """The fields of Counted of these intervals, but their name."""
    cycles = sorted(it.cycles for it in rows if it.cycles is not None)
    return {
        "count": len(cycles),
        "open": len(rows) - len(cycles),
        "total_cycles": sum(cycles),
        "cycles": statistics_of(cycles),
        "ns": statistics_of(sorted(it.ns for it in rows if it.ns is not None)),
        "distribution": tuple(sorted(Counter(cycles).items())),
    }


@dataclass(frozen=True, kw_only=True)
class OfKind(Counted):
    """Intervals of a kind, and of each level of BASEPRI or each handler."""

    level: int | None = None
    by_level: tuple[OfKind, ...] = ()


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
        return " + ".join(
            f"{part.name} {part.cycles:,}" + (f" ({part.count:,} times)" if part.count > 1 else "")
            for part in self.parts
        )


@dataclass(frozen=True, kw_only=True)
class AtPriority(Counted):
    """The times in which an interrupt of `priority` could not have been taken.

    `number` is that of the NVIC, 5 for 0x50 of 4 bits. `exceptions`, with these `numbers`, have
    that priority; there are rows of priorities that none has, too. `share` is that of the cycles
    counted. `worst` is the longest that ended.
    """

    priority: int
    number: int
    exceptions: tuple[str, ...]
    share: float
    worst: LongestWait | None
    numbers: Hidden[list[int]]
    intervals: Hidden[list[Interval]]


@dataclass(frozen=True)
class Executed:
    """The instructions between two cycles: totals, and the first of the steps, as in explain."""

    instructions: int
    cycles: int
    functions: tuple[Any, ...]
    dearest: tuple[Any, ...]
    steps: tuple[Any, ...]

    @classmethod
    def of(cls, subject: Subject, begin: int, end: int) -> Executed:
        """The program runs again for them. Raises SimulatorError."""
        from analysis.explain import execution  # takes a while

        trace = board.run(subject.user, until=end, trace_window=(begin, end)).trace if begin < end else []
        steps = execution.steps(subject.elf, trace, begin, end) if trace else []
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

    `slept` says when the core slept. What began before `start` is in `start_up`. `worst` are those
    that ended, the longest at each place, and `open` those that did not, whenever they began.
    """

    subject: Hidden[Subject]
    run: Hidden[MaskRun]
    clock: Hidden[Clock]
    slept: Hidden[Spans]
    places: Hidden[Places]
    all_intervals: Hidden[list[Interval]]
    cycles: int
    instructions: int
    ended: str
    reasons: tuple[str, ...]
    polls: str
    clock_hz: float
    clocks: tuple[dict[str, float], ...]
    notes: tuple[str, ...]
    noted: tuple[Note, ...]
    start: Beginning
    start_up: tuple[Worst, ...]
    intervals: dict[str, OfKind]
    worst: tuple[Worst, ...]
    open: tuple[Worst, ...]
    priorities: tuple[AtPriority, ...]
    tasks: dict[str, str]
    explained: dict[str, Executed]

    @property
    def used_priorities(self) -> list[AtPriority]:
        """The rows of priorities that an exception has."""
        return [row for row in self.priorities if row.exceptions]

    @property
    def complete(self) -> bool:
        """Whether this is all that the program does."""
        return not self.reasons and not self.polls

    @property
    def counted_cycles(self) -> int:
        """The cycles from the beginning on."""
        return max(self.cycles - self.start.first_cycle, 1)

    @property
    def counted_intervals(self) -> list[Interval]:
        """All intervals that count."""
        return [it for it in self.all_intervals if it.begin_cycle >= self.start.first_cycle]

    @property
    def longest(self) -> Worst | None:
        """The longest of all that hold interrupts off; None if none has ended."""
        return next((section for section in self.worst if section.kind != "scheduler"), None)


def measure(subject: Subject, explain: bool, tell: Tell) -> MaskReport:
    """Runs the program and finds what held interrupts off. Raises TailscopeError."""
    with signals.orderly():
        build(tell)
        tell(f"running {subject.name}")
        run = simulator.run_masks(
            subject.user,
            subject.until,
            kernel=subject.words,
            marked=subject.start.addresses,
            once=subject.start.once,
        )
    tell("reading debug information")
    return of_run(subject, run, explain, tell)


def of_run(
    subject: Subject, run: MaskRun, explain: bool, tell: Tell, image: bytes | None = None
) -> MaskReport:
    """The report of a run of the program, with the operations of `image`."""
    changes, stats, clock = run.changes, run.stats, Clock(run.stats.clocks)
    start = subject.start.locate(run.passages, clock)
    memory = tasks.read(subject, changes, image)
    places = Places(subject.elf, run.stacks, subject.kernel, memory.behind, stats.vectors)
    slept = log.sleep(changes, stats.cycles, subject.elf.code)
    exceptions = Exceptions(changes)
    every = log.intervals(changes)
    for it in every:
        end = stats.cycles if it.end_cycle is None else it.end_cycle
        asleep = log.within(slept, it.begin_cycle, end) if it.kind in ("primask", "handler") else 0
        # Only what PRIMASK alone holds ends the sleep of WFI. A kernel may idle in the handler that
        # switches tasks, the least urgent, which holds no other off: whatever is enabled ends that.
        if asleep and (it.kind == "primask" or not exceptions.held(it)):
            it.asleep = asleep
        it.ns = _awake_ns(it, clock)
    late = [it for it in every if it.begin_cycle >= start.first_cycle]
    worst, worst_early, still_open = (
        worst_by_place(rows, changes, places, memory, exceptions)
        for rows in (
            [it for it in late if it.end_cycle is not None],
            [it for it in every if it.begin_cycle < start.first_cycle and it.end_cycle is not None],
            [it for it in every if it.end_cycle is None],
        )
    )
    explained: dict[str, Executed] = {}
    for section in worst if explain else ():
        if section.kind not in explained and section.end_cycle is not None:
            tell(f"running again for the instructions of the longest {section.kind}")
            explained[section.kind] = Executed.of(subject, section.begin_cycle, section.end_cycle)
    idles = bool(changes) and changes[-1].task in memory.idle
    halt, only_polls = f"The run ended at cycle {stats.cycles:,}: {run.ended.rstrip('.')}.", False
    if not run.ended:
        halt, only_polls = stop(places, stats, still_open, clock, idles)
    report = MaskReport(
        subject=subject,
        run=run,
        clock=clock,
        slept=slept,
        places=places,
        all_intervals=every,
        cycles=stats.cycles,
        instructions=stats.instructions,
        ended=run.ended,
        reasons=(*([halt] if halt and not only_polls else []), *start.never),
        polls=halt if only_polls else "",
        clock_hz=clock.last_hz,
        clocks=clock.rows,
        notes=tuple(_notes(subject, run, exceptions, bool(halt))),
        noted=stats.notes,
        start=start,
        start_up=worst_early,
        intervals={kind: _of_kind(kind, [it for it in late if it.kind == kind], places) for kind in KINDS},
        worst=worst,
        open=still_open,
        priorities=(),
        tasks=memory.tasks,
        explained=explained,
    )
    return replace(report, priorities=tuple(_priorities(report, exceptions)))


def _of_kind(kind: str, rows: Sequence[Interval], places: Places) -> OfKind:
    by_level = tuple(
        OfKind(
            name=name_of(kind, level, places),
            level=level,
            **counted([it for it in rows if it.level == level]),
        )
        for level in sorted({it.level for it in rows if it.level is not None})
    )
    return OfKind(name=kind, by_level=by_level, **counted(rows))


def _awake_ns(it: Interval, clock: Clock) -> float | None:
    """Sleep is at the clock of the end, where the core woke."""
    if (end := it.end_cycle) is None:
        return None
    asleep_ns = clock.between_ns(end - it.asleep, end) if it.asleep else 0.0
    return clock.between_ns(it.begin_cycle, end) - asleep_ns


def _priorities(report: MaskReport, exceptions: Exceptions) -> Iterator[AtPriority]:
    """A row each, of what began from the start on, or is still open."""
    places, changes, bits = report.places, report.run.changes, report.subject.priority_bits
    states, first_cycle = log.executed(changes), report.start.first_cycle
    for priority, numbers in exceptions.priorities(bits).items():
        held = [
            it
            for it in log.not_taken(states, priority, report.slept)
            if it.begin_cycle >= first_cycle or it.end_cycle is None
        ]
        for it in held:
            it.ns = _awake_ns(it, report.clock)
        worst = None
        ended = [it for it in held if it.end_cycle is not None]
        if longest := max(ended, key=lambda it: it.cycles or 0, default=None):
            first, last = changes[longest.begin_row], changes[longest.end_row or 0]
            # For the entry of a handler, the handler's first instruction.
            entry = places.entry(first.value) if first.what == "exception" else None
            end_cycle = longest.end_cycle or 0
            worst = LongestWait(
                longest.cycles or 0,
                longest.ns or 0.0,
                longest.begin_cycle,
                end_cycle,
                longest.asleep,
                entry or places.place(first.pc),
                places.place(last.pc),
                tuple(
                    replace(part, name=name_of(part.kind, part.level, places))
                    for part in log.holders(states, longest.begin_cycle, end_cycle)
                ),
            )
        totals = counted(held)
        yield AtPriority(
            **totals,
            name=f"priority {priority:#04x}",
            priority=priority,
            number=priority >> 8 - bits,
            exceptions=tuple(map(places.exception, numbers)),
            numbers=numbers,
            share=totals["total_cycles"] / report.counted_cycles,
            worst=worst,
            intervals=held,
        )


def _notes(subject: Subject, run: MaskRun, exceptions: Exceptions, halted: bool) -> Iterator[str]:
    """Sentences that must be known beside the numbers."""
    program, kernel, end_state = subject.elf, subject.kernel, run.stats.standstill
    if end_state and not halted:
        yield f"{end_state.sentence[:1].upper()}{end_state.sentence[1:]}."
    end = "it ended" if run.ended else subject.until
    if not program.has_lines:
        yield f"{subject.name} has no debug information: build it with -g to have functions, files and lines."
    if kernel is not None and kernel.untold:
        what = ", ".join(kernel.untold)
        yield (
            f"The program does not tell of {kernel.name}: {what}; its debug information (-g) and its "
            "settings decide that."
        )
    if not exceptions.used:
        yield f"The program enabled no interrupt before {end}: there was nothing to hold off."
