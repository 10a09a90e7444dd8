"""`./lab first-run` on emulated desks: one that is healthy, and three that are not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from base.paths import ROOT
from base.processes import tools
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import read_manifest
from capture.conduct import redecode
from capture.desk import emulated
from capture.desk.bench import read_bench
from cli._desk import CHECKS
from dashboards.tests.browser import Browser
from firmware.build import boards
from simulator.desk import EmulatedDesk

TIMEOUT_S = 1_200.0
OTHERS = sorted(set(boards.names()) - {boards.default().name})
KEYS = tuple(step.key for step in CHECKS)
BESIDE_THE_COUNTER_CYCLES = 4
"""22 cycles on the wire where CYCCNT counts 18."""

pytestmark = pytest.mark.skipif(
    not tools.is_installed("umockdev-run"), reason="needs umockdev: apt-get install umockdev"
)


class BroughtUp:
    """What a bring-up on a desk left: status, lines, JSON and page."""

    def __init__(
        self,
        desk: EmulatedDesk,
        folder: Path,
        behind: str = "",
        request: str = "",
        board: str = "desk",
        again: bool = False,
    ) -> None:
        """`request` is what the desk is asked for once the step `behind` is done: it is for the
        capture that comes next. With `again` it is asked for until the end: the trial before a
        board is loaded is a capture, too.
        """
        self.page = folder / "bring-up.html"
        words = ["first-run", "--board", board, "--output", str(self.page), "--runs", str(folder / "runs")]
        seeing = emulated.seeing(read_bench().board(board), desk)
        with subprocess.Popen(
            [*seeing, sys.executable, "-m", "cli", *words, "--rate-for", "500ms"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if request and line.split()[1:2] == [behind]:
                    desk.ask(request)
                    if again:
                        threading.Thread(target=keep_asking, args=(desk, request, process)).start()
            _, self.complaints = process.communicate(timeout=TIMEOUT_S)
        self.lines, self.status = lines, process.returncode
        assert "Traceback" not in self.complaints, self.complaints
        self.document: dict[str, Any] = json.loads(self.page.with_suffix(".json").read_text())

    @property
    def states(self) -> dict[str, str]:
        """The state of each step that was done."""
        return {step["key"]: step["state"] for step in self.document["steps"]}

    def figure(self, step: str, name: str) -> dict[str, Any]:
        (of_step,) = [done["figures"] for done in self.document["steps"] if done["key"] == step]
        (figure,) = [figure for figure in of_step if figure["name"] == name]
        return dict(figure)

    def number_of_parcel(self) -> float:
        """The longest section on the wire, in ns, of the folder to send when it is judged anew."""
        (words,) = [line for line in self.lines if line.startswith("to send: ")]
        parcel = Path(words.removeprefix("to send: "))
        whole = self.page.with_suffix(".json").read_text()
        hidden = re.sub("[0-9A-F]{24}", "(hidden)", whole)
        assert (parcel / "bring-up.json").read_text() == hidden != whole
        assert redecode(parcel).verdict == "complete"
        longest_ns = read_manifest(parcel / MANIFEST).statistics["critical_ns"].max
        assert longest_ns is not None
        return longest_ns


def keep_asking(desk: EmulatedDesk, request: str, process: subprocess.Popen[str]) -> None:
    while True:
        try:
            process.wait(0.5)
            return
        except subprocess.TimeoutExpired:
            desk.ask(request)


def shown(page: Path, what: str) -> int:
    """How many of `what` (a selector) a browser shows, which asks for nothing else and complains of
    nothing.
    """
    with Browser() as browser:
        browser.page.goto(page.as_uri())
        assert browser.requests == [page.as_uri()] and not browser.complaints
        return browser.page.locator(what).count()


def test_a_healthy_desk_comes_to_its_number(tmp_path: Path) -> None:
    """Its analyzer's clock is 120 ppm fast, which the step of the clock must find."""
    with EmulatedDesk(clock_error_ppm=120) as desk:
        bring_up = BroughtUp(desk, tmp_path)
    assert bring_up.status == 0, bring_up.lines
    assert bring_up.document["whole"] and tuple(bring_up.states) == KEYS
    assert set(bring_up.states.values()) - {"odd"} == {"right"}
    clock = bring_up.figure("clock", "by the cycle counter")
    assert abs(clock["value"] - 120) <= clock["plus_minus"] < 2
    samples = bring_up.figure("rate", "samples")
    assert samples["value"] == samples["n"] > 24_000_000 * 0.5
    number = bring_up.figure("number", "longest section, wire")
    counter = bring_up.figure("number", "longest section, counter")
    # The pin rises before the counter is read, and falls behind it: an empty section shows it.
    counted_ns = (counter["value"] + BESIDE_THE_COUNTER_CYCLES) / 84e6 * 1e9
    assert abs(number["value"] - counted_ns) <= number["plus_minus"]
    assert number["n"] > 100
    assert bring_up.number_of_parcel() == pytest.approx(number["value"], abs=0.05)
    assert bring_up.document["versions"]["sigrok_cli"] and len(bring_up.document["runs"]) == 2
    assert shown(bring_up.page, ".steps-done > li") == len(CHECKS)
    assert shown(bring_up.page, ".drawing svg") == 1


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_each_board_comes_to_its_number(name: str, tmp_path: Path) -> None:
    """The twin, which is right, has the number to the cycle."""
    board = f"desk:{name}"
    with emulated.desk_of(read_bench().board(board)) as desk:
        brought_up = BroughtUp(desk, tmp_path, board=board)
    assert brought_up.status == 0, brought_up.lines
    assert dict.fromkeys(KEYS, "right") == brought_up.states, brought_up.lines
    number = brought_up.figure("number", "longest section, wire")["value"]
    assert brought_up.number_of_parcel() == pytest.approx(number, abs=0.05)


@pytest.mark.long
def test_exchanged_clips_stop_it_at_the_wiring(tmp_path: Path) -> None:
    with EmulatedDesk(clips="D0=PA9,D1=PA8") as desk:
        bring_up = BroughtUp(desk, tmp_path)
    assert bring_up.status == 1
    assert list(bring_up.states) == list(KEYS[:6]) and bring_up.states["wiring"] == "wrong"
    assert any(
        "→ D0 sees OP: clip it on CRIT (D7, CN9-8), and see that it touches nothing else." in line
        for line in bring_up.lines
    )
    clips = {clip["input"]: clip["state"] for clip in bring_up.document["steps"][-1]["clips"]}
    assert {name for name, state in clips.items() if state == "swapped"} == {"D0", "D1"}
    assert shown(bring_up.page, ".state.wrong") == 1
    assert shown(bring_up.page, "text=7 further steps") == 1


@pytest.mark.long
def test_samples_that_are_lost_stop_it_at_the_rate(tmp_path: Path) -> None:
    """Wiring and line are right; 1,000 samples are missing, and no driver says so."""
    with EmulatedDesk() as desk:
        bring_up = BroughtUp(desk, tmp_path, "threshold", "analyzer lose 1000 at 3000000", again=True)
    assert bring_up.status == 1
    assert list(bring_up.states) == list(KEYS[:10]) and bring_up.states["rate"] == "wrong"
    assert {state for key, state in bring_up.states.items() if key != "rate"} == {"right"}
    advice = bring_up.document["steps"][-1]["todo"]
    assert "samples were lost" in advice[0] and "lower samplerate" in advice[-1]


@pytest.mark.long
def test_a_line_that_damages_records_is_tried_slower(tmp_path: Path) -> None:
    """The desk inverts bits of one capture; the next one, at half the rate, is whole."""
    with EmulatedDesk() as desk:
        bring_up = BroughtUp(desk, tmp_path, "wiring", "serial noise 97 at 2000")
    assert bring_up.status == 1
    assert list(bring_up.states) == list(KEYS[:7]) and bring_up.states["line"] == "wrong"
    assert bring_up.document["steps"][-1]["todo"][0].startswith(
        "At 500,000 baud they came whole: set baud = 500000"
    )
    assert len(bring_up.document["runs"]) == 2
