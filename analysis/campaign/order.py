"""An order, which a worker gets, and its key: a hash of all that decides a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from analysis.campaign.matrix import Capture, Matrix, Point
from analysis.fragmentation.of_run import program_of
from base import source_digest
from base.files.errors import TailscopeError
from base.paths import ROOT
from capture.acquisition.source import longest_s
from capture.desk.bench import BoardResource, read_bench
from firmware.build import image as firmware
from firmware.build import region
from firmware.build.catalogue import Allocator, allocators
from firmware.build.image import FirmwareImage
from firmware.build.placement import placed, placement
from scenarios.plan import Plan

ENTRY = "virtual"
"""Runs can only go on side by side on a board that is a program."""
RECORDS = "uart"

_DECIDING = (
    *("simulator/crates/**/*.rs", "simulator/crates/**/*.toml"),
    *("simulator/Cargo.*", "simulator/*.py", "firmware/boards/*/*.toml"),
    *("base/**/*.py", "base/**/*.csv", "capture/**/*.py", "scenarios/**/*.py", "analysis/bounds/*"),
    *("analysis/campaign/rows.py", "analysis/campaign/work.py"),
    *("analysis/fragmentation/*.py", "firmware/build/host_heap.py", "firmware/heap/host/**/*"),
    *("requirements.lock", "VERSION", "simulator/virtual-nucleo"),
)
_LEFT_OUT = {"tests", "__pycache__"}


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


def word(board: str) -> str:
    """What a board is called for a run on it."""
    return f"{ENTRY}:{board}"


@cache
def board(name: str) -> BoardResource:
    """The entry of bench.toml with the board `name`, read once."""
    return read_bench().board(word(name))


def samplerate_hz(point: Point) -> int:
    """The samplerate of a point in Hz, or the board's if the point has none."""
    return point.samplerate or board(point.board).analyzer.samplerate_hz


def image_of(point: Point, plan: Plan) -> FirmwareImage:
    """The firmware of a point, which a process builds once. Raises TailscopeError."""
    image = firmware.build(
        *(point.allocator, point.art == "on", point.locking),
        {name.upper(): value for name, value in point.knobs.items()},
        plan.extras,
        heap_bytes=plan.heap_bytes,
        board=point.board,
    )
    return placed(image, placement(point.placement))


def key_without_run(point: Point) -> str:
    """The key of a point of which there is no plan or image: of its settings alone."""
    return _hashed(asdict(point))


def _hashed(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@cache
def digest() -> str:
    """The digest of the sources that decide a run: simulator, capture and judgement.

    Of sources, not of programs: two machines that build the same simulator agree.
    """
    return digest_of(ROOT, _DECIDING)


def digest_of(root: Path, patterns: Iterable[str]) -> str:
    """SHA-256 of the names and contents of the files, those of tests left out."""
    files = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    own = (path for path in sorted(files) if not _LEFT_OUT & set(path.relative_to(root).parts))
    return source_digest.digest_of(own, root)


def _is_replayed(image: FirmwareImage) -> bool:
    """Whether the allocator can be built for this machine, which tells where blocks lay."""
    try:
        program_of(image)
    except TailscopeError:
        return False
    return True


class Orders:
    """Makes the orders of a matrix. The plan of the latest scenario and seed is kept."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._latest: tuple[object, Plan] | None = None

    def plan(self, point: Point) -> Plan:
        """Raises TailscopeError."""
        choice = (point.scenario, point.parameters, point.seed, point.heap_bytes, point.board)
        if self._latest is None or self._latest[0] != choice:
            place = region.place(board(point.board).board)
            self._latest = choice, self._matrix.scenario(point).compile(place)
        return self._latest[1]

    def make(self, point: Point) -> Order:
        """The order of a point, whose image is built where it is not yet.

        Raises TailscopeError where it cannot be run.
        """
        plan, on = self.plan(point), board(point.board)
        image, rate, capture = image_of(point, plan), samplerate_hz(point), self._matrix.capture
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
            "replayed": _is_replayed(image),
            "bench": digest(),
        }
        row = allocators()[image.allocator]
        outside = None if row.source is None else row
        return Order(_hashed(decisions), point, plan, rate, capture, image.sha256, digest(), outside)
