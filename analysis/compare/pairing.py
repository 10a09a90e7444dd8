"""Which run of one side belongs to which of the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.compare.found import Found, Stored
from capture.run_folder.manifest import Manifest

PairedBy = Literal["given", "options", "scenario"]
Side = Literal["a", "b"]

# A trace's file may lie elsewhere; its digest is another parameter.
_TRACE, _TRACE_DIGEST = "trace", "trace_sha256"


@dataclass(frozen=True)
class Options:
    """What the user chose: two runs with equal options are the same measurement, made twice.

    What the sources decide is not among it: compiler, firmware, defaults of knobs, FLASH_ACR's wait
    states. `operated` says how the board was had: simulated, or from another tool's capture.
    """

    scenario: str
    allocator: str
    parameters: tuple[tuple[str, int | str], ...]
    seed: int | None
    stimulus: tuple[Hashable, ...]
    heap_bytes: int | None
    knobs: tuple[tuple[str, str], ...]
    locking: str | None
    accelerated: bool
    records: str
    samplerate_hz: int
    board: str
    operated: tuple[bool, bool]

    @classmethod
    def of(cls, manifest: Manifest) -> Options:
        """The options of the run."""
        asked = manifest.asked
        built_heap = asked.heap_bytes if asked else None
        told_heap = manifest.firmware.heap_bytes
        stimulus = manifest.stimulus
        return cls(
            scenario=manifest.scenario,
            allocator=manifest.allocator,
            parameters=tuple(sorted(parameters_of(manifest).items())),
            seed=manifest.seed,
            stimulus=(
                stimulus.mode,
                stimulus.period_ticks,
                stimulus.control_period_ticks,
                stimulus.parameter,
            ),
            heap_bytes=built_heap if told_heap is None else told_heap,
            knobs=tuple(sorted(manifest.turned_knobs.items())),
            locking=manifest.locking or (asked.locking if asked else None),
            accelerated=manifest.built_accelerated,
            records=manifest.records,
            samplerate_hz=manifest.samplerate_hz,
            board=manifest.board,
            operated=(manifest.exact, manifest.imported is not None),
        )


@dataclass(frozen=True)
class Pair:
    """Two runs to compare, and what made them a pair."""

    a: Stored
    b: Stored
    by: PairedBy


@dataclass(frozen=True)
class Pairing:
    """`older` counts the runs of each side that a later one with the same options stands for."""

    pairs: tuple[Pair, ...]
    only_a: tuple[Stored, ...]
    only_b: tuple[Stored, ...]
    older: dict[Side, int]


def parameters_of(manifest: Manifest) -> dict[str, int | str]:
    """The parameters that decide the operations."""
    digest_is_told = _TRACE_DIGEST in manifest.parameters
    return {
        name: value for name, value in manifest.parameters.items() if not (name == _TRACE and digest_is_told)
    }


def latest(runs: Iterable[Stored]) -> dict[Options, Stored]:
    """Of the runs with the same options the one that began last, in the order of beginning."""
    found: dict[Options, Stored] = {}
    for run in sorted(runs, key=lambda one: one.began):
        options = Options.of(run.manifest)
        found.pop(options, None)
        found[options] = run
    return found


def pair(a: Found, b: Found) -> Pairing:
    """Pairs the runs of two sides.

    Two runs that the user named belong together. Otherwise it takes equal options; of what is left,
    the only run of a scenario on either side belongs to the only one on the other.
    """
    if a.single and b.single:
        return Pairing((Pair(a.runs[0], b.runs[0], "given"),), (), (), {"a": 0, "b": 0})
    ours, theirs = latest(a.runs), latest(b.runs)
    pairs = [Pair(run, theirs[options], "options") for options, run in ours.items() if options in theirs]
    left_a = [run for options, run in ours.items() if options not in theirs]
    left_b = [run for options, run in theirs.items() if options not in ours]
    loose = list(_only_ones(left_a, left_b))
    taken = {one.folder for found in loose for one in (found.a, found.b)}
    return Pairing(
        (*pairs, *loose),
        tuple(run for run in left_a if run.folder not in taken),
        tuple(run for run in left_b if run.folder not in taken),
        {"a": len(a.runs) - len(ours), "b": len(b.runs) - len(theirs)},
    )


def _only_ones(left_a: Sequence[Stored], left_b: Sequence[Stored]) -> Iterable[Pair]:
    for run in left_a:
        scenario = run.manifest.scenario
        ours = [one for one in left_a if one.manifest.scenario == scenario]
        theirs = [one for one in left_b if one.manifest.scenario == scenario]
        if len(ours) == len(theirs) == 1:
            yield Pair(run, theirs[0], "scenario")
