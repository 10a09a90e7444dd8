"""`./lab explain`: why the worst sample of a run took so long."""

from __future__ import annotations

from pathlib import Path

from base.run_folder.named_quantities import CHOICE
from cli.shell import shared
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT, QUANTITY, RUN


@declare("Read what came out")
@argument("run", RUN, "a run folder")
@option("--quantity", QUANTITY, CHOICE, default="section")
@shared.allocator_file
@option(
    "--perfetto",
    OUTPUT,
    "a timeline of the run to write, for ui.perfetto.dev; compressed if its name ends in .gz",
)
@json_option
def command(run: Path, quantity: str, allocator: Path | None, perfetto: Path | None, as_json: bool) -> None:
    """Explain the worst sample of a run, and keep waveform, heap, call stack, instructions."""
    from analysis.explain import explanation, text
    from base.run_folder.explanation import read_anatomy

    (result,) = explanation.explain(run, quantity, allocator)
    made_of = read_anatomy(run, result.quantity)
    if perfetto:
        from analysis.program.masks.timeline import run_timeline

        run_timeline(run, result, made_of, allocator).write(perfetto)
    answer(as_json, result.document, lambda: text.as_text(result, made_of), file=perfetto)
