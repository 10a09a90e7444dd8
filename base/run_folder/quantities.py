"""The quantities that a run is summed up in: of each its rows, its key, its words, its unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from ..metrology.summaries import Reach
from .records import ALLOCATION_KINDS

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

# Conditions as SQL has them, so that their keys can be read without polars.
_ALLOCATIONS = f"measured AND kind IN {tuple(ALLOCATION_KINDS)}"
_SERVED = "measured AND kind = 'A'"
_REFUSED = "measured AND kind = 'O'"
_FREES = "measured AND kind = 'F'"
_STIMULI = "NOT control"
_CONTROLS = "control"
_CRITICAL = "hit = 'critical'"
_UNSURE_CRITICAL = "NOT COALESCE(critical_sure, TRUE)"
_SECTION = ("CRIT", "CRIT")


@dataclass(frozen=True)
class Quantity:
    """One quantity of a run.

    `key` names it in run.json, its unit included; `words` name it to a reader. The rows of `table`
    that `rows` selects, a condition in SQL, have it in `column`. What is read off the wire has an
    `interval`: the channels of the edges at which it begins and ends. The rows that `undecided`
    selects may have it or not: the wire does not tell. None where it tells of every row.
    """

    key: str
    words: str
    unit: Literal["", "cycles", "ns"]
    table: Literal["operations", "interrupts"]
    rows: str
    column: str
    interval: tuple[str, str] | None = None
    undecided: str | None = None

    def still_open(self, samples: pl.DataFrame) -> int:
        """How many of the `samples` are waits that were not over."""
        column = {"isr_latency_ns": "isr_open", "task_latency_ns": "task_open"}.get(self.column)
        return int(samples[column].sum()) if column else 0

    @property
    def counted(self) -> bool:
        """True if it is a bare number, neither cycles nor time."""
        return not self.unit

    def samples(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> pl.DataFrame:
        """The rows that have the quantity: those of `rows` where `column` is not null, in order."""
        import polars as pl

        return self._rows(operations, interrupts).filter(pl.sql_expr(self.rows))

    def reach(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> Reach | None:
        """How far each statistic can move with the undecided rows; None where there are none."""
        if self.undecided is None:
            return None
        import polars as pl

        from ..metrology.membership import reach

        rows = self._rows(operations, interrupts)
        perhaps = rows.filter(pl.sql_expr(self.undecided))[self.column]
        surely = rows.filter(pl.sql_expr(f"({self.rows}) AND NOT ({self.undecided})"))
        return reach(surely[self.column], perhaps)

    def _rows(self, operations: pl.DataFrame, interrupts: pl.DataFrame) -> pl.DataFrame:
        table = operations if self.table == "operations" else interrupts
        return table.drop_nulls(self.column)


def _probes(key: str, words: str, rows: str) -> Quantity:
    return Quantity(key, words, "", "operations", rows, "probes")


def _instructions(key: str, words: str, rows: str) -> Quantity:
    return Quantity(key, words, "", "operations", rows, "instructions")


def _dwt_cycles(key: str, words: str, rows: str) -> Quantity:
    return Quantity(key, words, "cycles", "operations", rows, "dwt_cycles")


def _critical(key: str, words: str, rows: str) -> Quantity:
    return Quantity(key, words, "ns", "operations", rows, "wire_critical_ns", _SECTION)


PROBES = _probes("probes", "probes of an allocation", _ALLOCATIONS)
INSTRUCTIONS = _instructions("instructions", "instructions of a critical section", _ALLOCATIONS)
DWT_CYCLES = _dwt_cycles("dwt_cycles", "critical section by DWT", _ALLOCATIONS)
CRITICAL = _critical("critical_ns", "critical section on the wire", _ALLOCATIONS)


def _section(key: str, words: str, rows: str) -> Quantity:
    return Quantity(key, words, "ns", "operations", rows, "wire_section_ns", _SECTION)


SECTION = _section("section_ns", "masked section of any operation", "TRUE")
UNINTERRUPTED = _section(
    "uninterrupted_section_ns", "masked section that no interrupt ran in", "NOT interrupted"
)

# Served and refused requests apart; those above have both (docs/design/README.md).
_OF_SERVED = "critical section of a served request"
_OF_REFUSED = "critical section of a refused request"
SERVED = (
    _probes("served_probes", "probes of a served request", _SERVED),
    _instructions("served_instructions", "instructions of a served request", _SERVED),
    _dwt_cycles("served_dwt_cycles", f"{_OF_SERVED}, by DWT", _SERVED),
    _critical("served_critical_ns", f"{_OF_SERVED}, on the wire", _SERVED),
)
REFUSED = (
    _probes("refused_probes", "probes of a refused request", _REFUSED),
    _instructions("refused_instructions", "instructions of a refused request", _REFUSED),
    _dwt_cycles("refused_dwt_cycles", f"{_OF_REFUSED}, by DWT", _REFUSED),
    _critical("refused_critical_ns", f"{_OF_REFUSED}, on the wire", _REFUSED),
)

FREE_INSTRUCTIONS = _instructions("free_instructions", "instructions of a free", _FREES)
FREE_DWT_CYCLES = _dwt_cycles("free_dwt_cycles", "critical section of a free, by DWT", _FREES)
FREE_CRITICAL = _critical("free_critical_ns", "critical section of a free, on the wire", _FREES)


def _latency(
    key: str,
    words: str,
    rows: str,
    interval: tuple[str, str],
    undecided: str | None = None,
) -> Quantity:
    column = "task_latency_ns" if interval[1] == "TASK" else "isr_latency_ns"
    return Quantity(key, words, "ns", "interrupts", rows, column, interval, undecided)


_ISR = ("STIM", "ISR")
LATENCY = _latency("interrupt_latency_ns", "interrupt latency", _STIMULI, _ISR)
_UNDECIDED = f"{_STIMULI} AND {_UNSURE_CRITICAL}"
HIT = _latency(
    "interrupt_latency_hit_ns",
    "interrupt latency, critical section hit",
    f"{_STIMULI} AND {_CRITICAL}",
    _ISR,
    _UNDECIDED,
)
CLEAR = _latency(
    "interrupt_latency_clear_ns",
    "interrupt latency, outside critical sections",
    f"{_STIMULI} AND NOT {_CRITICAL}",
    _ISR,
    _UNDECIDED,
)
CONTROL = _latency("control_latency_ns", "control interrupt latency", _CONTROLS, ("CTRL", "CISR"))
TASK = _latency("task_latency_ns", "task latency", _STIMULI, ("STIM", "TASK"))

QUANTITIES = (
    SECTION,
    UNINTERRUPTED,
    PROBES,
    INSTRUCTIONS,
    DWT_CYCLES,
    CRITICAL,
    *SERVED,
    *REFUSED,
    FREE_INSTRUCTIONS,
    FREE_DWT_CYCLES,
    FREE_CRITICAL,
    LATENCY,
    HIT,
    CLEAR,
    CONTROL,
    TASK,
)
KEYS = tuple(quantity.key for quantity in QUANTITIES)


def by_quantity(
    samples: Mapping[str, pl.DataFrame], compute: Callable[[Quantity, pl.DataFrame], T]
) -> dict[str, T]:
    """The result of `compute` for the samples of each quantity, by key."""
    return {quantity.key: compute(quantity, samples[quantity.key]) for quantity in QUANTITIES}
