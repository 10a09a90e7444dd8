"""Runs back to back, on several boards, with faults drawn at random; each is held against what is
due and accounted for.
"""

from __future__ import annotations

import json
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
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError, near_miss
from base.processes import children, signals
from base.processes.children import marked
from capture.desk import emulated
from capture.desk.bench import read_bench
from firmware.build import image as firmware
from quality.soak.catalogue import COMPLETE, FAULTS, NONE, REFUSED, DeskFault, named
from quality.soak.once import PARAMETERS, SCENARIO
from scenarios import catalogue as scenarios

WITHIN_S = 600.0
"""A run that takes longer hangs: it takes some seconds on an idle machine."""

OTHER_ALLOCATOR = "seglist"
MARK = "TAILSCOPE_SOAK_RUN"
ENDS_WITHIN_S = 5.0

Headlines = Mapping[str, list[float]]


@dataclass(frozen=True)
class Outcome:
    """What came of one run.

    `verdict` is that of the run, or refused where nothing was recorded, or none of both where the
    bench did something else. `wrong` says in sentences what is not as it is due; a run without is
    accounted for. `left` are the command lines of processes that outlived the run, `files_left`
    temporary files, `descriptors_left` how many descriptors the bench opened and did not close.
    `memory_kib` is the most that the bench's process took.
    """

    board: str
    fault: str
    due: str
    verdict: str
    exit_status: int
    sentences: tuple[str, ...]
    folder: str
    redecoded: str
    left: tuple[str, ...]
    files_left: tuple[str, ...]
    descriptors_left: int
    memory_kib: int
    seconds: float
    headlines: Headlines
    warnings: tuple[str, ...] = ()
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
        before: list[str] = []
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
        command += [sys.executable, "-m", "quality.soak.once"]
        command += [board, str(runs), fault.name]
        try:
            done = children.run(command, within_s=WITHIN_S)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, -1, "", f"It took longer than {WITHIN_S:g} s.")
        words = desk.words() if before else ""
        # Processes with the run's mark in their environment that do not end.
        deadline_s = time.monotonic() + ENDS_WITHIN_S
        while (left := marked(f"{MARK}={mark}")) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        files = tuple(sorted(path.name for path in Path(temporary).iterdir()))
    seconds = time.monotonic() - began_s
    document = _told(done.stdout)
    sentences = tuple(document.get("sentences", ())) or (done.stderr.strip()[-2000:],)
    verdict = document.get("verdict", REFUSED if "sentences" in document else "none")
    outcome = Outcome(
        board=board,
        fault=fault.name,
        due=fault.verdict,
        verdict=verdict,
        exit_status=done.returncode,
        sentences=sentences if verdict != COMPLETE else (),
        folder=document.get("folder", ""),
        redecoded=document.get("redecoded", ""),
        left=left,
        files_left=files,
        descriptors_left=document.get("descriptors_left", 0),
        memory_kib=document.get("memory_kib", 0),
        seconds=round(seconds, 3),
        headlines=document.get("headlines", {}),
        warnings=tuple(document.get("warnings", ())),
    )
    return replace(outcome, wrong=tuple(wrong_of(fault, outcome, done.stderr, words, reference)))


def _told(stdout: str) -> dict[str, Any]:
    """The last document that the process printed; empty if it printed none."""
    lines = stdout.strip().splitlines()
    try:
        document = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def wrong_of(
    fault: DeskFault, outcome: Outcome, stderr: str, desk_said: str, reference: Headlines | None
) -> Iterator[str]:
    """A sentence for each thing that is not as due; `reference` has the headlines that are."""
    if outcome.verdict != fault.verdict:
        yield f"The outcome is {outcome.verdict}, and {fault.verdict} is due."
    if outcome.exit_status != fault.exit_status:
        yield f"The exit status is {outcome.exit_status}, and {fault.exit_status} is due."
    if not any(fault.is_said_in(sentence) for sentence in outcome.sentences or ("",)):
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
    if not any(fault.is_noted_in(warning) for warning in outcome.warnings or ("",)):
        yield f"No warning says {fault.notes!r}."
    lost = {"dwt_cycles"} if fault.loses_cycles else set()
    expected = {name: due for name, due in (reference or {}).items() if name not in lost}
    if outcome.verdict == COMPLETE and any(
        outcome.headlines.get(name) != due for name, due in expected.items()
    ):
        yield "It is complete, and its headlines are others than without a fault."


LINES = "runs.jsonl"


class SoakError(TailscopeError):
    """An option that makes no sense."""


@dataclass
class Accounting:
    """The accounting of a soak."""

    seed: int
    folder: Path
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False

    @property
    def unaccounted(self) -> list[Outcome]:
        """Runs of which something is not as it is due."""
        return [outcome for outcome in self.outcomes if outcome.wrong]

    @property
    def sound(self) -> bool:
        """True if every run is accounted for."""
        return bool(self.outcomes) and not self.unaccounted

    def counts(self) -> dict[tuple[str, str, str], int]:
        """The number of runs by board, fault and verdict."""
        counts = Counter((outcome.board, outcome.fault, outcome.verdict) for outcome in self.outcomes)
        return dict(sorted(counts.items()))

    def as_json(self) -> dict[str, Any]:
        rows = [
            {"board": board, "fault": fault, "verdict": verdict, "runs": runs}
            for (board, fault, verdict), runs in self.counts().items()
        ]
        return {
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "stopped": self.stopped,
            "runs": len(self.outcomes),
            "unaccounted": len(self.unaccounted),
            "counts": rows,
            "wrong": [asdict(outcome) for outcome in self.unaccounted],
            "processes_left": sum(len(outcome.left) for outcome in self.outcomes),
            "bench_memory_most_kib": max((outcome.memory_kib for outcome in self.outcomes), default=0),
            "folder": str(self.folder),
        }


OnOutcome = Callable[[int, Outcome], None]


def soak(
    boards: Sequence[str],
    folder: Path,
    *,
    seed: int = 1,
    minutes: float | None = None,
    runs: int | None = None,
    faults: Sequence[str] = (),
    tell: OnOutcome = lambda _number, _outcome: None,
) -> Accounting:
    """Runs until `minutes` are over or `runs` are done, and a signal ends it early.

    Each run's outcome is a line of LINES in `folder` as soon as it is there. Run folders of runs
    that are not accounted for are kept beside it. `faults` names those to draw from; all if empty.
    To be called within signals.orderly(). Raises TailscopeError.
    """
    accounting = Accounting(seed, folder)
    began_s = time.monotonic()
    references: dict[str, Headlines] = {}
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / "runs"
    for number, (board, fault) in enumerate(_drawn(boards, seed, faults)):
        over = minutes is not None and time.monotonic() - began_s >= 60 * minutes
        if over or number == runs or signals.asked() is not None:
            break
        try:
            outcome = carry_out(fault, board, stored, references.get(board))
        except signals.Stopped:
            break
        if fault == NONE and outcome.verdict == COMPLETE:
            references.setdefault(board, outcome.headlines)
        accounting.outcomes.append(outcome)
        _note(folder / LINES, number, accounting)
        if outcome.folder and not outcome.wrong:
            shutil.rmtree(outcome.folder, ignore_errors=True)
        tell(number, outcome)
    accounting.seconds = time.monotonic() - began_s
    accounting.stopped = signals.asked() is not None
    return accounting


def _note(path: Path, number: int, accounting: Accounting) -> None:
    """Adds the last run's line."""
    line = {"run": number, **asdict(accounting.outcomes[-1])}
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise SoakError(f"{path} cannot be written ({error.strerror}); free some space.") from None


def _drawn(boards: Sequence[str], seed: int, faults: Sequence[str]) -> Iterator[tuple[str, DeskFault]]:
    """Board and fault of each run, without end.

    The boards take turns. Each begins without a fault, which is the reference; then every fault
    comes once in a random order, and all of them again in another.
    """
    numbers = random.Random(seed)
    chosen = [named(name) for name in faults] or list(FAULTS)
    decks: dict[str, list[DeskFault]] = {board: [NONE] for board in boards}
    while True:
        for board in boards:
            if not decks[board]:
                decks[board] = [fault for fault in chosen if board in fault.boards] or [NONE]
                numbers.shuffle(decks[board])
            yield board, decks[board].pop()


def check_names(boards: Sequence[str], faults: Sequence[str]) -> None:
    """Raises SoakError for a board or a fault that is not in the catalogue."""
    known_boards = {board for fault in FAULTS for board in fault.boards}
    known = {fault.name for fault in FAULTS}
    for word, names, all_of_them in (("board", boards, known_boards), ("fault", faults, known)):
        for name in names:
            if name not in all_of_them:
                raise SoakError(
                    f"The soak has no {word} {name!r}; it has {', '.join(sorted(all_of_them))}."
                    f"{near_miss(name, all_of_them)}"
                )
    for name in faults:
        if not set(named(name).boards) & set(boards):
            raise SoakError(
                f"{name!r} comes on none of the boards {', '.join(boards)}; it is a fault of "
                f"{', '.join(named(name).boards)}."
            )


def line(number: int, outcome: Outcome) -> str:
    """One run."""
    state = "UNACCOUNTED" if outcome.wrong else "as due"
    return f"run {number}: {outcome.board}, {outcome.fault}: {outcome.verdict}, {state}"


def as_text(accounting: Accounting) -> str:
    """The accounting."""
    lines = [f"{'board':8} {'fault':26} {'outcome':13} runs"]
    lines += [
        f"{board:8} {fault:26} {verdict:13} {runs:4}"
        for (board, fault, verdict), runs in accounting.counts().items()
    ]
    for outcome in accounting.unaccounted:
        lines.append(f"{outcome.board}, {outcome.fault}: {' '.join(outcome.wrong)}")
        lines += [f"  it said: {sentence}" for sentence in outcome.sentences]
        lines += [f"  kept: {outcome.folder}"] if outcome.folder else []
    lines.append(
        f"{len(accounting.outcomes)} runs in {accounting.seconds / 60:.1f} min, "
        f"{len(accounting.unaccounted)} unaccounted for, "
        f"{sum(len(outcome.left) for outcome in accounting.outcomes)} processes left"
        f"{', stopped by a signal' * accounting.stopped}"
    )
    lines.append(
        f"a run's bench took at most "
        f"{max((outcome.memory_kib for outcome in accounting.outcomes), default=0):,} KiB"
    )
    lines.append(f"results: {accounting.folder}")
    return "\n".join(lines)
