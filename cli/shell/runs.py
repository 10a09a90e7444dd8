"""The runs of a command: several scenarios on several allocators, one run after another.

Progress goes to stderr.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from base.files.errors import CaptureError, RunError, TailscopeError
from base.microseconds import microseconds
from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.manifest import Optimization, SectionBound, read_manifest
from base.run_folder.progress_file import SoFar
from base.run_folder.records import Boot, RecordLog
from base.run_folder.tables import Memory
from capture import placements
from capture.acquisition import direct, sigrok_cli
from capture.acquisition.live import ALONE, Part
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import run as conduct
from capture.desk.bench import read_bench
from capture.store import RunResult
from cli.shell import under_way
from firmware.build import boards, fit, packaged
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from scenarios.stimulus import asks_for_control
from simulator import build as simulator


@dataclass(frozen=True)
class Options:
    """What the user chose, as `./lab scenario` takes it.

    None leaves the choice to bench.toml or to the scenario. `boards` are run on one after the
    other. `knobs` are numbers of the heap's
    build. `duration_s` is that of the capture. `art_states` are the states of the flash accelerator
    (prefetch and caches) to run with. `records` says what carries the records, one of
    scenarios.operations.RECORDS. `lockings` are the locks of the heap; None is the allocator's
    default. `optimizations` are GCC's -O of the firmware. `heap_bytes` is the size of the heap's
    region. `capture` is sigrok, the real tools, or direct, the virtual board itself; None is sigrok
    where that is installed.
    `placements` is how many times each image is linked, the first as it is. `ignore_glitches`
    leaves out pulses that are too short to be the firmware's. `stored` takes a run that is stored
    already, complete and the same to the byte of firmware and operations, for one to make.
    `explained` keeps why the worst of each kind took so long.
    """

    parameters: dict[str, str | int] = field(default_factory=dict)
    knobs: dict[str, int] = field(default_factory=dict)
    boards: tuple[str | None, ...] = (None,)
    samplerate_hz: int | None = None
    stimulus: str | None = None
    seed: int | None = None
    duration_s: float | None = None
    art_states: tuple[bool, ...] = (True,)
    records: str = "uart"
    lockings: tuple[str | None, ...] = (None,)
    optimizations: tuple[Optimization, ...] = ("2",)
    heap_bytes: int | None = None
    capture: str | None = None
    placements: int = 1
    ignore_glitches: bool = False
    stored: bool = False
    explained: bool = True


def recorded(trace: Path | None, scale: int | None) -> dict[str, str | int]:
    """The parameters of the scenario `recorded` by which it replays a trace, as far as given."""
    return {
        **({"trace": str(trace)} if trace else {}),
        **({"scale": scale} if scale is not None else {}),
    }


def compiled(name: str, options: Options, board: boards.Board) -> Plan:
    """The plan of the scenario `name`, as a user chose it, for a board.

    Raises ScenarioError, CaptureError, and signals.Stopped.
    """
    control = options.stimulus
    if control and not board.has_control and asks_for_control(control):
        raise CaptureError(
            f"{board.title} has no control interrupt, and --stimulus {control} gives it a period: leave that "
            "out, or say 0."
        )
    scenario = catalogue.load(
        name,
        options.parameters,
        seed=options.seed,
        stimulus=options.stimulus,
        heap_bytes=options.heap_bytes,
        tell=under_way.tell,
        core_hz=board.core_hz,
    )
    signals.check()
    return scenario.compile(fit.place(board))


def run(
    scenarios: Sequence[str], allocators: Sequence[str], runs_folder: Path, options: Options
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
    runs = [run for word in options.boards for run in _planned(word, scenarios, allocators, options)]
    with under_way.shown(every_s=0) as shown:
        captures = {run.word: _by_whom(options, run.fits, shown) for run in runs}
        return _all(runs, _images(runs, options, shown), captures, runs_folder, shown)


@dataclass(frozen=True)
class _Planned:
    """A run: what is run on which board, by its word on the command line, and the image that it
    needs. `fits` says whether the board can hand over its edges itself, `left_out` has a sentence
    for each allocator that cannot run on it.
    """

    options: Options
    word: str | None
    fits: bool
    left_out: tuple[str, ...]
    plan: Plan
    spec: firmware.BuildSpec

    def image_title(self, *, whole: bool = False) -> str:
        """The image for a reader: the allocator and what was chosen; of the `whole` all it has."""
        spec, options = self.spec, self.options
        shows_heap = spec.heap_bytes != spec.board.memory.heap_bytes and (whole or options.heap_bytes)
        words = [spec.allocator, *([spec.locking] if options.lockings != (None,) else [])]
        words += [f"{name}={value}" for name, value in options.knobs.items()]
        words += [f"heap of {spec.heap_bytes:,} bytes"] if shows_heap else []
        words += [extra.replace("_", " ") for extra in spec.extras] if whole else []
        words += [f"-{word}" for word in spec.other_optimization]
        words += [] if spec.art else ["ART off"]
        words += [] if spec.board.name == boards.DEFAULT else [spec.board.name]
        return ", ".join(words)

    @property
    def title(self) -> str:
        """The run for a reader."""
        return f"{self.plan.name} on {self.image_title()}"

    def request(self, image: firmware.FirmwareImage, runs_folder: Path, watched: _Watched) -> RunRequest:
        """What is asked of who captures."""

        def bounds(image: firmware.FirmwareImage, boot: Boot) -> Mapping[str, SectionBound]:
            from analysis.bounds.remembered import bounds_of_run

            return bounds_of_run(image, boot)

        def memory(image: firmware.FirmwareImage, plan: Plan, log: RecordLog) -> Memory | None:
            from analysis.fragmentation.of_run import memory_of_run

            return memory_of_run(image, plan, log)

        options, spec = self.options, self.spec
        return RunRequest(
            self.plan,
            image,
            board=self.word,
            samplerate_hz=options.samplerate_hz,
            runs=runs_folder,
            duration_s=options.duration_s,
            records=options.records,
            bounds=bounds,
            memory=memory,
            progress=watched.step,
            live=watched.live,
            part=watched.part,
            options=(
                *([] if spec.art else ["art off"]),
                *spec.other_lock,
                *spec.other_optimization,
                *spec.turned_knobs,
                *([f"heap {options.heap_bytes}"] if options.heap_bytes is not None else []),
            ),
            ignore_glitches=options.ignore_glitches,
        )


def _planned(
    word: str | None, scenarios: Sequence[str], allocators: Sequence[str], options: Options
) -> Iterator[_Planned]:
    """The runs on one board. Raises CaptureError where the board has no room for a plan, or its
    core no lock that was asked for; BuildError and ScenarioError.
    """
    resource = read_bench().board(word)
    board = resource.board
    for refusal in map(board.lock_refused, filter(None, options.lockings)):
        if refusal:
            raise CaptureError(refusal)
    plans = [compiled(name, options, board) for name in scenarios]
    names, left_out = fit.choose_for(board, plans, allocators)
    fits = direct.fits(resource, options.records)
    for plan, allocator, locking, optimization, art in product(
        plans, names, options.lockings, options.optimizations, options.art_states
    ):
        spec = firmware.BuildSpec.of(
            allocator,
            art,
            locking,
            options.knobs,
            plan.extras,
            heap_bytes=plan.heap_bytes,
            optimization=optimization,
            board=board.word,
        )
        yield _Planned(options, word, fits, left_out, plan, spec)


def _by_whom(options: Options, fits: bool, shown: under_way.Steps) -> type[Sigrok] | type[direct.Direct]:
    """Who captures: as asked, else sigrok. Says so where sigrok is missing and not needed."""
    if options.capture is None and fits and not sigrok_cli.is_installed():
        shown.line(
            "sigrok-cli is not installed: the virtual board hands over its edges itself, with the same "
            "results. Install sigrok-cli and PulseView to see the captures there."
        )
        return direct.Direct
    return direct.Direct if options.capture == "direct" else Sigrok


def _images(
    runs: Sequence[_Planned], options: Options, shown: under_way.Steps
) -> dict[Path, firmware.FirmwareImage]:
    """Builds the virtual Nucleo and each image, by its folder: as many at a time as there are
    cores.
    """
    builds = {run.spec.folder: run for run in runs}
    until = f"to build, then {len(runs):,} runs" if len(runs) > 1 else "to build, then the run"
    images: dict[Path, firmware.FirmwareImage] = {}
    began_s = time.time()
    with ThreadPoolExecutor(os.cpu_count(), "build") as at_a_time:
        try:
            simulated = at_a_time.submit(simulator.build, shown)
            under_construction = {
                folder: at_a_time.submit(firmware.make, run.spec, compiled=options.placements > 1)
                for folder, run in builds.items()
            }
            simulated.result()
            counted = under_way.Counted(shown, len(builds), until=until)
            for sentence in dict.fromkeys(sentence for run in runs for sentence in run.left_out):
                shown.line(sentence)
            for folder, future in under_construction.items():
                title = f"firmware with {builds[folder].image_title(whole=True)}"
                counted(title)
                image = images[folder] = future.result()
                new = not packaged.holds(image.elf) and image.elf.stat().st_mtime >= began_s
                shown.line(f"{title}:{' built,' if new else ''} sha256 {image.sha256[:12]}")
        finally:
            at_a_time.shutdown(wait=False, cancel_futures=True)
    return images


def _all(
    runs: Sequence[_Planned],
    images: Mapping[Path, firmware.FirmwareImage],
    captures: Mapping[str | None, Callable[[RunRequest], Sigrok | direct.Direct]],
    runs_folder: Path,
    shown: under_way.Steps,
) -> list[RunResult]:
    """Runs and explains one after another; a signal ends it with what there is."""
    # A run is explained while the next one is captured, if nothing is lost where this program is
    # slow to take what comes.
    overlapping = all(run.fits for run in runs)
    results: list[RunResult] = []
    to_make = []
    for run in runs:
        image, watched = images[run.spec.folder], _Watched(run.title, ALONE, shown)
        if run.options.stored and (stored := _stored(run.request(image, runs_folder, watched))):
            results.append(stored)
            shown.line(f"{run.title}: {stored.folder} is the same run")
        else:
            to_make.append(run)
    counted = under_way.Counted(lambda _: None, len(to_make))
    explained: Future[None] | None = None
    with ThreadPoolExecutor(1, "explain") as explaining:
        for number, run in enumerate(to_make, 1):
            watched = _Watched(run.title, Part(number, len(to_make), counted.left_s(number - 1)), shown)
            try:
                request = run.request(images[run.spec.folder], runs_folder, watched)
                result = conduct(captures[run.word](request))
                results.append(result)
                shown.line(f"{run.title}: {result.verdict}")
                signals.check()
                if run.options.placements > 1:
                    _measure_placements(run, request, result, watched)
                if explained:
                    explained.result()
                if not run.options.explained:
                    continue
                # Here: libraries with circular imports cannot be imported by two threads at a time.
                from analysis.explain.explanation import explain

                explained = explaining.submit(_explain, explain, result, watched)
                if not overlapping or number == len(to_make):
                    watched.step("explaining the worst of each kind")
                    explained.result()
                signals.check()
            except signals.Stopped:
                if not results:
                    raise
                break
    return results


class _Watched:
    """A run under way: its steps, and what has come so far."""

    def __init__(self, title: str, part: Part, shown: under_way.Steps) -> None:
        self.title = title
        self.part = part
        self.shown = shown
        self._step = ""
        self._next_line_s = 0.0

    def step(self, step: str) -> None:
        """A step begins."""
        self._step = step
        self._next_line_s = time.monotonic() + under_way.LINE_EVERY_S
        self.shown(f"{under_way.place(*self.part)}{self.title}: {step}")

    def live(self, so_far: SoFar) -> None:
        """Shows what came, in place; elsewhere than on a terminal now and then."""
        words = in_words(so_far)
        if words and (self.shown.in_place or time.monotonic() >= self._next_line_s):
            self._next_line_s = time.monotonic() + under_way.LINE_EVERY_S
            self.shown(f"{under_way.place(*self.part)}{self.title}: {self._step}, {words}")


def in_words(so_far: SoFar) -> str:
    """`1,659 of 2,304 operations, 8,566 a second; longest critical section so far 6.36 µs …`.

    Empty where nothing has come.
    """
    counts = []
    if so_far.operations:
        counts.append(f"{so_far.operations:,} of {so_far.planned_operations:,} operations")
    if so_far.operations and so_far.operations_per_s:
        counts.append(f"{so_far.operations_per_s:,.0f} a second")
    if so_far.samples and so_far.asked_samples:
        counts.append(f"{so_far.samples / so_far.asked_samples:.0%} of the samples")
    longest = (
        f"longest {what} so far {microseconds(section.ns)} by DWT, operation {section.seq:,}"
        for what, section in (("critical section", so_far.critical), ("free", so_far.free))
        if section
    )
    return "; ".join(filter(None, [", ".join(counts), *longest]))


def _measure_placements(run: _Planned, request: RunRequest, result: RunResult, watched: _Watched) -> None:
    """Writes placements.json of a complete run. Raises TailscopeError, and signals.Stopped."""
    count = run.options.placements
    if result.verdict != "complete":
        watched.shown.line(f"{run.title}: is {result.verdict}, so no other placement is measured")
        return
    if not run.fits:
        watched.shown.line(f"{run.title}: {count - 1:,} more images are loaded and captured, one by one")
    first = read_manifest(result.folder / names.MANIFEST)
    measured = placements.measure(request, count, first, watched.step)
    folder = names.RunFolder(result.folder)
    folder.write_json(names.PLACEMENTS, measured.model_dump(mode="json", by_alias=True))


def _stored(request: RunRequest) -> RunResult | None:
    """The latest complete run in the folder of the same firmware, operations and settings."""
    samplerate_hz = request.samplerate_hz or request.resource.analyzer.samplerate_hz
    stimulus = request.planned.stimulus
    settings = (
        *(request.name.board, request.image.sha256, f"{request.plan.image_crc32:08X}"),
        *(stimulus.mode, stimulus.period_ticks, request.records, samplerate_hz),
    )
    folders = request.runs.glob(f"*Z-{request.plan.name}-{request.image.allocator}*")
    for folder in sorted(folders, reverse=True):
        try:
            run = read_manifest(folder / names.MANIFEST)
        except RunError:
            continue
        if run.complete and settings == (
            *(run.board, run.firmware.elf_sha256, run.image_crc32),
            *(run.stimulus.mode, run.stimulus.period_ticks, run.records, run.samplerate_hz),
        ):
            return RunResult(folder, run.verdict, tuple(run.reasons))
    return None


def _explain(explain: Callable[[Path], object], result: RunResult, watched: _Watched) -> None:
    """Explains the worst of each quantity. It takes less time than the run.

    If that fails, it says why, and the next run follows.
    """
    try:
        explain(result.folder)
    except TailscopeError as error:
        watched.shown.line(f"{watched.title}: {error}")
