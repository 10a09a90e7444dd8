"""A run on the virtual board without analyzer and serial line (`capture = "direct"`).

What is observed is equal to the byte to a run by the real tools, and is judged by the same code. So
many runs take little time (`./lab dev bench campaign`). `find()` writes nothing: it is for the
workers of a campaign. `run()` leaves a run folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from base.processes import signals
from base.run_folder.folder import RunFolder, RunName, check_writable
from base.run_folder.manifest import VIRTUAL_BOARD
from capture.acquisition import direct
from capture.acquisition.observe import Observation, Progress
from capture.conductor import BoundsOf, MemoryOf, judge, order_of, setting_of
from capture.desk.bench import BoardResource, read_bench
from capture.joining.evidence import Evidence
from capture.store import RunResult, keep_observation, store_findings
from capture.summary.summary import Setting
from firmware.build.image import FirmwareImage
from scenarios.plan import Plan
from simulator.build import build, version


@dataclass(frozen=True)
class Found:
    """A run, observed and judged. summarise_run() of capture.summary makes its run.json."""

    observation: Observation
    evidence: Evidence
    setting: Setting


def check(board_name: str | None = None, records: str = "uart") -> BoardResource:
    """The board (None: the default). Raises CaptureError where it cannot be captured so."""
    resource = read_bench().board(board_name)
    direct.check(resource, records)
    return resource


def find(
    plan: Plan,
    image: FirmwareImage,
    board_name: str | None = None,
    samplerate_hz: int | None = None,
    duration_s: float | None = None,
    records: str = "uart",
    bounds: BoundsOf = lambda _image, _boot: {},
    memory: MemoryOf = lambda _image, _plan, _log: None,
    progress: Progress = lambda _: None,
    program: Path | None = None,
) -> Found:
    """Observes and judges `plan` on the firmware `image`; writes nothing. For any thread.

    The arguments are those of conductor.run(); `program` stands in for the simulator that is built.
    Raises TailscopeError where the board is not the virtual one, or nothing could be observed; and
    signals.Stopped.
    """
    plan = plan.recorded_by(records)
    resource = check(board_name, records)
    order = order_of(plan, image, resource, samplerate_hz, duration_s, records)
    progress("capturing")
    observation = direct.observe(order, image.looks, program)
    progress("judging")
    tools = {VIRTUAL_BOARD: version(program or build())}
    setting = setting_of(image, resource.name, direct.ANALYZER, tools)
    return Found(observation, *judge(plan, image, observation, setting, bounds, memory))


def run(
    plan: Plan,
    image: FirmwareImage,
    board_name: str | None = None,
    samplerate_hz: int | None = None,
    runs_folder: Path = Path("runs"),
    duration_s: float | None = None,
    records: str = "uart",
    bounds: BoundsOf = lambda _image, _boot: {},
    memory: MemoryOf = lambda _image, _plan, _log: None,
    progress: Progress = lambda _: None,
    options: Sequence[str] = (),
    program: Path | None = None,
) -> RunResult:
    """As conductor.run(), without a copy for PulseView: ./lab redecode adds one.

    A signal before the capture is judged leaves nothing.
    """
    with signals.orderly():
        check_writable(runs_folder)
        began = datetime.now(UTC)
        found = find(
            plan,
            image,
            board_name,
            samplerate_hz,
            duration_s,
            records,
            bounds,
            memory,
            progress,
            program,
        )
        progress("writing")
        name = RunName(plan.name, image.allocator, found.setting.board, tuple(options))
        folder = RunFolder.create(runs_folder, began, *name)
        keep_observation(folder, found.evidence.plan, found.observation)
        return store_findings(folder, found.evidence, found.setting)
