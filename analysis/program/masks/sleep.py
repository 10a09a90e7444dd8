"""When the core slept in WFI: an interrupt that PRIMASK holds would have ended that sleep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

# ARMv7-M Architecture Reference Manual, A7.7.263: WFI, narrow and wide.
_WFI = (b"\x30\xbf", b"\xaf\xf3\x03\x80")


class Sleep:
    """The spans of cycles in which the core slept, in order."""

    def __init__(self, begin: npt.ArrayLike, end: npt.ArrayLike) -> None:
        begins, ends = np.asarray(begin, dtype=np.int64), np.asarray(end, dtype=np.int64)
        self._cycle = np.stack([begins, ends], axis=1).ravel()
        slept = np.stack([np.zeros(len(begins), dtype=np.int64), ends - begins], axis=1).ravel()
        self._total = np.cumsum(slept)

    def within(self, begin: pl.Series, end: pl.Series) -> npt.NDArray[np.int64]:
        """How many cycles it slept from each of `begin` to that of `end`; 0 where that is null."""
        begins = begin.to_numpy()
        return self._until(end.fill_null(begin).to_numpy()) - self._until(begins)

    def _until(self, cycles: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if not self._cycle.size:
            return np.zeros(len(cycles), dtype=np.int64)
        found: npt.NDArray[np.int64] = np.interp(cycles, self._cycle, self._total).astype(np.int64)
        return found


def sleep(changes: pl.DataFrame, end_cycle: int, code: Callable[[int, int], bytes]) -> Sleep:
    """When the core slept in WFI. `code` gives so many bytes of the program from an address on."""
    rows = changes.filter(pl.col("what").is_in(["sleep", "reset"]))
    rows = rows.with_columns(value=pl.when(pl.col("what") == "reset").then(0).otherwise("value"))
    slept = rows.select(
        "value", "pc", begin="cycle", end=pl.col("cycle").shift(-1, fill_value=end_cycle)
    ).filter(value=1)
    waits = {pc: any(code(pc, len(form)) == form for form in _WFI) for pc in slept["pc"].unique()}
    waited = slept.filter(pl.Series([waits[pc] for pc in slept["pc"]], dtype=pl.Boolean))
    return Sleep(waited["begin"], waited["end"])
