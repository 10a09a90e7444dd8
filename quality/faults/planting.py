"""A healthy run, and faults in it that are drawn from a seed and can be named.

Where no run folder is given, healthy runs are made on the virtual board.
"""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from base.files.errors import TailscopeError
from base.run_folder.manifest import Manifest
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest, Taken
from capture.acquisition.stored import read_stored
from capture.conduct import run
from capture.store import judge
from capture.summary.summary import summarise_run
from firmware.build import boards, region
from firmware.build import image as firmware
from quality.faults import records, wire
from scenarios import catalogue
from simulator import build as simulator

Planted = tuple[Taken, str]


class FaultError(TailscopeError):
    """Faults cannot be planted as was asked; the message says why."""


@dataclass(frozen=True)
class Healthy:
    """A run whose verdict is complete: what a fault is compared with.

    `name` is what a report calls it. `manifest` is what its run.json says.
    """

    name: str
    stored: Taken
    manifest: Manifest

    @cached_property
    def kinds(self) -> Mapping[str, Callable[[np.random.Generator], Planted]]:
        """The kinds of faults that can be planted in it, by name."""
        return self._kinds_on_wire | self._kinds_in_records

    @property
    def _kinds_on_wire(self) -> dict[str, Callable[[np.random.Generator], Planted]]:
        return {name: partial(self._on_wire, kind) for name, kind in wire.kinds(self.stored.seen.edges)}

    @property
    def _kinds_in_records(self) -> dict[str, Callable[[np.random.Generator], Planted]]:
        kinds = records.kinds(self.stored.seen.serial_bytes)
        return {name: partial(self._in_records, kind) for name, kind in kinds}

    def pair(self, random: np.random.Generator) -> Planted:
        """The run with two faults in it, and where and how large each is.

        One is of any kind, the other of the wire: damaged records name no kinds.
        """
        first, first_words = self.kinds[str(random.choice(list(self.kinds)))](random)
        kinds = replace(self, stored=first)._kinds_on_wire
        second, words = kinds[str(random.choice(list(kinds)))](random)
        return second, f"{first_words}; {words}"

    def _on_wire(self, kind: wire.Kind, random: np.random.Generator) -> Planted:
        edges, words = kind(self.stored.seen.edges, random)
        return self.stored._replace(seen=replace(self.stored.seen, edges=edges)), words

    def _in_records(self, kind: records.Kind, random: np.random.Generator) -> Planted:
        serial_bytes, words = kind(self.stored.seen.serial_bytes, random)
        seen = replace(self.stored.seen, serial_bytes=serial_bytes)
        return self.stored._replace(seen=seen), words


def healthy(name: str, stored: Taken) -> Healthy:
    """Judges a run. Raises FaultError where it is not complete."""
    manifest = summarise_run(*judge(*stored))
    if not manifest.complete:
        raise FaultError(
            f"{name} is {manifest.verdict} before any fault is planted ({' '.join(manifest.reasons)}); "
            "give runs that are complete."
        )
    return Healthy(name, stored, manifest)


def read_healthy(folder: Path) -> Healthy:
    """Reads and judges the run in `folder`.

    Raises TailscopeError where a file is missing or damaged, and FaultError where the run is not
    complete.
    """
    return healthy(folder.resolve().name, read_stored(folder))


PAIR = "pair"
"""The kind of a double fault: one of any kind, and one of the wire."""


@dataclass(frozen=True, order=True)
class Fault:
    """A fault by its name: the `number`-th of its kind. Seed and runs tell the rest."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}"

    @classmethod
    def named(cls, word: str) -> Fault:
        """Reads KIND:NUMBER. Raises FaultError."""
        kind, separator, number = word.rpartition(":")
        if not separator or not (number.isascii() and number.isdigit()):
            raise FaultError(f"--replay {word}: give KIND:NUMBER, such as shifted_edge.STIM:3.")
        return cls(kind, int(number))

    def plant(self, run: Healthy, seed: int) -> Planted:
        """The run with this fault in it, and where and how
        large it is. Equal calls give equal faults.
        """
        random = self.random(seed)
        return run.pair(random) if self.kind == PAIR else run.kinds[self.kind](random)

    def random(self, seed: int) -> np.random.Generator:
        """The numbers that it is drawn from."""
        return np.random.default_rng((seed, zlib.crc32(self.kind.encode()), self.number))


_AT_LEAST_S = 2.0


@dataclass(frozen=True)
class Recipe:
    """A run of `scenario`, small, since a fault costs as much time as the run has edges."""

    scenario: str
    samplerate_hz: int
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    stimulus: str | None = None
    records: str = "uart"
    allocator: str = "seglist"
    heap_bytes: int | None = None
    locking: str | None = None
    board: str = boards.DEFAULT
    bench_board: str = "virtual"

    def __str__(self) -> str:
        words = [f"{self.scenario} on {self.allocator} at {self.samplerate_hz // 1_000_000} MS/s"]
        words += [f"lock {self.locking}"] if self.locking else []
        words += [f"stimulus {self.stimulus}"] if self.stimulus else []
        words += [] if self.board == boards.DEFAULT else [self.board]
        words += ["records by RTT"] if self.records == "rtt" else []
        return ", ".join(words)


_ROWS = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))["recipe"]
RECIPES = tuple(Recipe(**row) for row in _ROWS)


def make(runs: Path, progress: Callable[[str], None] = lambda _: None) -> list[Healthy]:
    """Makes the run of each recipe in the folder `runs`, in order.

    Raises TailscopeError where a run cannot be made, and FaultError where one is not complete.
    """
    simulator.build()
    made = []
    for recipe in RECIPES:
        progress(f"making a run: {recipe}")
        image_of = partial(firmware.build, recipe.allocator, locking=recipe.locking, board=recipe.board)
        plan = catalogue.load(
            recipe.scenario, recipe.parameters, stimulus=recipe.stimulus, heap_bytes=recipe.heap_bytes
        ).compile(region.place(boards.board(recipe.board)))
        request = RunRequest(
            plan,
            image_of(extras=plan.extras, heap_bytes=recipe.heap_bytes),
            recipe.bench_board,
            recipe.samplerate_hz,
            runs=runs,
            # A debugger reads more slowly than the serial line sends.
            duration_s=_AT_LEAST_S if recipe.records == "rtt" else None,
            records=recipe.records,
        )
        made.append(replace(read_healthy(run(Sigrok(request)).folder), name=str(recipe)))
    return made
