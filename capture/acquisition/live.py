"""A run watched while it is under way: what has come so far, told a few times a second.

The threads that receive samples and records do nothing for it. A thread of its own reads what they
have gathered since its last look.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from base.files.errors import CaptureError
from base.run_folder.edge_stream import NewEdges
from base.run_folder.folder import RunName
from base.run_folder.progress_file import ProgressFile, Section, SoFar
from base.run_folder.records import ALLOCATION_KINDS, Boot, OperationRecord, parse_line
from base.tell import Tell

EVERY_S = 0.25
"""Between two looks."""

_BOOT = b"@BOOT,"
_TOLD = (_BOOT, b"@OP,")
_NANOSECONDS = 1_000_000_000

Live = Callable[[SoFar], None]
Wire = Callable[[NewEdges], None]


class Part(NamedTuple):
    """Which run of its command a run is, and about how many seconds the command still takes."""

    run: int = 1
    runs: int = 1
    left_s: float | None = None


class Work(NamedTuple):
    """What a plan will do: how many operations, and the numbers of the measured ones."""

    operations: int
    measured: frozenset[int]


ALONE = Part()


@dataclass
class Counted:
    """What the records tell so far. `measured` are the numbers of the measured operations."""

    measured: Collection[int]
    operations: int = 0
    first_s: float | None = None
    last_s: float | None = None
    critical: Section | None = None
    free: Section | None = None
    _before_s: float | None = None
    _core_hz: int | None = None
    _rest: bytes = b""

    def take(self, received: bytes, now_s: float) -> None:
        """Reads the whole lines of what was received; a new BOOT begins the count again."""
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            at = max(line.find(_BOOT), 0)  # behind what a line that floats made of itself
            if line[at:].startswith(_TOLD):
                self._take_line(line[at:], now_s)
        self._before_s = now_s

    def _take_line(self, line: bytes, now_s: float) -> None:
        try:
            record = parse_line(line)
        except ValueError:  # the verdict will tell of a damaged line
            return
        if isinstance(record, Boot):
            self.operations, self.first_s, self.last_s, self.critical, self.free = 0, None, None, None, None
            self._core_hz = record.core_hz
        elif isinstance(record, OperationRecord):
            self.operations += 1
            self.first_s, self.last_s = self._before_s if self.first_s is None else self.first_s, now_s
            if record.seq in self.measured and record.kind in ALLOCATION_KINDS:
                self.critical = self._longer(self.critical, record)
            elif record.seq in self.measured and record.kind == "F":
                self.free = self._longer(self.free, record)

    @property
    def per_s(self) -> float | None:
        """Operations a second, from the look before the first record to the last one's."""
        if self.first_s is None or self.last_s is None or self.last_s <= self.first_s:
            return None
        return self.operations / (self.last_s - self.first_s)

    def _longer(self, section: Section | None, record: OperationRecord) -> Section | None:
        if self._core_hz is None or (section is not None and record.critical_cycles <= section.cycles):
            return section
        cycles = record.critical_cycles
        return Section(
            seq=record.seq, size=record.size, cycles=cycles, ns=cycles * _NANOSECONDS / self._core_hz
        )


class Edges(Protocol):
    """Hands over what came since the last look; None if nothing did. May raise CaptureError."""

    def more(self) -> NewEdges | None: ...


class Sources(NamedTuple):
    """Where to look: the records' bytes from a place on, the samples so far, and their edges."""

    records: Callable[[int], bytes]
    samples: Callable[[], int]
    asked_samples: int
    edges: Edges | None = None


class Watch:
    """Tells of a run what has come so far: its `file`, and `live`; `progress` hears of steps only.

    `work` is None for a run without operations. `wire` gets the edges, where the source has any.
    """

    def __init__(
        self,
        name: RunName,
        began: datetime,
        file: ProgressFile,
        progress: Tell,
        live: Live,
        part: Part = ALONE,
        work: Work | None = None,
        wire: Wire | None = None,
    ) -> None:
        self._name = name
        self._began = began
        self._begun_s = time.monotonic()
        self._file = file
        self._progress = progress
        self._live = live
        self._part = part
        self._work = work
        self._wire = wire
        self._counted = Counted(work.measured if work else ())
        self._step = ""
        self._read_bytes = 0
        self._sources: Sources | None = None
        self._lock = threading.Lock()

    @property
    def draws(self) -> bool:
        """Whether anybody wants the edges."""
        return self._wire is not None

    def step(self, step: str) -> None:
        """A step of the run begins."""
        self._step = step
        self._progress(step)
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
        with self._lock:
            so_far = self._so_far(time.monotonic())
            self._file.write(so_far)
            self._live(so_far)
            if self._wire and self._sources and self._sources.edges:
                with suppress(CaptureError):  # the end of the run tells of a file that cannot be read
                    if (new := self._sources.edges.more()) is not None:
                        self._wire(new)

    def _so_far(self, now_s: float) -> SoFar:
        """Reads what came since the last look."""
        sources, counted = self._sources, self._counted
        if sources:
            received = sources.records(self._read_bytes)
            self._read_bytes += len(received)
            counted.take(received, now_s)
        return SoFar(
            scenario=self._name.scenario,
            allocator=self._name.allocator,
            board=self._name.board,
            run=self._part.run,
            runs=self._part.runs,
            left_s=self._part.left_s,
            began=self._began.isoformat(),
            elapsed_s=now_s - self._begun_s,
            step=self._step,
            operations=counted.operations if self._work else None,
            planned_operations=self._work.operations if self._work else None,
            operations_per_s=counted.per_s,
            samples=sources.samples() if sources else None,
            asked_samples=sources.asked_samples if sources else None,
            critical=counted.critical,
            free=counted.free,
        )
