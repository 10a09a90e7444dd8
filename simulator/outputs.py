"""Reads the files that the virtual Nucleo writes (docs/reference/simulator-files.md)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from base.run_folder.channels import CHANNELS
from firmware.build.board_table import USUAL_PINS
from simulator.build import SimulatorError

if TYPE_CHECKING:
    import polars as pl

PINS: Mapping[str, str] = USUAL_PINS
"""The pin of each channel (docs/reference/pins.md)."""

_PAGE = "docs/reference/simulator-files.md"

WINDOW = ("window", "start_cycle", "end_cycle")
"""The first columns of `--windows`."""
INSTRUCTIONS = "instructions"
"""The column of `--instructions-while`, the last where it is."""


@dataclass(frozen=True)
class ClockSpan:
    """From `cycle` on, which begins `seconds` after reset, the core runs at `core_hz`; exact."""

    cycle: int
    seconds: Fraction
    core_hz: Fraction


@dataclass(frozen=True)
class Note:
    """Something odd that the program did and that did not stop the run.

    `kind` and `consequence` are those of docs/reference/simulator-files.md. The instruction at `pc`
    did it first, in `cycle`; None and an empty `function` if that is not known. The run may be
    another than the chip's from there on if it `differs`. A setting may have lasted for
    `lasted_cycles`, in all.
    """

    kind: str
    what: str
    address: int
    differs: bool
    consequence: str
    pc: int | None
    function: str
    cycle: int
    reads: int
    writes: int
    lasted_cycles: int | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The note that a file has as this object."""
        pc = None if row["pc"] is None else int(row["pc"], 16)
        fields = {"address": int(row["address"], 16), "pc": pc, "function": row["function"] or ""}
        return cls(**{**row, **fields})

    def __str__(self) -> str:
        """A line for a report."""
        where = self.function or (f"{self.pc:#010x}" if self.pc is not None else "")
        place = f" in {where}" if where else ""
        times = " and ".join(
            f"{count:,} {verb}" for count, verb in ((self.reads, "read"), (self.writes, "written")) if count
        )
        if self.kind == "undefined_instruction":
            times = f"{self.reads:,} executed"
        lasted = "" if self.lasted_cycles is None else f", for {self.lasted_cycles:,} cycles"
        return f"{self.what}: {times}, first{place} in cycle {self.cycle:,}{lasted}; {self.consequence}"

    def as_json(self) -> dict[str, Any]:
        """What docs/reference/simulator-files.md describes."""
        pc = None if self.pc is None else f"{self.pc:#010x}"
        fields = {**self.__dict__, "address": f"{self.address:#010x}", "pc": pc}
        if self.lasted_cycles is None:
            del fields["lasted_cycles"]
        return {**fields, "function": self.function or None}


def notes_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Note, ...]:
    """The notes that a file of the simulator has."""
    return tuple(map(Note.of, rows))


def note_sentences(notes: Iterable[Note]) -> tuple[str, ...]:
    """A sentence for each of the simulator's notes."""
    return tuple(f"{note}." for note in notes)


def read_notes(path: Path) -> tuple[Note, ...]:
    """Reads the file of `--notes`. None are in one that is not there yet."""
    try:
        return notes_of(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return ()


_WORD = "the word at"


@dataclass(frozen=True)
class Standstill:
    """Why a program can never do anything else: `sleeps` or `polls`, at the instruction at `pc`.

    One that polls reads `what` (a register's name, or the address of a word) again and again. Of
    `mask` each bit would end the loop; 0 if no single one would. `for_ever` says that nothing at
    all is on its way. `sentence` is the whole, without its full stop.
    """

    kind: Literal["sleeps", "polls"]
    sentence: str
    pc: int
    what: str = ""
    mask: int = 0
    for_ever: bool = True

    @property
    def of_register(self) -> bool:
        """Whether a peripheral's register is read, and no memory."""
        return self.kind == "polls" and not self.what.startswith(_WORD)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """That of the file's object."""
        pc = int(row["pc"], 16)
        if row["kind"] == "sleeps":
            return cls("sleeps", row["sentence"], pc)
        what = row["register"] or f"{_WORD} {row['address']}"
        return cls("polls", row["sentence"], pc, what, int(row["mask"] or "0", 16), row["for_ever"])


@dataclass(frozen=True)
class Stats:
    """How much a run executed, and how fast.

    `instructions` are all that the program went through. Of these, `skipped_instructions` belong to
    waiting loops, whose effect was repeated without executing them. `host_seconds` and `mips`
    differ from run to run; the rest does not. `clocks` are those of the core since reset, in order.
    `flash_access_control` is FLASH_ACR at the end (RM0368 §3.8.1), and `apb_dividers` are the
    core's cycles in one of PCLK1 and PCLK2. `pc` is the instruction at the end, and `vectors` are
    the words of the vector table that the core reads there. `notes` are what was odd, and
    `standstill` says why the program can never do anything else, None if it may.
    """

    instructions: int
    skipped_instructions: int
    cycles: int
    host_seconds: float
    mips: float
    clocks: tuple[ClockSpan, ...]
    flash_access_control: int
    apb_dividers: tuple[int, int]
    pc: int
    vectors: tuple[int, ...]
    notes: tuple[Note, ...]
    standstill: Standstill | None


@dataclass(frozen=True)
class State:
    """The machine at the beginning of `cycle`, which is exactly `seconds` after reset.

    `core_hz` is the core's clock at that time. Bit n of `channels` is the level of channel n.
    `registers` are by name. `stack` are the calls under way, innermost first: each address, and
    whether its instruction comes next, where no call returns to it; empty where the program's file
    was not given. `sram` is the whole memory from `sram_address` on.
    """

    cycle: int
    seconds: Fraction
    core_hz: Fraction
    channels: int
    registers: dict[str, int]
    stack: list[tuple[int, bool]]
    sram_address: int
    sram: bytes

    def word(self, address: int) -> int | None:
        """The 32-bit word at `address`; None if it does not lie in SRAM."""
        offset = address - self.sram_address
        if not 0 <= offset <= len(self.sram) - 4:
            return None
        return int.from_bytes(self.sram[offset : offset + 4], "little")


def read_stats(path: Path) -> Stats:
    """Reads `stats.json`."""
    values = json.loads(path.read_text(encoding="utf-8"))
    return Stats(
        instructions=values["instructions"],
        skipped_instructions=values["skipped_instructions"],
        cycles=values["cycles"],
        host_seconds=values["host_seconds"],
        mips=values["mips"],
        clocks=tuple(
            ClockSpan(row["cycle"], Fraction(*row["seconds"]), Fraction(*row["core_hz"]))
            for row in values["clocks"]
        ),
        flash_access_control=values["flash_access_control"],
        apb_dividers=tuple(values["apb_dividers"]),
        pc=values["registers"]["pc"],
        vectors=tuple(values["vectors"]),
        notes=notes_of(values["notes"]),
        standstill=Standstill.of(values["standstill"]) if values["standstill"] else None,
    )


def read_edges(path: Path, pins: Mapping[str, str] = PINS) -> pl.DataFrame:
    """Reads `edges.csv`: one row for each edge of a channel, in order. Other pins are left out.
    `pins` are those of the channels.

    Columns: `cycle` Int64, core cycles since reset; `channel` String, one of CHANNELS; `level`
    Boolean.
    """
    import polars as pl  # takes a while

    channel_of = {pin: channel for channel, pin in pins.items()}
    return (
        pl.read_csv(path, schema={"cycle": pl.Int64, "pin": pl.String, "level": pl.Int8})
        .filter(pl.col("pin").is_in(list(channel_of)))
        .select(
            "cycle",
            channel=pl.col("pin").replace_strict(channel_of, return_dtype=pl.String),
            level=pl.col("level") == 1,
        )
    )


def words(edges: pl.DataFrame, before: int = 0) -> Iterator[tuple[int, int]]:
    """(cycle, word) after each edge of read_edges(). Bit n of a word is channel n, as in a capture.

    `before` is the word that the first edge changes. Several edges in one cycle give a word each;
    the last one holds.
    """
    word = before
    for cycle, channel, level in edges.iter_rows():
        bit = 1 << CHANNELS.index(channel)
        word = word | bit if level else word & ~bit
        yield cycle, word


def read_windows(table: bytes) -> pl.DataFrame:
    """Reads `windows.csv`: one row for each pulse of the channel.

    Columns, all Int64: `window`, `start_cycle`, `end_cycle`, one for each count, by its name, and
    INSTRUCTIONS if they were asked for.
    The program may still be writing the file: a line without its end is left out. Raises
    SimulatorError if it is no such table.
    """
    import polars as pl  # takes a while
    from polars.exceptions import PolarsError

    whole = table[: table.rfind(b"\n") + 1]
    try:
        windows = pl.read_csv(whole, infer_schema=False).cast(pl.Int64)
    except PolarsError:
        windows = None
    if windows is None or tuple(windows.columns[:3]) != WINDOW or any(windows.null_count().row(0)):
        raise SimulatorError(f"This is no table of the virtual Nucleo's windows ({_PAGE}).")
    return windows


hexadecimal = partial(int, base=16)
"""Reads an address such as 0x08000198."""


def read_table(path: Path, columns: Iterable[str], *readers: Callable[[str], Any]) -> Iterator[list[Any]]:
    """The rows of a CSV file of the virtual Nucleo that has these columns, each value as the
    reader of its column has it; None where it is empty.

    Raises SimulatorError if it is no such table.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            if next(rows, []) != list(columns):
                raise ValueError
            for row in rows:
                yield [read(word) if word else None for read, word in zip(readers, row, strict=True)]
    except (OSError, ValueError):
        raise SimulatorError(f"{path.name} is no table of the virtual Nucleo ({_PAGE}).") from None


def read_state(path: Path) -> State:
    """Reads a file that --save-state wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return State(
        cycle=document["cycle"],
        seconds=Fraction(*document["seconds"]),
        core_hz=Fraction(*document["core_hz"]),
        channels=document["channels"],
        registers=document["registers"],
        stack=document["stack"],
        sram_address=document["sram_address"],
        sram=bytes.fromhex(document["sram"]),
    )


def read_trace(path: Path) -> list[dict[str, Any]]:
    """Reads the JSON lines that --trace wrote: one object for each step of the core."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Change(NamedTuple):
    """A change of what holds interrupts and tasks off, by the instruction at `pc`. `began` is the
    cycle in which the core began to enter or to leave a handler, `task` the control block of the
    task that runs, and `stack` a number of read_stacks(); None where there is none.
    """

    cycle: int
    what: str
    value: int
    pc: int
    began: int | None = None
    task: int | None = None
    stack: int | None = None


def read_changes(path: Path) -> list[Change]:
    """Reads the file of `--masks`, in order."""
    readers = (int, str, int, hexadecimal, int, hexadecimal, int)
    return [Change(*row) for row in read_table(path, Change._fields, *readers)]


def read_stacks(path: Path) -> dict[int, list[int]]:
    """Reads the file of `--mask-stacks`: the addresses of each stack, innermost first."""
    stacks: dict[int, list[int]] = {}
    for stack, _, pc in read_table(path, ("stack", "depth", "pc"), int, int, hexadecimal):
        stacks.setdefault(stack, []).append(pc)
    return stacks
