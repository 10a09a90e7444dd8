"""Which setting of FLASH_ACR brings the virtual board nearest to the board's cycles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.twin.replay import Rerun
from analysis.twin.side import Side
from capture.acquisition.duration import longest_s

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
    parts = [f"{states} wait state{'' if states == 1 else 's'}"]
    on = [name for bit, name in _BITS.items() if flash_acr & bit]
    off = [name for bit, name in _BITS.items() if not flash_acr & bit]
    if not on:
        return f"{parts[0]}, accelerator off"
    if not off:
        return f"{parts[0]}, accelerator on"
    return ", ".join([*parts, f"{' and '.join(on)} on", f"{' and '.join(off)} off"])


def rank(
    rerun: Rerun, board: Side, claimed: int, tell: Callable[[str], None], placed: str = ""
) -> list[Tried]:
    """The settings that were tried, the nearest first.

    That is the claimed one, then every other of the accelerator with the claimed wait states, then
    all others. One that agrees to the cycle ends the search. `placed` is told with each.
    """
    wanted, until_s = _cycles_of(board), _until_s(rerun, board)
    claimed &= LATENCY | ACCELERATOR
    settings: list[Tried] = []
    for flash_acr in sorted(
        _settings(), key=lambda acr: (acr != claimed, acr & LATENCY != claimed & LATENCY)
    ):
        tell(f"replaying with FLASH_ACR={flash_acr:#x}{placed}")
        settings.append(Tried(flash_acr, _apart(wanted, rerun.beginning(until_s, flash_acr))))
        if settings[-1].mean_cycles == 0:
            break
    # Of settings that come out alike the claimed one is believed.
    return sorted(
        settings, key=lambda tried: (tried.mean_cycles, tried.flash_acr != claimed, tried.flash_acr)
    )


def _settings() -> list[int]:
    bits = list(_BITS)
    accelerators = [
        sum(bit for n, bit in enumerate(bits) if which >> n & 1) for which in range(1 << len(bits))
    ]
    return [states | bits for bits in accelerators for states in range(_MOST_WAIT_STATES + 1)]


def _cycles_of(board: Side) -> pl.DataFrame:
    return board.operations.select(
        "seq", board_critical=pl.col("dwt_cycles"), board_operation=pl.col("dwt_operation_cycles")
    )


def _until_s(rerun: Rerun, board: Side) -> float:
    """The time in s by which enough operations have run to tell settings apart."""
    starts = board.operations["start_sample"].drop_nulls()
    if len(starts) <= _OPERATIONS:
        return longest_s(rerun.plan, rerun.core_hz)
    enough_s = float(starts[_OPERATIONS]) / board.samplerate_hz * _REPLAY_MORE
    return min(enough_s, longest_s(rerun.plan, rerun.core_hz))


def _apart(wanted: pl.DataFrame, cycles: pl.DataFrame) -> float:
    """The mean distance of both kinds of cycles, over the operations that both have."""
    both = wanted.join(cycles, on="seq").head(_OPERATIONS)
    if both.is_empty():
        return float("inf")
    apart = (pl.col("board_critical").cast(pl.Int64) - pl.col("critical")).abs() + (
        pl.col("board_operation").cast(pl.Int64) - pl.col("operation")
    ).abs()
    return float(np.mean(both.select(apart / 2).to_series().to_numpy()))
