"""`./lab first-run`: from plugged in to the first number that may be believed."""

from __future__ import annotations

import json
import platform
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from base.paths import BUILD, RUNS
from cli.shell import shared, under_way
from cli.shell.declare import declare, json_option, option
from cli.shell.project import version
from cli.shell.values import OUTPUT, OUTPUT_FOLDER, SECONDS, OptionError

if TYPE_CHECKING:
    from capture.checks.findings import Result

RATE_S, RATE_OF_EMULATED_S = 60.0, 2.0
_WIDTH = 100


@declare("Set up")
@shared.board
@option(
    "--rate-for",
    "rate_s",
    SECONDS,
    "how long the analyzer must keep up; a minute, or 2s of a board that is emulated, when not given",
)
@option(
    "--output",
    OUTPUT,
    "the page to write; the same as JSON lies beside it",
    default=BUILD / "bring-up.html",
    show_default="build/bring-up.html",
)
@option("--runs", OUTPUT_FOLDER, "the folder that its runs go to", default=RUNS, show_default="runs")
@json_option
def command(board: str | None, rate_s: float | None, output: Path, runs: Path, as_json: bool) -> int:
    """Bring up a board: from plugged in to the first believed number, step by step."""
    from base.files.whole import write_bytes
    from capture.checks import wiring
    from capture.checks.captures import Desk
    from capture.checks.findings import BringUp, make_parcel
    from capture.desk.bench import read_bench
    from cli._desk import CHECKS, walk
    from dashboards import bring_up as page

    parcel = output.with_suffix("")
    if runs.resolve().is_relative_to(parcel.resolve()):
        raise OptionError(
            f"What is to be sent goes to {parcel}, which is made anew: give --runs another folder."
        )
    resource = read_bench().board(board)
    under_way.on_desk(board)
    usual_s = RATE_S if resource.is_real else RATE_OF_EMULATED_S
    results: list[Result] = []
    with under_way.stoppable("what was found until then is kept"), under_way.shown() as shown:
        desk = Desk(resource, board or resource.name, runs, rate_s or usual_s, shown)
        try:
            for result in walk(desk):
                results.append(result)
                if not as_json:
                    head = f"{len(results):>2}/{len(CHECKS)}  {result.key:<9}  {result.state:<7}  "
                    below = " " * len(head)
                    print(
                        textwrap.fill(
                            result.words,
                            _WIDTH,
                            initial_indent=head,
                            subsequent_indent=below,
                            break_on_hyphens=False,
                        ),
                        *(f"{below}→ {sentence}" for sentence in result.todo),  # to be copied as it stands
                        sep="\n",
                        flush=True,
                    )
        finally:
            system = f"{platform.system()} {platform.release()}"
            versions = {"tailscope": version(), "system": system, "python": platform.python_version()}
            if desk.folders:
                versions |= desk.last.tools
            bring_up = BringUp(
                resource.name,
                tuple(results),
                len(CHECKS),
                versions,
                wiring.as_json(resource),
                tuple(folder.name for folder in desk.folders),
                resource.analyzer.driver,
                resource.analyzer.samplerate_hz,
            )
            page.write(bring_up, output)
            document = json.dumps(bring_up.as_json(), indent=2)
            write_bytes(output.with_suffix(".json"), f"{document}\n".encode())
            last = desk.folders[-1] if desk.folders else None
            folder = make_parcel(output, last, (resource.loader.serial_number,))
    print(document if as_json else f"\n{bring_up.verdict}\npage: {output}\nto send: {folder}")
    return int(not bring_up.whole)
