"""`./lab observe FILE`: the wire of another tool's capture, or a run that is judged by it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from base.paths import RUNS
from capture.acquisition import imported as other_tools
from capture.acquisition.imported import Beside, ObservedFile
from capture.acquisition.source import Request, outside_of
from capture.conduct import run as conduct
from capture.importing import formats
from capture.reading.observed import Questions
from cli.shell.values import OptionError
from cli.work.observe import ObserveOptions, keep, questions, tell
from cli.work.options import Options
from cli.work.plan import compiled
from firmware.build import boards, outside


def show(file: Path, as_json: bool, options: ObserveOptions) -> int:
    """Reads and judges `file`, and prints what was found; the exit status."""
    _check(options)
    wanted = questions(options)
    channels = dict(options["channels"]) or dict.fromkeys(wanted.channels)
    imported = formats.read(
        file, {name: theirs or name for name, theirs in channels.items()} or None, options["samplerate_hz"]
    )
    beside = None
    if options["run"]:
        beside = other_tools.of_run(options["run"], options["uart"])
    elif options["scenario"] and options["allocator"]:
        beside = _of_scenario(options["scenario"], options["allocator"], options)
    request = Request(runs=RUNS)
    if beside is None:
        if not channels:
            wanted = Questions.moving(imported.edges)
        result = conduct(ObservedFile(imported, wanted, options["edges"], request, keep(options)))
        tell(result.folder, as_json)
        return int(result.verdict != "complete")
    result = conduct(other_tools.Imported(imported, beside, request, options["ignore_glitches"]))
    if as_json:
        print((result.folder / "run.json").read_text(encoding="utf-8"))
    else:
        print(f"{result.verdict}: {' '.join(result.reasons)}" if result.reasons else result.verdict)
        print(result.folder)
    return int(result.verdict != "complete")


def _check(options: ObserveOptions) -> None:
    run, scenario, allocator = options["run"], options["scenario"], options["allocator"]
    if run and (scenario or allocator):
        raise OptionError("Name the run by --run, or the firmware by --scenario and --allocator, not both.")
    if options["keep"] and (run or scenario):
        raise OptionError("--keep is for the wire alone: a run is judged by its whole capture.")
    if bool(scenario) != bool(allocator):
        raise OptionError("--scenario and --allocator go together: the records tell of both.")
    if options["board"] and not scenario:
        raise OptionError(
            "--board goes with --scenario and --allocator: a run folder tells its board itself, and of "
            "pulses alone none is needed."
        )
    if options["uart"] and not (run or scenario):
        raise OptionError(
            "--uart alone is not enough: say what ran, by --run or by --scenario and --allocator."
        )
    if options["ignore_glitches"] and not (run or scenario):
        raise OptionError(
            "--ignore-glitches needs the records, which tell the firmware's shortest pulse: give --run, or "
            "--scenario, --allocator and --uart."
        )


def _of_scenario(name: str, allocator: Sequence[str], options: ObserveOptions) -> Beside:
    """What else is known of the capture of a scenario."""
    names = outside.admit(allocator)
    if len(names) != 1:
        raise OptionError(f"--allocator {','.join(allocator)[:80]}: give one, the one that was captured.")
    board = options["board"]
    on = boards.default() if board is None else boards.named(board)
    planned = compiled(
        name,
        Options(
            parameters=dict(options["parameter"]),
            stimulus=options["stimulus"],
            seed=options["seed"],
            records=options["records"],
        ),
        on,
    ).recorded_by(options["records"])
    word = None if board is None else on.word
    return other_tools.of_plan(planned, names[0], options["uart"], outside_of(names[0]), word)
