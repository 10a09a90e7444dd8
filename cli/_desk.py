"""All questions to the desk: `doctor` and `wiring check` ask some, and `first-run` all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from base.files.errors import TailscopeError
from capture.checks import clips, devices
from capture.checks.captures import Desk
from capture.checks.findings import Figure, Finding, Result
from cli import doctor

_NOTHING_PLUGGED_IN = "A virtual board has nothing on the desk."
_NOT_FLASHED = "A virtual board is not flashed."


@dataclass(frozen=True)
class Check:
    """A question to the desk, the function whose findings answer it, and what to do where the
    answer is no. One of several findings has a sentence, `well`, for when nothing is amiss. On a
    virtual board it is not asked where `virtual` says why.
    """

    key: str
    question: str
    remedy: str
    look: Callable[[Desk], Finding | Iterable[Finding]]
    well: str = ""
    virtual: str = ""

    def findings(self, desk: Desk) -> tuple[Finding, ...]:
        """The answer. Raises TailscopeError."""
        if self.virtual and desk.is_virtual:
            return (Finding("board", "skipped", self.virtual),)
        answer = self.look(desk)
        return (answer,) if isinstance(answer, Finding) else tuple(answer)

    def result(self, desk: Desk) -> Result:
        """The answer as a step of a bring-up, wrong where a tool or a device fails. Raises
        signals.Stopped.
        """
        try:
            findings = self.findings(desk)
            skipped = self.virtual and desk.is_virtual
            finding = self._sum(findings) if self.well and not skipped else findings[0]
        except TailscopeError as error:
            finding = Finding(self.key, "wrong", str(error))
        todo = (*finding.remedies, self.remedy) if finding.state in ("wrong", "odd") else finding.remedies
        return Result(
            self.key, self.question, finding.state, finding.words, todo, finding.figures, finding.clips
        )

    def _sum(self, findings: Sequence[Finding]) -> Finding:
        wrong, odd = (
            [finding for finding in findings if finding.state == state] for state in ("wrong", "odd")
        )
        return Finding(
            self.key,
            "wrong" if wrong else "odd" if odd else "right",
            f"{len(wrong)} of {len(findings)} findings keep the bench from running." if wrong else self.well,
            tuple(f"{finding.subject}: {finding.words}" for finding in (*wrong, *odd)),
            tuple(Figure(finding.subject, finding.words) for finding in findings if finding.state == "right"),
        )


def _twin(desk: Desk) -> Finding:
    from analysis.twin.comparison import compare

    twin = compare(desk.folders[-1], desk.shown)
    figures = (Figure("operations that both did", twin.joined),)
    return Finding("twin", "right" if twin.explained else "odd", twin.verdict, tuple(twin.notes), figures)


TOOLS = Check(
    "tools",
    "Is everything installed?",
    "Install what is named; as root, ./lab does it.",
    lambda _: doctor.tool_findings(),
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
)
WIRING = Check(
    "wiring",
    "Is each clip on its pin?",
    "Swap, move or press on the clips; take short wires, ground's first.",
    lambda desk: clips.check(desk.board, desk.shown),
)
CHECKS = (
    TOOLS,
    *DEVICES,
    Check(
        "load",
        "Does the flash take a firmware?",
        "Look up the words in docs/how-to/troubleshooting.md.",
        Desk.load,
        virtual=_NOT_FLASHED,
    ),
    Check(
        "again",
        "Does it take one behind a run, too?",
        "Wire the probe's NRST, or put BOOT0 high, and press the black button.",
        Desk.load_again,
        virtual=_NOT_FLASHED,
    ),
    WIRING,
    Check(
        "line",
        "Do the records come, whole and in order?",
        "Take a port without a hub, end what else has it open, see that SB13 and SB14 are closed, and set a "
        "lower baud in bench.toml.",
        Desk.line,
    ),
    Check(
        "noise",
        "Do inputs see edges where no pin moves?",
        "Shorten the wires, ground's first; take a second ground.",
        Desk.rest,
        virtual="The wires of a virtual board have no noise.",
    ),
    Check(
        "threshold",
        "Are rising and falling edges seen alike?",
        "Set the analyzer's threshold to half of 3.3 V, about 1.6 V, if it can be set.",
        Desk.threshold,
        virtual="The pins of a virtual board have no voltage.",
    ),
    Check(
        "rate",
        "Does the analyzer keep up?",
        "Give the analyzer its own USB port, without a hub, or set a lower samplerate in bench.toml.",
        Desk.rate,
    ),
    Check(
        "clock",
        "Do the clocks of board and analyzer agree?",
        "See that the 8 MHz reach the board (docs/reference/wiring.md), and that the analyzer has the "
        "samplerate.",
        Desk.clock,
    ),
    Check(
        "number",
        "What does the board measure?",
        "Read the run's reasons in docs/how-to/troubleshooting.md.",
        Desk.number,
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
