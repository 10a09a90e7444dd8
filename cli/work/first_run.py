"""`./lab first-run`: the steps of a bring-up, as they are told, and what is kept of them."""

from __future__ import annotations

import json
import platform
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from base.files.whole import write_bytes
from base.processes import signals
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import read_manifest
from capture.bring_up import parcel
from capture.bring_up.step import STEPS, BringUp, Done, Figure, Outcome, walk
from capture.desk.bench import BoardResource, read_bench
from capture.wiring import plan
from cli import doctor
from cli.shell import root
from cli.work import kept, progress, where

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
        answers = bench.answers()
        try:
            for latest in walk(answers, shown):
                done.append(latest)
                if not as_json:
                    print("\n".join(_lines(latest, len(done))), flush=True)
        finally:
            bring_up = bench.so_far(done)
            _write(bring_up, output)
            folder = parcel.make(output, bench.last_run, bench.names)
    print(
        json.dumps(bring_up.as_json(), indent=2)
        if as_json
        else f"\n{bring_up.verdict}\npage: {output}\nto send: {folder}"
    )
    return int(not bring_up.whole)


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

    def answers(self) -> Mapping[str, Callable[[], Outcome]]:
        """Who answers which step. What captures is loaded here, which takes a while."""
        from capture.bring_up.captures import Captures, short_plan
        from capture.bring_up.desk import Desk
        from firmware.build import image as firmware

        signals.check()
        self.shown("building the firmware")
        on = self.board.board
        image = firmware.build(ALLOCATOR, board=on.word)
        desk = Desk(self.board)
        self._captures = captures = Captures(self.board, self.name, image, self.runs, self.rate_s, self.shown)
        return {
            "tools": _tools,
            "rights": desk.rights,
            "desk": desk.plugged_in,
            "probe": desk.probe_firmware,
            "load": lambda: desk.load(image, short_plan(on)),
            "again": lambda: desk.load_again(image, short_plan(on)),
            "wiring": desk.wiring,
            "line": captures.line,
            "noise": captures.rest,
            "threshold": captures.threshold,
            "rate": captures.rate,
            "clock": captures.clock,
            "number": captures.number,
            "twin": self._twin,
        }

    def so_far(self, done: Sequence[Done]) -> BringUp:
        """What there is so far."""
        folders = self._captures.folders
        versions = {"tailscope": root.version(), "system": f"{platform.system()} {platform.release()}"}
        versions["python"] = platform.python_version()
        if folders:
            versions |= read_manifest(folders[-1] / MANIFEST).tools
        return BringUp(
            self.board.name,
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

        twin = compare(self._captures.folders[-1], self.shown)
        figures = (Figure("operations that both did", twin.joined),)
        return Outcome("right" if twin.explained else "look", twin.verdict, tuple(twin.notes), figures)


def _tools() -> Outcome:
    missing = [finding for finding in doctor.findings() if finding.blocks]
    if not missing:
        return Outcome("right", "Everything that the bench needs is installed.")
    todo = tuple(f"{tool.name} is missing ({tool.purpose}): {tool.remedy}." for tool in missing)
    return Outcome("stop", f"{len(missing)} of the bench's tools are missing.", todo)


def _lines(done: Done, number: int) -> list[str]:
    """A step on the terminal: place, name, state, what was found; below it what to do."""
    outcome = done.outcome
    head = f"{number:>2}/{len(STEPS)}  {done.step.key:<9}  {outcome.state:<7}  "
    lines = textwrap.wrap(
        outcome.words, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )
    for sentence in outcome.todo:
        # A command is to be copied as it stands.
        lines.append(f"{' ' * len(head)}→ {sentence}")
    return lines


def _write(bring_up: BringUp, output: Path) -> None:
    from dashboards import bring_up as page

    page.write(bring_up, output)
    write_bytes(output.with_suffix(".json"), (json.dumps(bring_up.as_json(), indent=2) + "\n").encode())
