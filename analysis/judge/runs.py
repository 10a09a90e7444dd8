"""Stored runs, held to limits and to a baseline, or made its entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from analysis.compare.settings import differing
from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import beside
from analysis.judge.baseline import (
    GATE,
    OF_A_MATTER,
    REPETITIONS_LEAST,
    Baseline,
    Entry,
    Figures,
    Operation,
    operations_of,
    operations_text,
)
from analysis.judge.limits import Allowance, Limit, hold
from analysis.judge.rows import Judgement, Report, Words
from analysis.judge.stored import StoredRun, read_stored, rows_of
from base.files.complaints import first_complaint, sentence
from base.files.errors import TailscopeError

_WORDS = Words(none="was measured in the run")
_ABSENT = Allowance(vanished=True)
"""A limit of what a run did not measure is not judged; a run of which nothing was is refused."""


def judge(baseline: Baseline | None, folders: Sequence[Path], limits: Sequence[Limit]) -> Report:
    """Judges the runs in `folders` by the limits, and by the baseline if there is one.

    What is wrong with one run is said there, and does not keep the others from being judged.
    """
    runs, refused = [], []
    for folder in once(folders):
        try:
            runs.append(read_stored(folder))
        except TailscopeError as error:
            refused.append(Judgement(folder.name, (), str(error), (str(folder),)))
    judged = [_judge(baseline, group, limits) for group in groups(runs)]
    chosen = [run.chosen for run in runs]
    notes = tuple(
        f"No run was given for this entry of the baseline: {entry.name}."
        for entry in (baseline.entry if baseline else ())
        if entry.settings not in chosen
    )
    return Report(GATE, str(baseline.path) if baseline else None, (*refused, *judged), notes)


def groups(runs: Iterable[StoredRun]) -> list[list[StoredRun]]:
    """Runs on real boards with equal settings together, as repetitions; every other run alone."""
    grouped: dict[object, list[StoredRun]] = {}
    for run in runs:
        grouped.setdefault(id(run) if run.exact else frozenset(run.chosen.items()), []).append(run)
    return [*grouped.values()]


def once(folders: Iterable[Path]) -> list[Path]:
    """The folders without those named twice: a run is no repetition of itself."""
    return list({folder.resolve(): folder for folder in folders}.values())


def _judge(baseline: Baseline | None, runs: list[StoredRun], limits: Sequence[Limit]) -> Judgement:
    first = runs[0]
    folders = tuple(str(run.folder) for run in runs)
    within = tuple(hold(limit, rows_of(run), _WORDS, _ABSENT) for run in runs for limit in limits)
    if baseline is None:
        nothing = all(check.state == "not judged" for check in within)
        refusal = "Nothing of the run was judged: there is no baseline, and no limit of what it measured."
        return Judgement(first.name, within, refusal if nothing else "", folders)
    try:
        _check_repetitions(runs)
        entry, before = _entry_of(baseline, first)
    except GateError as error:
        return Judgement(first.name, within, str(error), folders)
    if entry.figures.exact:
        checks, notes = beside.judge_exact(entry, before, first), [*beside.notes(before, first)]
    else:
        checks, notes = beside.judge_repeated(entry, before, runs), []
    states = {check.state for check in checks}
    if "better" in states and states <= {"better", "as good", "not judged"}:
        notes.append("It is better than the baseline: update it with --update.")
    different = notes or states - {"as good", "not judged"}
    changes = differing(entry.made_by, first.made_by) if different else ()
    return Judgement(first.name, (*checks, *within), "", folders, changes, tuple(notes))


def _check_repetitions(runs: Sequence[StoredRun]) -> None:
    """Raises GateError unless `runs`, of equal settings, are repetitions of one another."""
    first = runs[0]
    for run in runs:
        if run.image_sha256 != first.image_sha256:
            raise GateError(f"{run.folder}: ran other operations than {first.folder}; judge them apart.")
        if run.manifest.firmware.elf_sha256 != first.manifest.firmware.elf_sha256:
            raise GateError(f"{run.folder}: ran another firmware than {first.folder}; judge them apart.")


def _entry_of(baseline: Baseline, run: StoredRun) -> tuple[Entry, list[Operation]]:
    """The entry of the run and its operations. Raises GateError where nothing can be compared."""
    entry = baseline.entry_of(run.chosen, run.name, OF_A_MATTER)
    figures = entry.figures
    if figures.exact != run.exact:
        kinds = {True: "the virtual board", False: "a real or emulated one"}
        raise GateError(
            f"The entry of {entry.name} is of {kinds[figures.exact]}, and the run of {kinds[run.exact]}: "
            "they cannot be compared."
        )
    if figures.image_sha256 != run.image_sha256:
        raise GateError(
            f"The run has other operations than the entry of {entry.name} (image {run.image_sha256[:12]}, "
            f"baseline {figures.image_sha256[:12]}): the scenario changed; write the baseline anew with "
            "--update."
        )
    try:
        before = operations_of(figures.operations)
        if len(before) != len(run.operations):
            raise GateError(f"has {len(before):,} operations, and its image {len(run.operations):,}")
    except GateError as error:
        raise GateError(
            f"{baseline.path}: the entry of {entry.name} {error}; restore the file, or write it anew with "
            "--update."
        ) from None
    return entry, before


def updated(
    before: Baseline, folders: Sequence[Path], limits: Mapping[str, str]
) -> tuple[Baseline, list[str]]:
    """`before` with the entries of the runs in `folders` and these limits, and sentences on what
    that changes.

    Raises GateError where a run is not complete, or a board that is not exact has too few
    repetitions, and RunError.
    """
    new: dict[object, Entry] = {}
    sentences: list[str] = []
    for group in groups(map(read_stored, once(folders))):
        entry = _entry(group)
        settings = frozenset(entry.settings.items())
        if settings not in new:
            sentences += _change(before, group)
        # The virtual board repeats itself, so two runs that differ are of two firmwares.
        if new.setdefault(settings, entry) != entry:
            raise GateError(
                f"{group[0].folder}: is of the same settings as another run, and came out otherwise; "
                "give one."
            )
    rest = [entry for entry in before.entry if frozenset(entry.settings.items()) not in new]
    return files.made(before.path, GATE, limits, [*rest, *new.values()]), sentences


def _change(before: Baseline, runs: list[StoredRun]) -> list[str]:
    """What the baseline so far says of runs that take their entry's place."""
    name = runs[0].name
    if all(entry.settings != runs[0].chosen for entry in before.entry):
        return [f"{name}: new."]
    judged = _judge(before, runs, ())
    changes = (check.sentence for check in judged.checks if check.state not in ("as good", "not judged"))
    return [f"{name}: {words}" for words in (judged.refusal, *changes) if words] or [f"{name}: as it was."]


def _entry(runs: Sequence[StoredRun]) -> Entry:
    first = runs[0]
    _check_repetitions(runs)
    operations = first.operations
    if not first.exact:
        if len(runs) < REPETITIONS_LEAST:
            raise GateError(
                f"{first.folder}: is of a board that does not repeat itself to the cycle, so its "
                f"baseline takes {REPETITIONS_LEAST} runs or more, to know how they scatter; these are "
                f"{len(runs)}."
            )
        operations = _counts(first)
        if other := next((run for run in runs if _counts(run) != operations), None):
            raise GateError(
                f"{other.folder}: has other outcomes or probes than {first.folder}; find out why."
            )
    try:
        figures = Figures(
            exact=first.exact,
            repetitions=len(runs),
            image_sha256=first.image_sha256,
            operations=operations_text(operations, first.run.operations["label"].to_list()),
            quantities=beside.summed_up(runs),
        )
        return Entry(settings=first.chosen, made_by=first.made_by, run=figures)
    except ValidationError as error:
        complaint = sentence(first_complaint(error, {}), "decode the run again, or run the scenario again")
        raise GateError(f"{first.folder}: cannot be a baseline: {complaint}") from None


def _counts(run: StoredRun) -> list[Operation]:
    """The operations with what does not scatter."""
    return [Operation(each.kind, None, None, each.probes) for each in run.operations]
