"""A run watched while it is under way: what has come so far, told a few times a second.

The threads that receive samples and records do nothing for it. A thread of its own reads what they
have gathered since its last look.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import polars as pl

from base.files.errors import CaptureError
from base.paths import RUNS
from base.run_folder.edge_stream import NewEdges
from base.run_folder.folder import RunName
from base.run_folder.progress_file import Section, SoFar
from base.run_folder.records import ALLOCATION_KINDS, Boot, OperationRecord, parse_line
from base.tell import Tell

EVERY_S = 0.25
"""Between two looks."""

_BOOT = b"@BOOT,"
_NANOSECONDS = 1_000_000_000
_SECTION_OF = {**dict.fromkeys(ALLOCATION_KINDS, "critical"), "F": "free"}


class Part(NamedTuple):
    """Which run of its command a run is, and about how many seconds the command still takes."""

    run: int = 1
    runs: int = 1
    left_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of every new run: where its folder is made, and who hears of it meanwhile.

    `progress` is told in a few words what is going on, and `live` a few times a second what came so
    far. `part` is what the run is of its command.
    """

    runs: Path = RUNS
    progress: Tell = lambda _step: None
    live: Callable[[SoFar], None] = lambda _so_far: None
    part: Part = field(default_factory=Part)
    wire: Callable[[NewEdges], None] | None = None
    """Gets the edges as they come."""


@dataclass
class Counted:
    """What the records tell so far. `measured` are the numbers of the measured operations, and
    `longest` has their longest sections, of allocations by `critical` and of frees by `free`.
    """

    measured: Collection[int]
    operations: int = 0
    first_s: float | None = None
    last_s: float | None = None
    longest: dict[str, Section] = field(default_factory=dict)
    _before_s: float | None = None
    _core_hz: int | None = None
    _rest: bytes = b""

    def take(self, received: bytes, now_s: float) -> None:
        """Reads the whole lines of what was received; a new BOOT begins the count again."""
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            try:  # BOOT is behind what a line that floats made of itself
                record = parse_line(line[max(line.find(_BOOT), 0) :])
            except ValueError:  # the verdict will tell of a damaged line
                continue
            if isinstance(record, Boot):
                self.operations, self.first_s, self.last_s = 0, None, None
                self.longest = {}
                self._core_hz = record.core_hz
            elif isinstance(record, OperationRecord):
                self.operations += 1
                self.first_s, self.last_s = self._before_s if self.first_s is None else self.first_s, now_s
                name = _SECTION_OF.get(record.kind)
                if name and self._core_hz is not None and record.seq in self.measured:
                    longest, cycles = self.longest.get(name), record.critical_cycles
                    if longest is None or cycles > longest.cycles:
                        ns = cycles * _NANOSECONDS / self._core_hz
                        self.longest[name] = Section(seq=record.seq, size=record.size, cycles=cycles, ns=ns)
        self._before_s = now_s

    @property
    def per_s(self) -> float | None:
        """Operations a second, from the look before the first record to the last one's."""
        if self.first_s is None or self.last_s is None or self.last_s <= self.first_s:
            return None
        return self.operations / (self.last_s - self.first_s)


class Sources(NamedTuple):
    """Where to look: the records' bytes from a place on, the samples so far, and their edges since
    the last look, None if nothing came, which may raise CaptureError.
    """

    records: Callable[[int], bytes]
    samples: Callable[[], int]
    asked_samples: int
    edges: Callable[[], NewEdges | None] | None = None


@dataclass
class Watch:
    """Tells of a run what has come so far: its file, which `write` writes, and who is named in the
    request, whose `progress` hears of steps only. `operations` are the plan's; None of a run
    without any.
    """

    name: RunName
    began: datetime
    write: Callable[[SoFar], None]
    request: Request
    operations: pl.DataFrame | None = None
    _begun_s: float = field(default_factory=time.monotonic)
    _step: str = ""
    _read_bytes: int = 0
    _sources: Sources | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        planned = self.operations
        self._counted = Counted(() if planned is None else {*planned.filter("measured")["seq"]})

    def step(self, step: str) -> None:
        """A step of the run begins."""
        self._step = step
        self.request.progress(step)
        self._tell()

    @contextmanager
    def following(self, sources: Sources) -> Iterator[None]:
        """Looks at `sources` every EVERY_S while the block runs, and once more at its end."""
        self._sources = sources
        over = threading.Event()

        def follow() -> None:
            while not over.wait(EVERY_S):
                self._tell()

        thread = threading.Thread(target=follow, name="live", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._tell()

    def _tell(self) -> None:
        """Reads what came since the last look, and tells it."""
        wire, sources, counted = self.request.wire, self._sources, self._counted
        with self._lock:
            now_s = time.monotonic()
            if sources:
                received = sources.records(self._read_bytes)
                self._read_bytes += len(received)
                counted.take(received, now_s)
            so_far = SoFar(
                scenario=self.name.scenario,
                allocator=self.name.allocator,
                board=self.name.board,
                **self.request.part._asdict(),
                began=self.began.isoformat(),
                elapsed_s=now_s - self._begun_s,
                step=self._step,
                operations=None if self.operations is None else counted.operations,
                planned_operations=None if self.operations is None else self.operations.height,
                operations_per_s=counted.per_s,
                samples=sources.samples() if sources else None,
                asked_samples=sources.asked_samples if sources else None,
                critical=counted.longest.get("critical"),
                free=counted.longest.get("free"),
            )
            self.write(so_far)
            self.request.live(so_far)
            if wire and sources and sources.edges:
                with suppress(CaptureError):  # the end of the run tells of a file that cannot be read
                    if (new := sources.edges()) is not None:
                        wire(new)
