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

from base.files.errors import CaptureError, TailscopeError
from base.processes import signals
from base.run_folder.manifest import SectionBound
from base.run_folder.memory import Memory
from base.run_folder.progress_file import SoFar
from base.run_folder.records import Boot, RecordLog
from capture.acquisition import sigrok_cli
from capture.acquisition.direct import Direct
from capture.acquisition.direct import check as check_direct
from capture.acquisition.direct import fits as fits_direct
from capture.acquisition.live import Part
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import run as conduct
from capture.desk.bench import BoardResource, read_bench
from capture.store import RunResult
from cli.work import choose_allocators, placements, progress, so_far_words
from cli.work.options import Options
from cli.work.plan import compiled
from firmware.build import boards, packaged
from firmware.build import catalogue as allocators_of
from firmware.build import image as firmware
from firmware.build.boards import Board
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
    if options.capture == "direct":
        for resource in resources:
            check_direct(resource, options.records)
    targets = [
        _target(word, resource, scenarios, allocators, options)
        for word, resource in zip(options.boards, resources, strict=True)
    ]
    with progress.shown(every_s=0) as shown:
        # Then nothing is lost where this program is slow to take what comes.
        overlapping = all(target.fits for target in targets)
        capturers = {target.word: _capturer(options, target.fits, shown) for target in targets}
        shown("building the virtual Nucleo")
        images = _images(targets, options, shown)
        pairs = [
            (plan, built)
            for target in targets
            for plan in target.plans
            for built in images[target.word, _needs(plan)]
        ]
        return _run_all(pairs, capturers, runs_folder, options, shown, overlapping=overlapping)


def _target(
    word: str | None,
    resource: BoardResource,
    scenarios: Sequence[str],
    allocators: Sequence[str],
    options: Options,
) -> _Target:
    """Raises CaptureError where the board has no room for a plan, or its core no lock that was
    asked for; and ScenarioError.
    """
    for locking in filter(None, options.lockings):
        if refusal := resource.board.lock_refused(locking):
            raise CaptureError(refusal)
    plans = tuple(compiled(name, options, resource.board) for name in scenarios)
    names, left_out = choose_allocators.choose(plans, allocators, resource.board)
    return _Target(word, resource.board, fits_direct(resource, options.records), plans, names, left_out)


class _Target(NamedTuple):
    """A board that is run on: its word on the command line, whether it can hand over its edges
    itself, what is run there, and a sentence for each allocator that is left out.
    """

    word: str | None
    board: Board
    fits: bool
    plans: tuple[Plan, ...]
    allocators: tuple[str, ...]
    left_out: tuple[str, ...]


def _capturer(options: Options, fits: bool, shown: progress.Steps) -> str:
    """Who captures: as asked, else sigrok. Says so where sigrok is missing and not needed."""
    if options.capture is not None or not fits or sigrok_cli.is_installed():
        return options.capture or "sigrok"
    shown.line(
        "sigrok-cli is not installed: the virtual board hands over its edges itself, with the same results. "
        "Install sigrok-cli and PulseView to see the captures there."
    )
    return "direct"


def _run_all(
    pairs: Sequence[tuple[Plan, _Built]],
    capturers: Mapping[str | None, str],
    runs_folder: Path,
    options: Options,
    shown: progress.Steps,
    *,
    overlapping: bool,
) -> list[RunResult]:
    """Runs and explains one after another; a signal ends it with what there is.

    If `overlapping`, a run is explained while the next one is captured.
    """
    results: list[RunResult] = []
    counted = progress.Counted(lambda _: None, len(pairs))
    explained: Future[None] | None = None
    with ThreadPoolExecutor(1, "explain") as explaining:
        for number, (plan, built) in enumerate(pairs, 1):
            title = f"{plan.name} on {built.title}"
            counted(title)
            part = Part(number, len(pairs), counted.left_s)
            watched = _Watched(title, part, shown)
            try:
                request = _request(plan, built, runs_folder, options, watched)
                results.append(_run_one(request, capturers[built.target.word], watched))
                signals.check()
                if options.placements > 1:
                    placements.measure(request, results[-1], options.placements, watched)
                if explained:
                    explained.result()
                # Here: libraries with circular imports cannot be imported by two threads at a time.
                from analysis.explain.explanation import explain_all

                explained = explaining.submit(_explain, explain_all, results[-1], title, shown)
                if not overlapping or number == len(pairs):
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


class _Built(NamedTuple):
    """An image and where it is to run, its title, and the words for the names of its folders."""

    image: firmware.FirmwareImage
    target: _Target
    title: str
    options: tuple[str, ...]


class _Needs(NamedTuple):
    """What a plan asks of the firmware."""

    extras: tuple[str, ...]
    heap_bytes: int


class _Build(NamedTuple):
    """An image that is to be built; None as lock is the allocator's own."""

    target: _Target
    needs: _Needs
    allocator: str
    locking: str | None
    art: bool


def _needs(plan: Plan) -> _Needs:
    return _Needs(plan.extras, plan.heap_bytes)


def _builds(targets: Sequence[_Target], options: Options) -> list[_Build]:
    return [
        _Build(target, needs, *chosen)
        for target in targets
        for needs in dict.fromkeys(map(_needs, target.plans))
        for chosen in product(target.allocators, options.lockings, options.art_states)
    ]


def _images(
    targets: Sequence[_Target], options: Options, shown: progress.Steps
) -> dict[tuple[str | None, _Needs], list[_Built]]:
    """Builds the virtual Nucleo and, for each board and the needs of each plan, each allocator with
    each lock and each state of the flash accelerator asked for: as many at a time as there are
    cores.
    """
    images: dict[tuple[str | None, _Needs], list[_Built]] = {}
    builds = _builds(targets, options)
    runs = sum(
        len(target.plans) * len(target.allocators) * len(options.lockings) * len(options.art_states)
        for target in targets
    )
    until = f"to build, then {runs:,} runs" if runs > 1 else "to build, then the run"
    counted = progress.Counted(shown, len(builds), until=until)
    with ThreadPoolExecutor(os.cpu_count(), "build") as at_a_time:
        try:
            simulated = at_a_time.submit(simulator.build)
            begun = [(one, *_begin_image(at_a_time, one, options)) for one in builds]
            simulated.result()
            for sentence in dict.fromkeys(one for target in targets for one in target.left_out):
                shown.line(sentence)
            for one, title, under_way in begun:
                counted(f"firmware with {title}: building")
                built = under_way.result()
                how = "from a package" if packaged.holds(built.image.elf) else "built"
                shown.line(f"firmware with {title}: {how}, sha256 {built.image.sha256[:12]}")
                images.setdefault((one.target.word, one.needs), []).append(built)
        finally:
            at_a_time.shutdown(wait=False, cancel_futures=True)
    return images


def _begin_image(
    at_a_time: ThreadPoolExecutor, asked: _Build, options: Options
) -> tuple[str, Future[_Built]]:
    """Begins a build; its title, and what will come of it."""
    target, needs, allocator, locking, art = asked
    chosen = [*([locking] if locking else []), *(f"{name}={value}" for name, value in options.knobs.items())]
    own_heap = needs.heap_bytes != target.board.memory.heap_bytes
    heap = [f"heap of {needs.heap_bytes:,} bytes"] if own_heap else []
    extras = [extra.replace("_", " ") for extra in needs.extras]
    off = [] if art else ["ART off"]
    heap_asked = heap if options.heap_bytes is not None else []
    on = [] if target.board.name == boards.DEFAULT else [target.board.name]

    def build() -> _Built:
        image = firmware.build(
            allocator,
            art,
            locking,
            options.knobs,
            needs.extras,
            heap_bytes=needs.heap_bytes,
            compiled=options.placements > 1,
            board=target.board.word,
        )
        words = folder_words(image, options, art=art)
        return _Built(image, target, ", ".join([allocator, *chosen, *heap_asked, *off, *on]), words)

    return ", ".join([allocator, *chosen, *heap, *extras, *off, *on]), at_a_time.submit(build)


def folder_words(image: firmware.FirmwareImage, options: Options, *, art: bool) -> tuple[str, ...]:
    """What the name of a run's folder says of its options: those that differ from the defaults."""
    row = allocators_of.allocators()[image.allocator]
    built = image.configuration
    default = boards.board(built.board).default_lock(row.lockings)
    return (
        *([] if art else ["art off"]),
        *([] if built.locking == default else [built.locking]),
        *(f"{name}={value}" for name, value in sorted(built.knobs.items()) if value != row.knobs[name]),
        *([f"heap {options.heap_bytes}"] if options.heap_bytes is not None else []),
    )


def _request(
    plan: Plan,
    built: _Built,
    runs_folder: Path,
    options: Options,
    watched: _Watched,
) -> RunRequest:
    def bounds(image: firmware.FirmwareImage, boot: Boot) -> Mapping[str, SectionBound]:
        from analysis.bounds.image import bounds_of_run

        return bounds_of_run(image, boot)

    def memory(image: firmware.FirmwareImage, plan: Plan, log: RecordLog) -> Memory | None:
        from analysis.fragmentation.of_run import memory_of_run

        return memory_of_run(image, plan, log)

    return RunRequest(
        plan,
        built.image,
        board=built.target.word,
        samplerate_hz=options.samplerate_hz,
        runs=runs_folder,
        duration_s=options.duration_s,
        records=options.records,
        bounds=bounds,
        memory=memory,
        progress=watched.step,
        live=watched.live,
        part=watched.part,
        options=built.options,
        ignore_glitches=options.ignore_glitches,
    )


def _run_one(request: RunRequest, capture: str, watched: _Watched) -> RunResult:
    result = conduct(Direct(request) if capture == "direct" else Sigrok(request))
    watched.shown.line(f"{watched.title}: {result.verdict}")
    return result


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
