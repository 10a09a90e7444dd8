"""An order, which a worker gets, its key, and the run that the worker makes of it: its tables and
a row of runs.parquet (docs/reference/campaign-folder.md). Some runs are made both ways.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from analysis.bounds.image import bounds_of
from analysis.campaign.matrix import Capture, Matrix, Point
from analysis.fragmentation.of_run import memory_of_run, program_of
from base import run_index as index
from base import source_digest
from base.files.errors import TailscopeError
from base.paths import ROOT
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import read_manifest
from base.run_folder.quantities import KEYS
from base.run_folder.tables import with_memory, write_table
from capture import same
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest, longest_s
from capture.conduct import judge
from capture.conduct import run as conduct
from capture.desk.bench import BoardResource, read_bench
from capture.summary.summary import summarise_run
from firmware.build import fit
from firmware.build import image as firmware
from firmware.build.catalogue import Allocator, admit, allocators
from firmware.build.placement import placed, placement
from scenarios.plan import Plan

STATISTICS = ("n", "min", "mean", "median", "p99", "p99_9", "max")
_NOT_OF_A_CAMPAIGN = {"id", "time", "problem", "state"}

COLUMNS = pl.Schema(
    {
        "key": pl.String(),
        "state": pl.String(),
        "verified": pl.Boolean(),
        "placement": pl.Int64(),
        **{name: dtype for name, dtype in index.COLUMNS.items() if name not in _NOT_OF_A_CAMPAIGN},
        **{
            f"{key}_{name}": pl.Int64() if name == "n" else pl.Float64()
            for key in KEYS
            for name in STATISTICS
        },
    }
)
"""No column tells when, where or how often a run was made: equal runs have equal rows."""

TABLES = ("operations", "interrupts")
DIFFERS = "differs"
"""The state of a direct run that is not what the real tools bring."""


@dataclass(frozen=True)
class Outcome:
    """The result of one attempt: its row, and the bytes of each table."""

    row: dict[str, Any]
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)


def failed(key: str, point: Point, why: str, state: str = "failed") -> Outcome:
    """A run that could not be made, or is not believed, with the sentence why."""
    row = {
        "key": key,
        "state": state,
        "placement": point.placement,
        "scenario": point.scenario,
        "allocator": point.allocator,
        "board_folder": point.board,
        "parameters": index.listed(point.parameters),
        "seed": None if point.seed is None else str(point.seed),
        "verdict": None,
        "reason": why[: index.MOST_REASON],
    }
    return Outcome(row)


ENTRY = "virtual"
"""Runs can only go on side by side on a board that is a program."""
RECORDS = "uart"


@dataclass(frozen=True)
class Order:
    """One run: its key, its settings, its plan, and the SHA-256 of the firmware. `bench` is the
    digest() of the campaign's sources, `outside` an allocator that is not in the catalogue.

    With `verify` it is also made by the real tools, and both are compared.
    """

    key: str
    point: Point
    plan: Plan = field(repr=False)
    samplerate_hz: int
    capture: Capture
    image_sha256: str
    bench: str
    outside: Allocator | None = None
    verify: bool = False


@cache
def board(name: str) -> BoardResource:
    """The entry of bench.toml with the board `name`, read once."""
    return read_bench().board(f"{ENTRY}:{name}")


def samplerate_hz(point: Point) -> int:
    """The samplerate of a point in Hz, or the board's if the point has none."""
    return point.samplerate or board(point.board).analyzer.samplerate_hz


def image_of(point: Point, plan: Plan) -> firmware.FirmwareImage:
    """The firmware of a point, which a process builds once. Raises TailscopeError."""
    image = firmware.build(
        *(point.allocator, point.art == "on", point.locking),
        {name.upper(): value for name, value in point.knobs.items()},
        plan.extras,
        heap_bytes=plan.heap_bytes,
        board=point.board,
    )
    return placed(image, placement(point.placement))


def hashed(values: object) -> str:
    """The key of what decides a run: of what cannot be ordered that is the point alone."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@cache
def digest() -> str:
    """The digest of the sources that decide a run: simulator, boards, capture and judgement, the
    host's build of the heap, and the versions of the libraries.

    Of sources, not of programs: two machines that build the same simulator agree.
    """
    rooms = ("firmware/boards", "firmware/heap/host", "firmware/build/host_heap.py", "requirements.lock")
    files = [
        path
        for room in ("base", "scenarios", "capture", "analysis")
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in (".py", ".toml") and "tests" not in path.relative_to(ROOT).parts and path.is_file()
    ]
    digests = (source_digest.digest_of(files, ROOT), source_digest.simulator())
    return hashed([*digests, *map(source_digest.digest, rooms)])


@dataclass
class Orders:
    """Makes the orders of a matrix. The plan of the latest scenario and seed is kept."""

    matrix: Matrix
    _latest: tuple[object, Plan] | None = None

    def plan(self, point: Point) -> Plan:
        """Raises TailscopeError."""
        choice = (point.scenario, point.parameters, point.seed, point.heap_bytes, point.board)
        if self._latest is None or self._latest[0] != choice:
            place = fit.place(board(point.board).board)
            self._latest = choice, self.matrix.scenario(point).compile(place)
        return self._latest[1]

    def make(self, point: Point) -> Order:
        """The order of a point, whose image is built where it is not yet.

        Raises TailscopeError where it cannot be run.
        """
        plan, on, is_replayed = self.plan(point), board(point.board), True
        image, rate, capture = image_of(point, plan), samplerate_hz(point), self.matrix.file.capture
        try:
            # Built for this machine, the allocator tells where blocks lay.
            program_of(image)
        except TailscopeError:
            is_replayed = False
        decisions = {
            "image": image.sha256,
            "looks": image.looks,
            "operations": hashlib.sha256(plan.image).hexdigest(),
            "parameters": plan.parameters,
            "scenario": plan.name,
            "duration_s": longest_s(plan, on.board.core_hz),
            "samplerate_hz": rate,
            "board": str(on),
            "records": RECORDS,
            "capture": capture,
            "replayed": is_replayed,
            "bench": digest(),
        }
        row = allocators()[image.allocator]
        outside = row if row.source else None
        return Order(hashed(decisions), point, plan, rate, capture, image.sha256, digest(), outside)


def is_verified(order: Order, share: float, met: set[tuple[str, int]]) -> bool:
    """Whether a direct run is made both ways: the first of each image at each samplerate, and a
    `share`. To be called for each run, in the order of the matrix; `met` has the images of those
    before.

    An image that is another placement of one is no other image: to link it takes far less time.
    Matrix and keys decide alone, so that the choice is the same after each loss. A fault of all
    runs shows before many are made.
    """
    image = (order.image_sha256, order.samplerate_hz)
    is_first = not order.point.placement and image not in met
    met.add(image)
    direct = order.capture == "direct"
    return direct and share > 0 and (is_first or int(order.key, 16) < share * 2.0**256)


def difference(real: Path, direct: Path) -> str | None:
    """Where two run folders differ, in a sentence; None if nowhere.

    Raises TailscopeError where the real tools lost something: that is no fault of the direct run.
    """
    lost = read_manifest(real / MANIFEST).tool_report.losses
    if lost and not read_manifest(direct / MANIFEST).tool_report.losses:
        raise TailscopeError(f"It could not be verified, since the real tools lost samples: {lost[0]}")
    place = same.first_difference(real, direct)
    return None if place is None else f"The direct capture is not what the real tools bring: {place}"


def run(order: Order, scratch: Path, program: Path | None = None) -> Outcome:
    """Makes the run of `order`; what it needs a folder for is below `scratch`, and goes again.

    `program` stands in for the simulator of a direct run. What a user can mend is a failed row;
    nothing is raised for it.
    """
    try:
        if order.outside is not None:
            admit(order.outside)
        image = image_of(order.point, order.plan)
        if (order.bench, order.image_sha256) != (digest(), image.sha256):
            raise TailscopeError(
                "The worker's checkout or its compilers are others than those of the campaign; give it the "
                "same."
            )
        return _run(order, image, scratch, program)
    except TailscopeError as error:
        return failed(order.key, order.point, str(error))


def _run(order: Order, image: firmware.FirmwareImage, scratch: Path, program: Path | None) -> Outcome:
    request = RunRequest(
        order.plan,
        image,
        f"{ENTRY}:{order.point.board}",
        order.samplerate_hz,
        records=RECORDS,
        bounds=bounds_of,
        memory=memory_of_run,
    )
    if order.capture == "direct" and not order.verify:
        # Nobody compares it, so it has no folder: to bring one to the disk takes 22 flushes.
        evidence, setting = judge(*Direct(request, program).taken())
        manifest, joined = summarise_run(evidence, setting), evidence.joined
        tables = {
            "operations": with_memory(joined.operations, setting.memory),
            "interrupts": joined.interrupts,
        }
    else:
        with tempfile.TemporaryDirectory(prefix="run-", dir=scratch) as name:
            request = replace(request, runs=Path(name))
            folder = conduct(Direct(request, program) if order.verify else Sigrok(request)).folder
            if order.verify:
                words = difference(conduct(Sigrok(request)).folder, folder)
                if words:
                    return failed(order.key, order.point, words, DIFFERS)
            manifest = read_manifest(folder / MANIFEST)
            tables = {what: pl.read_parquet(folder / f"{what}.parquet") for what in TABLES}
    packed = {}
    for what, table in tables.items():
        buffer = BytesIO()
        # With the key of its run in front.
        write_table(buffer, table.select(pl.lit(order.key).alias("key"), pl.all()))
        packed[what] = buffer.getvalue()
    row = {name: value for name, value in index.finished(manifest).items() if name in COLUMNS}
    for quantity, summary in manifest.statistics.items():
        row |= {f"{quantity}_{name}": getattr(summary, name) for name in STATISTICS}
    row |= {
        "key": order.key,
        "state": "finished",
        "verified": order.verify if order.capture == "direct" else None,
        "placement": order.point.placement,
    }
    return Outcome(row, packed)
