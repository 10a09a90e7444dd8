"""A campaign: several scenarios on several allocators, one run after another, with progress on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from capture import conductor
from capture.options import Options
from firmware import build as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from simulator import build as simulator


def run(
    scenarios: Sequence[str], allocators: Sequence[str], runs_folder: Path, options: Options | None = None
) -> list[conductor.RunResult]:
    """Runs every scenario on every allocator. All is built first: a wrong name costs no run."""
    options = options or Options()
    plans = [_plan(name, options) for name in scenarios]
    console = Console(stderr=True, highlight=False)
    with console.status("building the virtual Nucleo") as status:
        simulator.build()
        images = [_build(name, art, status) for name in allocators for art in options.art_states]
        return [_run_one(plan, image, runs_folder, options, status) for plan in plans for image in images]


def _plan(name: str, options: Options) -> Plan:
    scenario = catalogue.load(name, options.parameters, seed=options.seed, stimulus=options.stimulus)
    return scenario.compile()


def _build(allocator: str, art: bool, status: Status) -> firmware.FirmwareImage:
    status.update(f"building firmware with {escape(allocator)}")
    image = firmware.build(allocator, art)
    title = allocator if art else f"{allocator}, ART off"
    status.console.print(f"firmware with {title}: built, sha256 {image.sha256[:12]}")
    return image


def _run_one(
    plan: Plan, image: firmware.FirmwareImage, runs_folder: Path, options: Options, status: Status
) -> conductor.RunResult:
    title = f"{plan.name} on {image.allocator}"
    result = conductor.run(
        plan,
        image,
        runs_folder=runs_folder,
        board_name=options.board,
        samplerate_hz=options.samplerate_hz,
        duration_s=options.duration_s,
        progress=lambda step: status.update(f"{title}: {escape(step)}"),
    )
    status.console.print(f"{title}: {result.verdict}")
    return result
