"""How many runs a core makes in a minute: one after another, and as a campaign.

The ways take turns at the same workload. What counts is the processor's time, with that of the
programs that are started: the speed of a shared host changes by the second, its work does not. What
a process does once (imports, builds, bounds of an image) is done before. A campaign's runs bear
their share of this process too, where client and scheduler are.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from analysis.bounds.image import bounds_of_run
from analysis.campaign import cluster, conduct, matrix
from analysis.campaign.cluster import Cluster
from analysis.campaign.store import JOURNAL, RUNS, TABLES, Store
from analysis.errors import CampaignError
from analysis.fragmentation.of_run import memory_of_run
from base.processes import signals
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest, Source
from capture.conduct import run
from capture.desk.bench import read_bench
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import build as simulator

TARGET_CORE_S = 0.3
"""What a direct run of SCENARIO may take of a core, judged and stored."""
SCENARIO, ALLOCATOR = "mem_stress", "tlsf"
WORKERS = (1, 2)
RUNS_A_TURN = 4
BUSY_LOAD = 0.5
"""From this load on, others have enough work for a part of a core."""

Turn = Callable[[Sequence[int]], None]
"""Makes a run of each of these seeds."""


@dataclass(frozen=True)
class Cost:
    """The mean cost of a run in one turn: seconds of a core and of the clock.

    `conductor_s` are those of the core's seconds that this process took.
    """

    core_s: float
    wall_s: float
    conductor_s: float


@dataclass(frozen=True)
class Speed:
    """A way to make runs, what each of its turns cost, and how many bytes of what a run left."""

    way: str
    direct: bool
    turns: tuple[Cost, ...]
    stored_bytes: dict[str, int]

    @property
    def wall_s(self) -> float:
        """Seconds of the clock from one run to the next: the median of the turns."""
        return median(turn.wall_s for turn in self.turns)

    @property
    def conductor_s(self) -> float:
        """Seconds of a core that this process takes of a run: the median of the turns."""
        return median(turn.conductor_s for turn in self.turns)

    @property
    def core_s(self) -> tuple[float, float, float]:
        """Seconds of a core that a run takes: the median of the turns, the least, the greatest."""
        each = [turn.core_s for turn in self.turns]
        return median(each), min(each), max(each)

    def document(self) -> dict[str, Any]:
        """The turn as JSON. The runs a minute are those of a core that does nothing else."""
        middle, least, most = self.core_s
        return {
            "way": self.way,
            "core_s": middle,
            "core_s_least": least,
            "core_s_most": most,
            "conductor_s": self.conductor_s,
            "runs_per_minute_per_core": 60 / middle,
            "runs_per_minute": 60 / self.wall_s,
            "stored_bytes": self.stored_bytes,
        }


@dataclass(frozen=True)
class Speeds:
    """The ways side by side. `load` is how many were at work here when it began."""

    workload: str
    runs: int
    cores: int
    load: float
    ways: tuple[Speed, ...]

    @property
    def disturbed(self) -> bool:
        """True if others computed too, so that nothing compares with a machine at rest."""
        return self.load >= BUSY_LOAD

    def document(self) -> dict[str, Any]:
        """The speeds as JSON."""
        return {
            "workload": self.workload,
            "runs_each": self.runs,
            "cores": self.cores,
            "load": self.load,
            "disturbed": self.disturbed,
            "target_core_s": TARGET_CORE_S,
            "ways": [way.document() for way in self.ways],
        }


def measure(
    turns: int,
    tell: Callable[[str], None] = lambda _: None,
) -> Speeds:
    """Lets each way make the same runs, in `turns` turns of other seeds. Raises TailscopeError."""
    load = os.getloadavg()[0]
    with signals.orderly(), ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="tailscope-speed-")))
        tell("building")
        simulator.build()
        firmware.build(ALLOCATOR)
        ways = list(_ways(folder, opened))
        costs: dict[str, list[Cost]] = {way.name: [] for way in ways}
        for way in ways:
            tell(f"warming up: {way.name}")
            way.turn(range(1, 1 + way.warming))
        for number in range(turns):
            first = 1_000 * (number + 1)
            for way in ways:
                signals.check()
                tell(f"turn {number + 1} of {turns}: {way.name}")
                costs[way.name].append(way.timed(range(first, first + RUNS_A_TURN)))
        return Speeds(
            workload=_workload(),
            runs=turns * RUNS_A_TURN,
            cores=len(os.sched_getaffinity(0)),
            load=load,
            ways=tuple(
                Speed(way.name, way.direct, tuple(costs[way.name]), way.stored_bytes()) for way in ways
            ),
        )


@dataclass(frozen=True)
class _Way:
    """A way, and what tells how many seconds of a core its workers took so far.

    `warming` runs are made before any counts.
    """

    name: str
    direct: bool
    warming: int
    turn: Turn
    stored_bytes: Callable[[], dict[str, int]]
    workers_s: Callable[[], float] = lambda: 0.0

    def timed(self, seeds: Sequence[int]) -> Cost:
        here_s, workers_s, wall_s = cluster.process_core_s(), self.workers_s(), time.monotonic()
        self.turn(seeds)
        wall_s = time.monotonic() - wall_s
        here_s, workers_s = cluster.process_core_s() - here_s, self.workers_s() - workers_s
        return Cost((here_s + workers_s) / len(seeds), wall_s / len(seeds), here_s / len(seeds))


def _ways(folder: Path, opened: ExitStack) -> Iterator[_Way]:
    for name, source in (("sigrok", Sigrok), ("direct", Direct)):
        loop = _Loop(source, folder / name)
        yield _Way(f"one by one, {name}", name == "direct", 1, loop.turn, loop.stored_bytes)
    for count in WORKERS:
        workers = opened.enter_context(cluster.local(folder / f"scratch-{count}", count))
        made = _Campaign(workers, folder / f"campaign-{count}")
        name = f"campaign, {count} worker{'s' if count > 1 else ''}"
        # So many that each of the workers has one.
        yield _Way(f"{name}, direct", True, 2 * count, made.turn, made.stored_bytes, workers.core_s)


class _Loop:
    """The work of `./lab scenario` for each seed, in one process."""

    def __init__(self, source: Callable[[RunRequest], Source], folder: Path) -> None:
        self._source = source
        self._folder = folder
        self._made: list[Path] = []

    def turn(self, seeds: Sequence[int]) -> None:
        image = firmware.build(ALLOCATOR)
        for seed in seeds:
            plan = catalogue.load(SCENARIO, seed=seed).compile()
            request = RunRequest(plan, image, runs=self._folder, bounds=bounds_of_run, memory=memory_of_run)
            found = run(self._source(request))
            if found.verdict != "complete":
                raise CampaignError(f"A run of the benchmark is {found.verdict}: {found.reasons[0]}")
            self._made.append(found.folder)

    def stored_bytes(self) -> dict[str, int]:
        return {"run folder": round(sum(map(_size, self._made)) / len(self._made))}


class _Campaign:
    """One campaign, of which each turn asks for more."""

    def __init__(self, workers: Cluster, folder: Path) -> None:
        self._workers = workers
        self._folder = folder

    def turn(self, seeds: Sequence[int]) -> None:
        path = self._folder.with_suffix(".toml")
        path.write_text(
            f'scenarios = ["{SCENARIO}"]\nallocators = ["{ALLOCATOR}"]\nseeds = {list(seeds)}\n'
            'capture = "direct"\nverify = 0\n',
            encoding="utf-8",
        )
        asked, store = matrix.read(path), Store(self._folder)
        with store.writing():
            course = conduct.run(asked, store, self._workers, asked.count(), lambda _: None)
            store.write_runs()
        if course.incomplete:
            raise CampaignError("A run of the benchmark is not complete; see ./lab scenario.")

    def stored_bytes(self) -> dict[str, int]:
        runs = Store(self._folder).stored
        kinds = {RUNS: self._folder / RUNS, JOURNAL: self._folder / JOURNAL}
        kinds |= {what: self._folder / what for what in TABLES}
        return {name: round(_size(path) / runs) for name, path in kinds.items()}


def _workload() -> str:
    plan = catalogue.load(SCENARIO).compile()
    rate = read_bench().board("virtual").analyzer.samplerate_hz
    return f"{SCENARIO} on {ALLOCATOR}: {plan.operations.height:,} operations at {rate / 1e6:g} MS/s"


def _size(path: Path) -> int:
    """The size in bytes of a file, or of all files in a folder."""
    return sum(
        file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()
    )


_HEAD = ("s of a core a run", "in the client", "a minute a core", "by the clock")


def as_text(found: Speeds) -> str:
    """A line for each way, the target, the load, and the bytes that a run leaves."""
    return "\n".join(
        (
            f"{found.workload}, {found.runs} runs each way, after start-up",
            _row("", *_HEAD),
            *map(_line, found.ways),
            *(_beside_target(way, found.disturbed) for way in found.ways if way.direct),
            _load(found),
            *map(_bytes, found.ways),
        )
    )


def _row(way: str, core: str, client: str, rate: str, clock: str) -> str:
    return f"{way:<28}{core:>24}{client:>15}{rate:>17}{clock:>14}"


def _line(of: Speed) -> str:
    middle, least, most = of.core_s
    core = f"{middle:.3f} ({least:.3f} to {most:.3f})"
    return _row(of.way, core, f"{of.conductor_s:.3f}", f"{60 / middle:.0f}", f"{60 / of.wall_s:.0f}")


def _beside_target(of: Speed, disturbed: bool) -> str:
    taken = f"{of.way}: {of.core_s[0]:.3f} s"
    if of.core_s[0] < TARGET_CORE_S:
        return f"{taken}, below the {TARGET_CORE_S} s that it may take"
    if disturbed:
        return f"{taken}; on a machine at rest it may take {TARGET_CORE_S} s"
    return f"{taken}, not below the {TARGET_CORE_S} s that it may take"


def _load(found: Speeds) -> str:
    words = f"load when it began: {found.load:.1f}, on {found.cores} cores"
    if not found.disturbed:
        return words
    return (
        f"{words}. Others computed too: runs by the clock tell nothing, and seconds of a core are more than "
        "on a machine at rest. Compare the ways with each other only."
    )


def _bytes(of: Speed) -> str:
    kinds = ", ".join(f"{name} {size:,}" for name, size in of.stored_bytes.items())
    return f"{of.way}: {sum(of.stored_bytes.values()):,} bytes stored a run ({kinds})"
