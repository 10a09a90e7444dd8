"""A series: which cases it runs and how many, which diverge in which fields, and its report."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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
    Kind,
    Program,
    Results,
    assemble,
)
from quality.differential.encodings import Encoding, Mask, Opcodes, Random


@dataclass(frozen=True)
class Divergence:
    """One case that the core and Unicorn end differently.

    `fields` has the fields that differ, each with our value and Unicorn's. `code` is the program in
    hexadecimal, `fpscr_before` the FPSCR that the case began with.
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
    """All divergent cases of a batch."""
    return [_describe(batch, ours, theirs, int(at)) for at in np.flatnonzero(_differs(ours, theirs))]


def _differs(ours: Results, theirs: Results) -> Mask:
    executed = (ours["outcome"] == EXECUTED) & (theirs["outcome"] == EXECUTED)
    differs = ((ours["status"] ^ theirs["status"]) & APSR_MASK) != 0
    for name in ("pc", "fpscr", "memory", "r", "s"):
        differs |= (ours[name] != theirs[name]).reshape(len(ours), -1).any(axis=1)
    return differs & executed | ((ours["outcome"] == EXECUTED) != (theirs["outcome"] == EXECUTED))


def _describe(batch: Batch, ours: Results, theirs: Results, at: int) -> Divergence:
    mine, other, before = ours[at], theirs[at], batch.cases[at]
    start = MARGIN_BYTES + SLOT_BYTES * at + int(before["pc"]) % SLOT_BYTES
    return Divergence(
        row=int(batch.rows[at]),
        code=batch.code[start : start + int(batch.lengths[at])].hex(),
        fields=_fields(mine, other),
        fpscr_before=int(before["fpscr"]),
        detail=f"before: apsr {before['status']:#x} fpscr {before['fpscr']:#x}"
        f" r {[hex(v) for v in before['r']]} s {[hex(v) for v in before['s']]}",
    )


def _fields(mine: np.void, other: np.void) -> dict[str, tuple[int, int]]:
    """The fields that differ; only `outcome` if one of the two did not execute the case."""
    if mine["outcome"] != other["outcome"]:
        return {"outcome": (int(mine["outcome"]), int(other["outcome"]))}
    pairs = {name: (int(mine[name]), int(other[name])) for name in ("pc", "fpscr", "memory")}
    pairs["apsr"] = (int(mine["status"] & APSR_MASK), int(other["status"] & APSR_MASK))
    for name in ("r", "s"):
        pairs |= {
            f"{name}{n}": (int(a), int(b))
            for n, (a, b) in enumerate(zip(mine[name], other[name], strict=True))
        }
    return {name: (a, b) for name, (a, b) in pairs.items() if a != b}


ACCEPTED_FILE = Path(__file__).with_name("divergences.toml")
SHOWN = 5


@dataclass(frozen=True)
class Accepted:
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


def load_accepted(core: str) -> list[Accepted]:
    """The accepted divergences of a core."""
    entries = tomllib.loads(ACCEPTED_FILE.read_text()).get("divergence", [])
    accepted = [Accepted(**entry) for entry in entries]
    return [rule for rule in accepted if rule.core in ("", core)]


class Report:
    """The cases, divergences and accepted divergences of each encoding."""

    def __init__(self, names: Sequence[str], elsewhere: dict[str, str], accepted: Sequence[Accepted]) -> None:
        self.names = list(names)
        self.elsewhere = elsewhere
        self.accepted_rules = list(accepted)
        self.counts: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()
        self.used: Counter[int] = Counter()
        self.unexplained: dict[str, list[Divergence]] = {}

    @property
    def cases(self) -> int:
        """How many cases there were so far."""
        return self.counts.total()

    @property
    def divergences(self) -> int:
        """How many divergences nothing explains."""
        return sum(map(len, self.unexplained.values()))

    def add(self, rows: npt.NDArray[np.int64], found: Sequence[Divergence]) -> None:
        """Counts the cases of a batch, and judges the divergences found in it."""
        for row, number in zip(*np.unique(rows, return_counts=True), strict=True):
            self.counts[self.names[row]] += int(number)
        for divergence in found:
            name = self.names[divergence.row]
            rules = enumerate(self.accepted_rules)
            index = next((index for index, rule in rules if rule.explains(name, divergence)), None)
            if index is None:
                self.unexplained.setdefault(name, []).append(divergence)
            else:
                self.accepted[name] += 1
                self.used[index] += 1

    def untested(self) -> list[str]:
        """The encodings that no case tried and that are not tested elsewhere."""
        return [name for name in self.names if not self.counts[name] and name not in self.elsewhere]

    def stale(self) -> list[str]:
        """The accepted divergences that did not occur, apart from rare ones."""
        return [
            rule.encoding
            for index, rule in enumerate(self.accepted_rules)
            if not (self.used[index] or rule.rare)
        ]

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
# So many opcodes of each encoding are tried at the wrong place of an IT block.
MISPLACED = 32


def run(count: int, seed: int, core: Core = M4) -> Report:
    """Runs at least `count` cases on a core, and reports on each encoding."""
    binary = encodings.build()
    rows = encodings.load(binary, core.name)
    names = [*(row.label for row in rows), SEQUENCES]
    report = Report(
        names,
        {row.label: reason for row in rows if (reason := encodings.elsewhere(row))},
        load_accepted(core.name),
    )
    random = np.random.default_rng(seed)
    while report.cases < count:
        for batch in round_of_batches(rows, random, core):
            ours, theirs = run_both(binary, batch, core)
            report.add(batch.rows, divergences(batch, ours, theirs))
    return report


def run_both(binary: Path, batch: Batch, core: Core) -> tuple[Results, Results]:
    """The results of a batch: the simulated core's and Unicorn's."""
    return core.comparable(batches.run_core(binary, batch, core.name)), batches.run_unicorn(batch, core)


def executed_absent(tried: int, seed: int, core: Core) -> tuple[int, list[str], set[str]]:
    """Tries opcodes of instructions that the Cortex-M4 has and this core lacks.

    They are `tried` of each encoding. Returns how many they are, which of them the simulated core
    executes all the same, and the encodings of which Unicorn's model executes some. Unicorn is not
    asked about branches, which it might follow for ever.
    """
    binary = encodings.build()
    rows, present = encodings.load(binary), encodings.load(binary, core.name)
    random = np.random.default_rng(seed)
    made: dict[bool, list[Program]] = {True: [], False: []}
    for index, row in enumerate(rows):
        if encodings.elsewhere(row):
            continue
        drawn = encodings.draw(rows, index, random, tried)
        has = encodings.loads_pc(row, drawn)
        for other in present:
            has |= other.covers(drawn) if other.wide == row.wide else False
        made[encodings.branches(row)] += [Program(index, (int(opcode),), 1) for opcode in drawn[~has]]
    ours: list[str] = []
    theirs: set[str] = set()
    for branching, programs_of_kind in made.items():
        for start in range(0, len(programs_of_kind), SLOTS):
            part = programs_of_kind[start : start + SLOTS]
            batch = assemble(part, rows, random, Kind(counted=False))
            results = batches.run_core(binary, batch, core.name)
            done = np.flatnonzero(results["outcome"] == EXECUTED)
            ours += [f"{rows[part[at].row].label}: {part[at].opcodes[0]:#x}" for at in done]
            if not branching:
                done = np.flatnonzero(batches.run_unicorn(batch, core)["outcome"] == EXECUTED)
                theirs |= {rows[part[at].row].name for at in done}
    return sum(map(len, made.values())), ours, theirs


def executed_unpredictable(tried: int, seed: int, core: Core = M4) -> tuple[int, list[str]]:
    """Tries opcodes that the manual gives no result, alone or in an IT block.

    They are those among `tried` opcodes of each encoding. Returns how many they are, and which the
    core executes all the same.
    """
    binary = encodings.build()
    rows = encodings.load(binary, core.name)
    random = np.random.default_rng(seed)
    made: list[Program] = []
    for index in range(len(rows)):
        drawn = encodings.draw_unpredictable(rows, index, random, tried)
        made += [Program(index, (int(opcode),), 1) for opcode in drawn]
        if core.mainline:
            made += batches.misplaced(rows, index, encodings.draw(rows, index, random, MISPLACED))
    executed = []
    for start in range(0, len(made), SLOTS):
        part = made[start : start + SLOTS]
        batch = assemble(part, rows, random, Kind(counted=True))
        results = batches.run_core(binary, batch, core.name)
        done = np.flatnonzero(results["outcome"] == EXECUTED)
        executed += [f"{rows[part[at].row].label}: {[hex(o) for o in part[at].opcodes]}" for at in done]
    return len(made), executed


def round_of_batches(rows: Sequence[Encoding], random: Random, core: Core) -> Iterator[Batch]:
    """The batches of a round: ROUND_CASES cases of each encoding, and IT blocks and sequences."""
    made: dict[Kind, list[Program]] = {}
    drawn_plain: list[Opcodes] = []
    for index, row in enumerate(rows):
        if encodings.elsewhere(row) or row.name == "IT T1":
            continue
        drawn = encodings.draw(rows, index, random, ROUND_CASES)
        to_pc = encodings.loads_pc(row, drawn)
        for opcode, loads_pc, prelude in zip(drawn, to_pc, random.integers(0, 2, len(drawn)), strict=True):
            kind = Kind(counted=bool(loads_pc) or encodings.branches(row), odd_data=bool(loads_pc))
            made.setdefault(kind, []).append(batches.program(row, index, int(opcode), int(prelude)))
        drawn_plain.append(encodings.plain_opcodes(row, drawn))
    plain = np.concatenate(drawn_plain)
    straight = made[Kind(counted=False)]
    total = sum(map(len, made.values()))
    if core.mainline:
        straight += batches.it_blocks(plain, rows, random, total * IT_PERCENT // 100)
    straight += batches.sequences(plain, len(rows), random, total * SEQUENCE_PERCENT // 100)
    for kind, members in made.items():
        for start in range(0, len(members), SLOTS):
            yield assemble(members[start : start + SLOTS], rows, random, kind)
