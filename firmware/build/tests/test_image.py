"""The build: what it makes, that any folder gives the same, and what it says when it fails."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from base.paths import ROOT
from firmware.build import catalogue, cmake_build
from firmware.build import image as firmware
from firmware.build.cmake_build import BuildError

FIRMWARE = ROOT / "firmware"
LINE_BYTES = 16
"""A flash line of the STM32F401 (RM0368, section 3.4: 128 bits)."""


@lru_cache(maxsize=4)
def _listing(elf: Path) -> dict[str, dict[int, str]]:
    """Instructions by address of each symbol, with what pads it; tests ask for several."""
    command = ["arm-none-eabi-objdump", "-d", str(elf)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^[0-9a-f]+ <([^>]+)>:$", listing, flags=re.MULTILINE)[1:]
    return {
        symbol: {
            int(address, 16): text
            for address, text in re.findall(r"^ +([0-9a-f]+):\t[0-9a-f ]+\t(.+)$", lines, re.MULTILINE)
        }
        for symbol, lines in zip(parts[::2], parts[1::2], strict=True)
    }


def _disassembly(elf: Path, symbol: str) -> dict[int, str]:
    """Instructions of `symbol` by address."""
    return _listing(elf)[symbol]


@pytest.fixture(scope="module", params=firmware.allocators())
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
    ("choice", "says"),
    [
        (
            {"locking": "mutex"},
            "tlsf does not work under 'mutex' locking: choose basepri or primask or scheduler.",
        ),
        ({"knobs": {"THRESHOLD": 3}}, "tlsf has no knob 'THRESHOLD': it has TLSF_OCTAVES, TLSF_SLOTS."),
        ({"knobs": {"TLSF_SLOTS": -1}}, "The knob TLSF_SLOTS of tlsf is -1: say a whole number, 0 or more."),
    ],
)
def test_impossible_choice_is_said(choice: dict[str, Any], says: str) -> None:
    with pytest.raises(BuildError) as refused:
        firmware.build("tlsf", **choice)
    assert str(refused.value) == says


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
    "marker", ["heap_port_critical_begin", "heap_port_critical_end", "operation_begin", "operation_end"]
)
def test_marker_pair_is_masked_and_lies_in_one_flash_line(image: firmware.FirmwareImage, marker: str) -> None:
    instructions = _disassembly(image.elf, marker)
    names = {address: text.split()[0] for address, text in instructions.items()}
    pair = [address for address, name in names.items() if name in ("str", "ldr")]
    mask = next(address for address, name in names.items() if name == "cpsid")
    restore = next(address for address, name in names.items() if name == "msr")
    assert len(pair) == 2
    assert mask < pair[0] < pair[1] < restore
    assert pair[0] // LINE_BYTES == (pair[1] + 1) // LINE_BYTES
    assert min(instructions) % LINE_BYTES == 0


@pytest.mark.parametrize("entry", ["TIM2_IRQHandler", "TIM5_IRQHandler"])
def test_interrupt_raises_its_pin_first(image: firmware.FirmwareImage, entry: str) -> None:
    instructions = _disassembly(image.elf, entry)
    names = [text.split()[0].removesuffix(".n") for text in instructions.values()]
    assert names[:2] == ["movw", "movt"]
    assert names[2] in ("strb", "strh")
    assert names[4:6] == ["ldr", "b.w"]
    store, read = list(instructions)[2], list(instructions)[4]
    assert store // LINE_BYTES == (read + 1) // LINE_BYTES


L4_LINE_BYTES = 8
"""A flash line of the STM32L476 (RM0351, section 3.3.4: 64 bits)."""


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
def test_a_pair_lies_in_one_line_of_an_l4_too(name: str, store: str, read: str) -> None:
    elf = firmware.build("tlsf", board="nucleo-l476rg").elf
    names = {at: text.split()[0].removesuffix(".n") for at, text in _disassembly(elf, name).items()}
    (first,) = (at for at, word in names.items() if word == store)
    (last,) = (at for at, word in names.items() if word == read)
    assert first < last
    assert first // L4_LINE_BYTES == (last + 1) // L4_LINE_BYTES


@pytest.mark.parametrize("allocator", ["tlsf", "umm_malloc"])
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
    assert (folder / "tailscope.elf").read_bytes() == image.elf.read_bytes()


def test_a_checkout_that_was_moved_builds_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firmware, "BUILDS", tmp_path / "before")
    before = firmware.build("first_fit")
    (tmp_path / "before").rename(tmp_path / "behind")
    monkeypatch.setattr(firmware, "BUILDS", tmp_path / "behind")
    behind = firmware.build("first_fit")
    assert behind.elf.is_relative_to(tmp_path / "behind")
    assert behind.sha256 == before.sha256


@pytest.mark.parametrize("allocator", ["seglist", "rlsf"])
def test_no_folder_of_this_machine_is_in_the_elf(allocator: str) -> None:
    content = firmware.build(allocator).elf.read_bytes()
    assert str(FIRMWARE).encode() not in content
    assert str(Path.home()).encode() + b"/" not in content


def test_a_process_builds_an_image_once(monkeypatch: pytest.MonkeyPatch) -> None:
    image = firmware.build("tlsf")

    def refuse(*_: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(cmake_build.Build, "run_step", refuse)
    assert firmware.build("tlsf") is image
    with pytest.raises(AssertionError, match="built again"):
        firmware.build("tlsf", knobs={"TLSF_SLOTS": 4})


def test_accelerator_is_a_knob() -> None:
    """FLASH_ACR (RM0368, section 3.8.1): two wait states, with PRFTEN, ICEN and DCEN or without."""
    accelerated = "#" + str(2 | 1 << 8 | 1 << 9 | 1 << 10)
    image = firmware.build("seglist")
    plain = firmware.build("seglist", art=False)
    assert plain.elf != image.elf
    assert accelerated in " ".join(_disassembly(image.elf, "clock_start").values())
    assert accelerated not in " ".join(_disassembly(plain.elf, "clock_start").values())


def test_unknown_allocator_is_named_with_the_choice() -> None:
    with pytest.raises(BuildError, match=r"no allocator 'tlfs'.*seglist, talc, tlsf"):
        firmware.build("tlfs")


def test_kernel_path_of_the_environment_is_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(firmware, "BUILDS", tmp_path / "build")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FREERTOS_KERNEL_PATH", "no-kernel")
    with pytest.raises(BuildError, match=r"no-kernel\s+has\s+no\s+include/task\.h"):
        firmware.build("tlsf")
    monkeypatch.delenv("FREERTOS_KERNEL_PATH")
    assert firmware.build("tlsf").elf.is_file()


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


def test_compiler_complaint_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = tmp_path / "firmware"
    shutil.copytree(FIRMWARE, copy)
    with (copy / "bench" / "crc.c").open("a") as source:
        source.write("#error planted\n")
    monkeypatch.setattr(firmware, "FIRMWARE", copy)
    monkeypatch.setattr(firmware, "BUILDS", tmp_path / "build")
    with pytest.raises(BuildError, match=r"with tlsf did not compile(.|\n)*#error planted"):
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
