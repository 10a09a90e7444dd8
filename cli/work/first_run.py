"""`./lab first-run`: the steps of a bring-up, as they are told, and what is kept of them."""

from __future__ import annotations

import json
import platform
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from base.files.whole import write_bytes
from base.processes import signals
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import read_manifest
from capture.bring_up import parcel
from capture.bring_up.step import BringUp, Done, Figure, Outcome, Step, walk
from capture.desk.bench import BoardResource, read_bench
from capture.wiring import plan
from cli.shell import root
from cli.work import doctor, kept, progress, where

RATE_S, RATE_OF_EMULATED_S = 60.0, 2.0
ALLOCATOR = "tlsf"
_WIDTH = 100


def run(
    board_name: str | None, rate_s: float | None, output: Path, runs: Path, *, as_json: bool = False
) -> int:
    """Brings up a board of bench.toml, tells each step, and writes the page and its JSON.

    Returns the exit status: 0 if it came to its end, 1 if it stopped. Raises TailscopeError where
    there is no such board or nothing can be written, and signals.Stopped; what was found by then is
    written.
    """
    board = read_bench().board(board_name)
    where.run(board_name)
    done: list[Done] = []
    with kept.told((), "what was found until then is kept"), progress.shown() as shown:
        bench = _Bench(board, board_name or board.name, runs, rate_s or _usual_s(board), shown)
        steps = bench.steps()
        try:
            for one in walk(steps, lambda step: shown(f"{step.key} …")):
                done.append(one)
                if not as_json:
                    print("\n".join(_lines(one, len(done), len(steps))), flush=True)
        finally:
            found = bench.found(done, len(steps))
            _write(found, output)
            folder = parcel.make(output, bench.last_run, bench.names)
    print(
        json.dumps(found.as_json(), indent=2)
        if as_json
        else f"\n{found.verdict}\npage: {output}\nto send: {folder}"
    )
    return int(not found.whole)


def _usual_s(board: BoardResource) -> float:
    is_emulated = board.emulated is not None or board.loader.kind == "virtual-nucleo"
    return RATE_OF_EMULATED_S if is_emulated else RATE_S


@dataclass
class _Bench:
    """A board in its bring-up."""

    board: BoardResource
    name: str
    runs: Path
    rate_s: float
    shown: Callable[[str], None]

    def steps(self) -> Sequence[Step]:
        """All of them, in order. What captures is loaded here, which takes a while."""
        from capture.bring_up.captures import Captures, short_plan
        from capture.bring_up.desk import Desk
        from firmware.build import image as firmware

        signals.check()
        self.shown("building the firmware")
        on = self.board.board
        image = firmware.build(ALLOCATOR, board=on.word)
        desk = Desk(self.board)
        self._captures = captures = Captures(self.board, self.name, image, self.runs, self.rate_s, self.shown)
        return (
            Step("tools", "Is everything installed?", _tools),
            Step("rights", "May you use what is plugged in, and does nobody else?", desk.rights),
            Step("desk", "Is there one analyzer, one probe, one port?", desk.plugged_in),
            Step("probe", "Is the firmware of the probe new enough?", desk.probe_firmware),
            Step("load", "Does the flash take a firmware?", lambda: desk.load(image, short_plan(on))),
            Step(
                "again", "Does it take one behind a run, too?", lambda: desk.load_again(image, short_plan(on))
            ),
            Step("wiring", "Is each clip on its pin?", desk.wiring),
            Step("line", "Do the records come, whole and in order?", captures.line),
            Step("noise", "Do inputs see edges where no pin moves?", captures.rest),
            Step("threshold", "Are rising and falling edges seen alike?", captures.threshold),
            Step("rate", "Does the analyzer keep up?", captures.rate),
            Step("clock", "Do the clocks of board and analyzer agree?", captures.clock),
            Step("number", "What does the board measure?", captures.number),
            Step("twin", "Does the virtual board do the same?", self._twin),
        )

    def found(self, done: Sequence[Done], planned: int) -> BringUp:
        """What there is so far."""
        folders = self._captures.folders
        versions = {"tailscope": root.version(), "system": f"{platform.system()} {platform.release()}"}
        versions["python"] = platform.python_version()
        if folders:
            versions |= read_manifest(folders[-1] / MANIFEST).tools
        return BringUp(
            self.board.name,
            planned,
            tuple(done),
            versions,
            plan.as_json(self.board),
            tuple(folder.name for folder in folders),
            self.board.analyzer.driver,
            self.board.analyzer.samplerate_hz,
        )

    @property
    def last_run(self) -> Path | None:
        """The folder of the last run so far: that of the number, where it came to it."""
        return self._captures.folders[-1] if self._captures.folders else None

    @property
    def names(self) -> Sequence[str]:
        """What nobody else needs to know: the probe's serial number."""
        return (self.board.loader.serial_number,)

    def _twin(self) -> Outcome:
        if self.board.loader.kind == "virtual-nucleo":
            return Outcome("skipped", "A virtual board is its own twin.")
        from analysis.twin.comparison import compare

        found = compare(self._captures.folders[-1], self.shown)
        figures = (Figure("operations that both did", found.joined),)
        if found.explained:
            return Outcome("right", found.verdict, tuple(found.notes), figures)
        page = "See what differs: ./lab twin RUN --output twin.html, RUN being the last of the runs below."
        return Outcome("look", found.verdict, (*found.notes, page), figures)


def _tools() -> Outcome:
    missing = [one for one in doctor.findings() if one.blocks]
    if not missing:
        return Outcome("right", "Everything that the bench needs is installed.")
    todo = tuple(f"{one.name} is missing ({one.purpose}): {one.remedy}." for one in missing)
    return Outcome("stop", f"{len(missing)} of the bench's tools are missing.", todo)


def _lines(done: Done, number: int, planned: int) -> list[str]:
    """A step on the terminal: place, name, state, what was found; below it what to do."""
    outcome = done.outcome
    head = f"{number:>2}/{planned}  {done.key:<9}  {outcome.state:<7}  "
    lines = textwrap.wrap(
        outcome.words, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )
    for sentence in outcome.todo:
        # A command is to be copied as it stands.
        lines.append(f"{' ' * len(head)}→ {sentence}")
    return lines


def _write(found: BringUp, output: Path) -> None:
    from dashboards import bring_up

    bring_up.write(found, output)
    write_bytes(output.with_suffix(".json"), (json.dumps(found.as_json(), indent=2) + "\n").encode())
