"""A series: which cases it runs and how many, which diverge in which fields, and its report."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quality.differential import batches, encodings
from quality.differential.batches import (
    APSR_MASK,
    EXECUTED,
    M4,
    MARGIN_BYTES,
    SLOT_BYTES,
    SLOTS,
    Batch,
    Core,
    Program,
    Results,
    assemble,
)
from quality.differential.encodings import Opcodes, Random, Rows


class Divergence(NamedTuple):
    """One case that the core and Unicorn end differently.

    `fields` has the fields that differ, each with our value and Unicorn's: only `outcome` if one of
    the two did not execute the case. `code` is the program in hexadecimal, `fpscr_before` the FPSCR
    that the case began with.
    """

    row: int
    code: str
    fields: dict[str, tuple[int, int]]
    fpscr_before: int
    detail: str

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name} {ours:#x} and not {theirs:#x}" for name, (ours, theirs) in self.fields.items()
        )
        return f"{self.code}: {shown}; {self.detail}"


def divergences(batch: Batch, ours: Results, theirs: Results) -> list[Divergence]:
    """All divergent cases of a batch. What neither executed is none."""
    done, theirs_done = ours["outcome"] == EXECUTED, theirs["outcome"] == EXECUTED
    ours_of, theirs_of = _words(ours), _words(theirs)
    differs = done != theirs_done
    for name, words in ours_of.items():
        differs |= done & theirs_done & (words != theirs_of[name])
    divergent = []
    for at in np.flatnonzero(differs).tolist():
        pairs = {name: (int(words[at]), int(theirs_of[name][at])) for name, words in ours_of.items()}
        if done[at] != theirs_done[at]:
            pairs = {"outcome": (int(ours["outcome"][at]), int(theirs["outcome"][at]))}
        before = batch.cases[at]
        start = MARGIN_BYTES + SLOT_BYTES * at + int(before["pc"]) % SLOT_BYTES
        divergent.append(
            Divergence(
                row=int(batch.rows[at]),
                code=batch.code[start : start + int(batch.lengths[at])].hex(),
                fields={name: (a, b) for name, (a, b) in pairs.items() if a != b},
                fpscr_before=int(before["fpscr"]),
                detail=f"before: {before}",
            )
        )
    return divergent


def _words(results: Results) -> dict[str, npt.NDArray[np.uint64]]:
    """What is compared, by name: each register by itself, of the status the flags."""
    columns = {name: results[name] for name in ("pc", "fpscr", "memory")}
    columns["apsr"] = results["status"] & APSR_MASK
    for name in ("r", "s"):
        columns |= {f"{name}{n}": results[name][:, n] for n in range(results[name].shape[1])}
    return columns


ACCEPTED_FILE = Path(__file__).with_name("divergences.toml")
SHOWN = 5


class Accepted(NamedTuple):
    """A divergence in which the manual says that Unicorn is wrong.

    `encoding` and `fields` are regular expressions. Only `bits` of those fields may differ. If
    `modes` is given, they may differ only in cases that begin with one of these bits set in FPSCR.
    `rare` divergences may be missing from a series of less than millions of cases. With `core`, it
    is one of that core's model alone.
    """

    encoding: str
    fields: str
    manual: str
    why: str
    bits: int = 0xFFFF_FFFF
    modes: int = 0
    rare: bool = False
    core: str = ""

    def explains(self, name: str, divergence: Divergence) -> bool:
        """True if it differs only in accepted bits of accepted fields of an accepted encoding."""
        if not re.match(self.encoding, name) or (self.modes and not divergence.fpscr_before & self.modes):
            return False
        return all(
            re.fullmatch(self.fields, field) and (ours ^ theirs) & ~self.bits == 0
            for field, (ours, theirs) in divergence.fields.items()
        )


class Report:
    """The cases, divergences and accepted divergences of each encoding: `names`, and by name why
    one is not compared.
    """

    def __init__(self, names: Sequence[str], elsewhere: dict[str, str], core: Core) -> None:
        self.names = list(names)
        self.elsewhere = elsewhere
        entries = tomllib.loads(ACCEPTED_FILE.read_text())["divergence"]
        self.rules = [rule for entry in entries if (rule := Accepted(**entry)).core in ("", core.name)]
        self.counts: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()
        self.used: Counter[Accepted] = Counter()
        self.unexplained: dict[str, list[Divergence]] = {}

    @property
    def cases(self) -> int:
        """How many cases there were so far."""
        return self.counts.total()

    @property
    def divergences(self) -> int:
        """How many divergences nothing explains."""
        return sum(map(len, self.unexplained.values()))

    def add(self, rows: npt.NDArray[np.int64], divergent: Sequence[Divergence]) -> None:
        """Counts the cases of a batch, and judges its divergences."""
        self.counts.update(self.names[row] for row in rows.tolist())
        for divergence in divergent:
            name = self.names[divergence.row]
            rule = next((rule for rule in self.rules if rule.explains(name, divergence)), None)
            if rule is None:
                self.unexplained.setdefault(name, []).append(divergence)
            else:
                self.accepted[name] += 1
                self.used[rule] += 1

    def untested(self) -> list[str]:
        """The encodings that no case tried and that are not tested elsewhere."""
        return [name for name in self.names if not self.counts[name] and name not in self.elsewhere]

    def stale(self) -> list[str]:
        """The accepted divergences that did not occur, apart from rare ones."""
        return [rule.encoding for rule in self.rules if not (self.used[rule] or rule.rare)]

    def as_text(self) -> str:
        """One line for each encoding, then some of the unexplained divergences in full."""
        lines = [f"{'cases':>9} {'accepted':>9} {'divergent':>9}  encoding"]
        for name in self.names:
            unexplained = len(self.unexplained.get(name, []))
            note = f"  ({self.elsewhere[name]})" if name in self.elsewhere else ""
            lines.append(f"{self.counts[name]:9} {self.accepted[name]:9} {unexplained:9}  {name}{note}")
        lines.append(f"{self.cases:9} {self.accepted.total():9} {self.divergences:9}  in all")
        return "\n".join([*lines, *self.samples()])

    def samples(self) -> list[str]:
        """A few unexplained divergences of each encoding."""
        return [
            f"{name}: {divergence}"
            for name, divergences in self.unexplained.items()
            for divergence in divergences[:SHOWN]
        ]


# A series: which cases it runs and how many, batch by batch.


SEQUENCES = "sequences of instructions"
# So many of a hundred cases are IT blocks, and so many are sequences.
IT_PERCENT, SEQUENCE_PERCENT = 8, 8
# So many cases of each encoding make a round. Each round draws new opcodes.
ROUND_CASES = 64


def run(count: int, seed: int, core: Core = M4) -> Report:
    """Runs at least `count` cases on a core, and reports on each encoding."""
    binary = encodings.build()
    rows = encodings.load(binary, core.name)
    elsewhere = {row.label: reason for row in rows if (reason := encodings.elsewhere(row))}
    report = Report([*(row.label for row in rows), SEQUENCES], elsewhere, core)
    random = np.random.default_rng(seed)
    while report.cases < count:
        for batch in round_of_batches(rows, random, core):
            ours, theirs = batches.run_core(binary, batch, core), batches.run_unicorn(batch, core)
            report.add(batch.rows, divergences(batch, core.comparable(ours), core.comparable(theirs)))
    return report


def parts(
    made: Sequence[Program],
    rows: Rows,
    random: Random,
    *,
    counted: bool,
    odd_data: bool = False,
) -> Iterator[tuple[Batch, Sequence[Program]]]:
    """Batches of the programs, and which each has."""
    for start in range(0, len(made), SLOTS):
        part = made[start : start + SLOTS]
        yield assemble(part, rows, random, counted=counted, odd_data=odd_data), part


def round_of_batches(rows: Rows, random: Random, core: Core) -> Iterator[Batch]:
    """The batches of a round: ROUND_CASES cases of each encoding, and IT blocks and sequences."""
    straight: list[Program] = []
    branching: list[Program] = []
    loading_pc: list[Program] = []
    drawn_plain: list[Opcodes] = []
    for index, row in enumerate(rows):
        if encodings.elsewhere(row) or row.name == "IT T1":
            continue
        drawn = encodings.draw(rows, index, random, ROUND_CASES)
        to_pc = encodings.loads_pc(row, drawn)
        for opcode, loads_pc, prelude in zip(drawn, to_pc, random.integers(0, 2, len(drawn)), strict=True):
            kind = loading_pc if loads_pc else branching if encodings.branches(row) else straight
            kind.append(batches.program(row, index, int(opcode), int(prelude)))
        drawn_plain.append(encodings.plain_opcodes(row, drawn))
    plain = np.concatenate(drawn_plain)
    total = len(straight) + len(branching) + len(loading_pc)
    if core.mainline:
        straight += batches.it_blocks(plain, rows, random, total * IT_PERCENT // 100)
    straight += [
        Program(len(rows), tuple(random.choice(plain, length).tolist()))
        for length in random.integers(2, 6, total * SEQUENCE_PERCENT // 100)
    ]
    for batch, _ in (
        *parts(straight, rows, random, counted=False),
        *parts(branching, rows, random, counted=True),
        *parts(loading_pc, rows, random, counted=True, odd_data=True),
    ):
        yield batch
