"""`./lab decode`: a capture of another tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cli.shell import shared
from cli.shell.declare import argument, declare, json_option, option
from cli.shell.values import BOARD_FOLDER, FILE, RUN, SAMPLERATE, SCENARIO, Allocators, Pairs


@declare(section="Run and measure")
@argument(
    "file",
    type=FILE,
    help="a capture: .sr, VCD, CSV of sigrok, DSView or Saleae, or the folder of a binary export of Logic 2",
)
@option(
    "--channels",
    type=Pairs("CRIT=D0,OP=D1"),
    help="which is which: CRIT=D0,OP=D1,…; those of the same names when not given",
)
@option(
    "--samplerate",
    "samplerate_hz",
    type=SAMPLERATE,
    help="of the analyzer, where the file does not state it: 24000000 or 24m",
)
@option("--run", type=RUN, help="the run folder of the run that it was taken of")
@option("--uart", type=FILE, help="the records of that run, where they are not those in the run folder")
@option(
    "--scenario",
    type=SCENARIO,
    help="without a run folder: what ran, of `./lab list` or the path of a scenario's TOML",
)
@option("--allocator", type=Allocators(all_too=False), help="without a run folder: on which allocator")
@option(
    "--board",
    type=BOARD_FOLDER,
    help="without a run folder: the board that was captured, such as nucleo-f446re, or the path of its "
    "folder; what the records name, or else nucleo-f401re, when not given",
)
@shared.stimulus
@shared.seed
@shared.parameter
@shared.records
@shared.ignore_glitches
@json_option
def command(
    file: Path,
    channels: Mapping[str, str] | None,
    samplerate_hz: int | None,
    run: Path | None,
    uart: Path | None,
    scenario: str | None,
    allocator: list[str] | None,
    board: str | None,
    stimulus: str | None,
    seed: int | None,
    parameter: tuple[tuple[str, str], ...],
    records: str,
    ignore_glitches: bool,
    as_json: bool,
) -> int:
    """Decode and judge a capture of another tool.

    For example: ./lab decode capture.sr --channels CRIT=D0,OP=D1
    """
    from capture.store import RunResult
    from cli.work import decode
    from cli.work.options import Options

    found = decode.run(
        file,
        channels=channels,
        uart=uart,
        run=run,
        scenario=scenario,
        allocator=allocator,
        board=board,
        options=Options(
            parameters=dict(parameter),
            samplerate_hz=samplerate_hz,
            stimulus=stimulus,
            seed=seed,
            records=records,
            ignore_glitches=ignore_glitches,
        ),
    )
    if not isinstance(found, RunResult):
        print(json.dumps(found.as_json(), indent=2) if as_json else decode.as_text(found))
        return 1
    if as_json:
        print((found.folder / "run.json").read_text(encoding="utf-8"))
    else:
        print(f"{found.verdict}: {' '.join(found.reasons)}" if found.reasons else found.verdict)
        print(found.folder)
    return int(found.verdict != "complete")
