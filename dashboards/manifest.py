"""The typed view of `run.json` (docs/SPEC.md, section 5)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboards.certainty import PERCENTILES, Certainty, read_certainty
from dashboards.fields import Fields
from dashboards.fields import RunError as RunError

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


# PRFTEN, ICEN and DCEN of FLASH_ACR.
ACCELERATOR_BITS = 0x700


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
        """From what analysis.metrology.quantiles found."""
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
    def swept(self) -> bool:
        """Whether each measured operation had one stimulus, at an offset of its own."""
        stimulus = self.raw.get("stimulus")
        return isinstance(stimulus, dict) and stimulus.get("mode") == "sweep"

    @property
    def sweep_bounds(self) -> tuple[tuple[str, float], ...]:
        """For each curve of a sweep its label, and critical section plus entry in ns; none where not told."""
        sweep = self.raw.get("sweep")
        curves = sweep.get("curves") if isinstance(sweep, dict) else None
        if not isinstance(curves, list):
            return ()
        return tuple(
            (str(curve.get("label")), float(critical_ns) + entry_ns)
            for curve in curves
            if isinstance(curve, dict)
            and isinstance(critical_ns := curve.get("critical_ns"), int | float)
            and isinstance(entry_ns := curve.get("entry_ns"), int | float)
        )

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
    fields = Fields(raw, path)
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
        certainty=read_certainty(fields, SUMMARIES),
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


def _samplerate(fields: Fields) -> int:
    samplerate_hz = fields.whole("samplerate_hz")
    if samplerate_hz < 1:
        raise fields.wrong("samplerate_hz", "must be positive")
    return samplerate_hz


def _verdict(fields: Fields) -> str:
    verdict = fields.text("verdict")
    if verdict not in VERDICTS:
        raise fields.wrong("verdict", f"is none of {', '.join(VERDICTS)}")
    return verdict


def _summary(fields: Fields, key: str) -> Summary:
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


def _agreement(fields: Fields) -> Agreement:
    agreement = fields.section("agreement")
    if agreement is None:
        return Agreement(0, None, None)
    return Agreement(
        n=agreement.whole("n"),
        max_abs_cycles=agreement.optional_number("wire_minus_dwt_cycles_max_abs"),
        tolerance_cycles=agreement.optional_number("tolerance_cycles"),
    )
