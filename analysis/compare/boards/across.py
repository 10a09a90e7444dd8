"""Runs of one allocator on several boards, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from analysis.compare import run as of_run
from analysis.compare.boards.cores import Core, board_of, core_of
from analysis.compare.boards.figures import Figures, figures
from analysis.compare.pairing import Stored, find
from analysis.errors import CompareError
from base.heap_size import DEFAULT_BYTES
from base.run_folder.alike import Options, latest, parameters_of
from base.run_folder.manifest import FIRST_BOARD, Manifest


@dataclass(frozen=True)
class OnBoard:
    """A run and its figures. `core` is None where its manual's figures are not known here; `apart`
    are the parameters in which it differs from others of its group.
    """

    run: str
    manifest: Manifest
    title: str
    core: Core | None
    figures: Figures
    apart: tuple[str, ...] = ()

    @property
    def counter(self) -> str:
        """What counted the core's cycles: DWT, or the timer that stands in for it."""
        board = board_of(self.manifest)
        return board.counter if board else "counter"

    @property
    def name(self) -> str:
        """The board, and what of the run is not as usual for it."""
        lock = self.manifest.locking
        own = board_of(self.manifest)
        usual = own.locks[0] if own else "basepri"
        heap = self.manifest.firmware.heap_bytes
        words = [] if lock in (None, usual) else [str(lock)]
        words += [] if heap in (None, DEFAULT_BYTES) else [f"heap {heap:,}"]
        words += [] if self.manifest.complete else [self.manifest.verdict]
        return ", ".join([self.title, *self.apart, *words])


@dataclass(frozen=True)
class Group:
    """The runs of one scenario on one allocator, a line for each board."""

    scenario: str
    allocator: str
    lines: tuple[OnBoard, ...]

    @property
    def title(self) -> str:
        return f"{self.scenario} on {self.allocator}"

    @property
    def remark(self) -> str:
        """A sentence where the runs did not run the same operations; empty where they did."""
        if len({line.manifest.image_crc32 for line in self.lines}) == 1:
            return ""
        return (
            f"{self.title}: the boards did not run the same operations, so the longest sections are not of "
            "the same search; give all of them the same --parameter. A slope per freed block is not "
            "concerned."
        )


@dataclass(frozen=True)
class Across:
    """All groups that have two boards or more. `left_out` are sentences on the other runs."""

    groups: tuple[Group, ...]
    left_out: tuple[str, ...] = ()

    @property
    def lines(self) -> list[OnBoard]:
        """All runs, those of the first group first."""
        return [line for group in self.groups for line in group.lines]

    @property
    def boards(self) -> list[OnBoard]:
        """The first run of each board."""
        return list({line.manifest.board_folder: line for line in reversed(self.lines)}.values())[::-1]


def on_board(run: str, manifest: Manifest, operations: pl.DataFrame) -> OnBoard | None:
    """The run with its figures; None where nobody knows its core's clock."""
    board = board_of(manifest)
    core_hz = manifest.core_hz or (board.core_hz if board else None)
    if core_hz is None:
        return None
    title = board.title if board else manifest.board_folder
    return OnBoard(run, manifest, title, core_of(board), figures(manifest, operations, core_hz))


def group(lines: Iterable[OnBoard]) -> tuple[Group, ...]:
    """The groups of two boards or more; in each the first board of the bench is first, then by
    name.
    """
    groups: dict[tuple[object, ...], list[OnBoard]] = {}
    for line in lines:
        groups.setdefault(_matter(line.manifest), []).append(line)
    return tuple(
        Group(ones[0].manifest.scenario, _allocator(ones), _told_apart(sorted(ones, key=_order)))
        for ones in sorted(groups.values(), key=lambda ones: _matter(ones[0].manifest)[:2])
        if len({board.manifest.board_folder for board in ones}) > 1
    )


def across(paths: Sequence[Path], tell: Callable[[str], None] = lambda _: None) -> Across:
    """The runs in `paths`, each a run folder or a folder of such; of those that are alike the
    latest.

    Raises TailscopeError where a path holds no run, and CompareError where no allocator ran the
    same on two boards.
    """
    sides = [find(path) for path in paths]
    stored = list({run.folder.resolve(): run for side in sides for run in side.runs}.values())
    chosen = latest(stored, lambda run: Options.of(run.manifest), lambda run: run.name)
    lines = [line for run in chosen if (line := _read(run, tell)) is not None]
    groups = group(lines)
    if not groups:
        names = " and ".join(sorted({line.manifest.board_folder for line in lines})) or "no board"
        raise CompareError(
            f"No allocator ran the same scenario on two boards (there is {names}): run it with "
            "--board a,b first."
        )
    taken = {line.run for one in groups for line in one.lines}
    alone = [f"{run.folder}: no run of another board is like it." for run in chosen if run.name not in taken]
    sentences = [sentence for side in sides for sentence in (*side.broken, *side.left_out)]
    return Across(groups, tuple(dict.fromkeys((*sentences, *alone))))


def _read(run: Stored, tell: Callable[[str], None]) -> OnBoard | None:
    tell(f"{run.manifest.scenario}, {run.manifest.configuration}")
    return on_board(run.name, run.manifest, of_run.read(run).operations)


def _matter(manifest: Manifest) -> tuple[object, ...]:
    """What must be equal of runs that stand in one group: the scenario and the allocator. A small
    board may have run it with smaller parameters.
    """
    options = Options.of(manifest)
    return (
        manifest.scenario,
        manifest.allocator,
        options.seed,
        options.knobs,
        manifest.outside.sha256 if manifest.outside else None,
    )


def _told_apart(lines: Sequence[OnBoard]) -> tuple[OnBoard, ...]:
    every = [parameters_of(line.manifest) for line in lines]
    names = dict.fromkeys(name for label in every for name in label)
    differing = [name for name in names if len({label.get(name) for label in every}) > 1]
    return tuple(
        replace(line, apart=tuple(f"{name} {label[name]}" for name in differing if name in label))
        for line, label in zip(lines, every, strict=True)
    )


def _allocator(lines: Sequence[OnBoard]) -> str:
    """The allocator and its knobs, without what boards differ in."""
    manifest = lines[0].manifest
    knobs = [f"{name}={value}" for name, value in manifest.turned_knobs.items()]
    return ", ".join([manifest.allocator, *knobs])


def _order(line: OnBoard) -> tuple[bool, str, str]:
    name = line.manifest.board_folder
    return name != FIRST_BOARD, name, line.name
