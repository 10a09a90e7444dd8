"""A run: its verdict, its figures, the worst of each quantity, and its tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypedDict, Unpack

import polars as pl

from tailscope import _base
from tailscope._bench import Document, FilePath, ask, options
from tailscope._errors import Error, NotComplete
from tailscope._figures import Timed

__tracebackhide__ = True  # pytest shows the line of the test

_OUTSIDE = "outside of all operations"


@dataclass(frozen=True)
class Explanation:
    """Why the worst sample took so long. `document` is the JSON of `explain` (the reference)."""

    document: Document
    place: str
    """A sentence: how far from which operation it begins."""
    parts: tuple[str, ...]
    """What the time went to, one after the other, in words."""
    unknown: tuple[str, ...]
    """If the run was not replayed, a sentence on each thing that is therefore not known."""

    def __str__(self) -> str:
        return "\n".join([self.place, *self.parts, *self.unknown])


class Worst(Timed):
    """The longest sample of a quantity, as the wire shows it.

    It is true to plus or minus `budget_ns`, None if the run does not tell that. `verdict` is the
    run's. `maximum` is what run.json says of it under `maxima`. `operation` is the number of its
    operation, None if an interrupt came outside all operations, and `label` the label of that. If
    `open`, a wait was not over: the longest lasts at least so long.
    """

    folder: Path
    verdict: str
    budget_ns: float | None
    maximum: _base.Maximum
    operation: int | None
    label: str | None
    open: bool

    @property
    def where(self) -> str:
        """The operation, with its label."""
        of_label = f" ({self.label})" if self.label else ""
        return f"operation {self.operation}{of_label}" if self.operation is not None else _OUTSIDE

    @property
    def length(self) -> str:
        """`62.56 µs`, or `≥ 62.56 µs`."""
        return f"{self.maximum.at_least}{super().length}"

    def check(self, *, at_most_ns: float) -> None:
        """Raises AssertionError, with the story, if it is longer than the limit, or may be."""
        super().check(at_most_ns=at_most_ns)
        if self.open:
            self._fail(f"whether it is within {at_most_ns:,} ns is not known: a wait was not over")

    def explain(self) -> Explanation:
        """Replays the run on the virtual board, and tells what the time went to."""
        document = ask("explain", f"--quantity={self.name}", "--json", "--", str(self.folder))
        parts = (f"{part['cycles']:,} cycles: {part['words']}" for part in document.get("parts", ()))
        return Explanation(document, document["place"], tuple(parts), tuple(document["unknown"]))

    def _details(self) -> list[str]:
        budget = "" if self.budget_ns is None else f", true to ±{self.budget_ns:,.2f} ns"
        return [f"{self.where}{budget}", f"run: {self.folder}, {self.verdict}"]


class Run:
    """A stored run. Raises NotComplete unless it is complete, or `any_verdict` is true; and Error.

    The refusal is here, at the one door, so that no figure can be had without the verdict: not by
    an attribute that is read first, nor by one that a later version adds.
    """

    def __init__(self, folder: FilePath, *, any_verdict: bool = False) -> None:
        self.folder = Path(folder)
        with _refusals():
            self.manifest = _base.read_manifest(self.folder / "run.json")
            """The whole of run.json."""
        self.verdict = self.manifest.verdict
        """`complete`, `truncated` or `inconclusive`."""
        self.reasons = tuple(self.manifest.reasons)
        """Why it is not complete, in sentences."""
        if not self.complete and not any_verdict:
            raise NotComplete(str(self.folder), self.verdict, self.reasons)
        self.warnings = tuple(self.manifest.warnings)
        """What a reader must know and costs no verdict, in sentences."""
        self.scenario = self.manifest.scenario
        self.allocator = self.manifest.allocator
        self.board = self.manifest.board
        self.samplerate_hz = self.manifest.samplerate_hz
        self.parameters = self.manifest.parameters

    @property
    def complete(self) -> bool:
        """Whether its numbers may be believed."""
        return self.verdict == "complete"

    @property
    def document(self) -> Document:
        """The whole of run.json, as JSON has it."""
        return self.manifest.as_json()

    def statistics(self, key: str) -> _base.Statistics | None:
        """The statistics of a quantity by its key in run.json, such as `free_critical_ns`; None if
        it has no samples. Raises Error if there is no such quantity.
        """
        if key not in self.manifest.statistics:
            raise Error(f"There is no quantity {key!r}; choose {', '.join(self.manifest.statistics)}.")
        statistics = self.manifest.statistics[key]
        return statistics if statistics.n else None

    def worst(self, quantity: str) -> Worst:
        """The longest sample of `section`, `allocate`, `free`, `interrupt` or `task`.

        Raises Error if there is no such quantity, or the run has no sample of it.
        """
        if quantity not in _base.NAMED:
            raise Error(f"There is no quantity {quantity!r}; choose {', '.join(_base.NAMED)}.")
        key = _base.NAMED[quantity].key
        maximum, budget = self.manifest.maxima.get(key), self.manifest.error_budget.get(key)
        if maximum is None:
            raise Error(f"{self.folder}: has no sample of {quantity}.")
        return Worst(
            name=quantity,
            ns=maximum.value,
            folder=self.folder,
            verdict=self.verdict,
            budget_ns=budget.total.ns if budget else None,
            maximum=maximum,
            operation=maximum.seq,
            label=maximum.label,
            open=bool(maximum.open),
        )

    @cached_property
    def operations(self) -> pl.DataFrame:
        """One row per operation (docs/reference/operations.md)."""
        with _refusals():
            return _base.read_stored_operations(self.folder / "operations.parquet")

    @cached_property
    def interrupts(self) -> pl.DataFrame:
        """One row per stimulus (docs/reference/interrupts.md)."""
        with _refusals():
            return _base.read_interrupts(self.folder / "interrupts.parquet")

    @cached_property
    def edges(self) -> pl.DataFrame:
        """The capture: a row wherever a channel changes (docs/reference/edges.md)."""
        return pl.DataFrame({"sample": self._capture.sample, "word": self._capture.word})

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels: bit i of `word` in `edges` is channel i."""
        return self._capture.channels

    @cached_property
    def _capture(self) -> _base.EdgeList:
        with _refusals():
            return _base.read_edges(self.folder, self.manifest)

    def __repr__(self) -> str:
        why = f": {' '.join(self.reasons)}" if self.reasons else ""
        return f"<Run {self.scenario} on {self.allocator}, board {self.board}, {self.verdict}{why}>"


class RunOptions(TypedDict, total=False):
    """Further options of `./lab scenario`."""

    board: str
    seed: int
    stimulus: str
    samplerate: str
    duration: str
    records: str
    capture: str
    art: str
    locking: str
    optimise: str
    heap: str


def run(
    scenario: FilePath,
    *,
    allocator: FilePath,
    parameters: Mapping[str, object] | None = None,
    knobs: Mapping[str, int] | None = None,
    folder: FilePath | None = None,
    any_verdict: bool = False,
    **more: Unpack[RunOptions],
) -> Run:
    """Runs one scenario on one allocator, and returns the stored run.

    The options are those of `./lab scenario`; `folder` is --runs, the folder that the run's own is
    made in. The capture is by the virtual board itself unless it or a board is told. Raises
    NotComplete if the run is not complete, and Error.
    """
    usual = {} if more.get("board") else {"capture": "direct"}
    words = options(
        allocator=os.fspath(allocator),
        parameter=[f"{name}={value}" for name, value in (parameters or {}).items()],
        knob=[f"{name}={value}" for name, value in (knobs or {}).items()],
        runs=folder,
        **{**usual, **more},
    )
    made = ask("scenario", *words, "--json", "--", os.fspath(scenario))["runs"]
    if len(made) != 1:
        raise Error(f"These words name {len(made)} runs; tailscope.run() makes one: name one allocator.")
    return Run(made[0]["folder"], any_verdict=any_verdict)


@contextmanager
def _refusals() -> Iterator[None]:
    """Raises what the bench refuses as Error, in its words."""
    try:
        yield
    except _base.TailscopeError as error:
        raise Error(str(error)) from None
