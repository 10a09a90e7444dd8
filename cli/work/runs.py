"""The runs of a command: several scenarios on several allocators, one run after another.

Progress goes to stderr.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

from base.files.errors import CaptureError, RunError, TailscopeError
from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.manifest import SectionBound, read_manifest
from base.run_folder.memory import Memory
from base.run_folder.progress_file import SoFar
from base.run_folder.records import Boot, RecordLog
from capture.acquisition import sigrok_cli
from capture.acquisition.direct import Direct
from capture.acquisition.direct import check as check_direct
from capture.acquisition.direct import fits as fits_direct
from capture.acquisition.live import ALONE, Part
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import run as conduct
from capture.desk.bench import BoardResource, read_bench
from capture.store import RunResult
from cli.work import placements, progress, so_far_words
from cli.work.options import Options
from cli.work.plan import compiled
from firmware.build import boards, fit, packaged
from firmware.build import image as firmware
from firmware.build.image import BuildSpec
from scenarios.plan import Plan
from simulator import build as simulator


def run(
    scenarios: Sequence[str], allocators: Sequence[str], runs_folder: Path, options: Options | None = None
) -> list[RunResult]:
    """Runs every scenario on every allocator, one board after another, and returns the results in
    order.

    The allocator `all` is every one that can run all of the scenarios. Everything is built before
    the first run, so that a wrong name costs no run. To be called within signals.orderly(): a
    signal ends the run under way and the command, and that run is then the last in the list.
    Raises TailscopeError, and signals.Stopped if the signal came before there was a run.
    """
    options = options or Options()
    resources = [read_bench().board(word) for word in options.boards]
    for resource in resources:
        if options.capture == "direct":
            check_direct(resource, options.records)
    runs: list[_Planned] = []
    for word, resource in zip(options.boards, resources, strict=True):
        runs += _planned(word, resource, scenarios, allocators, options)
    with progress.shown(every_s=0) as shown:
        boards_ = dict.fromkeys((run.word, run.fits) for run in runs)
        capturers = {word: _capturer(options, fits, shown) for word, fits in boards_}
        images = _images(runs, options, shown)
        return _run_all(runs, images, capturers, runs_folder, options, shown)


class _Planned(NamedTuple):
    """A run: what is run on which board, by its word on the command line, and the image that it
    needs. `fits` says whether the board can hand over its edges itself, `left_out` has a sentence
    for each allocator that cannot run on it.
    """

    word: str | None
    fits: bool
    left_out: tuple[str, ...]
    plan: Plan
    spec: BuildSpec

    def title(self, options: Options, *, of_image: bool = False) -> str:
        """The image for a reader: the allocator and what was chosen; `of_image` all that it has."""
        spec = self.spec
        heap = f"heap of {spec.heap_bytes:,} bytes"
        shows_heap = spec.heap_bytes != spec.board.memory.heap_bytes and (of_image or options.heap_bytes)
        words = [spec.allocator, *([spec.locking] if options.lockings != (None,) else [])]
        words += [f"{name}={value}" for name, value in options.knobs.items()]
        words += [heap] if shows_heap else []
        words += [extra.replace("_", " ") for extra in spec.extras] if of_image else []
        words += [f"-{word}" for word in spec.other_optimization]
        words += [] if spec.art else ["ART off"]
        words += [] if spec.board.name == boards.DEFAULT else [spec.board.name]
        return ", ".join(words)


def _planned(
    word: str | None,
    resource: BoardResource,
    scenarios: Sequence[str],
    allocators: Sequence[str],
    options: Options,
) -> list[_Planned]:
    """The runs on one board. Raises CaptureError where the board has no room for a plan, or its
    core no lock that was asked for; BuildError and ScenarioError.
    """
    board = resource.board
    for locking in filter(None, options.lockings):
        if refusal := board.lock_refused(locking):
            raise CaptureError(refusal)
    plans = [compiled(name, options, board) for name in scenarios]
    names, left_out = fit.choose_for(board, plans, allocators)
    fits = fits_direct(resource, options.records)
    return [
        _Planned(
            word,
            fits,
            left_out,
            plan,
            BuildSpec.of(
                allocator,
                art,
                locking,
                options.knobs,
                plan.extras,
                heap_bytes=plan.heap_bytes,
                optimization=optimization,
                board=board.word,
            ),
        )
        for plan in plans
        for allocator, locking, optimization, art in product(
            names, options.lockings, options.optimizations, options.art_states
        )
    ]


def _capturer(options: Options, fits: bool, shown: progress.Steps) -> str:
    """Who captures: as asked, else sigrok. Says so where sigrok is missing and not needed."""
    if options.capture is not None or not fits or sigrok_cli.is_installed():
        return options.capture or "sigrok"
    shown.line(
        "sigrok-cli is not installed: the virtual board hands over its edges itself, with the same results. "
        "Install sigrok-cli and PulseView to see the captures there."
    )
    return "direct"


def _images(
    runs: Sequence[_Planned], options: Options, shown: progress.Steps
) -> dict[Path, firmware.FirmwareImage]:
    """Builds the virtual Nucleo and each image, by its folder: as many at a time as there are
    cores.
    """
    builds: dict[Path, _Planned] = {}
    for run in runs:
        builds.setdefault(run.spec.folder, run)
    until = f"to build, then {len(runs):,} runs" if len(runs) > 1 else "to build, then the run"
    images: dict[Path, firmware.FirmwareImage] = {}
    began_s = time.time()
    with ThreadPoolExecutor(os.cpu_count(), "build") as at_a_time:
        try:
            simulated = at_a_time.submit(simulator.build, shown)
            compiled = options.placements > 1
            under_way = {
                folder: at_a_time.submit(firmware.make, run.spec, compiled=compiled)
                for folder, run in builds.items()
            }
            simulated.result()
            counted = progress.Counted(shown, len(builds), until=until)
            for sentence in dict.fromkeys(sentence for run in runs for sentence in run.left_out):
                shown.line(sentence)
            for folder, run in builds.items():
                title = run.title(options, of_image=True)
                counted(f"firmware with {title}")
                image = images[folder] = under_way[folder].result()
                new = not packaged.holds(image.elf) and image.elf.stat().st_mtime >= began_s
                shown.line(f"firmware with {title}:{' built,' if new else ''} sha256 {image.sha256[:12]}")
        finally:
            at_a_time.shutdown(wait=False, cancel_futures=True)
    return images


def _run_all(
    runs: Sequence[_Planned],
    images: Mapping[Path, firmware.FirmwareImage],
    capturers: Mapping[str | None, str],
    runs_folder: Path,
    options: Options,
    shown: progress.Steps,
) -> list[RunResult]:
    """Runs and explains one after another; a signal ends it with what there is."""
    # A run is explained while the next one is captured, if nothing is lost where this program is
    # slow to take what comes.
    overlapping = all(run.fits for run in runs)
    results: list[RunResult] = []
    if options.stored:
        runs, results = _without_stored(runs, images, runs_folder, options, shown)
    counted = progress.Counted(lambda _: None, len(runs))
    explained: Future[None] | None = None
    with ThreadPoolExecutor(1, "explain") as explaining:
        for number, run in enumerate(runs, 1):
            title = f"{run.plan.name} on {run.title(options)}"
            counted(title)
            part = Part(number, len(runs), counted.left_s)
            watched = _Watched(title, part, shown)
            try:
                request = _request(run, images[run.spec.folder], runs_folder, options, watched)
                source = Direct(request) if capturers[run.word] == "direct" else Sigrok(request)
                results.append(conduct(source))
                shown.line(f"{title}: {results[-1].verdict}")
                signals.check()
                if options.placements > 1:
                    placements.measure(request, results[-1], options.placements, watched)
                if explained:
                    explained.result()
                if not options.explained:
                    continue
                # Here: libraries with circular imports cannot be imported by two threads at a time.
                from analysis.explain.explanation import explain_all

                explained = explaining.submit(_explain, explain_all, results[-1], title, shown)
                if not overlapping or number == len(runs):
                    shown(f"{progress.place(*part)}{title}: explaining the worst of each kind")
                    explained.result()
                signals.check()
            except signals.Stopped:
                if not results:
                    raise
                break
    return results


class _Watched:
    """A run under way: its steps, and what has come so far."""

    def __init__(self, title: str, part: Part, shown: progress.Steps) -> None:
        self.title = title
        self.part = part
        self.shown = shown
        self._place = progress.place(*part)
        self._step = ""
        self._next_line_s = 0.0

    def step(self, step: str) -> None:
        """A step begins."""
        self._step = step
        self._next_line_s = time.monotonic() + progress.LINE_EVERY_S
        self.shown(f"{self._place}{self.title}: {step}")

    def live(self, so_far: SoFar) -> None:
        """Shows what came, in place; elsewhere than on a terminal now and then."""
        words = so_far_words.of(so_far)
        if words and (self.shown.in_place or time.monotonic() >= self._next_line_s):
            self._next_line_s = time.monotonic() + progress.LINE_EVERY_S
            self.shown(f"{self._place}{self.title}: {self._step}, {words}")


def _request(
    run: _Planned,
    image: firmware.FirmwareImage,
    runs_folder: Path,
    options: Options,
    watched: _Watched,
) -> RunRequest:
    def bounds(image: firmware.FirmwareImage, boot: Boot) -> Mapping[str, SectionBound]:
        from analysis.bounds.remembered import bounds_of_run

        return bounds_of_run(image, boot)

    def memory(image: firmware.FirmwareImage, plan: Plan, log: RecordLog) -> Memory | None:
        from analysis.fragmentation.of_run import memory_of_run

        return memory_of_run(image, plan, log)

    differences = (
        *([] if run.spec.art else ["art off"]),
        *run.spec.other_lock,
        *run.spec.other_optimization,
        *run.spec.turned_knobs,
        *([f"heap {options.heap_bytes}"] if options.heap_bytes is not None else []),
    )
    return RunRequest(
        run.plan,
        image,
        board=run.word,
        samplerate_hz=options.samplerate_hz,
        runs=runs_folder,
        duration_s=options.duration_s,
        records=options.records,
        bounds=bounds,
        memory=memory,
        progress=watched.step,
        live=watched.live,
        part=watched.part,
        options=differences,
        ignore_glitches=options.ignore_glitches,
    )


def _without_stored(
    runs: Sequence[_Planned],
    images: Mapping[Path, firmware.FirmwareImage],
    runs_folder: Path,
    options: Options,
    shown: progress.Steps,
) -> tuple[list[_Planned], list[RunResult]]:
    """The runs that are to be made, and the results of those that are stored already."""
    to_make, results = [], []
    for run in runs:
        title = f"{run.plan.name} on {run.title(options)}"
        watched = _Watched(title, ALONE, shown)
        stored = _stored(_request(run, images[run.spec.folder], runs_folder, options, watched))
        if stored:
            results.append(stored)
            shown.line(f"{title}: {stored.folder} is the same run")
        else:
            to_make.append(run)
    return to_make, results


def _stored(request: RunRequest) -> RunResult | None:
    """The latest complete run in the folder of the same firmware, operations and settings."""
    samplerate_hz = request.samplerate_hz or request.resource.analyzer.samplerate_hz
    asked = (
        *(request.name.board, request.image.sha256, f"{request.plan.image_crc32:08X}"),
        *(request.planned.stimulus.mode, request.planned.stimulus.period_ticks),
        *(request.records, samplerate_hz),
    )
    names_ = request.runs.glob(f"*Z-{request.plan.name}-{request.image.allocator}*")
    for folder in sorted(names_, reverse=True):
        try:
            run = read_manifest(folder / names.MANIFEST)
        except RunError:
            continue
        stimulus = run.stimulus
        stored = (
            *(run.board, run.firmware.elf_sha256, run.image_crc32, stimulus.mode, stimulus.period_ticks),
            *(run.records, run.samplerate_hz),
        )
        if run.complete and stored == asked:
            return RunResult(folder, run.verdict, tuple(run.reasons))
    return None


def _explain(
    explain_all: Callable[[Path], object], result: RunResult, title: str, shown: progress.Steps
) -> None:
    """Explains the worst of each quantity. It takes less time than the run.

    If that fails, it says why, and the next run follows.
    """
    try:
        explain_all(result.folder)
    except TailscopeError as error:
        shown.line(f"{title}: {error}")
