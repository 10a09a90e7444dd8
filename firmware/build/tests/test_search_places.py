"""Where a search looks in a built image, and what is said if that is not as described."""

from __future__ import annotations

import re
import subprocess

import pytest

from firmware.build import catalogue, search_places
from firmware.build import image as firmware
from firmware.build.catalogue import SearchPlace
from tests.tables import table


@pytest.fixture(scope="module")
def image() -> firmware.FirmwareImage:
    return firmware.build("heap_4")


@pytest.fixture
def place() -> SearchPlace:
    (place,) = catalogue.allocators()["heap_4"].search or ()
    return place


def test_the_look_is_the_load_of_a_size_within_the_loop(image: firmware.FirmwareImage) -> None:
    """A branch back over it, and the comparison with the wanted size behind it."""
    (address,) = image.looks
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", str(image.elf)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    code = re.findall(r"^ ([0-9a-f]+):\t(.*)$", listing, re.MULTILINE)
    at = next(n for n, (operation_code, _) in enumerate(code) if int(operation_code, 16) == address)
    load, compare, branch = (text for _, text in code[at : at + 3])
    assert re.match(r"ldr\s+r\d, \[r\d, #4\]", load)
    assert compare.startswith("cmp")
    back = re.match(r"bcc\.n\t([0-9a-f]+)", branch)
    assert back is not None
    assert int(back[1], 16) < address


@table
def test_a_place_that_is_not_as_described_is_refused(
    image: firmware.FirmwareImage, place: SearchPlace, changed: dict[str, object], says: str
) -> None:
    with pytest.raises(search_places.SearchError, match=re.escape(says)):
        search_places.find(image.elf, [place.model_copy(update=changed)])
