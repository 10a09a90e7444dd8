"""What a soak came to, for a terminal."""

from __future__ import annotations

from quality.soak.run import Outcome
from quality.soak.soak import Accounting


def line(number: int, outcome: Outcome) -> str:
    """One run."""
    state = "UNACCOUNTED" if outcome.wrong else "as due"
    return f"run {number}: {outcome.board}, {outcome.fault}: {outcome.verdict}, {state}"


def as_text(found: Accounting) -> str:
    """The accounting."""
    lines = [f"{'board':8} {'fault':26} {'outcome':13} runs"]
    lines += [
        f"{board:8} {fault:26} {verdict:13} {runs:4}"
        for (board, fault, verdict), runs in found.counts().items()
    ]
    for outcome in found.unaccounted:
        lines.append(f"{outcome.board}, {outcome.fault}: {' '.join(outcome.wrong)}")
        lines += [f"  it said: {sentence}" for sentence in outcome.sentences]
        lines += [f"  kept: {outcome.folder}"] if outcome.folder else []
    lines.append(
        f"{len(found.outcomes)} runs in {found.seconds / 60:.1f} min, {len(found.unaccounted)} "
        f"unaccounted for, {sum(len(one.left) for one in found.outcomes)} processes left"
        f"{', stopped by a signal' * found.stopped}"
    )
    lines.append(
        f"growth from the first run to the last: {found.descriptors_grown} descriptors, "
        f"{found.memory_grown_kib:,} KiB; a run's bench took at most "
        f"{max((one.memory_kib for one in found.outcomes), default=0):,} KiB"
    )
    lines.append(f"results: {found.folder}")
    return "\n".join(lines)
