"""Conducts one run, from the plan to the folder with its verdict."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from base.files.errors import TailscopeError
from base.files.whole import WriteError
from base.processes import signals
from base.run_folder.folder import RunName, check_writable
from base.run_folder.manifest import AllocatorFootprint, AskedFirmware, Outside, SectionBound
from base.run_folder.memory import Memory
from base.run_folder.progress_file import ProgressFile
from base.run_folder.records import Boot, RecordLog
from capture.acquisition.duration import longest_s
from capture.acquisition.live import ALONE, Live, Part, Watch, Work
from capture.acquisition.observe import Observation, Order, Progress, observe
from capture.acquisition.sigrok_cli import versions
from capture.desk.bench import BoardResource, read_bench
from capture.desk.open_board import open_board
from capture.joining.evidence import Evidence, decode
from capture.store import RunResult, begin_folder, keep_observation, store_findings, store_session
from capture.summary.summary import Setting
from firmware.build import catalogue, cmake_build, footprint
from firmware.build.footprint import FootprintError
from firmware.build.image import FirmwareImage
from scenarios.plan import Plan
from scenarios.stimulus import NOMINAL_CORE_HZ

MemoryOf = Callable[[FirmwareImage, Plan, RecordLog], Memory | None]
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
    memory: MemoryOf = lambda _image, _plan, _log: None,
    live: Live = lambda _: None,
    part: Part = ALONE,
    options: Sequence[str] = (),
) -> RunResult:
    """Runs `plan` on the firmware `image`, and returns where all that came of it is kept.

    None takes the default board, the analyzer's samplerate of bench.toml, and the plan's own bound
    of its duration in seconds. `records` is what carries the records: uart or rtt. `progress` is
    told in a few words what is going on, and `live` a few times a second what came so far; `part`
    is what the run is of its campaign. `options` are words for the folder's name. `bounds` tells
    the most that the image's critical sections can take, `memory` where the blocks lay.

    Raises TailscopeError where nothing could be observed, or nothing can be written to
    `runs_folder`; and WriteError where writing fails later, which says where the data is kept.
    A run that is broken raises nothing: its verdict says so. A signal ends the capture; what came
    is stored and judged before signals.Stopped is raised, by the outermost signals.orderly().
    Where nothing is captured yet, it is raised at once.
    """
    plan = plan.recorded_by(records)
    resource = read_bench().board(board_name)
    order = order_of(plan, image, resource, samplerate_hz, duration_s, records)
    name = RunName(plan.name, image.allocator, resource.name, tuple(options))
    with signals.orderly(), ExitStack() as stack:
        check_writable(runs_folder)
        began = datetime.now(UTC)
        with open_board(resource, records, image.looks) as board:
            setting = setting_of(
                image, resource.name, resource.analyzer.driver, {**versions(), **board.tools()}
            )
            folder = begin_folder(runs_folder, name, began, plan)
            watch = Watch(
                name, began, stack.enter_context(ProgressFile(folder.path)), progress, live, part, _work(plan)
            )
            try:
                observation = observe(board, order, watch.step, folder.path, watch)
            except (TailscopeError, signals.Stopped):
                folder.remove()
                raise
        watch.step("writing")
        keep_observation(folder, plan, observation)
        with ThreadPoolExecutor(1, "session") as beside:
            session = beside.submit(store_session, folder, observation.edges)
            watch.step("judging")
            evidence, setting = judge(plan, image, observation, setting, bounds, memory)
        setting = replace(setting, notes=(*setting.notes, *session.result()))
        try:
            return store_findings(folder, evidence, setting)
        except WriteError as error:
            raise WriteError(f"{error} The capture is kept: ./lab redecode {folder.path}") from None


def order_of(
    plan: Plan,
    image: FirmwareImage,
    resource: BoardResource,
    samplerate_hz: int | None,
    duration_s: float | None,
    records: str,
) -> Order:
    """What to capture; None is as in run(). Raises CaptureError for a wrong samplerate."""
    order = Order(
        elf=image.elf,
        image=plan.image,
        analyzer=resource.analyzer,
        samplerate_hz=resource.analyzer.samplerate_hz if samplerate_hz is None else samplerate_hz,
        duration_s=longest_s(plan) if duration_s is None else duration_s,
        records=records,
    )
    order.analyzer.check_rate(order.samplerate_hz)
    return order


def judge(
    plan: Plan,
    image: FirmwareImage,
    seen: Observation,
    setting: Setting,
    bounds: BoundsOf,
    memory: MemoryOf,
) -> tuple[Evidence, Setting]:
    """Decodes and joins what was observed, and adds bounds and memory to the setting."""
    evidence = decode(plan, seen.report, seen.edges, seen.serial_bytes, seen.counts, asked_of(image))
    boot = evidence.log.first(Boot)
    return evidence, replace(
        setting, bounds=bounds(image, boot) if boot else {}, memory=memory(image, plan, evidence.log)
    )


def _work(plan: Plan) -> Work:
    measured = plan.operations.filter("measured")["seq"]
    return Work(plan.operations.height, frozenset(measured.to_list()))


def asked_of(image: FirmwareImage) -> AskedFirmware:
    """What the firmware must say of itself."""
    built = image.configuration
    return AskedFirmware(
        allocator=image.allocator,
        heap_bytes=built.heap_bytes,
        core_hz=NOMINAL_CORE_HZ,
        kernel=built.kernel,
        flash_acr=f"{built.flash_acr:08X}",
        locking=built.locking,
        knobs=dict(built.knobs),
        outside=outside_of(image.allocator),
    )


def outside_of(allocator: str) -> Outside | None:
    """What a run keeps of an allocator's file and table; None of one of the catalogue."""
    row = catalogue.allocators()[allocator]
    source = row.source
    if source is None:
        return None
    return Outside(
        file=str(source.file),
        format=source.format,
        sha256=source.sha256,
        promises=sorted(row.promises),
        knobs=dict(row.knobs),
        searches=row.search != (),
    )


def setting_of(image: FirmwareImage, board: str, analyzer: str, tools: Mapping[str, str]) -> Setting:
    """What only the bench knows of a run of `image`; `tools` are those beside compiler and Python.

    An image whose footprint cannot be read has none, and a warning that says why.
    """
    taken: AllocatorFootprint | None = None
    notes: tuple[str, ...] = ()
    try:
        taken = _footprint(image)
    except FootprintError as error:
        notes = (str(error),)
    return Setting(
        allocator=image.allocator,
        board=board,
        analyzer=analyzer,
        elf_sha256=image.sha256,
        footprint=taken,
        tools={
            **tools,
            "compiler": cmake_build.of_image(image.elf),
            "python": platform.python_version(),
        },
        notes=notes,
    )


def _footprint(image: FirmwareImage) -> AllocatorFootprint:
    taken = footprint.of_image(image)
    return AllocatorFootprint(
        flash_bytes=taken.flash,
        static_ram_bytes=taken.static_ram,
        heap_overhead_bytes=taken.heap_overhead,
        block_overhead_bytes=taken.block_overhead,
        smallest_block_bytes=taken.smallest_block,
    )
