"""The baseline file: TOML, an entry for each run or program (docs/how-to/ci.md).

    schema                        4
    command                       "gate", "masks", "latency" or "bounds"
    [limits]                      KIND = "LIMIT"
    [[entry]]                     at most 1,000; one of a program
    [entry.settings]              what must be equal to be compared
    [entry.made_by]               what the sources and tools decided; a difference is named
    [entry.functions.NAME]        of a program: KIND = cycles, or "open" of what had not ended when
                                  the run did, or "none" of what has no bound
    [entry.run]                   of runs:
    exact                         true of the virtual board
    repetitions                   1 of what is exact, else at least 3
    image_sha256                  of operations.bin
    operations                    a text, below
    [entry.run.quantities.KEY]    a statistic of run.json: budget, and of n (of what is exact),
                                  mean, median, p99, p99_9 and max a list with a value for each
                                  repetition

The settings are texts, and no two entries have equal ones. Those of a run have the names of `./lab
compare`. `board folder` is the board that the runs were made on: a run is refused if the file has
its scenario and allocator of other boards only. Those of a program are in the words of the command
line: until, options (chip, hse, strict, gaps, semihosting, any-core, attach); of latency irq,
section, around, every, enable, and pends and seed where they are drawn; of bounds kernel, pointers,
and what was taken of the flash and the buses: wait-states, flash, apb-divider. *from*
says from when on figures count: `start of Zephyr`, `main`, `reset`, a function or a time. So limits
and baselines judge what follows start-up, unless `--from reset` counts all.

The operations are lines of up to eight with one label, so that a change of one operation changes
one line: `512 depth 1: F391/204 A365/185/4 F460/243`. Before the colon stand the number of the
first and the label, for the reader. An operation is KIND CYCLES[/INSTRUCTIONS[/PROBES]][+HITS]
without spaces:

| part | meaning |
|---|---|
| KIND | that of the record `OP` |
| CYCLES | of the critical section by DWT; `-` of a board that is not exact, where they scatter |
| INSTRUCTIONS | `-` if they were not counted |
| PROBES, HITS | 0 if absent |
| HITS | the interrupts that ran within the section: the control interrupt, and under the lock
`scheduler` the other, too |
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from analysis.compare.settings import BOARD_FOLDER, differing
from analysis.errors import GateError
from base.files.complaints import WrongValueError
from base.files.documents import Table, open_toml
from base.files.formats import document
from base.files.whole import write_bytes
from base.metrology.summaries import Number
from base.run_folder.records import OPERATION_KINDS

OPERATIONS_A_LINE = 8
_LABEL_MOST = 40
_NUMBER = r"[0-9]{1,10}"
_OPERATION = re.compile(
    rf"([{''.join(OPERATION_KINDS)}])(-|{_NUMBER})(?:/(-|{_NUMBER}))?(?:/({_NUMBER}))?(?:\+({_NUMBER}))?"
)


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation did. `cycles` are those of its critical section, None where they are not
    kept or there was none. `hits` counts the interrupts that ran within the section.
    """

    kind: str
    cycles: int | None
    instructions: int | None
    probes: int
    hits: int = 0

    def __str__(self) -> str:
        word = f"{self.kind}{_digits(self.cycles)}"
        if self.instructions is not None or self.probes:
            word += f"/{_digits(self.instructions)}{f'/{self.probes}' if self.probes else ''}"
        return word + (f"+{self.hits}" if self.hits else "")


def _digits(number: int | None) -> str:
    return "-" if number is None else str(number)


def operations_text(operations: Sequence[Operation], labels: Sequence[str | None]) -> str:
    """The lines of `operations`, each ending in a newline; `labels` are theirs."""
    lines = []
    for label, numbers in groupby(range(len(operations)), key=lambda number: labels[number]):
        group = list(numbers)
        # The label as far as it can stand in a line.
        plain = "" if label is None else " " + re.sub(r"[^\w .,=+-]", "_", label)[:_LABEL_MOST]
        for at in range(0, len(group), OPERATIONS_A_LINE):
            words = [str(operations[n]) for n in group[at : at + OPERATIONS_A_LINE]]
            lines.append(f"{group[at]}{plain}: {' '.join(words)}\n")
    return "".join(lines)


def operations_of(text: str) -> list[Operation]:
    """The operations of `text`. Raises GateError: a predicate with the line's number."""
    operations: list[Operation] = []
    for number, line in enumerate(text.splitlines(), 1):
        first, _, words = line.partition(": ")
        if first.partition(" ")[0] != str(len(operations)):
            raise GateError(f"has in line {number} not operation {len(operations):,}, but {line[:40]!r}")
        for word in words.split():
            match = _OPERATION.fullmatch(word)
            if match is None:
                raise GateError(f"has in line {number} no operation, but {word[:40]!r}")
            cycles, instructions = (None if part in (None, "-") else int(part) for part in match.group(2, 3))
            operations.append(
                Operation(match[1], cycles, instructions, int(match[4] or 0), int(match[5] or 0))
            )
    return operations


SCHEMA = 4
BYTES_MOST = 16 << 20
"""A baseline of 25 allocators on 12 scenarios takes less."""
REPETITIONS_LEAST = 3
"""Of a board that is not exact. Two values say next to nothing of how a third will scatter."""
GATE = "gate"
"""The command that judges runs."""

_HEAD = "# A baseline of `{}`, which --update writes anew: limits stay, comments do not.\n"
_OF_RUNS = """\
# An operation is its kind, then cycles/instructions/probes of its critical section; +1 is an
# interrupt that met it. A line begins with the number of its first operation.
"""
OF_A_MATTER = ("scenario", "allocator", "board", BOARD_FOLDER)
"""The settings without which an entry is of another run altogether."""
_Name = Annotated[str, Field(min_length=1, max_length=4096)]
_Text = Annotated[str, Field(max_length=1024)]
_Texts = dict[Annotated[str, Field(max_length=256)], _Text]
_Key = Annotated[str, Field(max_length=64)]
_Empty: Any = Field(default={})
_Values = Annotated[list[Annotated[Number, Field(ge=0)]], Field(min_length=1, max_length=1000)]
_Cycles = Annotated[int, Field(ge=0, lt=1 << 63)] | Literal["open", "none"]


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
    def by_name(self) -> dict[str, list[Number]]:
        """The statistics that there are."""
        values: dict[str, list[Number]] = self.model_dump(exclude={"budget"}, exclude_none=True)
        return values


class Figures(Table):
    """The operations and figures of one run, or of its repetitions. `exact` says that each
    repetition is the same to the cycle.
    """

    exact: bool
    repetitions: Annotated[int, Field(ge=1, le=1000)]
    image_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    operations: Annotated[str, Field(pattern=r"^[^'\x00-\x09\x0b-\x1f\x7f]*$")]
    quantities: dict[_Key, Statistics] = _Empty

    @model_validator(mode="after")
    def _whole(self) -> Figures:
        if not self.exact and self.repetitions < REPETITIONS_LEAST:
            raise WrongValueError(f"must be at least {REPETITIONS_LEAST} of a real board", "repetitions")
        for name, quantity in self.quantities.items():
            for statistic, values in quantity.by_name.items():
                if len(values) != self.repetitions:
                    words = f"must have a value for each of the {self.repetitions} repetitions"
                    raise WrongValueError(words, "quantities", name, statistic)
        return self


class Entry(Table):
    """What was measured with these settings: the figures of runs, or of a program the cycles
    of each kind in each function. `made_by` is what the sources and tools decided.
    """

    settings: _Texts
    made_by: _Texts = _Empty
    functions: Annotated[dict[_Name, dict[_Name, _Cycles]], Field(max_length=100_000)] = _Empty
    run: Figures | None = None

    @property
    def figures(self) -> Figures:
        """Those of runs."""
        assert self.run is not None
        return self.run

    @property
    def name(self) -> str:
        """The entry of a run in words: scenario, allocator, board."""
        return "{} on {}, board {}".format(*map(self.settings.get, OF_A_MATTER))


class Baseline(Table):
    """The file. `limits` are words of the command line, by what they limit."""

    schema_: Literal[4]
    command: Literal["gate", "masks", "latency", "bounds"]
    limits: dict[_Name, _Text] = _Empty
    entry: Annotated[list[Entry], Field(max_length=1000)] = Field(default=[])
    _path: Path = PrivateAttr(Path())

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self._path

    def entry_of(self, settings: Mapping[str, str], name: str, matter: Collection[str] = ()) -> Entry:
        """The entry of these settings. Raises GateError that tells in what the nearest differs; of
        the settings `matter` it differs in none. `name` is what is looked for, in words.
        """
        settings = {name: value for name, value in settings.items() if value}
        alike = [
            entry
            for entry in self.entry
            if all(entry.settings.get(key) == settings.get(key) for key in matter)
        ]
        if not alike:
            raise GateError(f"{self.path} has no entry of {name}; add it with --update.")
        near = min(alike, key=lambda entry: len(entry.settings.items() ^ settings.items()))
        if near.settings == settings:
            return near
        apart = ", ".join(map(str, differing(near.settings, settings)))
        raise GateError(
            f"{self.path} was made with other settings ({apart}): run with those of the baseline, or make it "
            "anew with --update."
        )

    @model_validator(mode="after")
    def _fits(self) -> Baseline:
        for number, entry in enumerate(self.entry):
            if (entry.run is not None) != (self.command == GATE):
                raise WrongValueError(f"is none of the command {self.command}", "entry", number)
            if any(entry.settings == other.settings for other in self.entry[:number]):
                raise WrongValueError("has the settings of an entry before it", "entry", number)
        return self


def made(path: Path, command: str, limits: Mapping[str, str], entries: Collection[Entry]) -> Baseline:
    """A baseline to be written to `path`; the entries in the order of their names."""
    baseline = Baseline.model_validate(
        {
            "schema": SCHEMA,
            "command": command,
            "limits": dict(limits),
            "entry": sorted(entries, key=lambda entry: (entry.name, *sorted(entry.settings.items()))),
        }
    )
    baseline._path = path
    return baseline


def read(path: Path, command: str) -> Baseline:
    """Reads a baseline of `command`. Raises GateError with one sentence: file, line and key.

    The operations of a run are read when a run needs them.
    """
    remedy = "restore the file, or delete it and write it anew with --update"
    baseline = open_toml(path, GateError, remedy=remedy, most_bytes=BYTES_MOST).check(Baseline)
    baseline._path = path
    if baseline.command != command:
        raise GateError(
            f"{path} is a baseline of {baseline.command}, not of {command}; name another file, or delete it "
            "and write it anew with --update."
        )
    return baseline


def as_text(baseline: Baseline) -> str:
    """The file's text."""
    values = baseline.model_dump(by_alias=True, exclude_defaults=True)
    head = _HEAD.format(baseline.command) + (_OF_RUNS if baseline.command == GATE else "")
    return f"{head}\n{document(values)}"


def write(baseline: Baseline) -> int:
    """Writes it to its path, whole or not at all. Returns how many bytes. Raises WriteError."""
    content = as_text(baseline).encode()
    write_bytes(baseline.path, content)
    return len(content)
