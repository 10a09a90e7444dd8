"""A campaign: several scenarios on several allocators, one run after another.

Progress goes to stderr.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from analysis.bounds.image import bounds_of_run
from analysis.explain import explanation
from analysis.fragmentation.of_run import memory_of_run
from capture import conductor
from capture.files.errors import TailscopeError
from capture.processes import signals
from capture.run_folder import heap_size
from console import choose_allocators
from console.options import Options
from firmware import build as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from simulator import build as simulator


def run(
    scenarios: Sequence[str], allocators: Sequence[str], runs_folder: Path, options: Options | None = None
) -> list[conductor.RunResult]:
    """Runs every scenario on every allocator, and returns the results in order.

    The allocator `all` is every one that can run all of the scenarios. Everything is built before
    the first run, so that a wrong name costs no run. To be called within signals.orderly(): a
    signal ends the run under way and the campaign, and that run is then the last in the list.
    Raises TailscopeError, and signals.Stopped if the signal came before there was a run.
    """
    options = options or Options()
    plans = [_plan(name, options) for name in scenarios]
    names, left_out = choose_allocators.choose(plans, allocators)
    with Console(stderr=True, highlight=False).status("") as status:
        _tell(status, "building the virtual Nucleo")
        simulator.build()
        for sentence in left_out:
            status.console.print(escape(sentence))
        kinds = dict.fromkeys(map(_needs, plans))
        images = {needs: _images(names, needs, options, status) for needs in kinds}
        results: list[conductor.RunResult] = []
        for plan, image in [(one, image) for one in plans for image in images[_needs(one)]]:
            try:
                results.append(_run_one(plan, image, runs_folder, options, status))
                signals.check()
                _explain(results[-1], f"{plan.name} on {image.allocator}", status)
                signals.check()
            except signals.Stopped:
                if not results:
                    raise
                break
        return results


class _Needs(NamedTuple):
    """What a plan asks of the firmware."""

    kernel_calls: bool
    heap_bytes: int


def _needs(plan: Plan) -> _Needs:
    return _Needs(plan.calls_kernel, plan.heap_bytes or heap_size.DEFAULT_BYTES)


def _tell(status: Status, step: str) -> None:
    """Shows the step under way: in place on a terminal, as a line of its own elsewhere."""
    with suppress(OSError):  # a terminal that hung up ends no run
        status.update(escape(step))
        if not status.console.is_terminal:
            status.console.print(escape(step))


def _plan(name: str, options: Options) -> Plan:
    scenario = catalogue.load(
        name, options.parameters, seed=options.seed, stimulus=options.stimulus, heap_bytes=options.heap_bytes
    )
    signals.check()
    return scenario.compile()


def _images(
    allocators: Sequence[str], needs: _Needs, options: Options, status: Status
) -> list[firmware.FirmwareImage]:
    """Builds each allocator with each lock and each state of the flash accelerator asked for."""
    return [
        _image(name, art, locking, options.knobs, needs, status)
        for name, locking, art in product(allocators, options.lockings, options.art_states)
    ]


def _image(
    allocator: str,
    art: bool,
    locking: str | None,
    knobs: Mapping[str, int],
    needs: _Needs,
    status: Status,
) -> firmware.FirmwareImage:
    chosen = [*([locking] if locking else []), *(f"{name}={value}" for name, value in knobs.items())]
    chosen += [] if needs.heap_bytes == heap_size.DEFAULT_BYTES else [f"heap of {needs.heap_bytes:,} bytes"]
    chosen += ["kernel calls"] if needs.kernel_calls else []
    title = ", ".join([f"firmware with {allocator}", *chosen, *([] if art else ["ART off"])])
    _tell(status, f"{title}: building")
    image = firmware.build(allocator, art, locking, knobs, needs.kernel_calls, heap_bytes=needs.heap_bytes)
    status.console.print(f"{escape(title)}: built, sha256 {image.sha256[:12]}")
    return image


def _run_one(
    plan: Plan, image: firmware.FirmwareImage, runs_folder: Path, options: Options, status: Status
) -> conductor.RunResult:
    title = f"{plan.name} on {image.allocator}"
    result = conductor.run(
        plan,
        image,
        board_name=options.board,
        samplerate_hz=options.samplerate_hz,
        runs_folder=runs_folder,
        duration_s=options.duration_s,
        records=options.records,
        bounds=bounds_of_run,
        memory=memory_of_run,
        progress=lambda step: _tell(status, f"{title}: {step}"),
    )
    status.console.print(f"{escape(title)}: {result.verdict}")
    return result


def _explain(result: conductor.RunResult, title: str, status: Status) -> None:
    """Explains the worst of each quantity. It takes less time than the run.

    If that fails, it says why, and the campaign goes on.
    """
    _tell(status, f"{title}: explaining the worst samples")
    try:
        explanation.explain_all(result.folder)
    except TailscopeError as error:
        status.console.print(escape(f"{title}: {error}"))
