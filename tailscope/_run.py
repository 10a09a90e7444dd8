"""A run: its verdict, its figures, the worst of each quantity, and its tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailscope import _tables
from tailscope._documents import Part, from_json
from tailscope._errors import Error, NotComplete
from tailscope._figures import Statistics, Timed
from tailscope._files import altered, check_members, read, shown
from tailscope._program import ask, options

if TYPE_CHECKING:
    import polars as pl

__tracebackhide__ = True  # pytest shows the line of the test

SCHEMA = 3
_MOST_BYTES = 16 << 20
_REMEDY = "restore the file or decode the run again (./lab redecode)"
_VERDICTS = ("complete", "truncated", "inconclusive")
QUANTITIES = {
    "section": "section_ns",
    "allocate": "critical_ns",
    "free": "free_critical_ns",
    "interrupt": "interrupt_latency_ns",
    "task": "task_latency_ns",
}
"""The words for a worst sample, and the statistic of run.json that it is of."""


@dataclass(frozen=True)
class Explanation:
    """Why the worst sample took so long. `document` is the JSON of `explain` (the reference)."""

    document: dict[str, Any]
    place: str
    """A sentence: how far from which operation it begins."""
    parts: tuple[str, ...]
    """What the time went to, one after the other, in words."""
    unknown: tuple[str, ...]
    """If the run was not replayed, a sentence on each thing that is therefore not known."""

    @classmethod
    def of(cls, part: Part) -> Explanation:
        """That of the command's document."""
        parts = part.parts("parts") if "parts" in part else []
        spent = tuple(f"{one.whole('cycles'):,} cycles: {one.text('words')}" for one in parts)
        return cls(dict(part.values), part.text("place"), spent, part.texts("unknown"))

    def __str__(self) -> str:
        return "\n".join([self.place, *self.parts, *self.unknown])


@dataclass(frozen=True, repr=False)
class Worst(Timed):
    """The longest sample of a quantity, as the wire shows it.

    It is true to plus or minus `budget_ns`, None if the run does not tell that. `verdict` is the
    run's. Where a wait was not over it is `open`, and the length a least one. `operation` is the
    number of its operation and `label` that one's, None if an interrupt came outside all
    operations. `times` says how many samples are as long. `fields` has all that run.json says of
    it, under `maxima`.
    """

    quantity: str
    folder: Path
    verdict: str
    budget_ns: float | None
    times: int
    operation: int | None
    label: str | None
    fields: dict[str, Any]

    @property
    def open(self) -> bool:
        """Whether a wait was not over: the longest lasts at least so long."""
        return bool(self.fields.get("open"))

    @property
    def length(self) -> str:
        """`62.56 µs`, or `≥ 62.56 µs`."""
        return f"≥ {super().length}" if self.open else super().length

    def check(self, *, at_most_ns: float) -> None:
        """Raises AssertionError, with the story, if it is longer than the limit, or may be."""
        super().check(at_most_ns=at_most_ns)
        if self.open:
            self._fail(f"whether it is within {at_most_ns:,} ns is not known: a wait was not over")

    def explain(self) -> Explanation:
        """Replays the run on the virtual board, and tells what the time went to."""
        words = ["explain", f"--quantity={self.quantity}", "--json", "--", str(self.folder)]
        return Explanation.of(ask(*words))

    def _details(self) -> list[str]:
        budget = "" if self.budget_ns is None else f", true to ±{self.budget_ns:,.2f} ns"
        return [f"{self.where}{budget}", f"run: {shown(self.folder)}, {self.verdict}"]


class Run:
    """A stored run. Raises NotComplete unless it is complete, or `any_verdict` is true; and Error.

    The refusal is here, at the one door, so that no figure can be had without the verdict: not by
    an attribute that is read first, nor by one that a later version adds.
    """

    def __init__(self, folder: str | PathLike[str], *, any_verdict: bool = False) -> None:
        self.folder = Path(folder)
        check_members(self.folder)
        self._part = _manifest(self.folder)
        self.verdict = self._part.text("verdict")
        """`complete`, `truncated` or `inconclusive`."""
        self.reasons = self._part.texts("reasons")
        """Why it is not complete, in sentences."""
        if self.verdict not in _VERDICTS:
            self._part.wrong("verdict", f"must be one of {', '.join(_VERDICTS)}")
        if self.verdict != "complete" and not any_verdict:
            raise NotComplete(shown(self.folder), self.verdict, self.reasons)
        self.warnings = self._part.texts("warnings")
        """What a reader must know and costs no verdict, in sentences."""
        self.scenario = self._part.text("scenario")
        self.allocator = self._part.text("allocator")
        self.board = self._part.text("board")
        self.samplerate_hz = self._part.whole("samplerate_hz")
        self.parameters: dict[str, Any] = dict(self._part.part("parameters").values)
        self.document: dict[str, Any] = dict(self._part.values)
        """The whole of run.json."""

    @property
    def complete(self) -> bool:
        """Whether its numbers may be believed."""
        return self.verdict == "complete"

    def statistics(self, key: str) -> Statistics | None:
        """The statistics of a quantity by its key in run.json, such as `free_critical_ns`; None if
        it has no samples. Raises Error if there is no such quantity.
        """
        maxima = self._part.part("maxima")
        if key not in maxima:
            raise Error(f"There is no quantity {key!r}; choose {', '.join(maxima)}.")
        found = self._part.maybe_part(key)
        return None if found is None or not found.whole("n") else Statistics.of(found)

    def worst(self, quantity: str) -> Worst:
        """The longest sample of `allocate`, `free`, `interrupt` or `task`.

        Raises Error if there is no such quantity, or the run has no sample of it.
        """
        if quantity not in QUANTITIES:
            raise Error(f"There is no quantity {quantity!r}; choose {', '.join(QUANTITIES)}.")
        key = QUANTITIES[quantity]
        found = self._part.part("maxima").maybe_part(key)
        if found is None:
            raise Error(f"{shown(self.folder)}: has no sample of {quantity}.")
        operation, label = found.maybe_whole("seq"), found.maybe_text("label")
        of_label = f" ({label})" if label else ""
        return Worst(
            quantity,
            "outside of all operations" if operation is None else f"operation {operation}{of_label}",
            float(found.number("value")),
            quantity,
            self.folder,
            self.verdict,
            self._budget_ns(key),
            found.whole("times"),
            operation,
            label,
            dict(found.values),
        )

    @cached_property
    def operations(self) -> pl.DataFrame:
        """One row per operation (docs/reference/operations.md)."""
        return _tables.operations(self.folder / "operations.parquet")

    @cached_property
    def interrupts(self) -> pl.DataFrame:
        """One row per stimulus (docs/reference/interrupts.md)."""
        return _tables.interrupts(self.folder / "interrupts.parquet")

    @property
    def edges(self) -> pl.DataFrame:
        """The capture: a row wherever a channel changes (docs/reference/edges.md)."""
        return self._edges.frame

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels: bit i of `word` in `edges` is channel i."""
        return self._edges.channels

    @cached_property
    def _edges(self) -> _tables.Edges:
        return _tables.edges(self.folder / "edges.parquet")

    def _budget_ns(self, key: str) -> float | None:
        budget = self._part.part("error_budget").maybe_part(key)
        total = budget.maybe_part("total") if budget else None
        return total.maybe_number("ns") if total else None

    def __repr__(self) -> str:
        why = f": {' '.join(self.reasons)}" if self.reasons else ""
        return f"<Run {self.scenario} on {self.allocator}, board {self.board}, {self.verdict}{why}>"


def run(
    scenario: str | PathLike[str],
    *,
    allocator: str | PathLike[str],
    parameters: Mapping[str, object] | None = None,
    knobs: Mapping[str, int] | None = None,
    board: str | None = None,
    seed: int | None = None,
    stimulus: str | None = None,
    samplerate: str | None = None,
    duration: str | None = None,
    records: str | None = None,
    capture: str | None = "direct",
    art: str | None = None,
    locking: str | None = None,
    heap: str | None = None,
    folder: str | PathLike[str] | None = None,
    any_verdict: bool = False,
) -> Run:
    """Runs one scenario on one allocator, and returns the stored run.

    The options are those of `./lab scenario`; `folder` is --runs, the folder that the run's own is
    made in. `capture` is by the virtual board itself unless it is told; None leaves it to the
    bench. Raises NotComplete if the run is not complete, and Error.
    """
    chosen = {
        "allocator": os.fspath(allocator),
        "parameter": _pairs(parameters),
        "knob": _pairs(knobs),
        "board": board,
        "seed": seed,
        "stimulus": stimulus,
        "samplerate": samplerate,
        "duration": duration,
        "records": records,
        "capture": None if board else capture,
        "art": art,
        "locking": locking,
        "heap": heap,
        "runs": None if folder is None else os.fspath(folder),
    }
    answer = ask("scenario", *options(chosen), "--json", "--", os.fspath(scenario))
    made = answer.parts("runs")
    if len(made) != 1:
        raise Error(f"These words name {len(made)} runs; tailscope.run() makes one: name one allocator.")
    return Run(made[0].text("folder"), any_verdict=any_verdict)


def _pairs(named: Mapping[str, object] | None) -> list[str]:
    return [f"{name}={value}" for name, value in (named or {}).items()]


def _manifest(folder: Path) -> Part:
    """run.json. Raises Error where it is missing, damaged, or of a version that is not read."""
    path = folder / "run.json"
    if (folder / "observed.json").exists():
        raise Error(
            f"{shown(folder)}: is a run from the wire alone (./lab observe) and has no operations; its "
            "figures are in its run.json."
        )
    part = from_json(read(path, _MOST_BYTES, _REMEDY), shown(path), _REMEDY)
    schema = part.whole("schema")
    if schema > SCHEMA:
        raise Error(
            f"{shown(path)}: is of schema {schema}, and this version reads {SCHEMA}; install a newer one."
        )
    if schema < SCHEMA:
        raise Error(f"{shown(path)}: is of schema {schema}, and this version reads {SCHEMA}; run it again.")
    files = part.part("files")
    digests = {name: files.text(name) for name in files.values}
    for name in ("operations.parquet", "interrupts.parquet"):
        if name not in digests and part.text("verdict") == "complete":
            part.wrong("files", f"lacks the digest of {name}")
    if (other := altered(folder, digests)) is not None:
        raise Error(f"{shown(folder / other)}: is not the file that run.json was written of; {_REMEDY}.")
    return part
