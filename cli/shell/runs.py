"""The runs of a command: several scenarios on several allocators, one run after another.

Progress goes to stderr.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from analysis.bounds.image import bounds_of
from analysis.explain.explanation import explain
from analysis.fragmentation.of_run import memory_of_run
from base.files.errors import CaptureError, RunError, TailscopeError
from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.manifest import read_manifest
from base.run_folder.progress_file import SoFar
from base.tell import Tell
from capture import placements
from capture.acquisition import direct, sigrok_cli
from capture.acquisition.live import Part
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import RunResult
from capture.conduct import run as conduct
from capture.desk.bench import read_bench
from cli.shell import under_way
from cli.shell.shared import OPTIMIZATIONS, RunOptions, recorded
from firmware.build import boards, fit
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from scenarios.stimulus import parts
from simulator import build as simulator


def compiled(name: str, options: RunOptions, board: boards.Board) -> Plan:
    """The plan of the scenario `name`, as a user chose it, for a board.

    Raises ScenarioError, CaptureError, and signals.Stopped.
    """
    words = options.stimulus
    if words and not board.has_control and parts(words)[2]:
        raise CaptureError(
            f"{board.title} has no control interrupt, and --stimulus {words} gives it a period: leave that "
            "out, or say 0."
        )
    scenario = catalogue.load(
        name,
        {**options.parameters, **recorded(options.trace, options.scale)},
        seed=options.seed,
        stimulus=words,
        heap_bytes=options.heap_bytes,
        tell=under_way.tell,
        core_hz=board.core_hz,
    )
    signals.check()
    return scenario.compile(fit.place(board))


def run(
    scenarios: Sequence[str], allocators: Sequence[str], runs_folder: Path, options: RunOptions
) -> list[RunResult]:
    """Runs every scenario on every allocator, one board after another, and returns the results in
    order.

    The allocator `all` is every one that can run all of the scenarios. Everything is built before
    the first run, so that a wrong name costs no run. To be called within signals.orderly(): a
    signal ends the run under way and the command, and that run is then the last in the list.
    Raises TailscopeError, and signals.Stopped if the signal came before there was a run.
    """
    if options.capture == "direct":
        for word in options.boards:
            direct.check(read_bench().board(word), options.records)
    with under_way.shown() as shown:
        runs = [
            run for word in options.boards for run in _planned(word, scenarios, allocators, options, shown)
        ]
        images = _images([run.spec for run in runs], options, shown)
        results: list[RunResult] = []
        began_s, made = time.monotonic(), 0
        for number, run in enumerate(runs, 1):
            left_s = under_way.time_left_s(began_s, made, len(runs) - number + 1)
            part = Part(number, len(runs), left_s)
            tell = partial(_tell_step, shown, f"{under_way.place(*part)}: {run.title}")
            request = run.request(
                image=images[run.spec.folder],
                runs=runs_folder,
                progress=tell,
                live=partial(_tell_operations, tell),
                part=part,
            )
            try:
                if options.stored and (stored := _stored(request)):
                    results.append(stored)
                    shown.line(f"{run.title}: {stored.folder} is the same run")
                    continue
                result = conduct(run.capture(request))
                results.append(result)
                shown.line(f"{run.title}: {result.verdict}")
                signals.check()
                if options.placements > 1:
                    _measure_placements(request, result, options.placements, tell, shown)
                if options.explained:
                    tell("explaining the worst of each kind")
                    try:
                        explain(result.folder)
                    except TailscopeError as error:  # it says why, and the next run follows
                        shown.line(f"{result.folder}: {error}")
                made += 1
                signals.check()
            except signals.Stopped:
                if not results:
                    raise
                break
    return results


def _tell_step(shown: under_way.Steps, title: str, step: str) -> None:
    shown(f"{title}: {step}")


def _tell_operations(tell: Tell, so_far: SoFar) -> None:
    if so_far.operations:
        tell(f"capturing, {so_far.operations:,} of {so_far.planned_operations:,} operations")


@dataclass(frozen=True)
class _Planned:
    """A run: its title for a reader, the image that it needs, who captures, and what is asked of
    them, as far as it is known before.
    """

    title: str
    spec: firmware.BuildSpec
    capture: type[Sigrok | direct.Direct]
    request: partial[RunRequest]


def _planned(
    word: str | None,
    scenarios: Sequence[str],
    allocators: Sequence[str],
    options: RunOptions,
    shown: under_way.Steps,
) -> Iterator[_Planned]:
    """The runs on one board. A line says why an allocator is left out, and where sigrok is missing
    and not needed. Raises CaptureError where the board has no room for a plan, or its core no lock
    that was asked for; BuildError and ScenarioError.
    """
    resource = read_bench().board(word)
    board = resource.board
    for refusal in map(board.lock_refused, filter(None, options.locking)):
        if refusal:
            raise CaptureError(refusal)
    plans = [compiled(name, options, board) for name in scenarios]
    names, left_out = fit.choose_for(board, plans, allocators)
    capture: type[Sigrok | direct.Direct] = direct.Direct if options.capture == "direct" else Sigrok
    if options.capture is None and direct.fits(resource, options.records) and not sigrok_cli.is_installed():
        capture = direct.Direct
        left_out += (
            "sigrok-cli is not installed: the virtual board hands over its edges itself, with the same "
            "results. Install sigrok-cli and PulseView to see the captures there.",
        )
    shown.line(*left_out)
    for plan, allocator, locking, optimise, art in product(
        plans, names, options.locking, options.optimise, options.art
    ):
        spec = firmware.BuildSpec.of(
            allocator,
            art == "on",
            locking,
            options.knobs,
            plan.extras,
            heap_bytes=plan.heap_bytes,
            optimization=OPTIMIZATIONS[optimise],
            board=board.word,
        )
        request = partial(
            RunRequest,
            plan,
            board=word,
            samplerate_hz=options.samplerate_hz,
            duration_s=options.duration_s,
            records=options.records,
            ignore_glitches=options.ignore_glitches,
            bounds=bounds_of,
            memory=memory_of_run,
            options=(
                *([] if spec.art else ["art off"]),
                *spec.other_lock,
                *spec.other_optimization,
                *spec.turned_knobs,
                *([f"heap {options.heap_bytes}"] if options.heap_bytes is not None else []),
            ),
        )
        yield _Planned(f"{plan.name} on {spec.name}", spec, capture, request)


def _images(
    specs: Sequence[firmware.BuildSpec], options: RunOptions, shown: under_way.Steps
) -> dict[Path, firmware.FirmwareImage]:
    """Builds the virtual Nucleo and each image, by its folder: as many at a time as there are
    cores.
    """
    simulator.build(shown)
    by_folder = {spec.folder: spec for spec in specs}
    counted = under_way.Counted(shown, len(by_folder))
    images: dict[Path, firmware.FirmwareImage] = {}
    with ThreadPoolExecutor(os.cpu_count(), "build") as at_a_time:
        try:
            made = at_a_time.map(partial(firmware.make, compiled=options.placements > 1), by_folder.values())
            for folder, spec in by_folder.items():
                counted(f"firmware with {spec.name}")
                images[folder] = next(made)
        finally:
            at_a_time.shutdown(wait=False, cancel_futures=True)
    return images


def _measure_placements(
    request: RunRequest, result: RunResult, count: int, tell: Tell, shown: under_way.Steps
) -> None:
    """Writes placements.json of a complete run. Raises TailscopeError, and signals.Stopped."""
    if result.verdict != "complete":
        shown.line(f"{result.folder} is {result.verdict}, so no other placement is measured")
        return
    first = read_manifest(result.folder / names.MANIFEST)
    measured = placements.measure(request, count, first, tell)
    document = measured.model_dump(mode="json", by_alias=True)
    names.write_json(result.folder / names.PLACEMENTS, document)


def _stored(request: RunRequest) -> RunResult | None:
    """The latest complete run in the folder of the same firmware, operations and settings."""
    samplerate_hz = request.samplerate_hz or request.resource.analyzer.samplerate_hz
    stimulus = request.planned.stimulus
    settings = (
        request.name.board,
        request.image.sha256,
        f"{request.plan.image_crc32:08X}",
        stimulus.mode,
        stimulus.period_ticks,
        request.records,
        samplerate_hz,
    )
    folders = request.runs.glob(f"*Z-{request.plan.name}-{request.image.allocator}*")
    for folder in sorted(folders, reverse=True):
        try:
            run = read_manifest(folder / names.MANIFEST)
        except RunError:
            continue
        if run.complete and settings == (
            run.board,
            run.firmware.elf_sha256,
            run.image_crc32,
            run.stimulus.mode,
            run.stimulus.period_ticks,
            run.records,
            run.samplerate_hz,
        ):
            return RunResult(folder, run.verdict, tuple(run.reasons))
    return None
