"""An image and an order, which a worker gets, and the key: a hash of all that decides a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from analysis.campaign.matrix import Capture, Matrix, Point
from analysis.fragmentation.of_run import program_of
from base.files.errors import TailscopeError, first_line
from base.paths import ROOT
from capture.acquisition.duration import longest_s
from capture.desk.bench import BoardResource, read_bench
from firmware.build import boards, region
from firmware.build import image as firmware
from firmware.build.catalogue import Allocator, allocators
from firmware.build.image import Configuration, FirmwareImage
from firmware.build.placement import placed, placement
from scenarios.plan import Plan

ENTRY = "virtual"
"""Runs can only go on side by side on a board that is a program."""
RECORDS = "uart"

_DECIDING = (
    *("simulator/crates/**/*.rs", "simulator/crates/**/*.toml"),
    *("simulator/Cargo.*", "simulator/*.py", "firmware/boards/*/*.toml"),
    *("base/**/*.py", "capture/**/*.py", "scenarios/**/*.py", "analysis/bounds/*"),
    *("analysis/campaign/rows.py", "analysis/campaign/work.py"),
    *("analysis/fragmentation/*.py", "firmware/build/host_heap.py", "firmware/heap/host/**/*"),
    *("requirements.lock", "VERSION", "simulator/virtual-nucleo"),
)


@dataclass(frozen=True)
class Replayer:
    """The host's build of an image's heap, which tells where the blocks of a run lay.

    `name` is its folder's; without `program`, `why_none` is the sentence why there is none.
    """

    name: str = ""
    program: bytes = b""
    why_none: str = ""


@dataclass(frozen=True)
class ShippedImage:
    """A firmware as bytes, with what a run must know of its build.

    `footprint` is the ELF file that holds the allocator alone.
    """

    sha256: str
    elf: bytes
    footprint: bytes
    allocator: str
    configuration: Configuration
    looks: tuple[int, ...]
    replayer: Replayer = Replayer()
    row: Allocator | None = None
    """Of an allocator from outside, which a worker does not know."""

    @cached_property
    def digest(self) -> str:
        """The digest of both files. The replayer follows from the image and the sources."""
        return hashlib.sha256(self.elf + self.footprint).hexdigest()


@dataclass(frozen=True)
class Order:
    """One run: its key, its settings, its plan. `bench` is digest() where the campaign began.

    With `verify` it is also made by the real tools, and both are compared.
    """

    key: str
    point: Point
    plan: Plan
    samplerate_hz: int
    capture: Capture
    bench: str
    verify: bool = False


@dataclass(frozen=True)
class Needs:
    """The image that a point needs from the build."""

    allocator: str
    art: bool
    locking: str | None
    knobs: tuple[tuple[str, int], ...]
    extras: tuple[str, ...]
    heap_bytes: int
    placement: int = 0
    board: str = boards.DEFAULT

    @classmethod
    def of(cls, point: Point, plan: Plan) -> Needs:
        knobs = tuple(sorted((name.upper(), value) for name, value in point.knobs.items()))
        choices = (point.allocator, point.art == "on", point.locking, knobs)
        return cls(*choices, plan.extras, plan.heap_bytes, point.placement, point.board)


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


@cache
def shipped(needs: Needs) -> ShippedImage:
    """Builds an image, once in each process. Raises TailscopeError."""
    image = firmware.build(
        needs.allocator,
        needs.art,
        needs.locking,
        dict(needs.knobs),
        needs.extras,
        heap_bytes=needs.heap_bytes,
        board=needs.board,
    )
    return of_image(placed(image, placement(needs.placement)))


def of_image(image: FirmwareImage) -> ShippedImage:
    """The files of an image that is built."""
    built = image.configuration
    row = allocators()[image.allocator]
    return ShippedImage(
        image.sha256,
        image.elf.read_bytes(),
        image.elf.with_name("tailscope_footprint.elf").read_bytes(),
        image.allocator,
        replace(built, knobs=dict(built.knobs)),
        image.looks,
        _replayer(image),
        row if row.source is not None else None,
    )


def _replayer(image: FirmwareImage) -> Replayer:
    try:
        program = program_of(image)
        return Replayer(program.parent.name, program.read_bytes())
    except TailscopeError as error:
        return Replayer(why_none=first_line(error))


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
    found = hashlib.sha256()
    for path in sorted(files):
        name = path.relative_to(root)
        if not {"tests", "__pycache__"} & set(name.parts):
            found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


class Orders:
    """Makes the orders of a matrix. The plan of the latest scenario and seed is kept."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._latest: tuple[object, Plan, float] | None = None

    def plan(self, point: Point) -> Plan:
        """Raises TailscopeError."""
        return self._compiled(point)[0]

    def _compiled(self, point: Point) -> tuple[Plan, float]:
        """The plan, and the seconds that it may take."""
        asked = (point.scenario, point.parameters, point.seed, point.heap_bytes, point.board)
        if self._latest is None or self._latest[0] != asked:
            on = board(point.board).board
            plan = self._matrix.scenario(point).compile(region.place(on))
            self._latest = (asked, plan, longest_s(plan, on.core_hz))
        return self._latest[1:]

    def make(self, point: Point) -> tuple[Order, ShippedImage]:
        """The order of a point and its image, which is built where it is not yet.

        Raises TailscopeError where it cannot be run.
        """
        plan, duration_s = self._compiled(point)
        image = shipped(Needs.of(point, plan))
        rate, capture = samplerate_hz(point), self._matrix.capture
        decisions = {
            "image": image.digest,
            "looks": image.looks,
            "operations": hashlib.sha256(plan.image).hexdigest(),
            "parameters": plan.parameters,
            "scenario": plan.name,
            "duration_s": duration_s,
            "samplerate_hz": rate,
            "board": str(board(point.board)),
            "records": RECORDS,
            "capture": capture,
            "replayed": bool(image.replayer.program),
            "bench": digest(),
        }
        return Order(_hashed(decisions), point, plan, rate, capture, digest()), image
