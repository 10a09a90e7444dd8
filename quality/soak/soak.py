"""Runs back to back, on several boards, with faults drawn at random; each is held against what is
due and accounted for.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError, no_such
from base.processes import children, signals
from base.processes.children import marked
from base.text_table import TextTable, printed
from capture.desk import emulated
from capture.desk.bench import read_bench
from firmware.build import image as firmware
from quality.soak.catalogue import COMPLETE, FAULTS, NONE, REFUSED, DeskFault, is_part
from quality.soak.once import PARAMETERS, SCENARIO
from scenarios import catalogue as scenarios

WITHIN_S = 600.0
"""A run that takes longer hangs: it takes some seconds on an idle machine."""

OTHER_ALLOCATOR = "seglist"
MARK = "TAILSCOPE_SOAK_RUN"
ENDS_WITHIN_S = 5.0
LINES = "runs.jsonl"

Headlines = Mapping[str, list[float]]


class SoakError(TailscopeError):
    """A soak cannot be made as it was asked for."""


@dataclass(frozen=True)
class Outcome:
    """What came of one run.

    `verdict` is that of the run, or refused where nothing was recorded, or none of both where the
    bench did something else. `wrong` says in sentences what is not as it is due; a run without is
    accounted for. `left` are the command lines of processes that outlived the run, `files_left`
    temporary files.
    """

    board: str
    fault: str
    due: str
    exit_status: int
    left: tuple[str, ...]
    files_left: Sequence[str]
    seconds: float
    verdict: str = "none"
    sentences: Sequence[str] = ()
    folder: str = ""
    redecoded: str = ""
    headlines: Headlines = field(default_factory=dict)
    warnings: Sequence[str] = ()
    wrong: tuple[str, ...] = ()


def carry_out(fault: DeskFault, board: str, runs: Path, reference: Headlines | None = None) -> Outcome:
    """Runs the scenario once on `board` with `fault`, into a folder of `runs`.

    `reference` are the headlines of a run without a fault. Raises TailscopeError where there can
    be no desk, and signals.Stopped.
    """
    mark = uuid.uuid4().hex
    began_s = time.monotonic()
    with ExitStack() as opened:
        resource = read_bench().board(board)
        desk, before = None, []
        if resource.emulated is not None:
            in_flash: tuple[Path | None, bytes | None] = None, None
            if fault.other_firmware:
                plan = scenarios.load(SCENARIO, PARAMETERS).compile()
                in_flash = firmware.build(OTHER_ALLOCATOR).elf, plan.image
            desk = opened.enter_context(emulated.desk_of(resource, *in_flash))
            for request in fault.requests:
                desk.ask(request)
            before = emulated.seeing(resource, desk)
        temporary = opened.enter_context(tempfile.TemporaryDirectory(prefix="soak-"))
        command = ["env", f"{MARK}={mark}", f"TMPDIR={temporary}", *before]
        command += [sys.executable, "-m", "quality.soak.once", board, str(runs), fault.name]
        try:
            done = children.run(command, within_s=WITHIN_S)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, -1, "", f"It took longer than {WITHIN_S:g} s.")
        words = desk.words() if desk else ""
        # Processes with the run's mark in their environment that do not end.
        deadline_s = time.monotonic() + ENDS_WITHIN_S
        while (left := marked(f"{MARK}={mark}")) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        files = sorted(path.name for path in Path(temporary).iterdir())
    # The last line is a document, unless the process came to no end of its own.
    last = (done.stdout.strip().splitlines() or [""])[-1]
    document: dict[str, Any] = (
        json.loads(last) if last.startswith("{") else {"sentences": [done.stderr.strip()[-2000:]]}
    )
    seconds = round(time.monotonic() - began_s, 3)
    outcome = Outcome(*(board, fault.name, fault.verdict, done.returncode), left, files, seconds, **document)
    return replace(outcome, wrong=tuple(wrong_of(fault, outcome, done.stderr, words, reference)))


def wrong_of(
    fault: DeskFault, outcome: Outcome, stderr: str, desk_said: str, reference: Headlines | None
) -> Iterator[str]:
    """A sentence for each thing that is not as due; `reference` has the headlines that are."""
    if outcome.verdict != fault.verdict:
        yield f"The outcome is {outcome.verdict}, and {fault.verdict} is due."
    if outcome.exit_status != fault.exit_status:
        yield f"The exit status is {outcome.exit_status}, and {fault.exit_status} is due."
    if not any(is_part(fault.says, sentence) for sentence in outcome.sentences or ("",)):
        yield f"No sentence says {fault.says!r}."
    if "Traceback" in stderr:
        yield "The bench printed a traceback."
    if outcome.folder and outcome.redecoded != outcome.verdict:
        yield f"Decoding it again gives {outcome.redecoded!r}."
    if outcome.verdict == REFUSED and outcome.folder:
        yield "It left a folder."
    if outcome.left:
        yield f"{len(outcome.left)} processes are left."
    if outcome.files_left:
        yield f"Temporary files are left: {', '.join(outcome.files_left)}."
    if desk_said:
        yield f"The desk said: {desk_said}"
    if not any(is_part(fault.notes, warning) for warning in outcome.warnings or ("",)):
        yield f"No warning says {fault.notes!r}."
    lost = "dwt_cycles" if fault.loses_cycles else ""
    expected = ((name, due) for name, due in (reference or {}).items() if name != lost)
    changed = any(outcome.headlines.get(name) != due for name, due in expected)
    if changed and outcome.verdict == COMPLETE:
        yield "It is complete, and its headlines are others than without a fault."


@dataclass
class Accounting:
    """The accounting of a soak."""

    seed: int
    folder: Path
    outcomes: list[Outcome] = field(default_factory=list)
    stopped: bool = False

    @property
    def unaccounted(self) -> list[Outcome]:
        """Runs of which something is not as it is due."""
        return [outcome for outcome in self.outcomes if outcome.wrong]

    @property
    def sound(self) -> bool:
        """True if every run is accounted for."""
        return bool(self.outcomes) and not self.unaccounted

    def as_json(self) -> dict[str, Any]:
        counts = Counter((outcome.board, outcome.fault, outcome.verdict) for outcome in self.outcomes)
        return {
            "seed": self.seed,
            "stopped": self.stopped,
            "runs": len(self.outcomes),
            "unaccounted": len(self.unaccounted),
            "counts": [
                {"board": board, "fault": fault, "verdict": verdict, "runs": runs}
                for (board, fault, verdict), runs in sorted(counts.items())
            ],
            "wrong": [asdict(outcome) for outcome in self.unaccounted],
            "folder": str(self.folder),
        }


def soak(
    boards: Sequence[str],
    folder: Path,
    *,
    runs: int | None = None,
    minutes: float = math.inf,
    seed: int = 1,
    faults: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> Accounting:
    """Makes `runs` runs, or as many as begin in so many `minutes`; a signal ends it early. `tell`
    gets a line for each.

    Each run's outcome is a line of LINES in `folder` as soon as it is there. Run folders of runs
    that are not accounted for are kept beside it. `faults` names those to draw from; all if empty.
    To be called within signals.orderly(). Raises TailscopeError.
    """
    able = {fault.name: fault for fault in FAULTS if {*fault.boards} & {*boards}}
    for name in faults:
        if name not in able:
            raise SoakError(no_such("fault", name, list(able), " and ".join(boards)))
    chosen = [able[name] for name in faults or able]
    accounting = Accounting(seed, folder)
    references: dict[str, Headlines] = {}
    folder.mkdir(parents=True, exist_ok=True)
    began_s = time.monotonic()
    for number, (board, fault) in enumerate(islice(_drawn(boards, seed, chosen), runs)):
        if signals.asked() is not None or time.monotonic() - began_s >= 60 * minutes:
            break
        try:
            outcome = carry_out(fault, board, folder / "runs", references.get(board))
        except signals.Stopped:
            break
        if fault == NONE and outcome.verdict == COMPLETE:
            references.setdefault(board, outcome.headlines)
        accounting.outcomes.append(outcome)
        try:
            with (folder / LINES).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"run": number, **asdict(outcome)}) + "\n")
        except OSError as error:
            raise SoakError(
                f"{folder / LINES} cannot be written ({error.strerror}); free some space."
            ) from None
        if outcome.folder and not outcome.wrong:
            shutil.rmtree(outcome.folder, ignore_errors=True)
        state = "UNACCOUNTED" if outcome.wrong else "as due"
        of = f" of {runs:,}" if runs is not None else ""
        tell(f"run {number + 1:,}{of}: {board}, {fault.name}: {outcome.verdict}, {state}")
    accounting.stopped = signals.asked() is not None
    return accounting


def _drawn(boards: Sequence[str], seed: int, faults: Sequence[DeskFault]) -> Iterator[tuple[str, DeskFault]]:
    """Board and fault of each run, without end.

    The boards take turns. Each begins without a fault, which is the reference; then every fault
    comes once in a random order, and all of them again in another.
    """
    numbers = random.Random(seed)
    decks: dict[str, list[DeskFault]] = {board: [NONE] for board in boards}
    while True:
        for board in boards:
            if not decks[board]:
                decks[board] = [fault for fault in faults if board in fault.boards] or [NONE]
                numbers.shuffle(decks[board])
            yield board, decks[board].pop()


def as_text(accounting: Accounting) -> str:
    """The accounting."""
    document = accounting.as_json()
    rows = [[str(cell) for cell in row.values()] for row in document["counts"]]
    lines = []
    for outcome in accounting.unaccounted:
        lines.append(f"{outcome.board}, {outcome.fault}: {' '.join(outcome.wrong)}")
        lines += [f"  it said: {sentence}" for sentence in outcome.sentences]
        lines += [f"  kept: {outcome.folder}"] if outcome.folder else []
    lines.append(
        f"{document['runs']:,} runs, {document['unaccounted']:,} unaccounted for"
        f"{', stopped by a signal' * accounting.stopped}"
    )
    table = TextTable("", ("board", "fault", "outcome", "runs"), rows, (3,))
    return printed([table, *lines, f"results: {accounting.folder}"])
