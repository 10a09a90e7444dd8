"""`./lab masks`: how long one's own program holds interrupts off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cli.shell import shared
from cli.shell.declare import argument, declare, json_option, option
from cli.shell.judging import Judging, judging
from cli.shell.values import FILE, INSTANT


@declare(section="Your own firmware, as it is")
@argument("elf", type=FILE, help="a program for the virtual Nucleo, as the linker wrote it")
@option(
    "--until", type=INSTANT, default="1s", help="how long to run it from reset: 100ms, 2s or cycles:8400000"
)
@shared.begin
@shared.kernel
@option("--explain", is_flag=True, help="the instructions of the longest interval of each kind, too")
@option("--output", type=FILE, help="an HTML file to write: places, curves, timeline, priorities")
@option(
    "--folded",
    type=FILE,
    help="a file for flame graph tools to write: a line for each call stack, with its cycles",
)
@option(
    "--perfetto",
    type=FILE,
    help="a timeline to write, which ui.perfetto.dev opens; compressed if its name ends in .gz",
)
@shared.own_program
@judging
@json_option
def command(
    elf: Path,
    output: Path | None,
    folded: Path | None,
    perfetto: Path | None,
    as_json: bool,
    judging: Judging,
    **chosen: Any,
) -> int:
    """Show how long your own program holds interrupts off, and who does; hold it to limits.

    The exit status is 0 if the program ran to its end, and is within limits and baseline where they
    are given; 1 if it ended early, or is not within them; 2 where that cannot be said.
    For example: ./lab masks my.elf --limit basepri=1200 --baseline masks.toml
    """
    from analysis.program.gate import of_masks
    from analysis.program.masks import document, text
    from cli.work import judging as gate
    from cli.work import masks

    ready = gate.ready(judging, of_masks.COMMAND, of_masks.MASK_KINDS)
    chosen["start"] = gate.begins(ready, chosen["start"])
    found, drawn = masks.run(str(elf), output=output, folded_file=folded, perfetto=perfetto, **chosen)
    done = ready.judge(of_masks.measured(found))
    gate.show(done, judging, as_json, lambda: document.as_json(found), lambda: text.as_text(found))
    for file in (output, folded, perfetto):
        if file and not as_json and not judging.on_stdout:
            print(f"file: {file}")
    if drawn and not as_json and not judging.on_stdout:
        print(drawn)
    return int(bool(found.run.ended)) if done.exit_status is None else done.exit_status
