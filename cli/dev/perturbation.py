"""`./lab dev perturbation`: what measuring costs."""

from __future__ import annotations

from cli.shell.declare import declare


@declare("Is the bench right?", of_checkout=True)
def command() -> None:
    """Measure what pins, cycle counter and records cost, for docs/results/perturbation*.csv."""
    from base.files import results
    from cli.shell import under_way

    with under_way.shown() as tell:
        from quality import perturbation

        measured = list(perturbation.tables(under_way.Counted(tell, perturbation.steps())))
    for result in measured:
        print(results.write(*result))
