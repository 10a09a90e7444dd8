"""The picture of docs/reference/wiring.md, read back from its SVG: each wire ends where the table
says."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import combinations, product

import pytest

from base.paths import ROOT
from capture.desk.bench import read_bench
from capture.wiring import drawing
from capture.wiring.plan import as_text, clips, places
from firmware.build import boards

PLACES = places(boards.default())

DOCS = ROOT / "docs" / "reference"
NUCLEO = read_bench().board("nucleo")
SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]


def picture() -> ElementTree.Element:
    return ElementTree.fromstring((DOCS / "wiring.svg").read_bytes())


def ends(path: str) -> tuple[Point, Point]:
    """Where a path of absolute M, H and V begins and ends."""
    x = y = 0.0
    first: Point | None = None
    for letter, words in re.findall(r"([MHV])([^MHV]+)", path):
        numbers = [float(word) for word in words.split()]
        if letter == "M":
            x, y = numbers
            first = (x, y)
        elif letter == "H":
            (x,) = numbers
        else:
            (y,) = numbers
    assert first is not None
    return first, (x, y)


def words_at(root: ElementTree.Element, y: float, left: float, right: float) -> list[str]:
    """The words on a line, from left to right; a text stands 5 below the middle of its line."""
    found = [
        (float(text.attrib["x"]), text.text or "")
        for text in root.iter(f"{SVG}text")
        if float(text.attrib["y"]) == y + 5 and left <= float(text.attrib["x"]) <= right
    ]
    return [words for _, words in sorted(found)]


def wires(root: ElementTree.Element) -> dict[str, tuple[list[str], list[str]]]:
    """By its colour, the words at either end of each wire."""
    wires_by_colour = {}
    for path in root.iter(f"{SVG}path"):
        if path.attrib["stroke-width"] != "3":
            continue
        (x, y), (to_x, to_y) = ends(path.attrib["d"])
        near = (x, x + 60) if x < 300 else (x - 60, x)
        wires_by_colour[path.attrib["stroke"]] = (words_at(root, y, *near), words_at(root, to_y, to_x, 2000))
    return wires_by_colour


def test_the_picture_is_that_of_the_table() -> None:
    assert (DOCS / "wiring.svg").read_text() == drawing.svg(clips(NUCLEO)), (
        "draw it again: ./lab wiring plan --board nucleo --svg docs/reference/wiring.svg"
    )


def test_each_wire_leads_from_its_pin_to_its_input() -> None:
    named = NUCLEO.analyzer.channels
    found = sorted(tuple(sorted(here)) + tuple(there) for here, there in wires(picture()).values())
    expected = [
        (*sorted((place.header, place.channel)), named[place.channel], place.channel) for place in PLACES
    ]
    assert found == sorted([*expected, ("GND", "GND")])


def test_the_page_has_the_same_pins() -> None:
    """The table of docs/reference/wiring.md, row by row."""
    page = (DOCS / "wiring.md").read_text()
    for number, place in enumerate(PLACES):
        cells = (place.channel, place.pin, place.header, place.connector, place.morpho)
        assert f"| {number} | {' | '.join(cells)} |" in page
    assert "(wiring.svg)" in page


def test_the_specification_has_the_same_pins() -> None:
    page = (DOCS / "pins.md").read_text()
    for number, place in enumerate(PLACES):
        assert f"| {number} | {place.channel} | {place.pin} | {place.header} |" in page


def test_the_plan_has_them_too() -> None:
    lines = as_text(NUCLEO).splitlines()[3:]
    assert [line.split()[1:5] for line in lines[: len(PLACES)]] == [
        [place.channel, place.pin, place.header, place.connector] for place in PLACES
    ]


def segments(path: str) -> list[tuple[str, float, float, float]]:
    """Its straight parts: the direction, where each lies, and from where to where it goes."""
    lines = []
    x = y = 0.0
    for letter, words in re.findall(r"([MHV])([^MHV]+)", path):
        numbers = [float(word) for word in words.split()]
        if letter == "M":
            x, y = numbers
        elif letter == "H":
            lines.append(("H", y, min(x, numbers[0]), max(x, numbers[0])))
            x = numbers[0]
        else:
            lines.append(("V", x, min(y, numbers[0]), max(y, numbers[0])))
            y = numbers[0]
    return lines


def test_no_two_wires_run_close_beside_each_other() -> None:
    paths = [path for path in picture().iter(f"{SVG}path") if path.attrib["stroke-width"] == "3"]
    assert len(paths) == 9
    for element, other in combinations(paths, 2):
        for (way, at, begin, end), (its_way, its_at, its_begin, its_end) in product(
            segments(element.attrib["d"]), segments(other.attrib["d"])
        ):
            if way == its_way and begin < its_end and its_begin < end:
                assert abs(at - its_at) >= 8, (element.attrib["stroke"], other.attrib["stroke"])


@pytest.mark.parametrize("name", ["<&>", "a long name of an input"])
def test_any_name_of_an_input_can_be_drawn(name: str) -> None:
    channels = {**NUCLEO.analyzer.channels, "CRIT": name}
    changed = replace(NUCLEO, analyzer=NUCLEO.analyzer.model_copy(update={"channels": channels}))
    root = ElementTree.fromstring(drawing.svg(clips(changed)))
    assert name in [text.text for text in root.iter(f"{SVG}text")]
