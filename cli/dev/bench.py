"""`./lab dev bench`: the bench's own speed."""

from __future__ import annotations

from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import WHOLE, choice


@declare("Is it fast?", of_checkout=True)
@argument("what", choice("simulator"), "simulator: beside Unicorn with a hook")
@option("--repeats", WHOLE, "how many times; medians are printed", default=5)
@json_option
def command(what: str, repeats: int, as_json: bool) -> None:  # noqa: ARG001 - there is one
    """Measure the simulator's instructions per second of CPU, beside Unicorn in the same repeat."""
    from base.text_table import TextTable, printed
    from quality.speeds import simulator

    figures = simulator.measure(repeats)
    rows = [
        [load, f"{row['instructions']:,.0f}", *(f"{row[name]:.2f}" for name in list(row)[1:])]
        for load, row in figures.items()
    ]
    headings = ("load", "instructions", "millions a second of CPU", "Unicorn with a hook", "ratio")
    answer(as_json, lambda: figures, lambda: printed([TextTable("", headings, rows, (1, 2, 3, 4))]))
