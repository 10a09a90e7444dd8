"""Which clip is where, told from edges that a desk with known faults shows."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.paths import ROOT
from base.run_folder.edges import CHANNELS
from base.tests.sentences import is_sentence
from capture.checks.clips import check, judge, read
from capture.checks.findings import Finding
from capture.checks.wiring import clips, svg
from capture.desk.bench import BoardResource, read_bench
from capture.desk.presets import presets
from capture.tests.desk import PINS, Desk
from tests.sentences import Sentences

CLIPS = clips(read_bench().board("nucleo"))
RIGHT = tuple(range(PINS))


def of_desk(desk: Desk) -> Finding:
    return judge(read(desk.edges()), CLIPS)


def clipped(**changed: int | None) -> Desk:
    """All as it should be but the inputs `D0` … that are named."""
    pins: list[int | None] = list(RIGHT)
    for name, pin in changed.items():
        pins[int(name[1:])] = pin
    return Desk(pins)


@st.composite
def desks(draw: st.DrawFn) -> Desk:
    """Any order of the clips, some of them off, some of them touching, at any pace of the HSI."""
    order: list[int | None] = list(draw(st.permutations(RIGHT)))
    for off in draw(st.sets(st.sampled_from(RIGHT), max_size=3)):
        order[off] = None
    inputs = draw(st.permutations(RIGHT))
    sizes = draw(st.lists(st.sampled_from([2, 2, 3]), max_size=2))
    groups = [frozenset(inputs[sum(sizes[:at]) :][:size]) for at, size in enumerate(sizes)]
    return Desk(
        order,
        groups,
        reset_us=draw(st.sampled_from([0, 1, 21_234, 55_555])),
        pace=draw(st.sampled_from([0.95, 0.99, 1.0, 1.013, 1.05])),
        total_us=280_000,
        held=draw(st.booleans()),
    )


def expected_state(desk: Desk, number: int) -> str:
    """What the desk's maker knows of an input."""
    pins = desk.pins_at(number)
    if len(pins) != 1:
        return "shorted" if pins else "missing"
    if pins == {number}:
        return "right"
    return "swapped"


@settings(max_examples=60, deadline=None)
@given(desks())
def test_any_order_of_clips_off_them_or_touching_is_told_as_it_is(desk: Desk) -> None:
    seen = read(desk.edges())
    assert [saw.pins for saw in seen] == [desk.pins_at(number) for number in RIGHT]
    assert not any(saw.strays for saw in seen)
    findings = judge(seen, CLIPS)
    assert [clip.state for clip in findings.clips] == [expected_state(desk, number) for number in RIGHT]
    assert (findings.state == "right") == (not findings.remedies)
    symptoms = " ".join(sentence.partition(":")[0] for sentence in findings.remedies)
    for clip in findings.clips if any(saw.pins for saw in seen) else ():
        assert (clip.input in symptoms.split()) == (clip.state != "right")


@pytest.mark.parametrize(
    "desk",
    [
        clipped(D1=2, D2=1),
        clipped(D3=None),
        Desk(touching=[frozenset({4, 5})]),
        Desk(spikes=[(2, 150_000, 5), (2, 151_000, 5)]),
    ],
)
def test_the_remedy_names_the_clips(desk: Desk, sentences: Sentences) -> None:
    findings = of_desk(desk)
    sentences.hold("\n".join(findings.remedies))
    assert findings.state in ("odd", "wrong")
    assert all(is_sentence(sentence, sentence) for sentence in findings.remedies)


def test_a_clip_that_lets_go_now_and_then_is_missing() -> None:
    """The three pulses of STIM are lost in six of the rounds of 19 ms, where low is held."""
    begins = range(3_000 + (100 + 200 + 1_000) + (100 + 400 + 1_000) + 100, 6 * 19_000, 19_000)
    spikes = [(2, begin + 200 * pulse, 100) for begin in begins for pulse in range(3)]
    findings = of_desk(Desk(spikes=spikes, held=False))
    assert findings.remedies == ("D2 sees no pin steadily: press its clip on STIM (A0, CN8-1).",)


INPUTS = ("P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42", "P8_39", "P8_40")
BENCH = """\
default = "virtual"
[boards.virtual.loader]
kind = "virtual-nucleo"
[boards.virtual.serial]
port = "tcp"
[boards.virtual.analyzer]
preset = "beaglelogic"
samplerate_hz = 25_000_000
[boards.virtual.analyzer.channels]
"""


def board(folder: Path, inputs: Sequence[str] = INPUTS) -> BoardResource:
    """The virtual board, of which bench.toml says that these inputs see CRIT, OP and so on."""
    path = folder / "bench.toml"
    lines = (f'{channel} = "{name}"\n' for channel, name in zip(CHANNELS, inputs, strict=True))
    path.write_text(BENCH + "".join(lines))
    return read_bench(path).board()


def test_clips_that_are_exchanged_are_named(tmp_path: Path) -> None:
    """STIM and OP changed places, and the last three went round."""
    inputs = [INPUTS[at] for at in (0, 2, 1, 3, 4, 6, 7, 5)]
    findings = check(board(tmp_path, inputs))
    assert [clip.sees for clip in findings.clips] == [
        (channel,) for channel in ("CRIT", "STIM", "OP", "ISR", "TASK", "CISR", "SYNC", "CTRL")
    ]
    assert findings.remedies == (
        "P8_43 sees STIM: clip it on OP (D8, CN5-1), and see that it touches nothing else.",
        "P8_46 sees OP: clip it on STIM (A0, CN8-1), and see that it touches nothing else.",
        "P8_39 sees CISR: clip it on CTRL (A1, CN8-2), and see that it touches nothing else.",
        "P8_40 sees SYNC: clip it on CISR (D4, CN9-5), and see that it touches nothing else.",
        "P8_42 sees CTRL: clip it on SYNC (D5, CN9-6), and see that it touches nothing else.",
    )


# The picture of docs/reference/wiring.md, read back from its SVG: each wire ends where the table
# says.


DOCS = ROOT / "docs" / "reference"
NUCLEO = read_bench().board("nucleo")
PLACES = clips(NUCLEO)
PICTURE = (DOCS / "wiring.svg").read_text()


def test_the_picture_is_that_of_the_table() -> None:
    assert svg(clips(NUCLEO)) == PICTURE, (
        "draw it again: ./lab wiring plan --board nucleo --svg docs/reference/wiring.svg"
    )


def test_each_wire_leads_from_its_pin_to_its_input() -> None:
    """A text stands 5 below the middle of its line; the board ends at 600, left of the analyzer."""
    words = defaultdict(set)
    for x, y, text in re.findall(r'<text x="(\d+)" y="(\d+)"[^>]*>([^<]+)<', PICTURE):
        words[int(y) - 5, int(x) > 600].add(text)
    path = r'd="M(\d+) (\d+)H[^"]*V(\d+)H856" fill="none" stroke="#\w+" stroke-width="3"'
    ends = re.findall(path, PICTURE)
    assert len(ends) == len(PLACES) + 1
    named = NUCLEO.analyzer.channels
    for (_, from_y, to_y), place in zip(ends, PLACES, strict=False):
        assert {place.header, place.channel} <= words[int(from_y), False]
        assert words[int(to_y), True] == {named[place.channel], place.channel}


def test_the_page_has_the_same_pins() -> None:
    """The table of docs/reference/wiring.md, row by row."""
    page = (DOCS / "wiring.md").read_text()
    for number, place in enumerate(PLACES):
        cells = (place.channel, place.pin, place.header, place.connector, place.morpho)
        assert f"| {number} | {' | '.join(cells)} |" in page
    assert "(wiring.svg)" in page


PAGE = (ROOT / "docs" / "reference" / "wiring.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (\d+) MS/s \| ([\d.]+) ns \| ([\d.]+) \| (\d+)(?: to (\d+))? \| ([\d.]+) µs \|$",
    PAGE,
    re.MULTILINE,
)


def test_each_row_is_what_its_samplerate_gives() -> None:
    """A sample is what a width may be off; the shortest section has 18 cycles."""
    assert [int(row[0]) for row in ROWS] == [8, 12, 16, 24, 50, 84, 100]
    for rate, sample_ns, cycles, least, most, one_percent_us in ROWS:
        sample_cycles = 84 / int(rate)
        assert (sample_ns, cycles) == (f"{1000 / int(rate):.1f}", f"{sample_cycles:.2f}")
        shortest = 18 / sample_cycles
        assert (int(least), int(most or least)) == (math.floor(shortest), math.ceil(shortest))
        assert one_percent_us == f"{100 / int(rate):.2f}"


def test_the_page_has_the_sample_of_each_analyzer() -> None:
    row = re.compile(r"\| `([\w-]+)` \| (\d+) MS/s[^|]*\| ([\d.]+) ns, ([\d.]+) cycles \|")
    rows = row.findall(PAGE)
    assert len(rows) == 4
    for name, rate, sample_ns, sample_cycles in rows:
        fastest_hz = presets()[name].fastest_hz
        assert fastest_hz == int(rate) * 1_000_000
        assert float(sample_ns) == pytest.approx(1e9 / fastest_hz, abs=0.051)
        assert float(sample_cycles) == pytest.approx(84e6 / fastest_hz, abs=0.05)
