"""A comparison for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.twin.comparison import Causes, Comparison, Row, Units
from analysis.twin.hypotheses import Trials

_WIDTH_COLUMNS = 120
_STATISTICS = ("min", "median", "mean", "p99", "max")
RESIDUALS = ("quantity", "kind", "n", *_STATISTICS, "budget", "beyond", "share")
HYPOTHESES = ("hypothesis", "removes", "beyond then", "left out", "holds", "what was found")
WORST = "Worst, by number of the operation (- outside of all)"


def as_text(comparison: Comparison) -> str:
    """The verdict, the residuals, what was tried to explain them, and where they come from."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(comparison.verdict, *comparison.notes, sep="\n")
        manifest, planned = comparison.board.manifest, comparison.board.plan.operations.height
        title = (
            f"Board ({manifest.board}) minus virtual board, in cycles: {manifest.scenario} with "
            f"{manifest.configuration}, {comparison.joined:,} of {planned:,} operations joined"
        )
        console.print("", title, _residuals(comparison.rows), sep="\n")
        worst = [f"  {words}: {each}" for words, each in worst_lines(comparison.rows, comparison.units)]
        console.print("", WORST if worst else "No residual is other than zero.", *worst, sep="\n")
        hypotheses = hypothesis_lines(comparison.trials)
        console.print("", _table(HYPOTHESES, hypotheses, ("hypothesis", "holds", "what was found")), sep="\n")
        if comparison.trials.holds:
            console.print(
                "",
                "Left with what holds taken out, in cycles",
                _residuals([row for row in comparison.rows_left if row.kind is None]),
                sep="\n",
            )
        if comparison.causes:
            causes = comparison.causes
            words = (
                f"Where the cycles differ: {causes.differing:,} operations; {causes.met_otherwise:,} were "
                f"met by other interrupts on the board; of the {causes.undisturbed:,} that none met:"
            )
            console.print("", words, f"  {in_proportion(causes)}", sep="\n")
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _residuals(rows: Sequence[Row]) -> Table:
    return _table(RESIDUALS, residual_lines(rows), ("quantity", "kind"))


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


def _table(headings: Sequence[str], lines: Iterable[Sequence[str]], words: Sequence[str]) -> Table:
    """Numbers but for the columns of `words` stand to the right."""
    table = Table(box=None, pad_edge=False)
    for name in headings:
        table.add_column(name, justify="left" if name in words else "right", overflow="fold")
    for cells in lines:
        table.add_row(*map(Text, cells))
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:+,.0f}" if float(value).is_integer() else f"{value:+,.1f}"
