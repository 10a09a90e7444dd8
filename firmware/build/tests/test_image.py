"""The build: what it makes, that any folder gives the same, and what it says when it fails."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from base.paths import ROOT
from firmware.build import catalogue
from firmware.build import image as firmware
from firmware.build.cmake_build import BuildError
from firmware.heap.tests.host_build import of_each_kind
from tests.sentences import Sentences

FIRMWARE = ROOT / "firmware"
LINE_BYTES = {"nucleo-f401re": 16, "nucleo-l476rg": 8}
"""A flash line: 128 bits of the F401 (RM0368, section 3.4), 64 of the L476 (RM0351, 3.3.4)."""


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
    "choice", [{"locking": "mutex"}, {"knobs": {"THRESHOLD": 3}}, {"knobs": {"TLSF_SLOTS": -1}}]
)
def test_an_impossible_choice_is_refused(sentences: Sentences, choice: dict[str, Any]) -> None:
    with sentences.raised(BuildError):
        firmware.build("tlsf", **choice)


def test_what_suspends_the_scheduler_itself_is_never_put_under_a_mask(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^heap_4 does not work under 'basepri' locking"):
        firmware.build("heap_4", locking="basepri")
    command = ["cmake", "-S", str(FIRMWARE), "-B", str(tmp_path), "-G", "Ninja"]
    chosen = ["-DTAILSCOPE_ALLOCATOR=heap_4", "-DTAILSCOPE_LOCKING=basepri"]
    done = subprocess.run([*command, *chosen], capture_output=True, text=True)
    assert "heap_4 does not work under TAILSCOPE_LOCKING=basepri" in " ".join(done.stderr.split())


def test_firmware_leaves_room_for_the_operations(image: firmware.FirmwareImage) -> None:
    command = ["arm-none-eabi-readelf", "-lW", str(image.elf)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    segments = re.findall(r"LOAD +0x\w+ 0x\w+ 0x(\w+) 0x(\w+)", listing)
    in_flash = [(int(start, 16), int(size, 16)) for start, size in segments if int(size, 16)]
    assert in_flash
    assert min(start for start, _ in in_flash) == 0x08000000
    assert max(start + size for start, size in in_flash) <= 0x08040000


@pytest.mark.parametrize(
    ("allocator", "board"),
    [
        pytest.param(*param.values, "nucleo-f401re", marks=param.marks)
        for param in of_each_kind(firmware.allocators())
    ]
    + [("tlsf", "nucleo-l476rg")],
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
    code = _disassembly(firmware.build(allocator, board=board).elf, name)
    names = {at: text.split()[0].removesuffix(".n") for at, text in code.items()}
    (first,) = (at for at, word in names.items() if word == store)
    (last,) = (at for at, word in names.items() if word == read)
    line = LINE_BYTES[board]
    assert first < last and first // line == (last + 1) // line
    if name.endswith("Handler"):  # which raises its pin first
        assert list(names.values()).index(store) == 2
    else:
        mask, restore = (next(at for at, word in names.items() if word == end) for end in ("cpsid", "msr"))
        assert mask < first and last < restore
    assert board != "nucleo-f401re" or min(code) % line == 0


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


def test_accelerator_is_a_knob() -> None:
    """FLASH_ACR (RM0368, section 3.8.1): two wait states, with PRFTEN, ICEN and DCEN or without."""
    accelerated = "#" + str(2 | 1 << 8 | 1 << 9 | 1 << 10)
    image = firmware.build("seglist")
    plain = firmware.build("seglist", art=False)
    assert plain.elf != image.elf
    assert accelerated in " ".join(_disassembly(image.elf, "clock_start").values())
    assert accelerated not in " ".join(_disassembly(plain.elf, "clock_start").values())


def test_kernel_path_of_the_environment_is_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(firmware, "BUILDS", tmp_path / "build")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FREERTOS_KERNEL_PATH", "no-kernel")
    with pytest.raises(BuildError, match=r"no-kernel\s+has\s+no\s+include/task\.h"):
        firmware.build("tlsf")


def test_an_allocator_of_the_users_checkout_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(firmware, "BUILDS", tmp_path / "build")
    monkeypatch.delenv("ZEPHYR_PATH", raising=False)
    assert "sys_heap" not in firmware.allocators()
    with pytest.raises(BuildError, match=r"^sys_heap is .* set ZEPHYR_PATH to its folder\.$") as said:
        firmware.build("sys_heap")
    command = ["cmake", "-S", str(FIRMWARE), "-B", str(tmp_path / "by-hand"), "-G", "Ninja"]
    by_hand = subprocess.run([*command, "-DTAILSCOPE_ALLOCATOR=sys_heap"], capture_output=True, text=True)
    assert by_hand.returncode != 0
    assert str(said.value) in " ".join(by_hand.stderr.split())
    monkeypatch.setenv("ZEPHYR_PATH", str(tmp_path))
    assert "sys_heap" in firmware.allocators()
    with pytest.raises(BuildError, match=r"has\s+no\s+lib/heap/heap\.c:\s+ZEPHYR_PATH\s+must"):
        firmware.build("sys_heap")


def test_missing_tool_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"cmake is not on the PATH: install .* package cmake"):
        firmware.build("tlsf")


@pytest.mark.parametrize("version", ["V10.6.2", ""])
def test_kernel_of_another_version_is_refused(tmp_path: Path, version: str) -> None:
    kernel = tmp_path / "kernel"
    for name in ("tasks.c", "list.c", "portable/GCC/ARM_CM4F/port.c", "include/task.h"):
        (kernel / name).parent.mkdir(parents=True, exist_ok=True)
        (kernel / name).touch()
    (kernel / "include" / "task.h").write_text(f'#define tskKERNEL_VERSION_NUMBER "{version}"\n')
    command = ["cmake", "-S", str(FIRMWARE), "-B", str(tmp_path / "build"), "-G", "Ninja"]
    finished = subprocess.run([*command, f"-DFREERTOS_KERNEL_PATH={kernel}"], capture_output=True, text=True)
    assert finished.returncode != 0
    assert "Tailscope is written for V11" in " ".join(finished.stderr.split())
