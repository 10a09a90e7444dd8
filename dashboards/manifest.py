"""The typed view of `run.json` (docs/SPEC.md, section 5)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboards.certainty import Certainty, Interval

SCHEMA = 1
VERDICTS = ("complete", "truncated", "inconclusive")
MANIFEST_BYTES_MAX = 16 * 1024 * 1024

SUMMARIES = (
    "probes",
    "dwt_cycles",
    "critical_ns",
    "free_dwt_cycles",
    "free_critical_ns",
    "interrupt_latency_ns",
    "interrupt_latency_hit_ns",
    "interrupt_latency_clear_ns",
    "control_latency_ns",
    "task_latency_ns",
)


class RunError(Exception):
    """A run folder cannot be shown. The message is one sentence: what is wrong and what to do."""


# PRFTEN, ICEN and DCEN of FLASH_ACR.
ACCELERATOR_BITS = 0x700
PERCENTILES = ("median", "p90", "p99", "p99_9", "p99_99")


@dataclass(frozen=True)
class Summary:
    """Nearest-rank statistics of one quantity, in the unit its key names. None where the samples are too few,
    or where an older run does not tell it.
    """

    n: int
    median: float | None
    p99: float | None
    max: float | None
    p90: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None

    @classmethod
    def of(cls, statistics: Mapping[str, Any]) -> Summary:
        """From what metrology.quantiles found."""
        return cls(**statistics)

    def less(self, baseline: float) -> Summary:
        """Every statistic less `baseline`; the count is the same."""
        taken = {
            name: None if (value := getattr(self, name)) is None else value - baseline
            for name in (*PERCENTILES, "max")
        }
        return Summary(n=self.n, **taken)


@dataclass(frozen=True)
class Agreement:
    """Wire minus DWT, in core cycles, over `n` critical sections."""

    n: int
    max_abs_cycles: float | None
    tolerance_cycles: float | None


@dataclass(frozen=True)
class Manifest:
    """What a run says of itself. `raw` is the whole of run.json, for display."""

    scenario: str
    allocator: str
    board: str
    analyzer: str
    samplerate_hz: int
    total_samples: int
    verdict: str
    reasons: tuple[str, ...]
    summaries: Mapping[str, Summary]
    agreement: Agreement
    certainty: Certainty
    raw: Mapping[str, Any]

    @property
    def configuration(self) -> str:
        """The allocator and what of its build is not as usual: lock, knobs, flash accelerator (ART)."""
        words = [self.allocator]
        words += [] if self.locking == "basepri" else [self.locking]
        words += [f"{name}={value}" for name, value in self.turned_knobs.items()]
        words += [] if self.accelerated else ["ART off"]
        return ", ".join(words)

    @property
    def locking(self) -> str:
        """The heap's lock: basepri (an old run does not say it), primask or scheduler."""
        found = self.raw.get("locking")
        return found if isinstance(found, str) else "basepri"

    @property
    def turned_knobs(self) -> Mapping[str, str]:
        """The allocator's knobs that are not at their default."""
        found = self.raw.get("turned_knobs")
        return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}

    @property
    def accelerated(self) -> bool:
        """False if FLASH_ACR says that prefetch and both caches were off (RM0368, section 3.8.1)."""
        firmware = self.raw.get("firmware")
        acr = firmware.get("flash_acr") if isinstance(firmware, dict) else None
        known = isinstance(acr, str) and re.fullmatch(r"[0-9A-Fa-f]{8}", acr)
        return not known or bool(int(str(acr), 16) & ACCELERATOR_BITS)

    @property
    def complete(self) -> bool:
        return self.verdict == "complete"

    @property
    def resolution_ns(self) -> float:
        """One sample: a width or latency on the wire is known to plus or minus this."""
        return 1e9 / self.samplerate_hz


def read_manifest(path: Path) -> Manifest:
    """Read and check one run.json. Raises RunError."""
    return parse_manifest(_json_object(path), path)


def parse_manifest(raw: Mapping[str, Any], path: Path) -> Manifest:
    """Check the parsed JSON object of `path`. Raises RunError."""
    fields = _Fields(raw, path)
    schema = fields.whole("schema")
    if schema != SCHEMA:
        raise fields.wrong(
            "schema", f"is {schema}, and only {SCHEMA} is known here; use a matching Tailscope"
        )
    return Manifest(
        scenario=fields.text("scenario"),
        allocator=fields.text("allocator"),
        board=fields.text("board"),
        analyzer=fields.text("analyzer"),
        samplerate_hz=_samplerate(fields),
        total_samples=fields.whole("total_samples"),
        verdict=_verdict(fields),
        reasons=fields.sentences("reasons"),
        summaries={key: _summary(fields, key) for key in SUMMARIES},
        agreement=_agreement(fields),
        certainty=_certainty(fields),
        raw=raw,
    )


def _json_object(path: Path) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        if size > MANIFEST_BYTES_MAX:
            raise RunError(f"{path}: {size} bytes is no run.json; restore the file or remove the folder.")
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise RunError(
            f"{path}: cannot be read ({error.strerror}); check the path and its permissions."
        ) from None
    except (ValueError, RecursionError) as error:
        raise RunError(
            f"{path}: is not valid JSON ({error}); restore the file or run the scenario again."
        ) from None
    if not isinstance(value, dict):
        raise RunError(f"{path}: holds no JSON object; restore the file or run the scenario again.")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _samplerate(fields: _Fields) -> int:
    samplerate_hz = fields.whole("samplerate_hz")
    if samplerate_hz < 1:
        raise fields.wrong("samplerate_hz", "must be positive")
    return samplerate_hz


def _verdict(fields: _Fields) -> str:
    verdict = fields.text("verdict")
    if verdict not in VERDICTS:
        raise fields.wrong("verdict", f"is none of {', '.join(VERDICTS)}")
    return verdict


def _summary(fields: _Fields, key: str) -> Summary:
    summary = fields.section(key)
    if summary is None:
        return Summary(0, None, None, None)
    return Summary(
        n=summary.whole("n"),
        median=summary.optional_number("median"),
        p99=summary.optional_number("p99"),
        max=summary.optional_number("max"),
        **{name: summary.number_if_there(name) for name in ("p90", "p99_9", "p99_99")},
    )


def _certainty(fields: _Fields) -> Certainty:
    """Budget, intervals and baselines; a run that was recorded before they were is without."""
    budget, baselines = fields.section_if_there("error_budget"), fields.section_if_there("baselines")
    intervals = fields.section_if_there("intervals")
    return Certainty(
        budgets=_terms(budget, "total"),
        overheads=_terms(budget, "overhead"),
        intervals=_intervals(intervals),
        baselines={
            key: value
            for key in SUMMARIES
            if baselines and (found := baselines.section_if_there(key))
            if (value := found.optional_number("value")) is not None
        },
        confidence=intervals.optional_number("confidence") if intervals else None,
        refused=intervals.optional_text("refused") if intervals else None,
    )


def _terms(budget: _Fields | None, term: str) -> dict[str, float]:
    """One term of each quantity's budget, in the quantity's unit."""
    found: dict[str, float] = {}
    for key in SUMMARIES if budget else ():
        of_quantity = budget.section_if_there(key) if budget else None
        of_term = of_quantity.section_if_there(term) if of_quantity else None
        value = of_term.optional_number("cycles" if key.endswith("cycles") else "ns") if of_term else None
        if value is not None:
            found[key] = value
    return found


def _intervals(intervals: _Fields | None) -> dict[str, dict[str, Interval]]:
    by_quantity = intervals.section_if_there("of") if intervals else None
    found = {}
    for key in SUMMARIES if by_quantity else ():
        of_quantity = by_quantity.section_if_there(key) if by_quantity else None
        if of_quantity:
            ends = {name: of_quantity.ends(name) for name in PERCENTILES}
            found[key] = {name: interval for name, interval in ends.items() if interval is not None}
    return found


def _agreement(fields: _Fields) -> Agreement:
    agreement = fields.section("agreement")
    if agreement is None:
        return Agreement(0, None, None)
    return Agreement(
        n=agreement.whole("n"),
        max_abs_cycles=agreement.optional_number("wire_minus_dwt_cycles_max_abs"),
        tolerance_cycles=agreement.optional_number("tolerance_cycles"),
    )


class _Fields:
    """Typed access to one JSON object that names the file and key of whatever is wrong."""

    def __init__(self, values: Mapping[str, Any], path: Path, prefix: str = "") -> None:
        self._values = values
        self._path = path
        self._prefix = prefix

    def wrong(self, key: str, complaint: str) -> RunError:
        return RunError(
            f"{self._path}: {self._prefix}{key} {complaint}; restore the file or decode the run again."
        )

    def text(self, key: str) -> str:
        value = self._get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "is not a string")
        return value

    def whole(self, key: str) -> int:
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(key, "is not a whole number from zero up")
        return value

    def optional_number(self, key: str) -> float | None:
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise self.wrong(key, "is not a number")
        return value

    def number_if_there(self, key: str) -> float | None:
        return self.optional_number(key) if key in self._values else None

    def section_if_there(self, key: str) -> _Fields | None:
        return self.section(key) if key in self._values else None

    def optional_text(self, key: str) -> str | None:
        return None if self._get(key) is None else self.text(key)

    def ends(self, key: str) -> tuple[float, float] | None:
        """The two numbers of an interval, or None."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2:
            raise self.wrong(key, "is not an interval of two numbers")
        low, high = (_Fields({key: end}, self._path, self._prefix).optional_number(key) for end in value)
        if low is None or high is None:
            raise self.wrong(key, "is not an interval of two numbers")
        return low, high

    def sentences(self, key: str) -> tuple[str, ...]:
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "is not a list of strings")
        return tuple(value)

    def section(self, key: str) -> _Fields | None:
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(key, "is not an object")
        return _Fields(value, self._path, f"{self._prefix}{key}.")

    def _get(self, key: str) -> Any:
        if key not in self._values:
            raise self.wrong(key, "is missing")
        return self._values[key]
