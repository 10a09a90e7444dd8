"""A comparison for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.twin.comparison import Causes, Comparison, Row, Units
from analysis.twin.hypotheses import Trials
from base.text_table import TextTable, printed

_STATISTICS = ("min", "median", "mean", "p99", "max")
RESIDUALS = ("quantity", "kind", "n", *_STATISTICS, "budget", "beyond", "share")
HYPOTHESES = ("hypothesis", "removes", "beyond then", "left out", "holds", "what was found")
WORST = "Worst, by number of the operation (- outside of all)"


def as_text(comparison: Comparison) -> str:
    """The verdict, the residuals, what was tried to explain them, and where they come from."""
    manifest, planned = comparison.board.manifest, comparison.board.plan.operations.height
    title = (
        f"Board ({manifest.board}) minus virtual board, in cycles: {manifest.scenario} with "
        f"{manifest.configuration}, {comparison.joined:,} of {planned:,} operations joined"
    )
    worst = [f"  {words}: {each}" for words, each in worst_lines(comparison.rows, comparison.units)]
    parts: list[str | TextTable] = [
        comparison.verdict,
        *comparison.notes,
        _residuals(title, comparison.rows),
        "",
        WORST if worst else "No residual is other than zero.",
        *worst,
        TextTable("", HYPOTHESES, list(hypothesis_lines(comparison.trials)), (1, 2, 3)),
    ]
    if comparison.trials.holds:
        whole = [row for row in comparison.rows_left if row.kind is None]
        parts.append(_residuals("Left with what holds taken out, in cycles", whole))
    if causes := comparison.causes:
        words = (
            f"Where the cycles differ: {causes.differing:,} operations; {causes.met_otherwise:,} were "
            f"met by other interrupts on the board; of the {causes.undisturbed:,} that none met:"
        )
        parts += ["", words, f"  {in_proportion(causes)}"]
    return printed(parts)


def _residuals(title: str, rows: Sequence[Row]) -> TextTable:
    return TextTable(title, RESIDUALS, list(residual_lines(rows)), range(2, len(RESIDUALS)))


def residual_lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """The cells of RESIDUALS."""
    for row in rows:
        yield (
            row.quantity.words if row.kind is None else "",
            row.kind or "all",
            f"{row.cycles.n:,}",
            *(_number(getattr(row.cycles, name)) for name in _STATISTICS),
            f"± {row.budget_cycles:.1f}" if row.quantity.wire else "0",
            f"{row.beyond:,}",
            f"{row.share_beyond:.1%}",
        )


def worst_lines(rows: Sequence[Row], units: Units) -> Iterator[tuple[str, str]]:
    """The words of a quantity, and its greatest residuals by number of the operation."""
    for row in rows:
        if row.kind is None and row.worst:
            each = []
            for seq, cycles in row.worst:
                ns = f" ({units.ns(cycles):+.1f} ns)" if row.quantity.wire else ""
                each.append(f"{'-' if seq is None else seq}: {_number(cycles)}{ns}")
            yield row.quantity.words, ", ".join(each)


def hypothesis_lines(trials: Trials) -> Iterator[tuple[str, ...]]:
    """The cells of HYPOTHESES."""
    for hypothesis in trials.hypotheses:
        yield (
            hypothesis.key,
            "" if hypothesis.removed is None else f"{hypothesis.removed:.1%}",
            "" if hypothesis.beyond is None else f"{hypothesis.beyond:,}",
            f"{hypothesis.left_out:,}" if hypothesis.left_out else "",
            "yes" if trials.held(hypothesis) else "no",
            hypothesis.words,
        )


def in_proportion(causes: Causes) -> str:
    """What the difference of operations that no interrupt met goes with."""
    if causes.cycles_per_probe is None:
        return "the difference does not go with the probes"
    return (
        f"{causes.cycles_per_probe:+,.2f} cycles for each probe, which takes away {causes.share:.0%} of the "
        "variation"
    )


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:+,.0f}" if float(value).is_integer() else f"{value:+,.1f}"
