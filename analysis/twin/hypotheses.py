"""What may make a board differ from the virtual one, each tried, and how much it takes away.

A hypothesis is tried by making the twin as if it held, or by taking it out of the board's wire.
What it removes is the part of the excess, by which residuals are beyond their budgets, that is then
gone: the mean over the quantities that had any, or have some now. Below zero it makes things worse.

The best is taken as holding, and the others are tried on what is left, until none helps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from analysis.twin.replay import Board, Rerun, Side
from analysis.twin.residuals import CYCLES, Pair, beyond, excess, pair, residuals
from base.tell import Tell
from capture.acquisition.source import longest_s

# Which setting of FLASH_ACR brings the virtual board nearest to the board's cycles.


# RM0368, section 3.8.1.
LATENCY = 0x00F
_BITS = {0x100: "prefetch", 0x200: "instruction cache", 0x400: "data cache"}
ACCELERATOR = sum(_BITS)
_MOST_WAIT_STATES = 7
# So many operations tell one setting from another; a run with fewer is replayed whole.
_OPERATIONS = 256
_REPLAY_MORE = 1.3


@dataclass(frozen=True)
class Tried:
    """A setting, and the mean of how far its cycles are from the board's, over all operations that
    were compared; of each the critical section and the whole count.
    """

    flash_acr: int
    mean_cycles: float


def in_words(flash_acr: int) -> str:
    """`2 wait states, prefetch on, both caches off`."""
    states = flash_acr & LATENCY
    waits = f"{states} wait state{'' if states == 1 else 's'}"
    on, off = (
        [name for bit, name in _BITS.items() if bool(flash_acr & bit) is is_on] for is_on in (True, False)
    )
    if not on or not off:
        return f"{waits}, accelerator {'on' if on else 'off'}"
    return f"{waits}, {' and '.join(on)} on, {' and '.join(off)} off"


def rank(rerun: Rerun, board: Side, claimed: int, tell: Callable[[str], None]) -> list[Tried]:
    """The settings that were tried, the nearest first.

    That is the claimed one, then every other of the accelerator with the claimed wait states, then
    all others. One that agrees to the cycle ends the search.
    """
    # The time by which enough operations have run to tell settings apart.
    until_s = longest_s(rerun.plan, rerun.core_hz)
    starts = board.operations["start_sample"].drop_nulls()
    if len(starts) > _OPERATIONS:
        until_s = min(float(starts[_OPERATIONS]) / board.samplerate_hz * _REPLAY_MORE, until_s)
    claimed &= LATENCY | ACCELERATOR
    every = [
        bits | states for bits in range(0, ACCELERATOR + 1, 0x100) for states in range(_MOST_WAIT_STATES + 1)
    ]
    settings: list[Tried] = []
    for flash_acr in sorted(every, key=lambda acr: (acr != claimed, acr & LATENCY != claimed & LATENCY)):
        tell(f"replaying with FLASH_ACR={flash_acr:#x}")
        settings.append(Tried(flash_acr, _apart(board, rerun.beginning(until_s, flash_acr))))
        if settings[-1].mean_cycles == 0:
            break
    # Of settings that come out alike the claimed one is believed.
    return sorted(
        settings, key=lambda tried: (tried.mean_cycles, tried.flash_acr != claimed, tried.flash_acr)
    )


def _apart(board: Side, cycles: pl.DataFrame) -> float:
    """The mean distance of both kinds of cycles, over the operations that both have."""
    both = board.operations.join(cycles, on="seq").head(_OPERATIONS)
    if both.is_empty():
        return float("inf")
    critical = pl.col("dwt_cycles").cast(pl.Int64) - pl.col("critical")
    operation = pl.col("dwt_operation_cycles").cast(pl.Int64) - pl.col("operation")
    return float(both.select(((critical.abs() + operation.abs()) / 2).mean()).item())


CLOCK, FLASH, PLACEMENT, PHASE = "clock", "flash_acr", "placement", "phase"

# Functions begin at multiples of 4, and a line of the flash has 16 bytes.
SHIFTS_BYTES = (4, 8, 12)
# A hypothesis holds if it rids a quantity of so much of its excess, and all of them of so much.
_OF_ONE, _OF_ALL = 0.9, 0.05
_WORST = 2.0
_NEVER = 2 * _WORST
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
    """One that was tried: `removed` is the part that it takes away, None where `words` say why it
    was not tried. `beyond` counts the residuals that are beyond their budgets with it, `left_out`
    those that it sets aside. It `helps` if it rids a quantity of its excess. `tried` are the
    settings of FLASH_ACR, the nearest first.
    `clock_uncertainty` is that of the ratio of the clocks.
    """

    key: str
    words: str
    removed: float | None = None
    beyond: int | None = None
    left_out: int = 0
    assumed: Assumed = Assumed()
    helps: bool = False
    tried: tuple[Tried, ...] = ()
    clock_uncertainty: float = 0.0


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

    def held(self, hypothesis: Hypothesis) -> bool:
        """True if it holds, alone or with others."""
        return hypothesis.key in {other.key for other in self.holds}


class Bench:
    """Makes twins of a board's run, and keeps them. `elf` is the firmware that ran, `moved` gives
    the same with its code further on.
    """

    def __init__(self, board: Board, elf: Path, moved: Callable[[int], Path], tell: Tell) -> None:
        self.board, self.tell = board, tell
        self._elf, self._moved = elf, moved
        self._made: dict[tuple[int | None, int], Pair] = {}

    def rerun(self, shift_bytes: int = 0) -> Rerun:
        """The settings to run it again, with the code shifted so far."""
        board = self.board
        elf = self._moved(shift_bytes) if shift_bytes else self._elf
        return Rerun(
            elf,
            board.plan.recorded_by("uart"),
            max(board.manifest.samplerate_hz, board.core_hz),
            board.core_hz,
            board.reset_flags,
        )

    def pair(self, assumed: Assumed) -> Pair:
        """Board and twin. Raises TwinError."""
        key = (assumed.flash_acr, assumed.shift_bytes)
        if key not in self._made:
            self.tell("replaying on the virtual board")
            twin = self.rerun(assumed.shift_bytes).whole(assumed.flash_acr)
            self._made[key] = pair(self.board.manifest, self.board.side, twin, self.board.core_hz)
        return self._made[key]

    def residuals(self, assumed: Assumed) -> pl.DataFrame:
        """Board minus twin, with this assumed. Raises TwinError."""
        return residuals(self.pair(assumed), assumed.ratio, assumed.phase)


def try_all(bench: Bench) -> Trials:
    """Tries every hypothesis, then again on what the best one leaves. Raises TwinError."""
    assumed = Assumed()
    first = last = bench.residuals(assumed)
    ranked = tried = _ranked(bench, assumed, last)
    holds: list[Hypothesis] = []
    while tried and tried[0].helps:
        holds.append(tried[0])
        assumed, last = tried[0].assumed, bench.residuals(tried[0].assumed)
        tried = [] if beyond(last).is_empty() else _ranked(bench, assumed, last)
    return Trials(bench.pair(Assumed()), first, tuple(ranked), tuple(holds), last)


def _ranked(bench: Bench, assumed: Assumed, left: pl.DataFrame) -> list[Hypothesis]:
    """The hypotheses: those that hold first, then by what they remove; untried ones last."""
    cycles_differ = not beyond(left).filter(pl.col("quantity").is_in(CYCLES)).is_empty()
    trials, settled = [], False
    if assumed.ratio == 1.0:
        trials.append(_clock(bench, assumed, left))
    if assumed.flash_acr is None:
        trial = _flash(bench, assumed, left) if cycles_differ else Hypothesis(FLASH, _EQUAL)
        settled = bool(trial.tried) and trial.tried[0].mean_cycles == 0
        trials.append(trial)
    if not assumed.shift_bytes:
        if cycles_differ and not settled:
            trials.append(_placement(bench, assumed, left))
        else:
            trials.append(Hypothesis(PLACEMENT, _SETTLED if settled else _EQUAL))
    if not assumed.phase:
        trials.append(_phase(bench, assumed, left))
    return sorted(
        trials, key=lambda trial: (not trial.helps, _NEVER if trial.removed is None else -trial.removed)
    )


_EQUAL = "not tried: all cycles are equal"
_NO_RATIO = "not tried: the run does not tell the ratio of its clocks"
_SETTLED = "not tried: a setting of FLASH_ACR gives all cycles already"


def _clock(bench: Bench, assumed: Assumed, left: pl.DataFrame) -> Hypothesis:
    clock = bench.pair(assumed).clock
    if clock is None:
        return Hypothesis(CLOCK, _NO_RATIO)
    words = f"the board's clock against the analyzer's: {clock_words(clock.ratio, clock.uncertainty)}"
    if abs(clock.ratio - 1) <= clock.uncertainty:
        return Hypothesis(CLOCK, f"{words}, which may be none")
    taken_out = replace(assumed, ratio=clock.ratio)
    trial = Hypothesis(CLOCK, words, assumed=taken_out, clock_uncertainty=clock.uncertainty)
    return _judged(bench, trial, left)


def clock_words(ratio: float, uncertainty: float) -> str:
    """`120.0 ± 0.3 ppm slow`: of the board's clock. A slow one takes more samples for a cycle."""
    ppm, doubt = (ratio - 1) * 1e6, uncertainty * 1e6
    digits = 1 if doubt >= 0.05 else 3
    return f"{abs(ppm):.{digits}f} ± {doubt:.{digits}f} ppm {'slow' if ppm > 0 else 'fast'}"


def _flash(bench: Bench, assumed: Assumed, left: pl.DataFrame) -> Hypothesis:
    claimed = bench.board.claimed_flash_acr
    if claimed is None:
        return Hypothesis(FLASH, "not tried: the run does not tell its FLASH_ACR")
    rerun = bench.rerun(assumed.shift_bytes)
    tried = tuple(rank(rerun, bench.board.side, claimed, bench.tell))
    nearest = tried[0].flash_acr
    if nearest == claimed:
        return Hypothesis(
            FLASH, f"of {len(tried)} settings none is nearer than the one claimed", removed=0.0, tried=tried
        )
    words = f"FLASH_ACR={nearest:#010x} ({in_words(nearest)}), where the board claims {claimed:#010x}"
    trial = Hypothesis(FLASH, words, assumed=replace(assumed, flash_acr=nearest), tried=tried)
    return _judged(bench, trial, left)


def _placement(bench: Bench, assumed: Assumed, left: pl.DataFrame) -> Hypothesis:
    """The code elsewhere in its lines: a firmware linked otherwise than its digest says."""
    trials = []
    for shift in SHIFTS_BYTES:
        words = f"all code {shift} bytes further on (modulo 16)"
        bench.tell(words)
        trial = Hypothesis(PLACEMENT, words, assumed=replace(assumed, shift_bytes=shift))
        trials.append(_judged(bench, trial, left))
    return max(trials, key=lambda trial: trial.removed or 0.0)


def _phase(bench: Bench, assumed: Assumed, left: pl.DataFrame) -> Hypothesis:
    """A hypothesis that leaves values out; it holds only if the cycles of the rest agree."""
    if bench.pair(assumed).clock is None:
        return Hypothesis(PHASE, _NO_RATIO)
    words = "stimuli met the code at another phase; what they decide is left out"
    trial = _judged(bench, Hypothesis(PHASE, words, assumed=replace(assumed, phase=True)), left)
    after = bench.residuals(trial.assumed)
    had, has = excess(left), excess(after)
    agree = all(has[key] <= (1 - _OF_ONE) * had[key] for key in CYCLES)
    operations = pl.col("quantity") == CYCLES[0]
    enough = after.filter(operations).height >= left.filter(operations).height * _OF_KEPT
    return replace(trial, helps=trial.helps and agree and enough)


def _judged(bench: Bench, trial: Hypothesis, left: pl.DataFrame) -> Hypothesis:
    after = bench.residuals(trial.assumed)
    had, has = excess(left), excess(after)
    helped = any(amount > 0 and has[key] <= (1 - _OF_ONE) * amount for key, amount in had.items())
    left_over = [
        _WORST if not had[key] else min(has[key] / had[key], _WORST) for key in had if had[key] or has[key]
    ]
    removed = 1 - sum(left_over) / len(left_over) if left_over else 0.0
    return replace(
        trial,
        removed=removed,
        beyond=beyond(after).height,
        left_out=max(left.height - after.height, 0),
        helps=helped and removed >= _OF_ALL,
    )
