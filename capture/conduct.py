"""Conducts a run: observe, keep, judge, store.

The source (capture/acquisition/source.py) says where the observation comes from and what is known
of the run. All else is the same for every run.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from base.files.errors import CaptureError, TailscopeError
from base.files.whole import WriteError
from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.edges import read_parquet
from base.run_folder.folder import RunFolder, check_writable, is_observed
from base.run_folder.observed import Asked
from base.run_folder.progress_file import ProgressFile
from capture.acquisition.direct import Direct
from capture.acquisition.live import Watch
from capture.acquisition.observe import Observation
from capture.acquisition.source import Account, Place, Setting, Source
from capture.acquisition.stored import read_stored, read_stored_pins
from capture.joining.evidence import Evidence
from capture.store import RunResult, begin_folder, judge, keep_observation, kind_of, store_session


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
            file = stack.enter_context(ProgressFile(folder.path))
            watch = Watch(name, began, file, request.progress, request.live, request.part, kind.work)
            try:
                seen = opened.observe(Place(folder.path, watch))
            except (TailscopeError, signals.Stopped):
                folder.remove()
                raise
        watch.step("writing")
        keep_observation(folder, kind, seen)
        try:
            with ThreadPoolExecutor(1, "session") as beside:
                copy = beside.submit(store_session, folder, seen.edges) if source.copied else None
                watch.step("judging")
                return kind.conclude(folder, seen, copy.result if copy else tuple)
        except WriteError as error:
            raise WriteError(f"{error} The capture is kept: ./lab redecode {folder.path}") from None


def redecode(folder: Path) -> RunResult:
    """Decodes, joins and judges the run in `folder` again, and replaces what was found in it.

    What was observed stays as it is. Raises TailscopeError where a file is missing or damaged.
    """
    account: Account | Asked
    account, seen = read_stored_pins(folder) if is_observed(folder) else read_stored(folder)
    run_folder = RunFolder(folder)
    kind = kind_of(account)
    run_folder.remove_file(names.PROGRESS)
    if seen.kept is not None:
        return kind.conclude(run_folder, seen)
    try:
        whole = read_parquet(folder / names.EDGES) == seen.edges
    except CaptureError:
        whole = False
    if not whole:
        run_folder.write(names.EDGES, seen.edges.write_parquet)
    run_folder.remove_file(names.EDGE_STREAM)
    notes = () if (folder / names.SESSION).exists() else store_session(run_folder, seen.edges)
    return kind.conclude(run_folder, seen, lambda: notes)


@dataclass(frozen=True)
class JudgedRun:
    """A run, observed and judged. summarise_run() of capture.summary makes its run.json."""

    observation: Observation
    evidence: Evidence
    setting: Setting


def find(source: Direct) -> JudgedRun:
    """Observes and judges, and writes nothing. For any thread. Raises as Direct.taken()."""
    account, seen = source.taken()
    source.request.progress("judging")
    return JudgedRun(seen, *judge(account, seen))
