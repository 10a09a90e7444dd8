"""What may make a board differ from the virtual one, each tried, and how much it takes away.

A hypothesis is tried by making the twin as if it held, or by taking it out of the board's wire.
What it removes is the part of the excess, by which residuals are beyond their budgets, that is then
gone: the mean over the quantities that had any, or have some now. Below zero it makes things worse.

The best is taken as holding, and the others are tried on what is left, until none helps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import polars as pl

from analysis.twin.replay import Board, beginning, whole
from analysis.twin.residuals import CYCLES, Pair, beyond, excess, pair, residuals
from base.tell import Tell
from capture.acquisition.source import longest_s

# RM0368, section 3.8.1.
LATENCY = 0x00F
_BITS = {0x100: "prefetch", 0x200: "instruction cache", 0x400: "data cache"}
ACCELERATOR = sum(_BITS)
_MOST_WAIT_STATES = 7
# So many operations tell one setting from another; a run with fewer is replayed whole.
_OPERATIONS = 256
_REPLAY_MORE = 1.3

# Functions begin at multiples of 4, and a line of the flash has 16 bytes.
SHIFTS_BYTES = (4, 8, 12)
# A hypothesis holds if it rids a quantity of so much of its excess, and all of them of so much.
_OF_ONE, _OF_ALL = 0.9, 0.05
_WORST = 2.0
# Of the operations so many must be left where some are set aside.
_OF_KEPT = 0.5


@dataclass(frozen=True)
class Assumed:
    """The assumptions. `ratio` of the clocks is taken out, stimuli may come at another phase,
    the flash does what `flash_acr` says, and the code lies `shift_bytes` further on.
    """

    ratio: float = 1.0
    flash_acr: int | None = None
    shift_bytes: int = 0
    phase: bool = False


@dataclass(frozen=True)
class Hypothesis:
    """One that was tried: `removed` is the part that it takes away. `beyond` counts the residuals
    that are beyond their budgets with it, `left_out` those that it sets aside. It `helps` if it
    rids a quantity of its excess.
    """

    key: str
    words: str
    assumed: Assumed
    removed: float
    beyond: int
    left_out: int
    helps: bool


@dataclass(frozen=True)
class Trials:
    """All that was tried of a run. `first` are the residuals with nothing assumed, `last` those
    with all that `holds`. `hypotheses` are ranked by what each removes of the first.
    """

    given: Pair
    first: pl.DataFrame
    hypotheses: tuple[Hypothesis, ...]
    holds: tuple[Hypothesis, ...]
    last: pl.DataFrame


@dataclass
class Bench:
    """Makes twins of a board's run, and keeps them. `elf_of` gives the firmware that ran, its code
    so many bytes further on.
    """

    board: Board
    elf_of: Callable[[int], Path]
    tell: Tell

    def __post_init__(self) -> None:
        self._pair = cache(self._made)

    def _made(self, flash_acr: int | None, shift_bytes: int) -> Pair:
        self.tell("replaying on the virtual board")
        return pair(self.board, whole(self.elf_of(shift_bytes), self.board, flash_acr))

    def pair(self, assumed: Assumed) -> Pair:
        """Board and twin. Raises TailscopeError."""
        return self._pair(assumed.flash_acr, assumed.shift_bytes)

    def residuals(self, assumed: Assumed) -> pl.DataFrame:
        """Board minus twin, with this assumed. Raises TailscopeError."""
        return residuals(self.pair(assumed), assumed.ratio, assumed.phase)


def try_all(bench: Bench) -> Trials:
    """Tries every hypothesis, then again on what the best one leaves. Raises TailscopeError."""
    assumed = Assumed()
    first = last = bench.residuals(assumed)
    ranked: list[Hypothesis] = []
    holds: list[Hypothesis] = []
    while not beyond(last).is_empty():
        tried = sorted(_tried(bench, assumed, last), key=lambda trial: (not trial.helps, -trial.removed))
        ranked = ranked or tried
        if not tried or not tried[0].helps:
            break
        holds.append(tried[0])
        assumed = tried[0].assumed
        last = bench.residuals(assumed)
    return Trials(bench.pair(Assumed()), first, tuple(ranked), tuple(holds), last)


def _tried(bench: Bench, assumed: Assumed, left: pl.DataFrame) -> Iterator[Hypothesis]:
    """Those that are not assumed yet, and that may have made what is left."""
    clock, claimed = bench.pair(assumed).clock, bench.board.manifest.flash_acr
    if clock and assumed.ratio == 1.0 and abs(clock.ratio - 1) > clock.uncertainty:
        # A slow clock takes more samples for a cycle.
        ppm, doubt = (clock.ratio - 1) * 1e6, clock.uncertainty * 1e6
        words = f"the board's clock runs {abs(ppm):.1f} ± {doubt:.1f} ppm {'slow' if ppm > 0 else 'fast'}"
        words += " against the analyzer"
        yield _judged(bench, "clock", words, replace(assumed, ratio=clock.ratio), left)
    cycles_differ = not beyond(left).filter(pl.col("quantity").is_in(CYCLES)).is_empty()
    apart = None
    if cycles_differ and assumed.flash_acr is None and claimed is not None:
        nearest, apart = _nearest_setting(bench, assumed.shift_bytes, claimed)
        if nearest != claimed & (LATENCY | ACCELERATOR):
            words = (
                f"the board's flash works as with FLASH_ACR={nearest:#010x} ({in_words(nearest)}), not as "
                f"with the {claimed:#010x} that it claims"
            )
            yield _judged(bench, "flash_acr", words, replace(assumed, flash_acr=nearest), left)
    if cycles_differ and apart != 0 and not assumed.shift_bytes:
        # A firmware linked otherwise than its digest says.
        shifted = (
            _judged(
                bench,
                "placement",
                f"the board's code lies {shift} bytes further on (modulo 16) than the image's",
                replace(assumed, shift_bytes=shift),
                left,
            )
            for shift in SHIFTS_BYTES
        )
        yield max(shifted, key=lambda trial: trial.removed)
    if clock and not assumed.phase:
        words = "stimuli met the code at another phase, and what they decide is left out"
        yield _judged(bench, "phase", words, replace(assumed, phase=True), left)


def _judged(bench: Bench, key: str, words: str, assumed: Assumed, left: pl.DataFrame) -> Hypothesis:
    bench.tell(words)
    after = bench.residuals(assumed)
    had, has = excess(left), excess(after)
    helped = any(amount > 0 and has[key] <= (1 - _OF_ONE) * amount for key, amount in had.items())
    left_over = [
        _WORST if not had[key] else min(has[key] / had[key], _WORST) for key in had if had[key] or has[key]
    ]
    removed = 1 - sum(left_over) / len(left_over)
    if key == "phase":
        # It leaves values out, so the cycles of the rest must agree, and be enough.
        first, before = (rows.filter(quantity=CYCLES[0]).height for rows in (after, left))
        helped &= all(has[quantity] <= (1 - _OF_ONE) * had[quantity] for quantity in CYCLES)
        helped &= first >= before * _OF_KEPT
    left_out = max(left.height - after.height, 0)
    return Hypothesis(
        key, words, assumed, removed, beyond(after).height, left_out, helped and removed >= _OF_ALL
    )


def in_words(flash_acr: int) -> str:
    """`2 wait states, prefetch and data cache on`."""
    on = [name for bit, name in _BITS.items() if flash_acr & bit]
    return f"wait states {flash_acr & LATENCY}, {' and '.join(on) or 'nothing of the accelerator'} on"


def _nearest_setting(bench: Bench, shift_bytes: int, claimed: int) -> tuple[int, float]:
    """The FLASH_ACR that brings the virtual board nearest to the board's cycles, and the mean
    distance of both kinds of cycles, over the operations that both have.

    Tried are the claimed one, then every other of the accelerator with the claimed wait states,
    then all others. One that agrees to the cycle ends the search, and of settings that come out
    alike the claimed one is believed.
    """
    elf, board = bench.elf_of(shift_bytes), bench.board
    # The time by which enough operations have run to tell settings apart.
    until_s = longest_s(board.plan, board.core_hz)
    starts = board.side.operations["start_sample"].drop_nulls()
    if len(starts) > _OPERATIONS:
        until_s = min(float(starts[_OPERATIONS]) / board.side.samplerate_hz * _REPLAY_MORE, until_s)
    claimed &= LATENCY | ACCELERATOR
    every = [
        bits | states for bits in range(0, ACCELERATOR + 1, 0x100) for states in range(_MOST_WAIT_STATES + 1)
    ]
    nearest, least = claimed, float("inf")
    for flash_acr in sorted(every, key=lambda acr: (acr != claimed, acr & LATENCY != claimed & LATENCY)):
        bench.tell(f"replaying with FLASH_ACR={flash_acr:#x}")
        both = board.side.operations.join(beginning(elf, board, until_s, flash_acr), on="seq")
        critical = pl.col("dwt_cycles").cast(pl.Int64) - pl.col("critical")
        operation = pl.col("dwt_operation_cycles").cast(pl.Int64) - pl.col("operation")
        apart = both.head(_OPERATIONS).select(((critical.abs() + operation.abs()) / 2).mean()).item()
        if apart is not None and apart < least:
            nearest, least = flash_acr, float(apart)
        if not least:
            break
    return nearest, least
