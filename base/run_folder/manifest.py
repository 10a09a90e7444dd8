"""run.json: what ran, what came out, and whether it may be believed (docs/reference/run-json.md).

Its structure is written down here and nowhere else. What a run writes and what a report reads is
one model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, model_validator
from pydantic_core import to_json

from ..files.complaints import WrongValueError, quoted
from ..files.documents import Document, Table, Texts, open_document
from ..files.errors import RunError
from ..heap_size import DEFAULT_BYTES
from ..metrology.summaries import AT_LEAST, PERCENTILES, Ends, Number, Reach, Summary
from .channels import FIRST_BOARD as FIRST_BOARD
from .channels import MOST_SAMPLERATE_HZ, MOST_SAMPLES, NS_PER_S
from .channels import VIRTUAL_BOARD as VIRTUAL_BOARD
from .folder import (
    EDGES,
    MANIFEST,
    OBSERVED_FILES,
    TABLES,
    check_digests,
    check_members,
    is_observed,
)
from .quantities import KEYS, Quantity

if TYPE_CHECKING:
    from .edges import EdgeList

Schema = Literal[4]
SCHEMA: Schema = 4
REMEDY = "restore the file or decode the run again (./lab redecode)"
_RUN_AGAIN = "restore it, or run the scenario again"
"""Where decoding the run again needs what is wrong."""

# PRFTEN, ICEN and DCEN of FLASH_ACR (RM0368, section 3.8.1), and PRFTBE of an STM32F1 or F0
# (PM0075, section 3.1), which the others have not.
ACCELERATOR_BITS = 0x710

Optimization = Literal["1", "2", "3", "s"]
Verdict = Literal["complete", "truncated", "inconclusive"]
ProbesSource = Literal["records", "counted by the virtual board", "no search loop", "not counted"]
# What a count may be: more is no count, and a float would not tell it from the next.
Count = Annotated[int, Field(ge=0, le=1 << 53)]
Whole = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
Sample = Annotated[int, Field(ge=0, le=MOST_SAMPLES)]
Samplerate = Annotated[int, Field(gt=0, le=MOST_SAMPLERATE_HZ)]
Name = Annotated[str, Field(max_length=1024)]
"""Of what a path may name, too."""
Digests = dict[Name, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]
"""SHA-256 by the name of the file."""
_Knobs = dict[Name, Annotated[str, Field(max_length=64)]]


class ToolReport(Table):
    """The behaviour of the tools, apart from their data.

    `asked_samples` is how many the analyzer was asked for. `losses` are sentences on what a tool
    did not deliver, `oddities` sentences on what it unexpectedly said or did. `interrupted` is by
    Ctrl-C.
    """

    asked_samples: Count
    interrupted: bool = False
    losses: Texts = ()
    oddities: Texts = ()


class LeftOut(Table):
    """Glitches that were left out of a run, as somebody asked: each had at most `longest_samples`
    and stood alone. `count` is by channel.
    """

    longest_samples: Count
    count: dict[Name, Count]


BY_ANALYZER = ("Saleae CSV", "Saleae binary")
"""Formats of an analyzer, which had a samplerate; a VCD may be a simulator's."""


class Imported(Table):
    """Another tool's file that a capture is from, and how it was read.

    `samplerate_from` is who says what the samplerate is: the file, the user, or nobody; then it is
    the resolution of the file's times. `channels` has the file's name of each of ours.
    """

    file: str
    format: str
    sha256: str
    samplerate_from: Literal["file", "option", "resolution"]
    channels: dict[str, str]


class Stimulus(Table):
    """The stimulus of the plan, its periods in ticks of the core clock."""

    mode: str
    period_ticks: Count
    control_period_ticks: Count
    parameter: Count


class Firmware(Table):
    """The firmware that was loaded, and what it said of itself at its start, null if nothing."""

    elf_sha256: str
    kernel: str | None
    heap_bytes: Count | None
    core_hz: Count | None
    flash_acr: str | None
    free_blocks_at_start: Count | None
    kernel_calls: bool
    urgent_task: bool = False
    """Whether a more urgent task uses the heap, too."""

    @property
    def extras(self) -> tuple[str, ...]:
        """What it was built with beside what every firmware has."""
        return tuple(name for name in ("kernel_calls", "urgent_task") if getattr(self, name))


class Outside(Table):
    """The allocator of the run, if it is not of the catalogue: its file, and what was stated of it.

    `sha256` is that of the file. `knobs` are its defaults. `searches` is false if it is stated to
    have no search loop.
    """

    file: str
    format: str
    sha256: str
    promises: list[str]
    knobs: dict[str, int]
    searches: bool


class AskedFirmware(Table):
    """What the firmware was built to be; null where nobody knows, as of another tool's capture.

    `flash_acr` is the register, with wait states, prefetch and caches. `knobs` are all of the
    allocator's. `outside` is null of an allocator of the catalogue. `board` is the board's
    folder: its name, or its path where it is none of the bench's. `optimization` is GCC's -O.
    """

    allocator: str
    heap_bytes: Count | None = None
    core_hz: Count | None = None
    kernel: str | None = None
    flash_acr: str | None = None
    locking: str | None = None
    knobs: dict[str, int] | None = None
    outside: Outside | None = None
    board: str = FIRST_BOARD
    optimization: Optimization | None = None


class Counts(Table):
    """The number of operations, by what became of them."""

    operations: Count
    allocations: Count
    frees: Count
    out_of_memory: Count
    nothing_to_free: Count
    refused: Count
    skipped: Count


class Term(Table):
    """One term of an error budget."""

    ns: Number | None
    cycles: Number | None

    def of(self, unit: str) -> Number | None:
        """The term in a quantity's unit: `cycles`, `ns`, or none of a count, whose terms are 0."""
        return self.cycles if unit == "cycles" else self.ns


class ErrorBudget(Table):
    """How wrong a quantity may be: it is true to plus or minus `total`.

    `overhead` is the part of the value that is the bench's own. `unseen` is the most that one moved
    edge can change the maximum without a rule noticing, `rank` the most that it can change a
    percentile by moving past it. `undecided` is how far each statistic can move with samples of
    which the wire does not tell whether they belong; null where all are sure.
    """

    resolution: Term
    clock: Term
    skew: Term
    total: Term
    overhead: Term
    unseen: Term
    rank: Term
    undecided: Reach | None


class Intervals(Table):
    """The interval of each percentile, null where there is none.

    `independence_p` is small where the samples depend on each other.
    """

    median: Ends | None = None
    p90: Ends | None = None
    p99: Ends | None = None
    p99_9: Ends | None = None
    p99_99: Ends | None = None
    independence_p: Number | None = None

    @property
    def known(self) -> dict[str, tuple[Number, Number]]:
        """The intervals that there are, by the name of the percentile."""
        return {name: ends for name in PERCENTILES if (ends := getattr(self, name)) is not None}


class IntervalsOfEach(Table):
    """The intervals of each quantity; `refused` is null, or the sentence why there are none."""

    confidence: Number
    refused: str | None
    of: dict[str, Intervals]


class Maximum(Table):
    """The first of the greatest samples, and how many are as great.

    The fields of the operation are null where a stimulus fell outside all operations. `aligned`:
    it asked for an alignment. `interrupted`: an interrupt ran within its section. Those of the
    stimulus, from `sample` on, are there for an interrupt only. Where a wait was not over, `open`
    is true and `value` a least one.
    """

    value: Number
    times: Count
    seq: Count | None
    kind: str | None
    size: Count | None
    label: str | None
    depth: Count | None
    trial: Count | None
    probes: Count | None
    live: Count | None
    bytes_in_use: Count | None
    measured: bool | None = None
    aligned: bool | None = None
    interrupted: bool | None = None
    start_sample: Sample | None
    sample: Sample | None = None
    hit: str | None = None
    tick: bool | None = None
    task_tick: bool | None = None
    tick_phase_cycles: Number | None = None
    into_operation_samples: Whole | None = None
    timer_ns: Number | None = None
    open: bool | None = None

    @property
    def at_least(self) -> str:
        """What stands before `value` where it is read."""
        return AT_LEAST if self.open else ""

    @property
    def selection_key(self) -> str | None:
        """The name of the sample: its operation's seq, or `@` and the stimulus' sample."""
        if self.seq is not None:
            return str(self.seq)
        return None if self.sample is None else f"@{self.sample}"


class PossibleWait(Table):
    """The longest wait that the run shows to be possible: its longest section, and the entry.

    So long waits what comes in the first cycle of the section. `of` is the statistic of who waits:
    interrupts, or where the lock lets them run the task that they wake. `entry_ns` is what it waits
    for beside the section, in the median of `entry_n` waits; with an `entry_n` of 0 it is an idle
    wait. Where a longer wait was seen, that is the longest: then `by` is `wait`. True to plus or
    minus `budget_ns`, null where a part of it is not known. Where a wait is `open`, it is longer
    than was seen, and `ns` a least value.
    """

    of: str
    by: Literal["section", "wait"]
    entry_ns: Number
    entry_n: Count
    ns: Number
    budget_ns: Number | None
    open: bool

    @property
    def at_least(self) -> str:
        """What stands before `ns` where it is read."""
        return AT_LEAST if self.open else ""

    @property
    def within_ns(self) -> float | None:
        """The least limit that it keeps, its error included; None where it was not over."""
        return None if self.open else float(self.ns) + float(self.budget_ns or 0.0)


class CurveBudgets(Table):
    """How wrong each time of a curve may be; None where a part is not known."""

    latency_max: Number | None
    undisturbed_max: Number | None
    critical: Number | None
    entry: Number | None


class Curve(Table):
    """One label of a sweep.

    Each time is true to plus or minus that of `budgets_ns`. The worst latency is the section plus
    the entry to plus or minus that of `entry_ns`.
    """

    label: str | None
    depth: Count | None
    n: Count
    disturbed: Count
    latency_max_ns: Number | None
    undisturbed_max_ns: Number | None
    critical_ns: Number | None
    entry_ns: Number | None
    seq: Count | None
    within_budget: bool | None
    budgets_ns: CurveBudgets


class Sweep(Table):
    """The result of a sweep, curve by curve."""

    lead_ns: Number | None
    lead_budget_ns: Number | None
    curves: list[Curve]


class HeapWait(Summary):
    """How long the urgent task waited for the heap while another's section ran, in ns.

    `undisturbed_ns` is the median of `undisturbed_n` latencies without that, taken off. `seq` is
    the operation that it waited for longest.
    """

    resolution_ns: Number
    undisturbed_ns: Number
    undisturbed_n: Count
    seq: Count | None


class Baseline(Table):
    """What a quantity shows where there is nothing to measure: the median of `n` values.

    `ends` is what it can be with the stimuli that may have met an operation; null where all are
    sure.
    """

    value: Number
    n: Count
    ends: Ends | None


class SectionBound(Table, extra="ignore"):
    """The most that a critical section can take without interrupts, from its machine code."""

    instructions: Count | None
    cycles: Count | None
    region_decided: bool
    why_not: str | None


class MemoryFigures(Table):
    """Memory figures of a run, from its replay on the PC (docs/how-to/fragmentation.md).

    All are null where it was not made, or did not do what the board did: `why_not` says why. Ratios
    and SBBM are null too where nothing was served.
    """

    why_not: str | None = None
    peak_live_bytes: Count | None = None
    used_bytes: Count | None = None
    fragmentation_percent: Number | None = None
    sbbm_bytes: Count | None = None


class AllocatorFootprint(Table):
    """What the allocator takes, in bytes (docs/reference/footprint.md defines them)."""

    flash_bytes: Count
    static_ram_bytes: Count
    heap_overhead_bytes: Count
    block_overhead_bytes: Count
    smallest_block_bytes: Count


class Bound(Table):
    """A bound beside the longest section that the run showed."""

    instructions: Count | None
    cycles: Count | None
    ns: Number | None
    region_decided: bool
    why_not: str | None
    observed_cycles: Count | None
    ratio: Number | None


class Skew(Table):
    """How much later than STIM a channel is seen, in samples."""

    mean: Number
    least: Number
    most: Number


class Calibration(Table):
    """What the markers cost, how steady that is, and what the calibration pulses rest on."""

    critical_wire_minus_dwt_cycles: Whole | None
    operation_wire_minus_dwt_cycles: Whole | None
    empty_critical_cycles: Whole | None
    empty_operation_cycles: Whole | None
    critical_worst_residual_cycles: Number | None
    operation_worst_residual_cycles: Number | None
    critical_drift_cycles: Number | None
    operation_drift_cycles: Number | None
    pulses: Count
    counter_read_cycles: Whole | None
    pin_raise_cycles: Whole | None
    skew_samples: dict[str, Skew | None]


class Clock(Table):
    """The analyzer's clock against the core's timers and against DWT."""

    samples_per_cycle_nominal: Number
    ratio: Number | None
    ratio_uncertainty: Number | None
    residual_max_samples: Number | None
    ratio_start: Number | None
    ratio_end: Number | None
    ratio_by_dwt: Number | None
    ratio_by_dwt_uncertainty: Number | None
    residual_by_dwt_max_samples: Number | None
    start_edges: Count
    end_edges: Count


class Tick(Table):
    """The kernel's tick, and how many answers its handler may have delayed."""

    period_cycles: Count
    handler_cycles: Count
    interrupts_touched: Count
    controls_touched: Count
    task_wakes_touched: Count


class Agreement(Table):
    """Wire minus DWT, in core cycles, over `n` critical sections."""

    n: Count
    wire_minus_dwt_cycles_max_abs: Number | None
    tolerance_cycles: Number
    resolution_cycles: Number
    clock_cycles: Number


class LatencyAgreement(Table):
    """Timer minus wire of one class of latencies, in core cycles for one answer.

    `answers` met the `n` operations that were compared. The offset is what lies between a pin's
    rise and the read of the counter. The last two are the timer's ends of the answers between
    operations, the offset still in them; null where there was none.
    """

    n: Count
    answers: Count
    offset_cycles: Number | None
    offset_uncertainty_cycles: Number | None
    worst_disagreement_cycles: Number | None
    allowed_cycles: Number | None
    between_least_ticks: Count | None
    between_most_ticks: Count | None


class Interrupts(Table):
    """Stimuli and answers as the wire shows them, and as the firmware counted them."""

    stimuli: Count
    answered: Count
    merged: Count
    task_merged: Count
    open: Count
    task_open: Count
    isr_entries: Count | None
    task_wakes: Count | None
    control_stimuli: Count
    control_entries: Count | None
    preempted_operations: Count | None


class Serial(Table):
    """The state of the records: what was read, and what was wrong with it."""

    bytes: Count
    records: Count
    checksum_failures: Count
    sequence_gaps: Count
    end_record: bool


class LoadedFirmware(Table, extra="ignore"):
    """The firmware that the bench loaded."""

    elf_sha256: str


_Run = TypeVar("_Run", "Manifest", "Origin")


def _check_allocator(run: _Run) -> _Run:
    if run.asked.allocator != run.allocator:
        words = f"is {quoted(run.allocator)}, and asked.allocator {quoted(run.asked.allocator)}"
        raise WrongValueError(words, "allocator")
    return run


class Manifest(Table):
    """The whole of run.json."""

    schema_: Schema
    scenario: Name
    parameters: dict[Name, Whole | Name]
    ramp: bool
    """True where the measured operations have several depths."""
    allocator: Name
    board: Name
    analyzer: Name
    samplerate_hz: Samplerate
    total_samples: Sample
    verdict: Verdict
    """Whether the run may be believed, for `reasons`."""
    reasons: list[str]
    seed: Whole | None
    stimulus: Stimulus
    firmware: Firmware
    asked: AskedFirmware
    imported: Imported | None
    """Null unless another tool recorded the capture."""
    glitches: LeftOut | None = None
    """Null unless glitches were left out, as asked."""
    records: Name
    """How the records came: `uart` or `rtt`."""
    locking: Name | None
    """The heap's lock: `basepri`, `primask` or `scheduler`."""
    knobs: _Knobs
    """Those of the allocator's build."""
    turned_knobs: _Knobs
    """Those that are not at the catalogue's default."""
    image_crc32: Name
    counts: Counts
    probes_source: ProbesSource
    section_ns: Summary
    """The longest CRIT pulse of each operation, of any kind, measured or not."""
    uninterrupted_section_ns: Summary
    """Of these, those that no interrupt ran in."""
    probes: Summary
    """Measured allocation requests, served or refused (kinds A and O)."""
    instructions: Summary
    """Those of their critical sections, where they were counted."""
    dwt_cycles: Summary
    """Their critical sections, by the cycle counter."""
    critical_ns: Summary
    """The same on the wire."""
    served_probes: Summary
    """Of these, the requests of kind A; so all of `served_`."""
    served_instructions: Summary
    served_dwt_cycles: Summary
    served_critical_ns: Summary
    refused_probes: Summary
    """Of these, the requests of kind O; so all of `refused_`."""
    refused_instructions: Summary
    refused_dwt_cycles: Summary
    refused_critical_ns: Summary
    free_instructions: Summary
    """Measured frees; so all of `free_`."""
    free_dwt_cycles: Summary
    free_critical_ns: Summary
    interrupt_latency_ns: Summary
    """Every answered STIM."""
    interrupt_latency_hit_ns: Summary
    """Those that met a critical section."""
    interrupt_latency_clear_ns: Summary
    """The others."""
    control_latency_ns: Summary
    task_latency_ns: Summary
    error_budget: dict[str, ErrorBudget]
    """For each statistic."""
    calibration: Calibration
    clock: Clock
    tick: Tick | None
    agreement: Agreement
    timer_agreement: dict[str, LatencyAgreement] | None
    intervals: IntervalsOfEach
    maxima: dict[str, Maximum | None]
    """For each statistic."""
    possible_wait: PossibleWait | None
    """The headline: null without a section or an answer."""
    sweep: Sweep | None
    """Null unless swept."""
    heap_wait: HeapWait | None = None
    """Only where an urgent task uses the heap, too."""
    baselines: dict[str, Baseline | None]
    """For each statistic."""
    bounds: dict[str, Bound]
    """For allocate, allocate_aligned and free, from the machine code."""
    memory: MemoryFigures | None
    """Null where nobody asked for it."""
    footprint: AllocatorFootprint | None
    """Of the allocator; null where nobody asked for it."""
    interrupts: Interrupts
    serial: Serial
    tools: dict[str, str]
    """Their versions; `compiler` is the section .comment of the ELF file."""
    tool_report: ToolReport
    warnings: list[str]
    files: Digests = Field(default_factory=dict)
    """SHA-256 of the folder's tables, image, plan, records, counts and edges: whoever reads the run
    refuses a file that is another.
    """

    @property
    def complete(self) -> bool:
        """True if its numbers may be believed."""
        return self.verdict == "complete"

    @property
    def resolution_ns(self) -> float:
        """One sample: a width or latency on the wire is known to plus or minus this."""
        return NS_PER_S / self.samplerate_hz

    @property
    def accelerated(self) -> bool:
        """False if FLASH_ACR tells that prefetch and both caches were off."""
        return _accelerates(self.firmware.flash_acr)

    @property
    def flash_acr(self) -> int | None:
        """FLASH_ACR as BOOT tells it, or else as the firmware was built to set it; None if nobody
        knows.
        """
        return _register(self.firmware.flash_acr or self.asked.flash_acr)

    @property
    def built_accelerated(self) -> bool:
        """The same of what the firmware was built to set, if that is known."""
        return _accelerates(self.asked.flash_acr or self.firmware.flash_acr)

    @property
    def outside(self) -> Outside | None:
        """The facts of an allocator from outside; None for one of the catalogue."""
        return self.asked.outside

    @property
    def exact(self) -> bool:
        """True if the virtual board ran and its own analyzer captured it.

        Then the same program with the same operations gives the same run, cycle by cycle.
        """
        return VIRTUAL_BOARD in self.tools and self.imported is None

    @property
    def board_folder(self) -> str:
        """The name of the board's folder, whatever the entry of bench.toml is called (`board`)."""
        return Path(self.asked.board).name

    @property
    def core_hz(self) -> int | None:
        """The core's clock as the firmware told it, else as it was built; None if nobody knows."""
        return self.firmware.core_hz or self.asked.core_hz

    @property
    def configuration(self) -> str:
        """The allocator and what is not as usual: origin, lock, heap, knobs, -O, ART, board."""
        heap, optimization = self.firmware.heap_bytes, self.asked.optimization
        words = [
            self.allocator,
            f"from outside, {self.outside.sha256[:8]}" if self.outside else None,
            self.locking if self.locking != "basepri" else None,
            f"heap {heap:,}" if heap not in (None, DEFAULT_BYTES) else None,
            *(f"{name}={value}" for name, value in self.turned_knobs.items()),
            f"-O{optimization}" if optimization not in (None, "2") else None,
            None if self.accelerated else "ART off",
            self.board_folder if self.board_folder != FIRST_BOARD else None,
        ]
        return ", ".join(filter(None, words))

    @property
    def swept(self) -> bool:
        """True if each measured operation had one stimulus, at an offset of its own."""
        return self.stimulus.mode == "sweep"

    @property
    def sweep_bounds(self) -> tuple[tuple[str, float], ...]:
        """Each curve's label, and its critical section plus entry in ns, where both are known."""
        return tuple(
            (str(curve.label), float(curve.critical_ns) + curve.entry_ns)
            for curve in (self.sweep.curves if self.sweep else ())
            if curve.critical_ns is not None and curve.entry_ns is not None
        )

    _one_allocator = model_validator(mode="after")(_check_allocator)

    @property
    def statistics(self) -> dict[str, Summary]:
        """The statistics of each quantity, by its key."""
        return {key: getattr(self, key) for key in KEYS}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Manifest:
        """The manifest of values, models and dataclasses. Raises ValidationError where they are no
        run.json.
        """
        return cls.model_validate_json(to_json(values))

    def as_json(self) -> dict[str, Any]:
        """The content of the file, in the order of the file."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Origin(Table, extra="ignore"):
    """What only the bench knew of a run, and what was observed does not tell.

    Decoding a run again takes this from run.json, and nothing else.
    """

    schema_: Schema
    allocator: Name
    board: Name
    analyzer: Name
    parameters: dict[Name, Whole | Name]
    seed: Whole | None
    firmware: LoadedFirmware
    tools: dict[str, str]
    tool_report: ToolReport
    bounds: dict[str, SectionBound]
    memory: MemoryFigures | None
    footprint: AllocatorFootprint | None
    asked: AskedFirmware
    imported: Imported | None
    glitches: LeftOut | None = None
    files: Digests

    _one_allocator = model_validator(mode="after")(_check_allocator)


def _accelerates(flash_acr: str | None) -> bool:
    value = _register(flash_acr)
    return value is None or bool(value & ACCELERATOR_BITS)


def _register(text: str | None) -> int | None:
    """The value of a register; None if nothing tells it, or the text is no such number."""
    return int(text, 16) if text and re.fullmatch(r"[0-9A-Fa-f]{1,8}", text) else None


def check_has_operations(folder: Path) -> None:
    """Raises RunError where the run in `folder` is from the wire alone, or has links in it."""
    check_members(folder)
    if is_observed(folder):
        raise RunError(
            f"{folder}: is a run from the wire alone (./lab observe) and has no operations, which are needed "
            "here; its figures are in run.json, and ./lab redecode and ./lab pulseview take it."
        )


def read_manifest(path: Path) -> Manifest:
    """Reads and checks a run.json. Raises RunError where it is missing, damaged or not one, or the
    files beside it are not those that it was written of.

    Also where it is that of a run from the wire alone: it has no operations (observed.py).
    """
    document = replace(_open(path), remedy=REMEDY)
    manifest = document.check(Manifest)
    for name in TABLES if manifest.complete else ():
        if name not in manifest.files:
            raise document.wrong(WrongValueError(f"lacks the digest of {name}", "files"))
    check_digests(path.parent, manifest.files, REMEDY)
    return manifest


def read_edges(folder: Path, manifest: Manifest) -> EdgeList:
    """The capture of the run in `folder`. Raises CaptureError where it is missing or damaged, and
    RunError where it is another than the one that `manifest` tells of.
    """
    from .edges import read_parquet

    edges = read_parquet(folder / EDGES)
    captured = (edges.samplerate_hz, edges.total_samples)
    if captured != (manifest.samplerate_hz, manifest.total_samples):
        raise RunError(
            f"{folder / EDGES}: has {captured[1]:,} samples at {captured[0]:,} Hz, and {MANIFEST} tells of "
            f"{manifest.total_samples:,} at {manifest.samplerate_hz:,} Hz; {REMEDY}."
        )
    return edges


def read_origin(path: Path) -> Origin:
    """Reads what decoding the run again takes of run.json. Raises RunError, as read_manifest, but
    for tables that are not the run's own: they are found again.
    """
    origin = _open(path).check(Origin)
    # The copy of the edges for PulseView may stand in for them.
    observed = {name: origin.files[name] for name in OBSERVED_FILES if name in origin.files and name != EDGES}
    check_digests(path.parent, observed, _RUN_AGAIN)
    return origin


def _open(path: Path) -> Document:
    check_has_operations(path.parent)
    document = open_document(path, RunError, remedy=_RUN_AGAIN)
    schema = document.values.get("schema") if isinstance(document.values, dict) else None
    if type(schema) is int and schema != SCHEMA:
        remedy = "install a newer one" if schema > SCHEMA else "run it again"
        raise RunError(f"{path}: is of schema {schema}, and this version reads {SCHEMA}; {remedy}.")
    return document


ANYWHERE = (-math.inf, math.inf)
"""The ends of what may be any number."""


def ends_of_statistic(
    run: Manifest, quantity: Quantity, name: str, otherwise: float
) -> tuple[float, float] | None:
    """Between which values the truth of a published figure lies, by what its own run states. Two
    figures differ for certain only where they lie outside of these ends.

    The ends of statistic `name`, in its unit; None where the run does not have it.

    Each sample may be off by the budget's total; `otherwise` holds where the run states none. A
    deviation is the length of a vector by the root of n - 1, so n errors may add to that. A
    percentile may be off by one rank as well. Where it is not known which samples belong, both ends
    count.
    """
    value, budget = getattr(run.statistics[quantity.key], name), run.error_budget[quantity.key]
    if value is None:
        return None
    low = high = float(value)
    if budget.undecided is not None and name != "open":
        reached = getattr(budget.undecided, name, None)
        if reached is None:
            return ANYWHERE
        low, high = min(low, reached[0]), max(high, reached[1])
    # The error of the statistic if the right samples are in it.
    n, own = run.statistics[quantity.key].n, budget.total.of(quantity.unit)
    within = otherwise if own is None else own
    if name in ("n", "open"):
        within = 0.0
    elif name in PERCENTILES:
        within += budget.rank.ns or 0.0
    elif name == "stdev" and n > 1:
        within *= math.sqrt(n / (n - 1))
    return low - within, high + within
