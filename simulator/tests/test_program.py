"""Somebody's own ELF file: taken, or refused with one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from simulator import run as simulator
from simulator.build import SimulatorError
from simulator.program import user_program


def test_options_are_handed_on_as_they_are(elf: Path) -> None:
    program = user_program(elf, chip="stm32f411re", hse="none", gaps=True, semihosting=True, any_core=True)
    words = ["--chip=stm32f411re", "--hse=none", "--gaps", "--semihosting", "--any-core"]
    assert program.arguments == [str(elf), *words]
    assert user_program(elf, strict=True).arguments == [str(elf), "--strict"]
    with pytest.raises(SimulatorError, match="contradict"):
        user_program(elf, strict=True, gaps=True)


def test_a_table_of_a_chip_is_found_from_any_folder(
    elf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The F401's table with its first chip alone, renamed; and with too little SRAM."""
    whole = (ROOT / "simulator/crates/stm32/chips/stm32f401.toml").read_text(encoding="utf-8")
    head, first, _ = whole.split("[[chips]]")
    own = f"{head}[[chips]]{first}".replace("STM32F401RE", "MINE")
    (tmp_path / "mine.toml").write_text(own)
    (tmp_path / "small.toml").write_text(own.replace("sram_kib = 96", "sram_kib = 1"))
    monkeypatch.chdir(tmp_path)
    mine = user_program(elf, chip="mine.toml")
    assert mine.options == ("--chip=mine.toml",)
    assert simulator.run(mine, until="1ms").stats.cycles == simulator.run(elf, until="1ms").stats.cycles
    saved = simulator.run(mine, until="1ms", snapshots_at=["500us"]).snapshots[0]
    assert simulator.run(saved, until="1ms").stats.cycles == simulator.run(elf, until="1ms").stats.cycles
    with pytest.raises(SimulatorError, match="outside the SRAM of the MINE"):
        simulator.run(user_program(elf, chip="small.toml"), until="1ms")
    with pytest.raises(SimulatorError, match=r"none\.toml: cannot read a table"):
        simulator.run(user_program(elf, chip="none.toml"), until="1ms")


def test_a_program_runs_like_its_elf_file(elf: Path) -> None:
    runs = [simulator.run(program, until="1ms").stats for program in (elf, user_program(elf, gaps=True))]
    assert runs[0].cycles == runs[1].cycles


def linked(folder: Path, *options: str) -> Path:
    source, elf = folder / "main.c", folder / "main.elf"
    source.write_text("int start(void) { return 0; }\n")
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", *options, str(source)]
    subprocess.run([*command, "-o", str(elf)], check=True)
    return elf


def refused(elf: Path) -> str:
    with pytest.raises(SimulatorError) as raised:
        user_program(elf)
    sentence = str(raised.value)
    assert "\n" not in sentence and sentence.endswith(".") and str(elf) in sentence
    return sentence


def test_a_program_behind_a_bootloader_is_refused(tmp_path: Path) -> None:
    at = ["-Wl,-Ttext=0x08008000", "-Wl,--entry=start"]
    assert "0x08008000, as if behind a bootloader" in refused(linked(tmp_path, *at))


def test_an_object_file_is_refused(tmp_path: Path) -> None:
    assert "is not linked" in refused(linked(tmp_path, "-c"))


IN_FLASH = ["-Wl,-Ttext=0x08000000", "-Wl,--entry=start", "-nostartfiles"]


@pytest.mark.parametrize(
    ("core", "name"), [("cortex-m0", "Cortex-M0"), ("cortex-m23", "Cortex-M23"), ("cortex-m33", "Cortex-M33")]
)
def test_a_program_for_another_core_is_refused_by_name_unless_asked_for(
    core: str, name: str, tmp_path: Path
) -> None:
    """The compiler itself says for which core it compiles."""
    elf = linked(tmp_path, f"-mcpu={core}", *IN_FLASH)
    assert f"was made for a {name}" in refused(elf) and "--any-core" in refused(elf)
    assert user_program(elf, any_core=True).options == ("--any-core",)
    with pytest.raises(SimulatorError, match=name):
        simulator.run(elf, until="1ms")


@pytest.mark.parametrize("core", ["cortex-m3", "cortex-m4", "cortex-m7"])
def test_a_program_for_a_core_of_armv7_m_is_taken(core: str, tmp_path: Path) -> None:
    assert user_program(linked(tmp_path, f"-mcpu={core}", *IN_FLASH)).options == ()


M4 = "a Cortex-M4 or Cortex-M7 (Armv7E-M)"


@pytest.mark.parametrize(
    ("core", "chip", "sentence"),
    [
        (
            "cortex-m4",
            "stm32f072rb",
            f"{M4}, and stm32f072rb is a Cortex-M0 (Armv6-M)",
        ),
        ("cortex-m3", "stm32f072rb", "a Cortex-M3 (Armv7-M), and stm32f072rb is a Cortex-M0 (Armv6-M)"),
        (
            "cortex-m4",
            "stm32f103rb",
            f"{M4}, and stm32f103rb is a Cortex-M3 (Armv7-M)",
        ),
        ("cortex-m0", "stm32f103rb", "a Cortex-M0 or Cortex-M0+ (Armv6-M), and stm32f103rb is a Cortex-M3"),
        ("cortex-m0", "", "a Cortex-M0 or Cortex-M0+ (Armv6-M), and this is a Cortex-M4 (Armv7E-M)"),
    ],
)
def test_a_program_is_held_to_its_chips_core(core: str, chip: str, sentence: str, tmp_path: Path) -> None:
    elf = linked(tmp_path, f"-mcpu={core}", *IN_FLASH)
    with pytest.raises(SimulatorError) as refused:
        user_program(elf, chip=chip)
    assert f"{elf} was made for {sentence}" in str(refused.value)
    assert user_program(elf, chip=chip, any_core=True).chip == chip


@pytest.mark.parametrize(
    ("core", "chip"), [("cortex-m0", "stm32f072rb"), ("cortex-m3", "f103rb"), ("cortex-m4", "stm32l476rg")]
)
def test_a_program_for_the_core_of_its_chip_is_taken(core: str, chip: str, tmp_path: Path) -> None:
    assert user_program(linked(tmp_path, f"-mcpu={core}", *IN_FLASH), chip=chip).chip == chip


def test_a_big_endian_program_is_refused_by_name(tmp_path: Path) -> None:
    elf = linked(tmp_path, "-mbig-endian", *IN_FLASH)
    assert "is a big-endian program" in refused(elf)
    with pytest.raises(SimulatorError, match="big-endian"):
        simulator.run(elf, until="1ms")


def test_a_program_of_this_machine_is_refused() -> None:
    assert "for another processor" in refused(Path(sys.executable).resolve())


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"not a program", b"\x7fELF\x01\x01" + bytes(60)])
def test_no_elf_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "some.elf"
    path.write_bytes(content)
    assert "some.elf" in refused(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none.elf")
    assert "directory" in refused(tmp_path)


def test_a_stray_object_makes_no_program_of_another_core(tmp_path: Path) -> None:
    """One of three is for a Cortex-M33, and the linker gives the whole its attributes."""
    cores = {"first": "cortex-m4", "second": "cortex-m4", "stray": "cortex-m33"}
    for name, core in cores.items():
        (tmp_path / f"{name}.c").write_text(f"int {name}(void) {{ return 1; }}\n")
        words = [f"-mcpu={core}", "-mthumb", "-g", "-c", f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(["arm-none-eabi-gcc", *words], check=True, cwd=tmp_path)
    link = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-nostdlib", "-Wl,-Ttext=0x08000000,-e,first", "-o"]
    subprocess.run([*link, "most.elf", "first.o", "second.o", "stray.o"], check=True, cwd=tmp_path)
    subprocess.run([*link, "few.elf", "first.o", "stray.o"], check=True, cwd=tmp_path)
    most = user_program(tmp_path / "most.elf")
    assert (most.options, most.arguments[-1]) == ((), "--any-core")
    assert "was made for a Cortex-M33" in refused(tmp_path / "few.elf")
