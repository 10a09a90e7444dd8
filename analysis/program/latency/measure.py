"""Measures latencies and sections of a program on the virtual board, and explains the worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from analysis.errors import LatencyError
from analysis.explain import execution
from analysis.explain.kernels import kernel as kernels
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Program
from analysis.program.latency import answers, sections
from analysis.program.latency.answers import Answered
from analysis.program.latency.named_places import function_named
from analysis.program.latency.sections import Measured, Passed
from analysis.program.masks import beginning, tasks
from analysis.program.masks.beginning import RESET, START, WHOLE, Beginning
from analysis.program.masks.intervals import NO_CLOCK, Clock
from analysis.program.masks.places import Place, Places
from analysis.program.masks.stop import hangs, polled
from base.run_folder.explanation import Total
from base.tell import Tell
from simulator import latency, masks
from simulator import run as simulator
from simulator.interrupts import FIRST_IRQ, name_of
from simulator.kernel import KernelWords
from simulator.latency import Answers, Question
from simulator.outputs import Note, State, Stats
from simulator.program import UserProgram
from simulator.run import Instant

OUTCOMES = {
    "cleared": "the program cleared what was pending",
    "unanswered": "no answer came within the patience of 8,400,000 cycles after the window",
    "reset": "the program reset the chip first",
}
MOST_WORST = 5
_MARGIN_CYCLES = 64
_ERASED, _EMPTY = 0xFFFF_FFFF, 0
# So many other vectors with one handler are a default handler.
_MANY_VECTORS = 8


@dataclass(frozen=True)
class Explained:
    """The core's work from one cycle to another: the calls and the task at the first, and where
    time went. The task is empty in a handler, and where nothing tells it.
    """

    stack: tuple[Place, ...]
    functions: tuple[Total, ...] = ()
    dearest: tuple[Total, ...] = ()
    task: str = ""


@dataclass(frozen=True)
class Latencies:
    """The answers to a question. `worst` are waits of different kinds, with explanations. `clock`
    has the clocks of the run. Where the pends begin at `beginning`, `start_up` are those of the
    cycles before, from where the program enabled the interrupt. `polls` says what the program waits
    for in vain, in a sentence; empty if it does not.
    """

    question: Question
    answers: Answers
    taken: list[Answered]
    worst: list[tuple[Answered, Explained]]
    clock: Clock
    beginning: Beginning = WHOLE
    start_up: list[Answered] = field(default_factory=list)
    polls: str = ""


@dataclass(frozen=True)
class SectionTimes:
    """How long a section took each time. `worst` are the longest passes, with explanations. Those
    that began before `beginning` are in `start_up`, unless there are no others. `polls` is as in
    Latencies.
    """

    measured: Measured
    clock: Clock
    worst: list[tuple[Passed, Explained]]
    ended: str
    notes: tuple[Note, ...] = ()
    beginning: Beginning = WHOLE
    start_up: list[Passed] = field(default_factory=list)
    polls: str = ""


def reasons(waits: Latencies | None, sections: Sequence[SectionTimes]) -> tuple[str, ...]:
    """Sentences on why this is not all that the program does: the run ended early, start-up never
    ended, or pends were not answered.
    """
    ended = {section.ended for section in sections} | {waits.answers.ended if waits else ""}
    early = [f"The run ended early: {words.rstrip('.')}." for words in sorted(filter(None, ended))]
    beginnings = [measured.beginning for measured in (waits, *sections) if measured]
    never = [sentence for start in beginnings for sentence in beginning.never(start)]
    lost = answers.lost(waits.answers) if waits else {}
    unanswered = [
        f"{pends:,} pends were not answered: {OUTCOMES.get(how, how)}." for how, pends in lost.items()
    ]
    return tuple(dict.fromkeys([*early, *never, *unanswered]))


def polls(waits: Latencies | None, sections: Sequence[SectionTimes]) -> str:
    """The sentence on what the program waits for in vain; empty if it does not."""
    return next((measured.polls for measured in (waits, *sections) if measured and measured.polls), "")


@dataclass(frozen=True)
class Subject:
    """The program to measure, and the meaning of its addresses."""

    user: UserProgram
    program: Program
    places: Places
    kernel: Kernel | None = None

    @classmethod
    def of(cls, user: UserProgram, kernel: str = "") -> Subject:
        """The program, with the kernel that kernel.find() finds. Raises TailscopeError."""
        program = Program(user.elf, stripped=True)
        layout = kernels.find(program, kernel)
        return cls(user, program, Places(program, _no_stacks(), layout), layout)

    @property
    def words(self) -> KernelWords:
        """Where the kernel has its state."""
        return kernels.words_of(self.kernel)


def _no_stacks() -> pl.DataFrame:
    return pl.DataFrame(schema={"stack": pl.Int64, "depth": pl.Int64, "pc": pl.Int64})


def latencies(
    subject: Subject,
    question: Question,
    around: str,
    explain: bool,
    tell: Tell,
    start: str | None = None,
) -> Latencies:
    """Pends the interrupt at the cycles of the question, or of the longest call of `around`.

    `start` is that of beginning.asked(), and start where nothing is named. Raises
    TailscopeError: if the program never enables the interrupt, or has no handler for it.
    """
    start_of_run = WHOLE
    if around:
        if start not in (None, RESET, START):
            raise LatencyError("Give --around or --from, not both: each says where the pends begin.")
        tell(f"looking for {around}")
        question = _around(subject, question, around)
    else:
        start_of_run = _begun(subject, start or START, question.until, tell)
        question = _from(question, start_of_run, start or START)
    tell(f"pending {name_of(question.exception, subject.user.chip)}")
    found = latency.ask(subject.user, question)
    _check(question, found, subject.user.chip)
    if start_of_run.asked.time:
        start_of_run = Beginning(start_of_run.asked, found.first_cycle)
    taken = answers.answered(found.rows)
    worst = answers.worst_kinds(taken, MOST_WORST)
    early = _start_up(subject, question, found, tell) if question.not_before else []
    tell("explaining the worst")
    spans = [(row.first, row.taken - _entry_cycles(row)) for row in worst]
    last = 0 if found.ended else max((row.taken for row in [*taken, *early]), default=0)
    explained, stats = _explained(subject, spans, 1 if explain else 0, last)
    pairs = list(zip(worst, explained, strict=True))
    clock = Clock(stats.clocks) if stats else NO_CLOCK
    return Latencies(question, found, taken, pairs, clock, start_of_run, early, _polls(subject, stats))


def _polls(subject: Subject, stats: Stats | None) -> str:
    """What the program waits for in vain at the end, in a sentence; empty if it does not. The idle
    task of a kernel may read its lists again and again.
    """
    end = polled(stats) if stats else None
    if end is None or (subject.kernel is not None and not end.of_register):
        return ""
    return f"{hangs(subject.places, end)}."


def _begun(subject: Subject, start: str, until: Instant, tell: Tell) -> Beginning:
    """From when on pends and sections count."""
    request = beginning.asked(subject.program, subject.kernel, start)
    if not request.addresses:
        return Beginning(request, None if request.time else 0)
    tell("running to see where start-up ends")
    passed = masks.run_marks(subject.user, request.addresses, until, subject.words, once=request.once)
    return request.found(passed.rows, Clock(passed.stats.clocks))


def _from(question: Question, begun: Beginning, start: str) -> Question:
    """The question of the pends from there on. What is asked for by name is taken as it is."""
    if start == START:
        return replace(question, not_before=begun.first_cycle)
    if start == RESET:
        return question
    if begun.asked.time:
        return replace(question, start=begun.asked.time)
    if not begun.seen:
        raise LatencyError(_never(f"{start} is not executed", question.until))
    return replace(question, start=begun.first_cycle)


def _start_up(subject: Subject, question: Question, found: Answers, tell: Tell) -> list[Answered]:
    """The waits of the cycles before the first that counts, from where the interrupt is enabled."""
    if found.first_use_cycle is None or found.first_use_cycle >= question.not_before:
        return []
    tell("pending in start-up, too")
    before = replace(question, until=question.not_before, start=found.first_use_cycle, not_before=0)
    return answers.answered(latency.ask(subject.user, before).rows)


def _entry_cycles(row: Answered) -> int:
    """The cycles of the exception's entry, which ends the wait and happens in the copy only."""
    return row.waits[-1].cycles if row.waits[-1].cause == answers.ENTRY else 0


def _around(subject: Subject, question: Question, name: str) -> Question:
    function = function_named(subject.program, name)
    section = sections.parse(subject.program, f"{function.name}..")
    passed = masks.run_marks(subject.user, section.addresses, question.until, subject.words)
    passeds = sections.measure(section, passed.rows).passed
    if not passeds:
        raise LatencyError(_never(f"{name} is never called to its end", question.until))
    longest = max(passeds, key=lambda passed: passed.cycles)
    start, until = max(longest.begin - _MARGIN_CYCLES, 0), longest.end + _MARGIN_CYCLES
    return replace(question, start=start, until=until)


def _check(question: Question, found: Answers, chip: str) -> None:
    name = name_of(question.exception, chip)
    if question.enable is None and found.first_use_cycle is None:
        if question.exception < FIRST_IRQ:
            raise LatencyError(_never(f"The program never takes {name}", question.until))
        position = question.exception - FIRST_IRQ
        others = [name_of(number, chip) for number in found.used if number >= 14]
        enabled = f"it enables or takes {', '.join(others)}" if others else "it enables no interrupt"
        raise LatencyError(
            f"The program never enables {name} (NVIC_ISER{position // 32}, bit {position % 32}) in the "
            f"first {_said(question.until)} ({enabled}): name one of those, give it longer with --until, or "
            "let the board enable it with --enable PRIORITY, 0 to 15."
        )
    if found.handler is None or found.handler in (_ERASED, _EMPTY) or not found.handler & 1:
        word = "nothing" if found.handler is None else f"{found.handler:#010x}"
        raise LatencyError(
            f"The program has no handler for {name}: its vector holds {word}; define {name}_IRQHandler."
        )
    if not found.rows.height and not found.ended:
        raise LatencyError(
            f"No cycle is left to pend {name} at: it would begin at cycle {found.first_cycle:,} and end at "
            f"cycle {found.end_cycle:,}; give a later --until or an earlier --from."
        )


def handler(subject: Subject, question: Question, found: Answers) -> str:
    """The handler's name, and a word of doubt if it looks like one for everything."""
    address = (found.handler or 0) & ~1
    function = subject.program.function_at(address)
    name = function.name if function else f"{address:#010x}"
    own = subject.places.entry(question.exception)
    if own and subject.places.behind(question.exception):
        return f"{name}, before {own.function}"
    shared = f" (which {found.sharing} other vectors have, too: a default handler?)"
    return name + (shared if found.sharing > _MANY_VECTORS else "")


def section_times(
    subject: Subject,
    texts: Sequence[str],
    until: Instant,
    explain: bool,
    tell: Tell,
    start: str | None = None,
) -> list[SectionTimes]:
    """How long these sections take, in one run. Raises TailscopeError if one is never passed."""
    request = beginning.asked(subject.program, subject.kernel, start or START)
    parsed = [sections.parse(subject.program, text) for text in texts]
    addresses: set[int] = set().union(*(section.addresses for section in parsed))
    if len(addresses | request.addresses) > masks.MOST_MARKS:
        raise LatencyError(f"The sections have more than {masks.MOST_MARKS} places: ask for fewer at once.")
    tell("running to see where the sections begin and end")
    first, every = (request.addresses, addresses) if request.once else ((), addresses | request.addresses)
    passages = masks.run_marks(subject.user, every, until, subject.words, first=first)
    clock = Clock(passages.stats.clocks)
    start_of_run = request.found(passages.rows, clock)
    times = []
    for section in parsed:
        measured = sections.measure(section, passages.rows)
        if not measured.passed:
            raise LatencyError(_why_never(measured, passages.rows, until))
        early = _split(measured, start_of_run)
        worst = sorted(measured.passed, key=lambda passed: (-passed.cycles, passed.begin))[:MOST_WORST]
        tell(f"explaining the longest {section.name}")
        spans = [(passed.begin, passed.end) for passed in worst]
        explained, _ = _explained(subject, spans, 1 if explain else 0, 0)
        pairs = list(zip(worst, explained, strict=True))
        waits = _polls(subject, passages.stats)
        times.append(
            SectionTimes(
                measured, clock, pairs, passages.ended, passages.stats.notes, start_of_run, early, waits
            )
        )
    return times


def _split(measured: Measured, begun: Beginning) -> list[Passed]:
    """Takes the passes of start-up out of `measured`, unless there are no others; returns them."""
    early = [passed for passed in measured.passed if passed.begin < begun.first_cycle]
    if len(early) == len(measured.passed):
        return []
    measured.passed = measured.passed[len(early) :]
    return early


def _why_never(measured: Measured, rows: pl.DataFrame, until: Instant) -> str:
    section = measured.section
    begun = rows.filter(pl.col("address").is_in(list(section.begins))).height
    if begun:
        return (
            f"{section.name} began {begun:,} times and never ended in the first {_said(until)}: name another."
        )
    ends = " (its end was, without a beginning)" if measured.unbegun else ""
    return _never(f"The beginning of {section.name} is never executed{ends}", until)


def _never(what: str, until: Instant) -> str:
    return f"{what} in the first {_said(until)}: give it longer with --until, or name another place."


def _said(until: Instant) -> str:
    """`3,000 cycles` of 3000 and of "cycles:3000"; a time as it was given."""
    if isinstance(until, str) and not until.startswith("cycles:"):
        return until
    return f"{int(str(until).removeprefix('cycles:')):,} cycles"


def _explained(
    subject: Subject, spans: Sequence[tuple[int, int]], traced: int, last: int
) -> tuple[list[Explained], Stats | None]:
    """The calls at each span's first cycle; of the first `traced` spans the instructions, too; and
    what is known of the run up to cycle `last`, None without spans.
    """
    if not spans:
        return [], None
    begins = [begin for begin, _ in spans]
    ran = simulator.run(subject.user, until=max(*begins, last - 1) + 1, states_at=begins)
    states = ran.states
    kernel = subject.kernel
    behind = tasks.behind(subject.program, kernel, states[begins.index(max(begins))]) if kernel else {}
    subject.places.tell_handlers(behind, ran.stats.vectors)
    stacks = []
    for number, state in enumerate(states):
        frames = [frame.address for frame in execution.unwind(subject.program, state)] or [
            state.registers["pc"]
        ]
        stacks += [(number, depth, address) for depth, address in enumerate(frames)]
    table = pl.DataFrame(stacks, schema=["stack", "depth", "pc"], orient="row")
    places = Places(subject.program, table, kernel, behind, ran.stats.vectors)
    explanations = [
        Explained(places.stack(number, begin), task=_task(subject, state))
        for number, (begin, state) in enumerate(zip(begins, states, strict=True))
    ]
    for number, (begin, end) in enumerate(spans[:traced]):
        if end > begin:
            explanations[number] = _with_instructions(subject, explanations[number], begin, end)
    return explanations, ran.stats


def _task(subject: Subject, state: State) -> str:
    """The name of the task that runs; empty where nothing tells it."""
    if subject.kernel is None or subject.words.task is None:
        return ""
    block = state.word(subject.words.task)
    return tasks.name(subject.program, subject.kernel, block, [state]) if block else ""


def _with_instructions(subject: Subject, explanation: Explained, begin: int, end: int) -> Explained:
    trace = simulator.run(subject.user, until=end, trace_window=(begin, end)).trace
    steps = execution.steps(subject.program, trace, begin, end)
    return replace(
        explanation,
        functions=tuple(execution.by_function(steps)),
        dearest=tuple(execution.by_instruction(steps)),
    )
