"""The baseline file: TOML with an entry for each run (docs/reference/baseline.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from analysis.compare.gate import lines
from analysis.compare.gate.lines import Operation
from analysis.compare.settings import BOARD_FOLDER
from analysis.errors import GateError
from base.files.complaints import WrongValueError
from base.files.documents import Table, open_toml
from base.files.toml_text import key, pairs
from base.files.whole import write_bytes
from base.metrology.quantiles import Number
from base.run_folder.placements import Range

SCHEMA = 1
BYTES_MOST = 8 << 20
"""A baseline of 25 allocators on 12 scenarios takes less."""
REPETITIONS_LEAST = 3
"""Of a board that is not exact. Two values say next to nothing of how a third will scatter."""

_HEAD = """\
# A baseline of ./lab gate (docs/how-to/ci.md). `./lab gate --baseline FILE --update RUN…` writes it anew:
# limits stay, comments do not. An operation is its kind, then cycles/instructions/probes of its
# critical section; 8-9 is the least and the most, +1 an interrupt that met it. (a b)*3 stands for
# a b a b a b. A line begins with the number of its first operation.
"""
_OF_ONE_MATTER = ("scenario", "allocator", "board", BOARD_FOLDER)
_Texts = dict[Annotated[str, Field(max_length=256)], Annotated[str, Field(max_length=1024)]]
_Values = Annotated[list[Annotated[Number, Field(ge=0)]], Field(min_length=1, max_length=1000)]
_Count = Annotated[int, Field(ge=0, lt=1 << 32)]


class Statistics(Table):
    """A quantity of each repetition, in its own unit. `budget` is the error budget, ± the greatest
    of them. A statistic is absent where a repetition has too few samples for it.
    """

    budget: Annotated[Number, Field(ge=0)]
    n: _Values | None = None
    mean: _Values | None = None
    median: _Values | None = None
    p99: _Values | None = None
    p99_9: _Values | None = None
    max: _Values | None = None

    @property
    def known(self) -> dict[str, list[Number]]:
        """The statistics that there are, by name."""
        every = {name: getattr(self, name) for name in Statistics.model_fields if name != "budget"}
        return {name: values for name, values in every.items() if values is not None}


class Entry(Table):
    """The operations and figures of one run, or of its repetitions.

    `exact` says that each repetition is the same to the cycle. `pulse_beyond_cycles` is how much
    longer the pulses are than the cycles, in samples; absent where pulses are not kept.
    `placements` has the greatest values over the placements of the code, by quantity; empty where
    the image was linked once. `scatter_cycles` is the widest that any operation scattered over the
    repetitions, and `beyond_scatter` how many operations a repetition had that were slower than in
    all others, and by more than these scatter; both are 0 of what is exact.
    """

    exact: bool
    repetitions: Annotated[int, Field(ge=1, le=1000)]
    image_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    pulse_beyond_cycles: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] | None = None
    scatter_cycles: _Count = 0
    beyond_scatter: _Count = 0
    settings: _Texts
    made_by: _Texts
    quantities: dict[Annotated[str, Field(max_length=64)], Statistics] = Field(default_factory=dict)
    placements: dict[Annotated[str, Field(max_length=64)], Range] = Field(default_factory=dict)
    operations: Annotated[str, Field(pattern=r"^[^'\x00-\x09\x0b-\x1f\x7f]*$")]

    @property
    def board_folder(self) -> str:
        """The name of the folder of the board that its runs were made on."""
        return self.settings[BOARD_FOLDER]

    @property
    def name(self) -> str:
        """The entry in words: scenario, allocator, board."""
        told = self.settings
        return f"{told.get('scenario')} on {told.get('allocator')}, board {told.get('board')}"

    def read_operations(self) -> list[Operation]:
        """The operations. Raises GateError with a predicate."""
        return lines.read(self.operations, self.pulse_beyond_cycles)

    @model_validator(mode="after")
    def _whole(self) -> Entry:
        if BOARD_FOLDER not in self.settings:
            raise WrongValueError("is missing", "settings", BOARD_FOLDER, remedy="make it anew with --update")
        if not self.exact and self.repetitions < REPETITIONS_LEAST:
            raise WrongValueError(f"must be at least {REPETITIONS_LEAST} of a real board", "repetitions")
        if self.exact and self.pulse_beyond_cycles is None:
            # Without it no pulse would be compared.
            raise WrongValueError("must be there where exact = true", "pulse_beyond_cycles")
        for name, quantity in self.quantities.items():
            for statistic, values in quantity.known.items():
                if len(values) != self.repetitions:
                    words = f"must have a value for each of the {self.repetitions} repetitions"
                    raise WrongValueError(words, "quantities", name, statistic)
        return self


class _File(Table):
    schema_: Annotated[Literal[1], Field(alias="schema")]
    limits: dict[str, Annotated[str, Field(max_length=64)]] = Field(default_factory=dict)
    entry: Annotated[list[Entry], Field(max_length=1000, default_factory=list)]

    @model_validator(mode="after")
    def _each_once(self) -> _File:
        seen: list[Mapping[str, str]] = []
        for number, entry in enumerate(self.entry):
            if entry.settings in seen:
                raise WrongValueError("has the settings of an entry before it", "entry", number)
            seen.append(entry.settings)
        return self


@dataclass(frozen=True)
class Baseline:
    """`limits` are words of the command line, by quantity."""

    path: Path | None = None
    limits: dict[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()

    def of(self, settings: Mapping[str, str]) -> Entry | None:
        """The entry of runs with these settings."""
        return next((entry for entry in self.entries if entry.settings == settings), None)

    def nearest(self, settings: Mapping[str, str]) -> Entry | None:
        """The entry of this scenario, allocator and board that differs least; None without one."""
        same = [
            entry
            for entry in self.entries
            if all(entry.settings.get(key) == settings.get(key) for key in _OF_ONE_MATTER)
        ]
        return min(same, key=lambda entry: len(entry.settings.items() ^ settings.items()), default=None)

    def other_boards(self, settings: Mapping[str, str]) -> tuple[str, ...]:
        """The boards of the entries of this scenario and allocator; none if one of them is of the
        board of `settings`.
        """
        same = (
            entry.board_folder
            for entry in self.entries
            if all(entry.settings.get(key) == settings.get(key) for key in ("scenario", "allocator"))
        )
        found = tuple(sorted(set(same)))
        return () if settings[BOARD_FOLDER] in found else found


def read(path: Path) -> Baseline:
    """Reads a baseline. Raises GateError with one sentence that names file, line and key.

    The operations of an entry are read when a run needs them.
    """
    remedy = "restore the file, or write it anew with --update"
    document = open_toml(path, GateError, remedy=remedy, most_bytes=BYTES_MOST)
    found = document.check(_File)
    return Baseline(path, dict(found.limits), tuple(found.entry))


def write(path: Path, baseline: Baseline) -> None:
    """Writes `baseline` to `path`, whole or not at all. Raises WriteError."""
    write_bytes(path, as_text(baseline).encode())


def as_text(baseline: Baseline) -> str:
    """The file's text; the entries are in the order of their names."""
    parts = [f"{_HEAD}\nschema = {SCHEMA}\n"]
    if baseline.limits:
        parts.append(f"\n[limits]\n{pairs(baseline.limits)}")
    parts += [_entry(entry) for entry in sorted(baseline.entries, key=_order)]
    return "".join(parts)


def _order(entry: Entry) -> tuple[str, ...]:
    return (entry.name, *(f"{name}={value}" for name, value in sorted(entry.settings.items())))


def _entry(entry: Entry) -> str:
    apart = {"settings", "made_by", "quantities", "placements", "operations"}
    told = entry.model_dump(exclude=apart, exclude_none=True)
    text = f"\n[[entry]]\n{pairs(told)}operations = '''\n{entry.operations}'''\n"
    text += f"\n[entry.settings]\n{pairs(entry.settings)}\n[entry.made_by]\n{pairs(entry.made_by)}"
    for name, quantity in entry.quantities.items():
        values = quantity.model_dump(exclude_none=True)
        text += f"\n[entry.quantities.{key(name)}]\n{pairs(values)}"
    for name, found in entry.placements.items():
        text += f"\n[entry.placements.{key(name)}]\n{pairs(found.model_dump())}"
    return text
