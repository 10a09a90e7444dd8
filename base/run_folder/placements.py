"""placements.json: what the same run comes to with its code at other places in the flash.

See docs/reference/placements.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ..files.complaints import WrongValueError
from ..files.documents import Table, read_json
from ..files.errors import RunError
from ..metrology.summaries import Number
from . import folder as names
from .manifest import Count, Manifest, Verdict
from .quantities import KEYS


class Measured(Table):
    """One placement. `greatest` has the greatest value of each quantity, in the quantity's unit."""

    number: Count
    rest_bytes: Count
    heap_bytes: Count
    elf_sha256: str
    verdict: Verdict
    reasons: list[str]
    greatest: dict[str, Number]

    @classmethod
    def of(cls, number: int, rest_bytes: int, heap_bytes: int, manifest: Manifest) -> Self:
        """The figures of the run of a placement."""
        greatest = {key: statistics.max for key, statistics in manifest.statistics.items()}
        return cls(
            number=number,
            rest_bytes=rest_bytes,
            heap_bytes=heap_bytes,
            elf_sha256=manifest.firmware.elf_sha256,
            verdict=manifest.verdict,
            reasons=list(manifest.reasons),
            greatest={key: value for key, value in greatest.items() if value is not None},
        )


class Range(Table):
    """The greatest values of `n` placements: the least, the median and the greatest of them."""

    n: Annotated[int, Field(ge=1)]
    least: Number
    median: Number
    greatest: Number

    @property
    def spread_percent(self) -> float | None:
        """Greatest less least, in hundredths of the median; None where that is 0."""
        return 100 * (self.greatest - self.least) / self.median if self.median else None

    def meets(self, other: Range) -> bool:
        """True if a placement alone can make either of the two the greater."""
        return self.least <= other.greatest and other.least <= self.greatest


class Placements(Table):
    """The whole file. `headlines` are of those placements whose run is complete, by quantity."""

    schema_: Literal[1] = 1
    measured: Annotated[list[Measured], Field(min_length=1)]
    headlines: dict[str, Range]

    @classmethod
    def of(cls, measured: Sequence[Measured]) -> Self:
        return cls(measured=list(measured), headlines=_ranges(measured))

    @model_validator(mode="after")
    def _sums_up(self) -> Self:
        if self.headlines != _ranges(self.measured):
            raise WrongValueError("are not what `measured` comes to", "headlines")
        return self


def _ranges(measured: Sequence[Measured]) -> dict[str, Range]:
    complete = [placement.greatest for placement in measured if placement.verdict == "complete"]
    return {
        key: Range(n=len(each), least=min(each), median=median(each), greatest=max(each))
        for key in KEYS
        if (each := [greatest[key] for greatest in complete if key in greatest])
    }


def read(folder: Path) -> Placements | None:
    """The placements of the run in `folder`; None where none were measured. Raises RunError."""
    path = folder / names.PLACEMENTS
    if not path.exists():
        return None
    return read_json(path, Placements, RunError, remedy="remove the file, or run the scenario again")
