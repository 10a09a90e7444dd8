"""Conducts a run: observe, keep, judge, store; first what was observed, then what was found in
that.

The source (capture/acquisition/source.py) says where the observation comes from and what is known
of the run. All else is the same for every run. A run of operations and a run from the wire alone
leave other files, and are judged by other rules: the one has a plan and records that the wire is
held against, the other has the wire and nothing else. Each is a `Kind` here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import polars as pl

from base.files.errors import CaptureError, TailscopeError
from base.files.whole import WriteError, write_bytes, write_whole
from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.edges import EdgeList
from base.run_folder.folder import RunName, check_writable, is_observed, remove, remove_file, write_json
from base.run_folder.kept import write_kept
from base.run_folder.manifest import Verdict
from base.run_folder.observed import Asked
from base.run_folder.progress_file import progress_file
from base.run_folder.session_file import MOST_SAMPLES, write_sr
from base.run_folder.tables import SPANS, with_memory, write_table
from capture.acquisition.live import Watch
from capture.acquisition.observe import Observation
from capture.acquisition.source import Account, Source
from capture.acquisition.stored import read_stored, read_stored_pins, write_plan
from capture.joining.evidence import Evidence, decode
from capture.reading.observed import Questions, of_windows, read_observed
from capture.summary.observed import Seen, summarise_observed
from capture.summary.summary import summarise_run


def run(source: Source) -> RunResult:
    """Makes a run of what `source` is asked for, and returns where all that came of it is kept.

    Raises TailscopeError where nothing could be observed, or nothing can be written to the runs'
    folder; and WriteError where writing fails later, which says where the data is kept. A run that
    is broken raises nothing: its verdict says so. A signal ends the capture; what came is stored
    and judged before signals.Stopped is raised, by the outermost signals.orderly(). Where nothing
    is captured yet, it is raised at once.
    """
    source.check()
    request, name = source.request, source.name
    with signals.orderly(), ExitStack() as stack:
        check_writable(request.runs)
        began = datetime.now(UTC)
        with source.open() as opened:
            kind = kind_of(opened.account)
            folder = begin_folder(request.runs, name, began, kind)
            write = stack.enter_context(progress_file(folder))
            watch = Watch(name, began, write, request, kind.operations)
            try:
                seen = opened.observe(folder, watch)
            except (TailscopeError, signals.Stopped):
                remove(folder)
                raise
        watch.step("writing")
        keep_observation(folder, kind, seen)
        try:
            watch.step("judging")
            return kind.conclude(folder, seen, store_session(folder, seen.edges) if source.copied else ())
        except WriteError as error:
            raise WriteError(f"{error} The capture is kept: ./lab redecode {folder}") from None


def redecode(folder: Path, *, ignore_glitches: bool | None = None) -> RunResult:
    """Decodes, joins and judges the run in `folder` again, and replaces what was found in it.

    What was observed stays as it is. Glitches are left out if `ignore_glitches` says so; None is as
    before. Raises TailscopeError where a file is missing or damaged.
    """
    account: Account | Asked
    account, seen = read_stored_pins(folder) if is_observed(folder) else read_stored(folder)
    if ignore_glitches is not None:
        if isinstance(account, Asked):
            raise CaptureError(
                "Of a run from the wire alone nobody knows the shortest pulse, so nothing in it is a glitch; "
                "leave the option out."
            )
        account = replace(account, ignore_glitches=ignore_glitches)
    kind = kind_of(account)
    remove_file(folder / names.PROGRESS)
    if seen.kept is not None:
        return kind.conclude(folder, seen)
    write_whole(folder / names.EDGES, seen.edges.write_parquet)
    remove_file(folder / names.EDGE_STREAM)
    notes = () if (folder / names.SESSION).exists() else store_session(folder, seen.edges)
    return kind.conclude(folder, seen, notes)


@dataclass(frozen=True)
class RunResult:
    """A finished run: its folder, its verdict, and a sentence for each reason."""

    folder: Path
    verdict: Verdict
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class OfOperations:
    """A run of a plan: wire, records and plan, joined by number."""

    account: Account

    @property
    def operations(self) -> pl.DataFrame:
        """The plan's."""
        return self.account.plan.operations

    def keep_known(self, folder: Path) -> None:
        """Writes image and plan."""
        write_bytes(folder / names.IMAGE, self.account.plan.image)
        write_whole(folder / names.PLAN, partial(write_plan, plan=self.account.plan))

    def conclude(self, folder: Path, seen: Observation, notes: Sequence[str] = ()) -> RunResult:
        """Writes the tables and, last of all, run.json."""
        evidence, account = judge(self.account, seen)
        manifest = summarise_run(evidence, replace(account, notes=(*account.notes, *notes)))
        operations = with_memory(evidence.joined.operations, account.memory)
        write_whole(folder / names.OPERATIONS, partial(write_table, table=operations))
        write_whole(folder / names.INTERRUPTS, partial(write_table, table=evidence.joined.interrupts))
        write_json(folder / names.MANIFEST, {**manifest.as_json(), "files": names.digests(folder)})
        return RunResult(folder, manifest.verdict, tuple(manifest.reasons))


@dataclass(frozen=True)
class OfPins:
    """A run from the wire alone, of which all is kept, or windows."""

    asked: Asked
    operations = None

    def keep_known(self, folder: Path) -> None:
        """Writes observed.json."""
        write_json(folder / names.OBSERVED, self.asked.model_dump(mode="json", by_alias=True))

    def conclude(self, folder: Path, seen: Observation, notes: Sequence[str] = ()) -> RunResult:
        """Writes run.json, and of windows the copies for PulseView."""
        windows, asked = seen.kept, self.asked
        if not set((windows or seen.edges).channels) <= set(asked.pins):
            raise CaptureError("The capture has other channels than were asked for; restore the run's files.")
        remarks = [*notes]
        if windows:
            wire = of_windows(windows)
            for window in windows.windows:
                name = f"{names.WINDOWS}/{window.place.name}.sr"
                if not (folder / name).exists():
                    remarks += store_session(folder, window.edges, name)
        else:
            framed, questions = asked.imported is None, Questions(asked.pulses, asked.latencies)
            wire = read_observed(seen.edges, asked.stimulus_edges, framed, asked.core_hz, questions)
            # A row for each pulse and latency: `of`, `start` and `end` in samples, `ns`.
            spans = [
                pl.DataFrame({"start": start, "end": end}).select(
                    pl.lit(name).alias("of"),
                    "start",
                    "end",
                    ns=(pl.col("end") - pl.col("start")) * wire.sample_ns,
                )
                for name, (start, end) in wire.spans.items()
            ]
            table = pl.concat(spans) if spans else pl.DataFrame(schema=SPANS)
            write_whole(folder / names.SPANS, partial(write_table, table=table))
        manifest = summarise_observed(Seen(seen.report, wire, asked), remarks)
        write_json(folder / names.MANIFEST, manifest.model_dump(mode="json", by_alias=True))
        return RunResult(folder, manifest.verdict, tuple(manifest.reasons))


Kind = OfOperations | OfPins
"""What a kind of run leaves in its folder: `keep_known` writes what it will take to judge it
again; `conclude` judges the run and writes what was found, with `notes` on what was stored. Both
raise WriteError, and conclude CaptureError where what was seen is damaged. `operations` is what it
will do; None where nobody knows.
"""


def kind_of(account: Account | Asked) -> Kind:
    """The kind of the run of which this is known."""
    return OfOperations(account) if isinstance(account, Account) else OfPins(account)


def judge(account: Account, seen: Observation) -> tuple[Evidence, Account]:
    """Decodes and joins what was observed, and adds bounds and memory to the account.

    Raises CaptureError where the board's counts are damaged.
    """
    evidence = decode(
        account.plan,
        seen.report,
        seen.edges,
        seen.serial_bytes,
        seen.counts,
        account.asked,
        ignore_glitches=account.ignore_glitches,
    )
    boot = evidence.boot
    if account.bounds_of:
        account = replace(account, bounds=account.bounds_of(boot) if boot else {})
    if account.memory_of:
        account = replace(account, memory=account.memory_of(evidence.log))
    return evidence, account


def begin_folder(runs: Path, name: RunName, began: datetime, kind: Kind) -> Path:
    """A new folder in `runs` for a run that began, with what it will take to judge it again.

    Raises TailscopeError where it cannot be made; then nothing of it is left.
    """
    folder = names.create(runs, began, name)
    try:
        kind.keep_known(folder)
    except WriteError:
        remove(folder)
        raise
    return folder


def keep_observation(folder: Path, kind: Kind, seen: Observation) -> None:
    """Writes what was observed into the run's `folder`, or, where that fails, anywhere.

    Raises WriteError, which says where the data is, if not all of it is in `folder`.
    """
    try:
        _write_seen(folder, kind, seen)
    except TailscopeError as error:
        if other := _kept_elsewhere(folder.name, kind, seen):
            remove(folder)
            words = f"is kept in {other}: move it to {folder.parent} and ./lab redecode it."
        elif (folder / names.EDGE_STREAM).exists():
            words = f"reached the disk: make room and ./lab redecode {folder}"
        else:
            remove(folder)
            words = "fits into the temporary folder neither, and is not kept."
        raise WriteError(f"{error} What was captured {words}") from None
    remove_file(folder / names.EDGE_STREAM)


def _write_seen(folder: Path, kind: Kind, seen: Observation) -> None:
    """Writes records and counts, if there are any, and edges or windows; the largest last."""
    if isinstance(kind, OfOperations):
        write_bytes(folder / names.SERIAL_LOG, seen.serial_bytes)
    if seen.counts is not None:
        write_bytes(folder / names.COUNTS, seen.counts)
    if seen.kept is None:
        write_whole(folder / names.EDGES, seen.edges.write_parquet)
    else:
        write_kept(folder / names.KEPT, seen.kept)


def _kept_elsewhere(name: str, kind: Kind, seen: Observation) -> Path | None:
    """The run in the temporary folder; None where it cannot be there, and then no part of it is."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="tailscope-kept-")) / name
    except OSError:
        return None
    try:
        kind.keep_known(folder)
        _write_seen(folder, kind, seen)
        return folder
    except TailscopeError:
        remove(folder.parent)
        return None


def store_session(folder: Path, edges: EdgeList, name: str = names.SESSION) -> tuple[str, ...]:
    """Writes the copy for PulseView as file `name`. Where that fails,
    nothing is lost: returns a sentence for run.json.
    """
    if edges.total_samples > MOST_SAMPLES:
        return (
            f"There is no copy of the capture for PulseView: it would have {edges.total_samples:,} "
            f"samples, and at most {MOST_SAMPLES:,} are unpacked.",
        )
    try:
        write_whole(folder / name, partial(write_sr, edges=edges))
    except WriteError as error:
        return (f"There is no copy of the capture for PulseView: {error} Decode the run again to have one.",)
    return ()
