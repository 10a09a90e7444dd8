"""Measures latencies and sections of a program on the virtual board, and explains the worst.

The document of `./lab latency --json`:

    elf, options [word], until, kernel, noted [note], reasons [sentence], polls (sentence),
    start {from, until, why, cycle, ns}
    latency {irq, exception, handler, enabled_by, first_use_cycle, first_cycle, end_cycle, every,
      seed, pends, taken, lost {outcome: pends}, ended, cycles {statistics}, ns {statistics},
      worst [{pended, taken, cycles, ns, waits [held],
        at place, exception, task, stack [place]}]}
    sections [{section, count, unpaired, ended, cycles {statistics}, ns {statistics},
      longest {begin_cycle, end_cycle, cycles, ns, exception, task, begin place, end place,
        stack [place]}}]

- *held* is a part of a wait, `{cause, cycles, exception, raised place}`. `latency` is null, and
  `sections` empty, of what was not asked for.
- The pends lie from `first_cycle` to before `end_cycle`, `every` apart; `seed` is what they were
  drawn from, null where none was. Of those that are drawn `every` is about the average, at least 2.
- `worst` has up to five waits, the longest first, one of each kind: the same causes, at the same
  places.
- `unpaired` counts beginnings and ends of a section that have no partner, and make no pass.
- `stack` is that at `pended` or `begin_cycle`, innermost call first.
- `ended` says why the run ended early. `reasons` and `polls` say why this is not all that the
  program does, as in masks.
- `noted` is what the program did that is odd, and that did not stop it: notes. The text has them at
  its end.
- `start` and `kernel` are those of masks.
- A `raised` place has *lock*, if the kernel has a word for what raised the mask. `task` is the name
  of the task that ran when the interrupt was pended, or of the section's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.errors import LatencyError
from analysis.program.latency import sections
from analysis.program.masks import tasks
from analysis.program.masks.worst import hangs, polled
from analysis.program.parts import Hidden
from analysis.program.places import Place, Places, function_named
from analysis.program.subject import FROM_RESET, RESET, START, Beginning, Clock, Subject
from base.metrology.summaries import statistics_of
from base.tell import Tell
from simulator import latency, masks
from simulator import run as simulator
from simulator.interrupts import FIRST_IRQ, name_of
from simulator.latency import Answer, Answers, Question
from simulator.outputs import Note, Stats
from simulator.run import Instant

OUTCOMES = {
    "cleared": "the program cleared what was pending",
    "unanswered": "no answer came within the patience of 8,400,000 cycles after the window",
    "reset": "the program reset the chip first",
}
MOST_WORST = 5
_MARGIN_CYCLES = 64
_ERASED, _EMPTY = 0xFFFF_FFFF, 0

# What the pends waited for, and the worst.

_ENTRY = "entry"
_NOTHING = f"{_ENTRY}:0"
_MASKS = ("primask", "faultmask", "basepri")
_WORDS = {
    "primask": "PRIMASK",
    "faultmask": "FAULTMASK",
    "disabled": "the line was disabled in the NVIC",
    "flash": "flash busy",
    "instruction": "instruction in progress",
    _ENTRY: "entry alone",
}


@dataclass(frozen=True)
class Held:
    """A part of a wait in words: the handler's `exception`, or where the mask was `raised`; None
    where that is not known, or there is none. `kind` is what holds: `basepri 0x50`, `exception`.
    """

    cause: str
    cycles: int
    exception: int | None
    raised: Place | None
    kind: Hidden[str]

    def __str__(self) -> str:
        return f"{self.cause}, set at {self.raised}" if self.raised else self.cause

    @classmethod
    def of(cls, text: str, places: Places) -> Held:
        """That of `primask 0x08000198:104`, `basepri 0x50 0x080005dc:13`, `exception 15:200`."""
        words, _, cycles = text.rpartition(":")
        kind, *more = words.split(" ")
        cause, exception, raised = _WORDS.get(kind, kind), None, None
        if kind == "exception":
            exception = int(more[0])
            cause = f"handler of {places.exception(exception)}"
        elif kind in _MASKS and more[-1] != "?":
            address = int(more[-1], 16)
            raised = replace(places.place(address), lock=places.lock(address))
        if kind == "basepri":
            kind = f"basepri {int(more[0], 16):#04x}"
            cause = kind.replace("basepri", "BASEPRI")
        return cls(cause, int(cycles), exception, raised, kind)


def parts_of(answer: Answer, places: Places) -> tuple[Held, ...]:
    """What the first of the pends waited for, in order."""
    return tuple(Held.of(text, places) for text in (answer.waits or _NOTHING).split(";"))


def longest_part(parts: Sequence[Held]) -> Held:
    """The longest part of a wait, its own entry aside."""
    others = [part for part in parts if part.kind != _ENTRY]
    return max(others or parts, key=lambda part: part.cycles)


def worst_kinds(answers: Iterable[Answer]) -> list[Answer]:
    """The longest waits, longest first, one of each kind: of one kind are waits for the same at the
    same places, in the same order.
    """
    kinds: dict[object, Answer] = {}
    for answer in sorted(answers, key=lambda answer: (-answer.cycles, answer.first_pended)):
        parts = re.sub(r":[0-9]+", "", answer.waits or _NOTHING).split(";")
        held = [part for part in parts if part != "instruction"]
        kinds.setdefault((*held, answer.exception if len(held) == 1 else 0), answer)
    return list(kinds.values())[:MOST_WORST]


@dataclass(frozen=True, kw_only=True)
class Long:
    """A long wait, or a long pass of a section: the calls and the task as it began. The task is
    empty in a handler, and where nothing tells it.
    """

    cycles: int
    ns: float
    exception: int
    stack: tuple[Place, ...]
    task: str


@dataclass(frozen=True, kw_only=True)
class LongWait(Long):
    """A wait from `pended` to `taken`. `at` is the instruction at which it was pended, in the
    handler of `exception`.
    """

    pended: int
    taken: int
    waits: tuple[Held, ...]
    at: Place

    @property
    def main(self) -> Held:
        """The longest part, its own entry aside."""
        return longest_part(self.waits)


@dataclass(frozen=True, kw_only=True)
class LongPass(Long):
    """A pass of a section, from `begin` to `end`."""

    begin_cycle: int
    end_cycle: int
    begin: Place
    end: Place


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one run showed: the lengths, and why it ended early; the program's notes in it, and what
    it waits for in vain at its end.
    """

    ended: str
    cycles: dict[str, Any]
    ns: dict[str, Any]
    polls: Hidden[str]
    notes: Hidden[tuple[Note, ...]]
    start: Hidden[Beginning]


@dataclass(frozen=True, kw_only=True)
class Waits(Measured):
    """The answers to a question. `rows` are all waits that were taken. `worst` are of different
    kinds. `entry` is the function of the interrupt's own handler.
    """

    irq: str
    exception: int
    handler: str
    enabled_by: str
    first_use_cycle: int | None
    first_cycle: int
    end_cycle: int
    every: int
    seed: int | None
    pends: int
    taken: int
    lost: dict[str, int]
    worst: tuple[LongWait, ...]
    rows: Hidden[list[Answer]]
    clock: Hidden[Clock]
    places: Hidden[Places]
    entry: Hidden[str]


@dataclass(frozen=True, kw_only=True)
class Passes(Measured):
    """How long a section took each time that it began at `start` or later."""

    section: str
    count: int
    unpaired: int
    longest: LongPass


@dataclass(frozen=True)
class LatencyReport:
    """What was measured; `reasons` and `polls` say why this is not all that the program does."""

    subject: Hidden[Subject]
    reasons: tuple[str, ...]
    polls: str
    start: Beginning
    latency: Waits | None
    sections: tuple[Passes, ...]
    noted: tuple[Note, ...]

    @classmethod
    def of(cls, subject: Subject, waits: Waits | None, passes: Sequence[Passes]) -> LatencyReport:
        """The report of both, of which there is one at least."""
        measured: list[Measured] = [*filter(None, [waits]), *passes]
        lost = waits.lost if waits else {}
        reasons = [
            *(f"The run ended early: {each.ended.rstrip('.')}." for each in measured if each.ended),
            *(sentence for each in measured for sentence in each.start.never),
            *(f"{pends:,} pends were not answered: {OUTCOMES.get(how, how)}." for how, pends in lost.items()),
        ]
        return cls(
            subject,
            tuple(dict.fromkeys(reasons)),
            next((each.polls for each in measured if each.polls), ""),
            measured[0].start,
            waits,
            tuple(passes),
            max((each.notes for each in measured), key=len),
        )

    @property
    def complete(self) -> bool:
        """Whether every pend was answered, and the program came to its end."""
        return not self.reasons and not self.polls


def latencies(subject: Subject, question: Question, around: str, tell: Tell) -> Waits:
    """Pends the interrupt at the cycles of the question, or of the longest call of `around`.

    Raises TailscopeError: also if the program never enables the interrupt, or has no handler for
    it.
    """
    question, start = _window(subject, question, around, tell)
    chip = subject.user.chip
    tell(f"pending {name_of(question.exception, chip)}")
    result = latency.ask(subject.user, question)
    _check(question, result, chip)
    taken = [answer for answer in result.rows if answer.outcome == "taken"]
    tell("explaining the worst")
    worst = worst_kinds(taken)
    last = 0 if result.ended else max((row.taken for row in taken), default=0)
    explained, places, stats = _explained(subject, [row.first_pended for row in worst], last)
    clock = Clock(stats.clocks)
    if start.time:
        start = replace(start, cycle=result.first_cycle, ns=clock.ns(result.first_cycle))
    handler = entry = places.place((result.handler or 0) & ~1).function
    own = places.entry(question.exception)
    if own and places.behind(question.exception):
        handler, entry = f"{handler}, before {own.function}", own.function
    lost = Counter[str]()
    for row in result.rows:
        lost[row.outcome] += row.pends
    pends = lost.total()
    del lost["taken"]
    # Those that are drawn leave gaps, however many they are.
    every = result.every or max((result.end_cycle - result.first_cycle) // max(pends, 1), 2)
    # A drawn pend has a row of its own.
    pended = [
        (cycle, row.taken)
        for row in taken
        for cycle in range(row.first_pended, row.last_pended + 1, result.every or 1)
    ]
    return Waits(
        irq=name_of(question.exception, chip),
        exception=question.exception,
        handler=handler,
        enabled_by="program" if question.enable is None else "board",
        first_use_cycle=result.first_use_cycle,
        first_cycle=result.first_cycle,
        end_cycle=result.end_cycle,
        every=every,
        seed=question.seed if question.random else None,
        pends=pends,
        taken=len(pended),
        lost=dict(sorted(lost.items())),
        ended=result.ended,
        start=start,
        **_lengths(pended, clock),
        worst=tuple(
            LongWait(
                stack=stack,
                task="" if row.exception else task,
                pended=row.first_pended,
                taken=row.taken,
                cycles=row.cycles,
                ns=clock.between_ns(row.first_pended, row.taken),
                waits=parts_of(row, places),
                at=places.place(row.pc),
                exception=row.exception,
            )
            for row, (stack, task) in zip(worst, explained, strict=True)
        ),
        polls=_polls(subject, places, stats),
        notes=tuple(result.notes),
        rows=taken,
        clock=clock,
        places=places,
        entry=entry,
    )


def _lengths(spans: Sequence[tuple[int, int]], clock: Clock) -> dict[str, dict[str, Any]]:
    """The statistics of Measured, of times from one cycle to another."""
    return {
        "cycles": statistics_of(sorted(end - begin for begin, end in spans)),
        "ns": statistics_of(sorted(clock.between_ns(*span) for span in spans)),
    }


def _polls(subject: Subject, places: Places, stats: Stats) -> str:
    """What the program waits for in vain at the end, in a sentence; empty if it does not. The idle
    task of a kernel may read its lists again and again.
    """
    end = polled(stats)
    return f"{hangs(places, end)}." if end and (subject.kernel is None or end.of_register) else ""


def _window(subject: Subject, question: Question, around: str, tell: Tell) -> tuple[Question, Beginning]:
    """The question with when pends are made, and from when on they count. What is named is taken as
    it is.
    """
    start, until = subject.start, question.until
    if around:
        tell(f"looking for {around}")
        function = function_named(subject.elf, around)
        section = sections.parse(subject.elf, f"{function.name}..")
        rows = masks.run_marks(subject.user, section.addresses, until, subject.words).rows
        passes, _ = sections.measure(section, rows)
        if not passes:
            raise LatencyError(_never(f"{around} is never called to its end", until))
        longest = max(passes, key=lambda passed: passed.cycles)
        first, end = max(longest.begin - _MARGIN_CYCLES, 0), longest.end + _MARGIN_CYCLES
        return replace(question, start=first, until=end), FROM_RESET
    if start.addresses:
        tell("running to see where start-up ends")
        passages = masks.run_marks(subject.user, start.addresses, until, subject.words, once=start.once)
        start = start.locate(passages.rows, Clock(passages.stats.clocks))
    if subject.start_word in (START, RESET):
        return replace(question, not_before=start.first_cycle), start
    if start.cycle is None:
        raise LatencyError(_never(f"{subject.start_word} is not executed", until))
    return replace(question, start=start.time or start.cycle), start


def _check(question: Question, result: Answers, chip: str) -> None:
    name = name_of(question.exception, chip)
    if question.enable is None and result.first_use_cycle is None:
        if question.exception < FIRST_IRQ:
            raise LatencyError(_never(f"The program never takes {name}", question.until))
        position = question.exception - FIRST_IRQ
        others = [name_of(number, chip) for number in result.used if number >= 14]
        enabled = f"it enables or takes {', '.join(others)}" if others else "it enables no interrupt"
        raise LatencyError(
            f"The program never enables {name} (NVIC_ISER{position // 32}, bit {position % 32}) in the "
            f"first {_span(question.until)} ({enabled}): name one of those, give it longer with --until, or "
            "let the board enable it with --enable PRIORITY, 0 to 15."
        )
    if result.handler is None or result.handler in (_ERASED, _EMPTY) or not result.handler & 1:
        word = "nothing" if result.handler is None else f"{result.handler:#010x}"
        raise LatencyError(
            f"The program has no handler for {name}: its vector holds {word}; define {name}_IRQHandler."
        )
    if not result.rows and not result.ended:
        raise LatencyError(
            f"No cycle is left to pend {name} at: it would begin at cycle {result.first_cycle:,} and end at "
            f"cycle {result.end_cycle:,}; give a later --until or an earlier --from."
        )


def section_times(subject: Subject, texts: Sequence[str], tell: Tell) -> list[Passes]:
    """How long these sections take from the beginning on, in one run. Raises TailscopeError if one
    is never passed.
    """
    request, until = subject.start, subject.until
    parsed = [sections.parse(subject.elf, text) for text in texts]
    addresses: set[int] = set().union(*(section.addresses for section in parsed))
    marks = addresses | request.addresses.keys()
    if len(marks) > masks.MOST_MARKS:
        raise LatencyError(f"The sections have more than {masks.MOST_MARKS} places: ask for fewer at once.")
    tell("running to see where the sections begin and end")
    first, every = (request.addresses, addresses) if request.once else ((), marks)
    passages = masks.run_marks(subject.user, every, until, subject.words, first=first)
    clock = Clock(passages.stats.clocks)
    start = request.locate(passages.rows, clock)
    passes: list[tuple[str, int, list[sections.Passed], sections.Passed]] = []
    for section in parsed:
        passed, unpaired = sections.measure(section, passages.rows)
        counted = [each for each in passed if each.begin >= start.first_cycle]
        if not counted:
            begins = any(row.address in section.begins for row in passages.rows)
            why = "never comes to its end" if begins else "is never executed"
            why = "is passed in start-up only (--from reset counts it)" if passed else why
            raise LatencyError(_never(f"{section.name} {why}", until))
        longest = max(counted, key=lambda each: (each.cycles, -each.begin))
        passes.append((section.name, unpaired, counted, longest))
    explained, places, _ = _explained(subject, [longest.begin for *_, longest in passes], 0)
    polls = _polls(subject, places, passages.stats)
    return [
        Passes(
            section=name,
            count=len(counted),
            unpaired=unpaired,
            ended=passages.ended,
            start=start,
            **_lengths([(each.begin, each.end) for each in counted], clock),
            longest=LongPass(
                stack=stack,
                task="" if longest.first.task is None else task or f"{longest.first.task:#010x}",
                begin_cycle=longest.begin,
                end_cycle=longest.end,
                cycles=longest.cycles,
                ns=clock.between_ns(longest.begin, longest.end),
                exception=longest.first.exception,
                begin=places.place(longest.first.address),
                end=places.place(longest.last.address),
            ),
            polls=polls,
            notes=passages.stats.notes,
        )
        for (name, unpaired, counted, longest), (stack, task) in zip(passes, explained, strict=True)
    ]


def _never(what: str, until: Instant) -> str:
    return f"{what} in the first {_span(until)}: give it longer with --until, or name another place."


def _span(until: Instant) -> str:
    """`3,000 cycles` of 3000 and of "cycles:3000"; a time as it was given."""
    if isinstance(until, str) and not until.startswith("cycles:"):
        return until
    return f"{int(str(until).removeprefix('cycles:')):,} cycles"


def _explained(
    subject: Subject, begins: Sequence[int], last: int
) -> tuple[list[tuple[tuple[Place, ...], str]], Places, Stats]:
    """The stack and the name of the task at each of these cycles; the places there; and what is
    known of the run up to cycle `last`.
    """
    elf, kernel, task = subject.elf, subject.kernel, subject.words.task
    ran = simulator.run(subject.user, until=max(*begins, last - 1, 0) + 1, states_at=begins)
    stacks = {number: [address for address, _ in state.stack] for number, state in enumerate(ran.states)}
    latest = max(ran.states, key=lambda state: state.cycle, default=None)
    behind = tasks.behind(elf, kernel, latest) if kernel else {}
    places = Places(elf, stacks, kernel, behind, ran.stats.vectors)
    blocks = (task and state.word(task) for state in ran.states)
    names = [
        tasks.name(elf, kernel, block, state) if kernel and block else ""
        for block, state in zip(blocks, ran.states, strict=True)
    ]
    return [(places.stack(n, begin), names[n]) for n, begin in enumerate(begins)], places, ran.stats
