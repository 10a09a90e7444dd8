"""Conducts one run, from the plan to the folder with its verdict."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from capture.acquisition.duration import longest_s
from capture.acquisition.observe import Order, Progress, observe
from capture.acquisition.sigrok_cli import versions
from capture.desk.bench import BoardResource, read_bench
from capture.desk.board import Board
from capture.desk.open_board import open_board
from capture.joining.evidence import decode
from capture.run_folder.folder import RunFolder
from capture.run_folder.manifest import SectionBound
from capture.run_folder.records import Boot
from capture.store import RunResult, store_findings, store_observation
from capture.summary.summary import Setting
from firmware.build import FirmwareImage
from scenarios.plan import Plan

BoundsOf = Callable[[FirmwareImage, Boot], Mapping[str, SectionBound]]

__all__ = ["RunResult", "run"]


def run(
    plan: Plan,
    image: FirmwareImage,
    board_name: str | None = None,
    samplerate_hz: int | None = None,
    runs_folder: Path = Path("runs"),
    duration_s: float | None = None,
    records: str = "uart",
    progress: Progress = lambda _: None,
    bounds: BoundsOf = lambda _image, _boot: {},
) -> RunResult:
    """Runs `plan` on the firmware `image`; the folder it returns holds all that came, sound or broken.

    None takes the default board, the analyzer's samplerate of bench.toml, and the plan's own bound of its
    duration. `records` is what carries them, uart or rtt. `progress` is told what is going on, in a few
    words. `bounds` says what the critical sections of an image can take at the most.

    Raises TailscopeError where nothing could be observed, WriteError where the folder cannot be written.
    """
    plan = plan.recorded_by(records)
    resource = read_bench().board(board_name)
    order = Order(
        elf=image.elf,
        image=plan.image,
        analyzer=resource.analyzer,
        samplerate_hz=resource.analyzer.samplerate_hz if samplerate_hz is None else samplerate_hz,
        duration_s=longest_s(plan) if duration_s is None else duration_s,
        records=records,
    )
    began = datetime.now(UTC)
    with open_board(resource, records, image.looks) as board:
        observation = observe(board, order, progress)
        setting = _setting(board, resource, image)
    progress("writing")
    folder = RunFolder.create(runs_folder, began, plan.name, image.allocator, resource.name)
    store_observation(folder, plan, observation.edges, observation.serial_bytes, observation.counts)
    progress("judging")
    evidence = decode(
        plan, observation.report, observation.edges, observation.serial_bytes, observation.counts
    )
    boot = evidence.log.first(Boot)
    found = bounds(image, boot) if boot else {}
    return store_findings(folder, evidence, replace(setting, bounds=found))


def _setting(board: Board, resource: BoardResource, image: FirmwareImage) -> Setting:
    return Setting(
        allocator=image.allocator,
        board=resource.name,
        analyzer=resource.analyzer.driver,
        elf_sha256=image.sha256,
        tools={**versions(), **board.tools(), "python": platform.python_version()},
    )
