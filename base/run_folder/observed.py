"""Runs from the wire alone: what was asked, and run.json (docs/how-to/observe.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ..files.documents import Table, Texts, read_json
from ..files.errors import RunError
from ..metrology.summaries import Number, Summary
from .folder import check_members
from .kept import Place, Rank
from .manifest import Count, Imported, Samplerate, ToolReport, Verdict

Schema = Literal[3]
SCHEMA: Schema = 3
Kind = Literal["observed"]
KIND: Kind = "observed"
StimulusEdges = Literal["both", "rising", "falling"]
AskedEdges = StimulusEdges | Literal["auto"]
"""`auto` is what the capture shows to be answered."""
_REMEDY = "restore the file, or run ./lab observe again"
"""Decoding the run again reads all of both files."""


class Program(Table):
    """The ELF file that was loaded; null where nobody loaded one, and what was there ran."""

    elf: str | None
    elf_sha256: str | None


class Keep(Table):
    """That only windows are kept: so much around the `worst` longest of each quantity."""

    worst: Rank
    around_s: Annotated[Number, Field(ge=0)]


class Observed(Table):
    """The fields that both files of such a run begin with.

    `pins` has the pin of each channel, or the file's name of it. `stimulus_edges` says which edges
    are stimuli. `pulses` are the channels whose pulses are asked for, `latencies` pairs such as
    `TRIG:ACK`; both null for the usual ones. `imported` is the file of another tool, null of a
    capture of the bench's. `keep` is null where all is kept. `core_hz` is the clock of the board's
    core, by which frames are found; null where nobody told it.
    """

    schema_: Schema
    kind: Kind
    board: str
    analyzer: str
    pins: dict[str, str]
    stimulus_edges: AskedEdges
    program: Program
    pulses: Texts | None = None
    latencies: Texts | None = None
    imported: Imported | None = None
    keep: Keep | None = None
    core_hz: Count | None = None


class Asked(Observed):
    """The request, written before the capture begins."""

    tools: dict[str, str]


class FramesFound(Table):
    """Whether SYNC showed them; both are null where SYNC is none of the channels."""

    start: bool | None
    end: bool | None


class ClockFound(Table):
    """The analyzer's clock against the program's.

    `ratio` is the samples per tick over the nominal samples per tick. Above 1, the analyzer is fast
    or the MCU is slow. `residual_max_samples` is the farthest that an edge lies from the fit.
    `ratio_uncertainty` is the most by which quantised edges may have changed the ratio.
    """

    ratio: Number
    ratio_uncertainty: Number
    residual_max_samples: Number


class ObservedReport(ToolReport):
    """`notes` are sentences on what the program did that a chip takes without a word."""

    notes: Texts = ()


class KeptWindows(Table):
    """What was kept, and which figures are known to a bin of several samples only, and how wide."""

    kept_samples: Count
    windows: list[Place]
    bin_samples: dict[str, Count]


class Longest(Table):
    """Where the longest of a quantity lies, in samples; of several the first."""

    start: Count
    end: Count


class ObservedManifest(Observed):
    """The whole of run.json.

    `longest` is by `CRIT, width` and `STIM to ISR`, `duty` the part of whole periods in which a
    channel is high, `stimuli` the edges that count, by latency, and `unasked` the answers that
    nothing waited for; empty where windows were kept.

    `unjudged` are sentences on what the verdict cannot tell. `kept` is null where all is kept.
    """

    samplerate_hz: Samplerate
    total_samples: Count
    resolution_ns: Number
    verdict: Verdict
    reasons: list[str]
    warnings: list[str]
    missing: list[str]
    frames: FramesFound
    clock: ClockFound | None
    widths_ns: dict[str, Summary]
    intervals_ns: dict[str, Summary]
    latencies_ns: dict[str, Summary]
    longest: dict[str, Longest] = Field(default_factory=dict)
    duty: dict[str, Number] = Field(default_factory=dict)
    stimuli: dict[str, StimulusEdges] = Field(default_factory=dict)
    merged: dict[str, Count]
    unasked: dict[str, Count] = Field(default_factory=dict)
    open_ns: dict[str, Number]
    calibration_ns: dict[str, Summary]
    unjudged: Texts
    kept: KeptWindows | None = None
    tools: dict[str, str]
    tool_report: ObservedReport


def read_asked(path: Path) -> Asked:
    """Reads and checks an observed.json. Raises RunError."""
    check_members(path.parent)
    return read_json(path, Asked, RunError, remedy=_REMEDY)


def read_observed_manifest(path: Path) -> ObservedManifest:
    """Reads and checks the run.json of such a run. Raises RunError."""
    check_members(path.parent)
    return read_json(path, ObservedManifest, RunError, remedy=_REMEDY)
