"""A campaign: several scenarios on several allocators, one run after another.

Progress goes to stderr.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from analysis.bounds.image import bounds_of_run
from analysis.explain import explanation
from analysis.fragmentation.of_run import memory_of_run
from base import heap_size
from base.files.errors import TailscopeError
from base.processes import signals
from base.run_folder.progress_file import SoFar
from capture.acquisition.direct import Direct
from capture.acquisition.direct import check as check_direct
from capture.acquisition.live import Part
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import run as conduct
from capture.desk.bench import read_bench
from capture.store import RunResult
from cli import choose_allocators, kept, progress, so_far_words
from cli.options import Options
from firmware.build import catalogue as allocators_of
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from simulator import build as simulator


def run(
    scenarios: Sequence[str], allocators: Sequence[str], runs_folder: Path, options: Options | None = None
) -> list[RunResult]:
    """Runs every scenario on every allocator, and returns the results in order.

    The allocator `all` is every one that can run all of the scenarios. Everything is built before
    the first run, so that a wrong name costs no run. To be called within signals.orderly(): a
    signal ends the run under way and the campaign, and that run is then the last in the list.
    Raises TailscopeError, and signals.Stopped if the signal came before there was a run.
    """
    options = options or Options()
    if options.capture == "direct":
        check_direct(read_bench().board(options.board), options.records)
    plans = [_plan(name, options) for name in scenarios]
    names, left_out = choose_allocators.choose(plans, allocators)
    with progress.shown(every_s=0) as shown:
        shown("building the virtual Nucleo")
        simulator.build()
        for sentence in left_out:
            shown.line(sentence)
        kinds = list(dict.fromkeys(map(_needs, plans)))
        counted = progress.Counted(shown, len(kinds) * len(_builds(names, options)))
        images = {needs: _images(names, needs, options, shown, counted) for needs in kinds}
        return _run_all(
            [(plan, built) for plan in plans for built in images[_needs(plan)]], runs_folder, options, shown
        )


def _run_all(
    pairs: Sequence[tuple[Plan, _Built]], runs_folder: Path, options: Options, shown: progress.Steps
) -> list[RunResult]:
    """Runs and explains one after another; a signal ends it with what there is."""
    results: list[RunResult] = []
    counted = progress.Counted(lambda _: None, len(pairs))
    for number, (plan, built) in enumerate(pairs, 1):
        title = f"{plan.name} on {built.title}"
        counted(title)
        part = Part(number, len(pairs), counted.left_s)
        try:
            results.append(_run_one(plan, built, runs_folder, options, _Watched(title, part, shown)))
            signals.check()
            shown(f"{progress.place(*part)}{title}: explaining the worst of each kind")
            _explain(results[-1], title, shown)
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
    """An image, its title, and the words for the names of its folders."""

    image: firmware.FirmwareImage
    title: str
    options: tuple[str, ...]


class _Needs(NamedTuple):
    """What a plan asks of the firmware."""

    kernel_calls: bool
    heap_bytes: int


def _needs(plan: Plan) -> _Needs:
    return _Needs(plan.calls_kernel, plan.heap_bytes)


def _plan(name: str, options: Options) -> Plan:
    scenario = catalogue.load(
        name,
        options.parameters,
        seed=options.seed,
        stimulus=options.stimulus,
        heap_bytes=options.heap_bytes,
        tell=kept.tell,
    )
    signals.check()
    return scenario.compile()


def _builds(allocators: Sequence[str], options: Options) -> list[tuple[str, str | None, bool]]:
    return list(product(allocators, options.lockings, options.art_states))


def _images(
    allocators: Sequence[str],
    needs: _Needs,
    options: Options,
    shown: progress.Steps,
    counted: progress.Counted,
) -> list[_Built]:
    """Builds each allocator with each lock and each state of the flash accelerator asked for."""
    return [
        _image(name, art, locking, options, needs, shown, counted)
        for name, locking, art in _builds(allocators, options)
    ]


def _image(
    allocator: str,
    art: bool,
    locking: str | None,
    options: Options,
    needs: _Needs,
    shown: progress.Steps,
    counted: progress.Counted,
) -> _Built:
    chosen = [*([locking] if locking else []), *(f"{name}={value}" for name, value in options.knobs.items())]
    own_heap = needs.heap_bytes != heap_size.DEFAULT_BYTES
    heap = [f"heap of {needs.heap_bytes:,} bytes"] if own_heap else []
    kernel = ["kernel calls"] if needs.kernel_calls else []
    off = [] if art else ["ART off"]
    title = ", ".join([f"firmware with {allocator}", *chosen, *heap, *kernel, *off])
    counted(f"{title}: building")
    image = firmware.build(
        allocator, art, locking, options.knobs, needs.kernel_calls, heap_bytes=needs.heap_bytes
    )
    shown.line(f"{title}: built, sha256 {image.sha256[:12]}")
    heap = heap if options.heap_bytes is not None else []
    return _Built(
        image,
        ", ".join([allocator, *chosen, *heap, *off]),
        folder_words(image, options, art=art),
    )


def folder_words(image: firmware.FirmwareImage, options: Options, *, art: bool) -> tuple[str, ...]:
    """What the name of a run's folder says of its options: those that differ from the defaults."""
    row = allocators_of.allocators()[image.allocator]
    built = image.configuration
    return (
        *([] if art else ["art off"]),
        *([] if built.locking == row.lockings[0] else [built.locking]),
        *(f"{name}={value}" for name, value in sorted(built.knobs.items()) if value != row.knobs[name]),
        *([f"heap {options.heap_bytes}"] if options.heap_bytes is not None else []),
    )


def _run_one(plan: Plan, built: _Built, runs_folder: Path, options: Options, watched: _Watched) -> RunResult:
    request = RunRequest(
        plan,
        built.image,
        board=options.board,
        samplerate_hz=options.samplerate_hz,
        runs=runs_folder,
        duration_s=options.duration_s,
        records=options.records,
        bounds=bounds_of_run,
        memory=memory_of_run,
        progress=watched.step,
        live=watched.live,
        part=watched.part,
        options=built.options,
    )
    result = conduct(Direct(request) if options.capture == "direct" else Sigrok(request))
    watched.shown.line(f"{watched.title}: {result.verdict}")
    return result


def _explain(result: RunResult, title: str, shown: progress.Steps) -> None:
    """Explains the worst of each quantity. It takes less time than the run.

    If that fails, it says why, and the campaign goes on.
    """
    try:
        explanation.explain_all(result.folder)
    except TailscopeError as error:
        shown.line(f"{title}: {error}")
