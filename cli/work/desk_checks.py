"""All questions to the desk: `doctor` and `wiring check` ask some, and `first-run` all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from base.files.errors import TailscopeError
from base.paths import RUNS
from base.processes import signals
from base.tell import Tell
from capture.checks import devices
from capture.desk.finding import Figure, Finding
from cli.work import tools

if TYPE_CHECKING:
    from capture.checks.board import Flash
    from capture.checks.bring_up import Result
    from capture.checks.captures import Captures
    from capture.checks.host import Facts
    from capture.desk.bench import BoardResource

ALLOCATOR = "tlsf"
_NOTHING_PLUGGED_IN = "A virtual board has nothing on the desk."
_NOT_FLASHED = "A virtual board is not flashed."


@dataclass
class Desk:
    """A board of bench.toml, called `name` by the user, and what was learned of it: each thing is
    asked once. `rate_s` is how long its analyzer must keep up.
    """

    board: BoardResource
    name: str = ""
    runs: Path = RUNS
    rate_s: float = 0.0
    shown: Tell = lambda _: None

    @property
    def is_virtual(self) -> bool:
        """Whether the board is no more than a program."""
        return self.board.loader.kind == "virtual-nucleo"

    @cached_property
    def facts(self) -> Facts:
        """What is plugged in."""
        from capture.checks.ask import ask

        return ask(self.board)

    @cached_property
    def captures(self) -> Captures:
        """The runs that are made here, of a firmware that is built for them."""
        from capture.checks.captures import Captures
        from firmware.build import image as firmware

        signals.check()
        self.shown("the firmware")
        image = firmware.build(ALLOCATOR, board=self.board.board.word)
        return Captures(self.board, self.name, image, self.runs, self.rate_s, self.shown)

    @cached_property
    def flash(self) -> Flash:
        """The board's."""
        from capture.checks.board import Flash
        from capture.checks.captures import short_plan

        return Flash(self.board, self.captures.image, short_plan(self.board.board))


@dataclass(frozen=True)
class Check:
    """A question to the desk, the function whose findings answer it, and what to do where the
    answer is no. One of several findings has a sentence, `well`, for when nothing is amiss. On a
    virtual board it is not asked where `virtual` says why.
    """

    key: str
    question: str
    remedy: str
    look: Callable[[Desk], Iterable[Finding]]
    well: str = ""
    virtual: str = ""

    def findings(self, desk: Desk) -> tuple[Finding, ...]:
        """The answer. Raises TailscopeError."""
        if self.virtual and desk.is_virtual:
            return (Finding("board", "skipped", self.virtual),)
        return tuple(self.look(desk))

    def result(self, desk: Desk) -> Result:
        """The answer as a step of a bring-up, wrong where a tool or a device fails. Raises
        signals.Stopped.
        """
        try:
            findings = self.findings(desk)
        except TailscopeError as error:
            return self._as_result(Finding(self.key, "wrong", str(error)))
        single = not self.well or (self.virtual and desk.is_virtual)
        return self._as_result(findings[0] if single else self._sum(findings))

    def _sum(self, findings: tuple[Finding, ...]) -> Finding:
        wrong, odd = (
            [finding for finding in findings if finding.state == state] for state in ("wrong", "odd")
        )
        words = self.well
        if wrong:
            words = f"{_count(len(wrong), 'thing keeps', 'things keep')} the bench from running."
        elif odd:
            words = f"{words} {_count(len(odd), 'thing is', 'things are')} odd."
        return Finding(
            self.key,
            "wrong" if wrong else "odd" if odd else "right",
            words,
            tuple(f"{finding.subject}: {finding.words}" for finding in (*wrong, *odd)),
            tuple(Figure(finding.subject, finding.words) for finding in findings if finding.state == "right"),
        )

    def _as_result(self, finding: Finding) -> Result:
        from capture.checks.bring_up import Result

        todo = finding.remedies
        if finding.state in ("wrong", "odd"):
            todo = (*todo, self.remedy)
        return Result(
            self.key, self.question, finding.state, finding.words, todo, finding.figures, finding.clips
        )


def _count(number: int, singular: str, several: str) -> str:
    return f"{number} {singular if number == 1 else several}"


def _clips(desk: Desk) -> Iterator[Finding]:
    from capture.wiring.check import check

    yield check(desk.board, desk.shown)


def _twin(desk: Desk) -> Iterator[Finding]:
    from analysis.twin.comparison import compare

    twin = compare(desk.captures.folders[-1], desk.shown)
    figures = (Figure("operations that both did", twin.joined),)
    yield Finding("twin", "right" if twin.explained else "odd", twin.verdict, tuple(twin.notes), figures)


TOOLS = Check(
    "tools",
    "Is everything installed?",
    "Install what is named; as root, ./lab does it.",
    lambda _: tools.findings(),
    well="Everything that the bench needs is installed.",
)
DEVICES = (
    Check(
        "rights",
        "May you use what is plugged in, and does nobody else?",
        "Type the command that installs the udev rules, then plug in anew.",
        lambda desk: devices.may_use(desk.board, desk.facts),
        "You may use what is plugged in.",
        _NOTHING_PLUGGED_IN,
    ),
    Check(
        "desk",
        "Is there one analyzer, one probe, one port?",
        "Take a USB cable that carries data, or name one of several in bench.toml.",
        lambda desk: devices.plugged_in(desk.board, desk.facts),
        "Analyzer, probe and serial port are there.",
        _NOTHING_PLUGGED_IN,
    ),
    Check(
        "probe",
        "Is the firmware of the probe new enough?",
        "Update it with ST's STSW-LINK007, and end what else uses it.",
        lambda desk: devices.probe_firmware(desk.board, desk.facts),
        virtual=_NOTHING_PLUGGED_IN,
    ),
)
WIRING = Check(
    "wiring",
    "Is each clip on its pin?",
    "Swap, move or press on the clips; take short wires, ground's first.",
    _clips,
)
CHECKS = (
    TOOLS,
    *DEVICES,
    Check(
        "load",
        "Does the flash take a firmware?",
        "Look up the words in docs/how-to/troubleshooting.md.",
        lambda desk: [desk.flash.load()],
        virtual=_NOT_FLASHED,
    ),
    Check(
        "again",
        "Does it take one behind a run, too?",
        "Wire the probe's NRST, or put BOOT0 high, and press the black button.",
        lambda desk: [desk.flash.load_again()],
        virtual=_NOT_FLASHED,
    ),
    WIRING,
    Check(
        "line",
        "Do the records come, whole and in order?",
        "Take a port without a hub, end what else has it open, and see that SB13 and SB14 are closed.",
        lambda desk: [desk.captures.line()],
    ),
    Check(
        "noise",
        "Do inputs see edges where no pin moves?",
        "Shorten the wires, ground's first; take a second ground.",
        lambda desk: [desk.captures.rest()],
        virtual="The wires of a virtual board have no noise.",
    ),
    Check(
        "threshold",
        "Are rising and falling edges seen alike?",
        "Set the analyzer's threshold to half of 3.3 V, about 1.6 V, if it can be set.",
        lambda desk: [desk.captures.threshold()],
        virtual="The pins of a virtual board have no voltage.",
    ),
    Check(
        "rate",
        "Does the analyzer keep up?",
        "Give the analyzer its own USB port, without a hub, or set a lower samplerate in bench.toml.",
        lambda desk: [desk.captures.rate()],
    ),
    Check(
        "clock",
        "Do the clocks of board and analyzer agree?",
        "See that the 8 MHz reach the board (docs/reference/wiring.md), and that the analyzer has the "
        "samplerate.",
        lambda desk: [desk.captures.clock()],
    ),
    Check(
        "number",
        "What does the board measure?",
        "Read the run's reasons in docs/how-to/troubleshooting.md.",
        lambda desk: [desk.captures.number()],
    ),
    Check(
        "twin",
        "Does the virtual board do the same?",
        "See what differs: ./lab twin RUN --output twin.html",
        _twin,
        virtual="A virtual board is its own twin.",
    ),
)
"""In the order in which things fail. docs/tutorial/my-board.md has the same."""


def walk(desk: Desk, checks: Iterable[Check] = CHECKS) -> Iterator[Result]:
    """Asks up to the first question whose answer is wrong. Raises signals.Stopped."""
    for check in checks:
        desk.shown(f"{check.key} …")
        result = check.result(desk)
        yield result
        if result.state == "wrong":
            return
