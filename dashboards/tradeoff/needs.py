"""The memory that each allocator needs for the traces, beside the worst section of their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from math import inf
from pathlib import Path
from statistics import median_low

from analysis.fragmentation.study import Row
from base.files.errors import RunError
from base.run_folder import folder as names
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL
from capture.acquisition.plan_file import decode_image
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import Style, assign_styles
from firmware.build import catalogue
from scenarios.generator import Step
from scenarios.operations import Mark, body_crc32
from scenarios.trace import Trace, of_steps

Figure = Callable[[Row], float | None]


@dataclass(frozen=True)
class Need:
    """One allocator. `rows` are of the traces, in their order; `runs` the longest section first.

    `number` counts the allocators from 1, in the order in which the page has them.
    """

    number: int
    name: str
    style: Style
    rows: Sequence[Row]
    runs: Sequence[Run]

    @property
    def label(self) -> str:
        return f"{self.number} {self.name}"

    @property
    def failures(self) -> int:
        """Requests that were refused, over all traces."""
        return sum(row.given.failures for row in self.rows)

    @property
    def used_bytes(self) -> float:
        return self.known(used_bytes)

    def typical(self, figure: Figure) -> float | None:
        """The median that occurred over the traces, None where a trace lacks the figure."""
        values = self.values(figure)
        return median_low(values) if len(values) == len(self.rows) else None

    def known(self, figure: Figure) -> float:
        """The median of a figure that every trace has."""
        return median_low(self.values(figure))

    def values(self, figure: Figure) -> list[float]:
        """The values of the traces that have the figure."""
        return [value for row in self.rows if (value := figure(row)) is not None]


def peak_live_bytes(row: Row) -> float:
    return row.given.peak_live_bytes


def used_bytes(row: Row) -> float:
    return row.given.used_bytes


def cost_metric_bytes(row: Row) -> float | None:
    return row.cost_metric.smallest_bytes


def sbbm_bytes(row: Row) -> float | None:
    return row.given.sbbm_bytes


def johnstone(place: int) -> Figure:
    """The figure of his four ratios at `place`, from 0."""
    return lambda row: row.given.johnstone[place] if row.given.johnstone else None


def gather(rows: Sequence[Row], runs: Sequence[Run]) -> list[Need]:
    """The allocators that were replayed, the smallest heap first."""
    groups = [(name, list(group)) for name, group in groupby(rows, key=lambda row: row.allocator)]
    styles = assign_styles(name for name, _ in groups)
    made = [Need(0, name, styles[name], group, _worst_first(name, runs)) for name, group in groups]
    made.sort(key=lambda need: (_or_last(need.typical(cost_metric_bytes)), need.used_bytes, need.name))
    return [
        Need(number, need.name, need.style, need.rows, need.runs) for number, need in enumerate(made, start=1)
    ]


def _worst_first(name: str, runs: Sequence[Run]) -> list[Run]:
    return sorted((run for run in runs if run.allocator == name), key=lambda run: -run.worst_ns)


def _or_last(value: float | None) -> float:
    return inf if value is None else value


_WORST = {"allocation": CRITICAL, "free": FREE_CRITICAL}


@dataclass(frozen=True)
class Run:
    """A complete run of trace number `trace`.

    `worst_ns` is its longest critical section on the wire, among `n` measured allocations and
    frees: an "allocation" or a "free", as `kind` says. It is true to plus or minus `budget_ns`,
    None if the run does not tell.
    """

    loaded: LoadedRun
    trace: int
    worst_ns: float
    kind: str
    n: int
    budget_ns: float | None

    @property
    def allocator(self) -> str:
        return self.loaded.manifest.allocator


def load(folders: Sequence[Path], traces: Sequence[Trace], knobs: Mapping[str, int]) -> list[Run]:
    """The runs in `folders`, of allocators built with these `knobs`.

    Raises RunError for one that is not complete, ran none of `traces`, was built with other knobs
    or measured nothing, and CaptureError for one whose operation image cannot be read.
    """
    digests = [digest(trace) for trace in traces]
    return [_load(folder, digests, knobs) for folder in dict.fromkeys(path.resolve() for path in folders)]


def digest(trace: Trace) -> str:
    """SHA-256 of the operations: kind, slot, size and alignment, each a little-endian u32.

    Slots are numbered anew in a trace, so the same operations have the same digest wherever they
    come from.
    """
    return sha256(trace.operations.astype("<u4").tobytes()).hexdigest()


def _load(folder: Path, digests: Sequence[str], knobs: Mapping[str, int]) -> Run:
    loaded = load_run(folder)
    manifest = loaded.manifest
    if not manifest.complete:
        raise RunError(f"{loaded.id} is {manifest.verdict}, so its figures do not count; run it again.")
    _check_knobs(loaded, knobs)
    try:
        trace = digests.index(digest(_executed(loaded)))
    except ValueError:
        raise RunError(
            f"{loaded.id} did not run the trace that is replayed here; "
            "name runs of the same scenario, parameters and seed."
        ) from None
    summaries = {kind: loaded.summary(quantity) for kind, quantity in _WORST.items()}
    longest = {kind: summary.max for kind, summary in summaries.items() if summary.max is not None}
    if not longest:
        raise RunError(f"{loaded.id} measured no critical section; leave it out.")
    kind = max(longest, key=lambda longest_kind: longest[longest_kind])
    budget = loaded.certainty.budgets.get(_WORST[kind].key)
    return Run(loaded, trace, longest[kind], kind, sum(summary.n for summary in summaries.values()), budget)


def _check_knobs(loaded: LoadedRun, knobs: Mapping[str, int]) -> None:
    """Both must have been built alike, or the figures are not of one allocator."""
    row = catalogue.allocators().get(loaded.manifest.allocator)
    defaults = row.knobs if row else {}
    options = {name: str(value) for name, value in knobs.items() if defaults.get(name, value) != value}
    ran = loaded.manifest.turned_knobs
    if ran != options:
        raise RunError(
            f"{loaded.id} ran with {_words(ran)}, and the replay has {_words(options)}; give both the same."
        )


def _words(knobs: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(knobs.items())) or "every knob at its default"


def _executed(loaded: LoadedRun) -> Trace:
    """The heap operations of the run's image, which must be the one that the run checked."""
    image = names.read_observed(loaded.folder, names.IMAGE)
    operations = decode_image(image).operations
    if f"{body_crc32(image):08X}" != loaded.manifest.image_crc32:
        raise RunError(
            f"{loaded.id}: {names.IMAGE} is not the image of this run, by its CRC-32; restore the file."
        )
    return of_steps(
        loaded.id, (Step(operation) for operation in operations if not isinstance(operation, Mark))
    )
