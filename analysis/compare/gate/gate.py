"""Runs against a baseline: which entry is whose, and what each quantity says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analysis.compare.gate import exact, limits, repeated
from analysis.compare.gate.baseline import Baseline, Entry
from analysis.compare.gate.lines import Operation
from analysis.compare.gate.measured import Measured, ranges, read
from analysis.compare.gate.outcome import Check, Judged, Report
from analysis.compare.placements import of_ranges
from analysis.compare.settings import differing
from analysis.errors import GateError
from base.files.errors import TailscopeError

NAMED = 10
"""So many operations of each quantity are named."""


def judge(
    baseline: Baseline | None, folders: Sequence[Path], held_to: Mapping[str, str], most: int = NAMED
) -> Report:
    """Judges the runs in `folders` by the baseline, if there is one, and by the limits `held_to`,
    which come before those of the baseline.

    What is wrong with one run is said there, and does not keep the others from being judged. Of
    each quantity `most` operations are named. Raises GateError for a limit that is none.
    """
    told_limits = {**(baseline.limits if baseline else {}), **held_to}
    for quantity, text in told_limits.items():
        limits.parse(quantity, text)
    runs, refused = _read(folders)
    judged = [_judge(baseline, group, told_limits, most) for group in groups(runs)]
    notes = () if baseline is None else _left_over(baseline, runs)
    path = None if baseline is None else str(baseline.path)
    return Report(path, (*refused, *judged), tuple(notes))


def groups(runs: Iterable[Measured]) -> list[list[Measured]]:
    """Runs on real boards with equal settings together, as repetitions; every other run alone."""
    found: list[list[Measured]] = []
    for run in runs:
        same = (group for group in found if not run.exact and group[0].chosen == run.chosen)
        group = next(same, None)
        if group is None:
            found.append([run])
        else:
            group.append(run)
    return found


def check_repetitions(runs: Sequence[Measured]) -> None:
    """Raises GateError unless `runs`, of equal settings, are repetitions of one another."""
    first = runs[0]
    for run in runs[1:]:
        if run.image_sha256 != first.image_sha256:
            raise GateError(f"{run.folder}: ran other operations than {first.folder}; judge them apart.")
        if run.manifest.firmware.elf_sha256 != first.manifest.firmware.elf_sha256:
            raise GateError(f"{run.folder}: ran another firmware than {first.folder}; judge them apart.")


def once(folders: Iterable[Path]) -> list[Path]:
    """The folders without those named twice: a run is no repetition of itself."""
    return list({folder.resolve(): folder for folder in folders}.values())


def _read(folders: Sequence[Path]) -> tuple[list[Measured], list[Judged]]:
    runs, refused = [], []
    for folder in once(folders):
        try:
            runs.append(read(folder))
        except TailscopeError as error:
            refused.append(Judged((str(folder),), folder.name, refusal=str(error)))
    return runs, refused


def _judge(baseline: Baseline | None, runs: list[Measured], held_to: Mapping[str, str], most: int) -> Judged:
    first = runs[0]
    folders = tuple(str(run.folder) for run in runs)
    within = [check for run in runs for check in limits.judge(held_to, run)]
    if baseline is None:
        return Judged(folders, first.name, tuple(within), _nothing_judged(within))
    try:
        check_repetitions(runs)
        entry, before = _entry(baseline, first)
    except GateError as error:
        return Judged(folders, first.name, tuple(within), str(error))
    judged = (
        exact.judge(entry, before, first, most) if entry.exact else repeated.judge(entry, before, runs, most)
    )
    different = any(check.state not in ("as good", "not judged") for check in judged)
    notes = [*exact.notes(before, first)] if entry.exact else []
    notes += ["It is better than the baseline: update it with --update."] if _only_better(judged) else []
    placed = of_ranges(entry.placements, ranges(runs))
    notes += [one.sentence("the baseline", "the run") for one in placed if one.smaller]
    changed = differing(entry.made_by, first.made_by) if different or notes else ()
    return Judged(folders, first.name, (*judged, *within), None, changed, tuple(notes), placed)


def _nothing_judged(checks: Sequence[Check]) -> str | None:
    if any(check.state != "not judged" for check in checks):
        return None
    return "Nothing of the run was judged: there is no baseline, and no limit of what it measured."


def _only_better(checks: Sequence[Check]) -> bool:
    states = {check.state for check in checks}
    return "better" in states and states <= {"better", "as good", "not judged"}


def _entry(baseline: Baseline, run: Measured) -> tuple[Entry, list[Operation]]:
    """The entry of the run and its operations. Raises GateError where nothing can be compared."""
    entry = baseline.of(run.chosen)
    path = baseline.path
    if entry is None:
        if others := baseline.other_boards(run.chosen):
            raise GateError(
                f"{path} has {run.manifest.scenario} on {run.manifest.allocator} of {' and '.join(others)}, "
                f"and this run is of {run.manifest.board_folder}: a run is never held against another "
                "board's; give one of that board, or add this one's with --update."
            )
        near = baseline.nearest(run.chosen)
        if near is None:
            raise GateError(f"{path} has no entry of {run.name}; add it with --update.")
        apart = ", ".join(map(str, differing(near.settings, run.chosen)))
        raise GateError(
            f"{path} has {near.name} with other settings ({apart}); run with those of the baseline, "
            "or add these with --update."
        )
    if entry.exact != run.exact:
        raise GateError(
            f"The entry of {entry.name} is of {_board(entry.exact)}, and the run of {_board(run.exact)}: "
            "they cannot be compared."
        )
    if entry.image_sha256 != run.image_sha256:
        raise GateError(
            f"The run has other operations than the entry of {entry.name} (image {run.image_sha256[:12]}, "
            f"baseline {entry.image_sha256[:12]}): the scenario changed; write the baseline anew with "
            "--update."
        )
    try:
        before = entry.read_operations()
        if len(before) != len(run.operations):
            raise GateError(f"has {len(before):,} operations, and its image {len(run.operations):,}")
    except GateError as error:
        raise GateError(
            f"{path}: the entry of {entry.name} {error}; restore the file, or write it anew with --update."
        ) from None
    return entry, before


def _board(is_exact: bool) -> str:
    return "the virtual board" if is_exact else "a real or emulated one"


def _left_over(baseline: Baseline, runs: Sequence[Measured]) -> list[str]:
    """Sentences on entries that no run was held against."""
    chosen = [run.chosen for run in runs]
    missing = [entry.name for entry in baseline.entries if entry.settings not in chosen]
    if not missing:
        return []
    told = "; ".join(missing[:NAMED]) + (f"; and {len(missing) - NAMED:,} more" if missing[NAMED:] else "")
    count = "1 entry" if len(missing) == 1 else f"{len(missing):,} entries"
    return [f"No run was given for {count} of the baseline: {told}."]
