"""A baseline made of runs, and what that changes in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from analysis.compare.gate import exact, repeated
from analysis.compare.gate.baseline import REPETITIONS_LEAST, Baseline, Entry, Statistics
from analysis.compare.gate.gate import check_repetitions, groups, once
from analysis.compare.gate.lines import write
from analysis.compare.gate.measured import Measured, ranges, read
from analysis.compare.gate.outcome import JUDGED, counted
from analysis.compare.settings import differing
from analysis.compare.worst import WORST_CASES
from analysis.errors import GateError
from base.files.complaints import first_complaint, sentence
from base.run_folder.placements import Range


def updated(
    before: Baseline, folders: Sequence[Path], held_to: Mapping[str, str]
) -> tuple[Baseline, list[str]]:
    """`before` with the entries of the runs in `folders` and the limits `held_to`, and a sentence
    for each of them.

    Raises GateError where a run is not complete, or a board that is not exact has too few
    repetitions, and RunError.
    """
    entries = list(before.entries)
    told = []
    seen: list[Mapping[str, str]] = []
    for group in groups(map(read, once(folders))):
        entry = _entry(group)
        if entry.settings in seen:
            _check_same(next(one for one in entries if one.settings == entry.settings), entry, group[0])
            continue
        seen.append(entry.settings)
        old = before.of(entry.settings)
        told.append(f"{entry.name}: {_change(old, entry)}.")
        entries = [one for one in entries if one.settings != entry.settings] + [entry]
    told += [
        f"limit of {quantity}: {before.limits.get(quantity, 'none')} → {text}."
        for quantity, text in held_to.items()
        if before.limits.get(quantity) != text
    ]
    return Baseline(before.path, {**before.limits, **held_to}, tuple(entries)), told


def _check_same(entry: Entry, other: Entry, run: Measured) -> None:
    """The virtual board repeats itself, so two runs that differ are of two firmwares."""
    if _unplaced(entry) != _unplaced(other):
        raise GateError(
            f"{run.folder}: is of the same settings as another run, and came out otherwise; give one."
        )


def _unplaced(entry: Entry) -> Entry:
    """An entry without what it was not run for: one of two equal runs may lack placements."""
    return entry.model_copy(update={"placements": {}})


def _entry(runs: Sequence[Measured]) -> Entry:
    first = runs[0]
    check_repetitions(runs)
    if not first.exact and len(runs) < REPETITIONS_LEAST:
        raise GateError(
            f"{first.folder}: is of a board that does not repeat itself to the cycle, so its baseline takes "
            f"{REPETITIONS_LEAST} runs or more, to know how they scatter; these are {len(runs)}."
        )
    operations, scatter, beyond, quantities = first.operations, 0, 0, _of_one(first)
    pulse_beyond = _pulse_beyond(first) if first.exact else None
    if not first.exact:
        _check_counts(runs)
        operations, scatter, beyond = repeated.merged(runs)
        quantities = repeated.summed_up(runs)
    try:
        return Entry(
            exact=first.exact,
            repetitions=len(runs),
            image_sha256=first.image_sha256,
            pulse_beyond_cycles=pulse_beyond,
            scatter_cycles=scatter,
            beyond_scatter=beyond,
            settings=first.chosen,
            made_by=first.made_by,
            quantities=quantities,
            placements=_placements(runs),
            operations=write(operations, first.labels, pulse_beyond),
        )
    except ValidationError as error:
        complaint = sentence(first_complaint(error, {}), "decode the run again, or run the scenario again")
        raise GateError(f"{first.folder}: cannot be a baseline: {complaint}") from None


def _placements(runs: Sequence[Measured]) -> dict[str, Range]:
    """Those of the worst cases."""
    told = ranges(runs)
    keys = [quantity.key for quantity in WORST_CASES]
    return {key: told[key] for key in keys if key in told}


def _check_counts(runs: Sequence[Measured]) -> None:
    counts = [[(one.kind, one.probes) for one in run.operations] for run in runs]
    for run, count in zip(runs, counts, strict=True):
        if count != counts[0]:
            raise GateError(
                f"{run.folder}: has other outcomes or probes than {runs[0].folder}; find out why."
            )


def _of_one(run: Measured) -> dict[str, Statistics]:
    keys = [quantity.key for quantity in JUDGED.values()]
    told = {key: counted(run.manifest.statistics.get(key)) for key in keys}
    return {
        key: Statistics(budget=0, **{name: [value] for name, value in values.items()})
        for key, values in told.items()
        if values
    }


def _pulse_beyond(run: Measured) -> int:
    """The number of samples by which most pulses exceed their cycles."""
    beyond = Counter(one.pulse - one.cycles for one in run.operations if one.pulse is not None and one.cycles)
    return beyond.most_common(1)[0][0] if beyond else 0


def _change(old: Entry | None, new: Entry) -> str:
    if old is None:
        return f"new, {new.repetitions} repetitions" if new.repetitions > 1 else "new"
    if old == new:
        return "as it was"
    parts = [f"{one}" for one in differing(old.made_by, new.made_by)]
    if old.image_sha256 != new.image_sha256:
        parts.append("other operations")
    elif new.exact and old.exact:
        parts.append(exact.summary_of_change(old, new))
    else:
        parts.append(f"{old.repetitions} → {new.repetitions} repetitions")
    return "; ".join(parts)
