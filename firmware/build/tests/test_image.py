"""The build: what it makes, that any folder gives the same, and what it says when it fails."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from base.paths import ROOT
from firmware.build import catalogue
from firmware.build import image as firmware
from firmware.heap.tests.host_build import of_each_kind

FIRMWARE = ROOT / "firmware"
LINE_BYTES = {"nucleo-f401re": 16, "nucleo-l476rg": 8, "nucleo-f072rb": 4}
"""A flash line: 128 bits of the F401 (RM0368, section 3.4), 64 of the L476 (RM0351, 3.3.4). The
F072 reads a word at once (RM0091, section 3.2.1).
"""


@cache
def _disassembly(elf: Path, symbol: str) -> dict[int, str]:
    """Instructions of `symbol` by address, with what pads it."""
    command = ["arm-none-eabi-objdump", "-d", f"--disassemble={symbol}", str(elf)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^ +([0-9a-f]+):\t[0-9a-f ]+\t(.+)$", listing, re.MULTILINE)
    return {int(address, 16): text for address, text in rows}


@pytest.fixture(scope="module", params=of_each_kind(firmware.allocators()))
def image(request: pytest.FixtureRequest) -> firmware.FirmwareImage:
    return firmware.build(request.param)


def test_catalogue_and_folders_hold_the_same_allocators() -> None:
    rows = catalogue.allocators()
    of_kind = {True: set[str](), False: set[str]()}
    for name, row in rows.items():
        of_kind[row.kind == "index"].add(name)
    heap = FIRMWARE / "heap"
    assert of_kind[True] == {source.stem for source in (heap / "indexes").glob("*.c")}
    assert of_kind[False] == {source.stem for source in (heap / "allocators").glob("*.c")}


def _cached(folder: Path) -> dict[str, str]:
    lines = re.findall(
        r"^TAILSCOPE_(\w+):STRING=(.*)$", (folder / "CMakeCache.txt").read_text(), re.MULTILINE
    )
    return dict(lines)


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for CMake, which looks for its compilers once."""
    return tmp_path_factory.mktemp("by-hand")


@pytest.mark.long
def test_catalogue_and_cmake_have_the_same_knobs_and_defaults(
    image: firmware.FirmwareImage, by_hand: Path
) -> None:
    row = catalogue.allocators()[image.allocator]
    anew = ("-U", "TAILSCOPE_*", f"-DTAILSCOPE_ALLOCATOR={row.id}")
    command = ["cmake", "-S", str(FIRMWARE), "-B", str(by_hand), "-G", "Ninja"]
    subprocess.run([*command, *anew], capture_output=True, check=True)
    variables = _cached(by_hand)
    assert variables.pop("LOCKING") == row.lockings[0]
    for common in ("ALLOCATOR", "ART", "BOARD", "HEAP_BYTES", "OPTIMIZATION", "SLOTS"):
        variables.pop(common)
    assert variables == {name: str(value) for name, value in row.knobs.items()}


def test_locking_and_knobs_are_choices_of_the_build() -> None:
    plain = firmware.build("tlsf")
    turned = firmware.build("tlsf", locking="scheduler", knobs={"TLSF_SLOTS": 8, "TLSF_OCTAVES": 14})
    assert turned.elf.parent.name == "tlsf-scheduler-TLSF_SLOTS=8"
    assert "vTaskSuspendAll" in " ".join(_disassembly(turned.elf, "heap_port_lock").values())
    assert "cpsid" in " ".join(
        _disassembly(firmware.build("tlsf", locking="primask").elf, "heap_port_lock").values()
    )
    assert "BASEPRI" in " ".join(_disassembly(plain.elf, "heap_port_lock").values())


@pytest.mark.parametrize(
    ("allocator", "board"),
    [
        pytest.param(*param.values, "nucleo-f401re", marks=param.marks)
        for param in of_each_kind(firmware.allocators())
    ]
    + [("tlsf", "nucleo-l476rg"), ("tlsf", "nucleo-f072rb")],
)
@pytest.mark.parametrize(
    ("name", "store", "read"),
    [
        ("heap_port_critical_begin", "str", "ldr"),
        ("heap_port_critical_end", "ldr", "str"),
        ("operation_begin", "str", "ldr"),
        ("operation_end", "ldr", "str"),
        ("TIM2_IRQHandler", "strb", "ldr"),
        ("TIM5_IRQHandler", "strh", "ldr"),
    ],
)
def test_a_pair_lies_in_one_flash_line_and_that_of_a_marker_is_masked(
    allocator: str, board: str, name: str, store: str, read: str
) -> None:
    if board == "nucleo-f072rb" and name.endswith("Handler"):
        pytest.skip("Between the two this core loads an address.")
    code = _disassembly(firmware.build(allocator, board=board).elf, name)
    literals = [at for at, text in code.items() if "[pc" in text]
    names = {at: text.split()[0].removesuffix(".n") for at, text in code.items() if at not in literals}
    (first,) = (at for at, word in names.items() if word == store)
    (last,) = (at for at, word in names.items() if word == read)
    line = LINE_BYTES[board]
    assert first < last and first // line == (last + 1) // line
    if name.endswith("Handler"):  # which raises its pin first
        assert list(names.values()).index(store) == 2
    else:
        mask, restore = (next(at for at, word in names.items() if word == end) for end in ("cpsid", "msr"))
        assert max(literals, default=0) < mask < first and last < restore
    assert board == "nucleo-l476rg" or min(code) % 16 == 0


@pytest.mark.parametrize("allocator", of_each_kind(["tlsf", "umm_malloc"]))
def test_same_bytes_from_another_folder(allocator: str, tmp_path: Path) -> None:
    """One of ours and one of others.

    Of what cargo builds, only the folders' names are looked for: another folder is another set of
    flags, for which it would compile the core library anew, here and for the next in build/rust.
    """
    image = firmware.build(allocator)
    copy = tmp_path / "elsewhere" / "firmware"
    shutil.copytree(FIRMWARE, copy)
    folder = tmp_path / "another-build"
    flags = [f"-DTAILSCOPE_ALLOCATOR={allocator}", "-G", "Ninja"]
    subprocess.run(["cmake", "-S", copy, "-B", folder, *flags], capture_output=True, check=True)
    subprocess.run(["cmake", "--build", folder], capture_output=True, check=True)
    content = (folder / "tailscope.elf").read_bytes()
    assert content == image.elf.read_bytes()
    assert str(FIRMWARE).encode() not in content and f"{Path.home()}/".encode() not in content
