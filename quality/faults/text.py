"""`./lab dev faults`: reads or makes the runs, plants the faults, and puts the outcome in words."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from pathlib import Path

from base.tell import Tell
from quality.faults import planting, series
from quality.faults.planting import Fault, FaultError, Healthy, read_healthy
from quality.faults.series import FATES, Outcome, Report

# A word on progress now and then is enough.
_TELL_EVERY = 10


def run(
    folders: Sequence[Path], n: int, pairs: int, seed: int, jobs: int, tell: Tell = lambda _: None
) -> Report:
    """A series over the runs in `folders`; without any, over small ones that are made for it.
    `tell` hears what is under way.

    Raises TailscopeError, and FaultError for numbers that make no sense.
    """
    for option, number in (("n", n), ("jobs", jobs)):
        if number < 1:
            raise FaultError(f"--{option} {number}: give 1 or more.")
    for option, number in (("seed", seed), ("pairs", pairs)):
        if number < 0:
            raise FaultError(f"--{option} {number}: give 0 or more.")
    with _runs(folders, tell) as runs:
        began_s = time.monotonic()

        def told(done: int) -> None:
            if done % _TELL_EVERY == 0:
                left_s = (time.monotonic() - began_s) / done * (n + pairs - done)
                tell(f"{done:,} of {n + pairs:,} faults planted, about {left_s:,.0f} s left")

        return series.run(runs, n, seed, jobs, told, pairs)


def replay(folders: Sequence[Path], name: str, seed: int, tell: Tell = lambda _: None) -> Outcome:
    """One fault of such a series again, by its name KIND:NUMBER. Raises FaultError."""
    fault = Fault.named(name)
    with _runs(folders, tell) as runs:
        return series.replay(runs, fault, seed)


@contextmanager
def _runs(folders: Sequence[Path], tell: Tell) -> Iterator[list[Healthy]]:
    if folders:
        yield [read_healthy(folder) for folder in folders]
        return
    with tempfile.TemporaryDirectory(prefix="tailscope-faults-") as made:
        yield planting.make(Path(made), tell)


_SHOWN_OF_A_KIND = 2


def as_text(report: Report | Outcome) -> str:
    """A series as its table by kind, and the first of each kind that passed or crashed in full; or
    one outcome in full.
    """
    if isinstance(report, Outcome):
        return _in_full(report)
    counts = {**report.by_kind, "total": report.total}
    wide = max(map(len, counts))
    heads = [fate.replace("_", " ") for fate in ("planted", *FATES)]
    lines = [" ".join([" " * wide, *heads])]
    for kind, row in counts.items():
        lines.append(
            " ".join(
                [
                    f"{kind:{wide}}",
                    *(f"{n:{len(head)},}" for head, n in zip(heads, row.values(), strict=True)),
                ]
            )
        )
    unsound = [outcome for outcome in report.outcomes if not outcome.sound]
    for _, of_kind in groupby(unsound, key=lambda outcome: outcome.fault.kind):
        lines += [f"\n{_in_full(outcome)}" for outcome in islice(of_kind, _SHOWN_OF_A_KIND)]
    return "\n".join(lines)


def _in_full(outcome: Outcome) -> str:
    lines = [f"{outcome.fault} in {outcome.run}: {outcome.planted}", f"fate: {outcome.fate}"]
    if outcome.verdict:
        lines.append(f"verdict: {outcome.verdict}")
    lines += [f"reason: {reason}" for reason in outcome.reasons]
    lines += [f"changed: {change}" for change in outcome.changes]
    lines += [outcome.error] if outcome.error else []
    return "\n".join(lines)
