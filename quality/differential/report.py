"""Which cases diverge, in which fields; and the report of a series, as text and as JSON."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quality.differential.batches import APSR_MASK, EXECUTED, MARGIN_BYTES, SLOT_BYTES, Batch, Results
from quality.differential.encodings import Mask


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
    differs = np.zeros(len(ours), bool)
    for name in ("pc", "fpscr", "memory"):
        differs |= ours[name] != theirs[name]
    differs |= ((ours["status"] ^ theirs["status"]) & APSR_MASK) != 0
    for name in ("r", "s"):
        differs |= (ours[name] != theirs[name]).any(axis=1)
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
            self._judge(self.names[divergence.row], divergence)

    def _judge(self, name: str, divergence: Divergence) -> None:
        for index, rule in enumerate(self.accepted_rules):
            if rule.explains(name, divergence):
                self.accepted[name] += 1
                self.used[index] += 1
                return
        self.unexplained.setdefault(name, []).append(divergence)

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
