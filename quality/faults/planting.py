"""A healthy run, and faults in it that are drawn from a seed and can be named."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from base.files.errors import TailscopeError
from base.run_folder.manifest import Manifest
from capture.acquisition.source import Taken
from capture.acquisition.stored import read_stored
from capture.store import judge
from capture.summary.summary import summarise_run
from quality.faults import records, wire

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
        seen = self.stored.seen
        on_wire = {name: partial(self._on_wire, kind) for name, kind in wire.kinds(seen.edges)}
        in_records = {
            name: partial(self._in_records, kind) for name, kind in records.kinds(seen.serial_bytes)
        }
        return on_wire | in_records

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
        random = np.random.default_rng((seed, zlib.crc32(self.kind.encode()), self.number))
        return run.kinds[self.kind](random)
