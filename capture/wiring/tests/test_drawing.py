"""The picture of docs/reference/wiring.md, read back from its SVG: each wire ends where the table
says."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from base.paths import ROOT
from capture.desk.bench import read_bench
from capture.wiring import drawing
from capture.wiring.plan import clips, places
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
