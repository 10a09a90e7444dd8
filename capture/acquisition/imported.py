"""A capture that another tool recorded, of a run of which the rest is known.

It needs what the bench knows of its own runs: the plan, and the records. Both may come from a run
that was going on meanwhile, with the bench's own analyzer or without a sound one.
"""

from __future__ import annotations

import codecs
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from base.files.errors import CaptureError
from base.files.whole import read_bytes, why
from base.run_folder.edges import CHANNELS
from base.run_folder.folder import RunName
from base.run_folder.manifest import BY_ANALYZER, FIRST_BOARD, AskedFirmware, Outside, ToolReport
from base.run_folder.observed import KIND, SCHEMA, Asked, AskedEdges, Keep, Program
from base.run_folder.records import MOST_LOG_BYTES, Boot, parse
from capture.acquisition.keeper import Keeper, Keeping
from capture.acquisition.live import Request, Watch
from capture.acquisition.observe import Observation
from capture.acquisition.sigrok_cli import CAPTURERS
from capture.acquisition.source import Account, Opened
from capture.acquisition.stored import read_stored
from capture.importing.formats import Import
from capture.reading.observed import Questions
from firmware.build import boards
from scenarios.plan import Plan

BOARD = "imported"
"""The board of a run that nobody named; and what stands in the name of any imported run."""


@dataclass(frozen=True)
class Beside:
    """All of a run but its capture: what is known of it, its records, and the board's counts."""

    account: Account
    serial_bytes: bytes
    counts: bytes | None = None


def of_run(folder: Path, log: Path | None = None) -> Beside:
    """What the run in `folder` tells, which the capture was taken of.

    With the records of `log` it was another run of the same firmware and plan. Then the counts and
    the memory of that in `folder` say nothing of it. Raises TailscopeError.
    """
    account, seen = read_stored(folder)
    # What recorded the run's own capture did not record this one.
    tools = {name: version for name, version in account.tools.items() if name not in CAPTURERS}
    account = replace(account, tools={**tools, "python": platform.python_version()})
    if log is None:
        return Beside(account, seen.serial_bytes, seen.counts)
    return Beside(replace(account, memory=None), _read_log(log))


def of_plan(
    plan: Plan,
    allocator: str,
    log: Path | None,
    outside: Outside | None = None,
    board: str | None = None,
) -> Beside:
    """A run of `plan` on a firmware of which only the allocator is known, with its file if it is
    from outside. `log` has its records, which tell of the board where no `board` is given; it is
    the first of the bench's where they name none of them.

    Without one there are no records. Raises CaptureError.
    """
    heard = _read_log(log) if log else b""
    if board is None:
        boot = parse(heard).first(Boot)
        board = boot.board if boot and boot.board in boards.names() else FIRST_BOARD
    return Beside(
        Account(
            allocator,
            BOARD,
            analyzer="unknown",
            elf_sha256="unknown",
            tools={"python": platform.python_version()},
            plan=plan,
            asked=AskedFirmware(allocator=allocator, outside=outside, board=board),
        ),
        heard,
    )


@dataclass(frozen=True)
class Imported:
    """The file of another tool, and all of its run but the capture."""

    file: Import
    beside: Beside
    request: Request = field(default_factory=Request)
    ignore_glitches: bool = False
    copied = True

    @property
    def name(self) -> RunName:
        """By scenario, allocator and board, with a mark: it is no run of the bench."""
        account = self.beside.account
        return RunName(
            account.plan.name,
            account.allocator,
            account.board,
            () if account.board == BOARD else (BOARD,),
        )

    def check(self) -> None:
        """Raises CaptureError where channels are missing, or an analyzer's samplerate."""
        missing = [name for name in CHANNELS if name not in self.file.edges.channels]
        if missing:
            raise CaptureError(
                f"A run has eight channels, and {', '.join(missing)} of the file are not named; "
                "add them to --channels."
            )
        if self.file.origin.samplerate_from == "resolution" and self.file.origin.format in BY_ANALYZER:
            raise CaptureError(
                f"{self.file.origin.file} does not say at which samplerate it was captured, and without it "
                "the run cannot be judged: give it by --samplerate, as the analyzer's program shows it."
            )

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """Nothing to start: all of it was observed before."""
        origin = self.file.origin
        account = replace(
            self.beside.account,
            analyzer=origin.format,
            imported=origin,
            ignore_glitches=self.ignore_glitches,
        )
        seen = Observation(self.file.edges, self.beside.serial_bytes, report(self.file), self.beside.counts)
        yield Opened(account, lambda _folder, _watch: seen)


MOST_COPIED_SAMPLES = 1 << 28
"""Of a file that is looked at: a copy for PulseView of more takes longer than the look."""


@dataclass(frozen=True)
class ObservedFile:
    """A capture of another tool from the wire alone: no plan, no records. `edges` are stimuli."""

    file: Import
    questions: Questions
    edges: AskedEdges = "auto"
    request: Request = field(default_factory=Request)
    keep: Keep | None = None

    @property
    def copied(self) -> bool:
        """A simulator's samples may be too many for a copy; windows have their own."""
        return self.keep is None and self.file.edges.total_samples <= MOST_COPIED_SAMPLES

    @property
    def name(self) -> RunName:
        """By the file. No dash stands in a part, since dashes divide them."""
        return RunName(
            "observe", re.sub(r"[^A-Za-z0-9_.]+", "_", Path(self.file.origin.file).stem)[:40], BOARD
        )

    def check(self) -> None:
        """Raises CaptureError where a channel that is asked of is none of the file's."""
        for channel in self.questions.channels:
            self.file.edges.transitions(channel)

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """Nothing to start."""
        file, questions = self.file, self.questions
        yield Opened(
            Asked.model_validate(
                {
                    "schema": SCHEMA,
                    "kind": KIND,
                    "board": BOARD,
                    "analyzer": file.origin.format,
                    "pins": file.origin.channels,
                    "stimulus_edges": self.edges,
                    "pulses": questions.pulses,
                    "latencies": questions.latencies,
                    "program": Program(elf=None, elf_sha256=None),
                    "tools": {"python": platform.python_version()},
                    "imported": file.origin,
                    "keep": self.keep,
                }
            ),
            self._observe,
        )

    def _observe(self, folder: Path, _watch: Watch) -> Observation:
        edges, tools = self.file.edges, report(self.file, judged=False)
        keeping = Keeping.of(self.keep, edges.samplerate_hz, self.edges, self.questions)
        if keeping is None:
            return Observation(edges, b"", tools)
        keeper = Keeper(folder, edges.samplerate_hz, edges.channels, edges.total_samples, keeping)
        keeper.append(edges.sample, edges.word, edges.total_samples)
        keeper.close()
        return Observation(edges.until(0), b"", tools, kept=keeper.kept)


def report(imported: Import, judged: bool = True) -> ToolReport:
    """What is known of the tool that captured: that it kept these samples. Of a run that is judged
    the samplerate must be known too.
    """
    oddities = []
    if judged and imported.origin.samplerate_from == "resolution":
        oddities.append(
            "Nobody says at which samplerate it was captured, so how exact its edges are is not known; "
            "import it again with --samplerate."
        )
    if imported.lost:
        oddities.append(
            f"{imported.lost:,} edges lie two in a sample of {imported.edges.sample_ns:.6g} ns and are lost; "
            "give a higher --samplerate, or a shorter capture."
        )
    return ToolReport(
        asked_samples=imported.edges.total_samples, losses=imported.losses, oddities=tuple(oddities)
    )


def _read_log(path: Path) -> bytes:
    try:
        return as_sent(read_bytes(path, MOST_LOG_BYTES))
    except OSError as error:
        raise CaptureError(f"{path} cannot be read as a log of records: {why(error)}.") from None


def as_sent(log: bytes) -> bytes:
    """The log of a terminal as the board sent it: without UTF-16, ends of lines with CR, and time
    stamps before each line.

    A log whose BOOT is as it was sent stays as it is, down to its damaged bytes.
    """
    if log.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        log = log.decode("utf-16", errors="replace").encode()
    boot = re.search(rb"([^\r\n]*)@BOOT,[^\r\n]*([\r\n]?)", log)
    if boot and boot[2] == b"\r":
        log = re.sub(rb"\r+\n?", b"\n", log)
    if boot and boot[1].strip(b"\xef\xbb\xbf"):
        log = re.sub(rb"(?m)^[^@\n]{1,64}@", b"@", log)
    return log
