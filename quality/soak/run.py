"""Carries out one run of the soak with one fault, and holds what came of it against what is due."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from base.processes import children
from base.processes.children import marked
from capture.desk import emulated
from capture.desk.bench import read_bench
from firmware.build import image as firmware
from quality.soak.catalogue import COMPLETE, REFUSED, DeskFault
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

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


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
            desk = opened.enter_context(emulated.desk_of(resource, *_in_flash(fault)))
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
        left = _left(mark)
        files = tuple(sorted(path.name for path in Path(temporary).iterdir()))
    seconds = time.monotonic() - began_s
    outcome = _outcome(fault, board, done, left, files, seconds)
    wrong = tuple(wrong_of(fault, outcome, done.stderr, words, reference))
    return replace(outcome, wrong=wrong)


def _in_flash(fault: DeskFault) -> tuple[Path | None, bytes | None]:
    """The firmware and the operations in the flash before the run."""
    if not fault.other_firmware:
        return None, None
    plan = scenarios.load(SCENARIO, PARAMETERS).compile()
    image = firmware.build(OTHER_ALLOCATOR)
    return image.elf, plan.image


def _outcome(
    fault: DeskFault,
    board: str,
    done: subprocess.CompletedProcess[str],
    left: Sequence[str],
    files: Sequence[str],
    seconds: float,
) -> Outcome:
    document = _told(done.stdout)
    sentences = tuple(document.get("sentences", ())) or (done.stderr.strip()[-2000:],)
    verdict = document.get("verdict", REFUSED if "sentences" in document else "none")
    return Outcome(
        board=board,
        fault=fault.name,
        due=fault.verdict,
        verdict=verdict,
        exit_status=done.returncode,
        sentences=sentences if verdict != COMPLETE else (),
        folder=document.get("folder", ""),
        redecoded=document.get("redecoded", ""),
        left=tuple(left),
        files_left=tuple(files),
        descriptors_left=document.get("descriptors_left", 0),
        memory_kib=document.get("memory_kib", 0),
        seconds=round(seconds, 3),
        headlines=document.get("headlines", {}),
        warnings=tuple(document.get("warnings", ())),
    )


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
    if outcome.verdict == COMPLETE and reference is not None and _differ(fault, outcome, reference):
        yield "It is complete, and its headlines are others than without a fault."


def _differ(fault: DeskFault, outcome: Outcome, reference: Headlines) -> bool:
    lost = {"dwt_cycles"} if fault.loses_cycles else set()
    return any(outcome.headlines.get(name) != due for name, due in reference.items() if name not in lost)


def _left(mark: str) -> tuple[str, ...]:
    """Command lines of processes with the run's mark in their environment that do not end."""
    deadline_s = time.monotonic() + ENDS_WITHIN_S
    while (processes := marked(f"{MARK}={mark}")) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return processes
