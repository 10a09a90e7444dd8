"""A comparison for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.twin.causes import Causes
from analysis.twin.comparison import Comparison
from analysis.twin.hypotheses import Trials
from analysis.twin.verdict import Row, Units

_WIDTH_COLUMNS = 120
_SHOWN_WORST = 10


def as_text(comparison: Comparison) -> str:
    """The verdict, the residuals, what was tried to explain them, and where they come from."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(comparison.verdict, *comparison.notes, sep="\n")
        console.print("", _title(comparison), _residuals(comparison.rows), sep="\n")
        console.print("", *_worst(comparison.rows, comparison.units), sep="\n")
        console.print("", _hypotheses(comparison.trials), sep="\n")
        if comparison.trials.holds:
            console.print(
                "",
                "Left with what holds taken out, in cycles",
                _residuals([row for row in comparison.rows_left if row.kind is None]),
                sep="\n",
            )
        if comparison.causes:
            console.print("", *_causes(comparison.causes), sep="\n")
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _title(comparison: Comparison) -> str:
    manifest = comparison.board.manifest
    return (
        f"Board ({manifest.board}) minus virtual board, in cycles: {manifest.scenario} with "
        f"{manifest.configuration}, {comparison.joined:,} of "
        f"{comparison.board.plan.operations.height:,} operations joined"
    )


def _residuals(rows: Sequence[Row]) -> Table:
    table = _table("quantity", "kind")
    for name in ("n", "min", "median", "mean", "p99", "max", "budget", "beyond", "share"):
        table.add_column(name, justify="right")
    for row in rows:
        values = [getattr(row.cycles, name) for name in ("min", "median", "mean", "p99", "max")]
        table.add_row(
            Text(row.quantity.words if row.kind is None else ""),
            row.kind or "all",
            f"{row.cycles.n:,}",
            *(_number(value) for value in values),
            f"± {row.budget_cycles:.1f}" if row.quantity.wire else "0",
            f"{row.beyond:,}",
            f"{row.share_beyond:.1%}",
        )
    return table


def _worst(rows: Sequence[Row], units: Units) -> list[str]:
    differing = [row for row in rows if row.kind is None and row.worst]
    if not differing:
        return ["No residual is other than zero."]
    lines = ["Worst, by number of the operation (- outside of all)"]
    for row in differing:
        each = ", ".join(_one(row, units, seq, cycles) for seq, cycles in row.worst[:_SHOWN_WORST])
        lines.append(f"  {row.quantity.words}: {each}")
    return lines


def _one(row: Row, units: Units, seq: int | None, cycles: float) -> str:
    ns = f" ({units.ns(cycles):+.1f} ns)" if row.quantity.wire else ""
    return f"{'-' if seq is None else seq}: {_number(cycles)}{ns}"


def _hypotheses(trials: Trials) -> Table:
    table = _table("hypothesis")
    table.add_column("removes", justify="right")
    table.add_column("beyond then", justify="right")
    table.add_column("left out", justify="right")
    table.add_column("holds")
    table.add_column("what was found", overflow="fold")
    for hypothesis in trials.hypotheses:
        table.add_row(
            hypothesis.key,
            "" if hypothesis.removed is None else f"{hypothesis.removed:.1%}",
            "" if hypothesis.beyond is None else f"{hypothesis.beyond:,}",
            f"{hypothesis.left_out:,}" if hypothesis.left_out else "",
            "yes" if trials.held(hypothesis) else "no",
            Text(hypothesis.words),
        )
    return table


def _causes(causes: Causes) -> list[str]:
    words = (
        f"Where the cycles differ: {causes.differing:,} operations; {causes.met_otherwise:,} were met by "
        f"other interrupts on the board; of the {causes.undisturbed:,} that none met:"
    )
    return [words, f"  {in_proportion(causes)}"]


def in_proportion(causes: Causes) -> str:
    """What the difference of operations that no interrupt met goes with."""
    if causes.constant_cycles is not None:
        return f"each differs by {_number(causes.constant_cycles)} cycles"
    if causes.cycles_per_probe is None:
        return "the difference does not go with the probes"
    return (
        f"{causes.cycles_per_probe:+,.2f} cycles for each probe, which takes away {causes.share:.0%} of the "
        "variation"
    )


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name)
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:+,.0f}" if float(value).is_integer() else f"{value:+,.1f}"
