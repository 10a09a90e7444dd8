"""`./lab dev perturbation`: what measuring costs."""

from __future__ import annotations

from cli.shell.declare import declare


@declare(section="Is the bench right?")
def command() -> None:
    """Show what pins, cycle counter and records cost, beside builds without them."""
    from cli.work import progress

    with progress.shown() as tell:
        tell("building the virtual Nucleo")
        from quality import perturbation

        table = perturbation.table(tell=progress.Counted(tell, perturbation.steps()))
    print(table)
