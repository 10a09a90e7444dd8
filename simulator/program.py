"""Somebody's own program for the virtual Nucleo: an ELF file, and the chip and crystal for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED, mostly_for, other_core
from simulator.board_note import chip_of
from simulator.build import SimulatorError
from simulator.chips import line_of

FLASH_ADDRESS = 0x0800_0000
# At reset the flash also answers here, and some linker scripts put the vector table there (RM0368,
# section 2.4).
_ALIAS_ADDRESS = 0
_WORD_BYTES = 4


@dataclass(frozen=True)
class UserProgram:
    """`options` are handed to virtual-nucleo as they are, beside the ELF file. `has_strays` says
    that some of its objects were made for another core, and most for this.
    """

    elf: Path
    options: tuple[str, ...] = ()
    has_strays: bool = False

    @property
    def chip(self) -> str:
        """Which chip it runs on, by name or table; empty for the usual one."""
        named = [option.partition("=")[2] for option in self.options if option.startswith("--chip=")]
        return next(iter([*named, *chip_of(self.elf)[1:]]), "")

    @property
    def arguments(self) -> list[str]:
        """The words of virtual-nucleo's command line that say what runs, and on what."""
        strays = ["--any-core"] if self.has_strays else []
        return [str(self.elf.resolve()), *map(_absolute, self.options), *strays]


def _absolute(option: str) -> str:
    """An option, whose table of a chip, or file of a partner, is found from whatever folder."""
    name, _, value = option.partition("=")
    if name == "--attach":
        place, _, file = value.partition("=")
        return f"{name}={place}={Path(file).resolve()}" if file else option
    is_table = name == "--chip" and value.endswith(".toml")
    return f"{name}={Path(value).resolve()}" if is_table else option


def user_program(
    elf: str | Path,
    *,
    chip: str = "",
    hse: str = "",
    strict: bool = False,
    gaps: bool = False,
    semihosting: bool = False,
    any_core: bool = False,
    attach: Sequence[str] = (),
) -> UserProgram:
    """The program in the file `elf`, for a chip and a crystal; an empty string leaves the default.

    `chip` is a name, or the path of a table that ends in `.toml`. Without one an image of the bench
    has its own board's.
    `strict` stops it at the first thing that is odd; with `gaps` it goes on past what is not
    modelled, too. With `semihosting` it may call its host. `any_core` takes one that was made for
    another core, too. `attach` is what hangs on the chip, as `i2c1=eeprom.toml`. Raises
    SimulatorError with one sentence: if there is no such file, if it is no ELF file for this core,
    or if its vector table is not where the core looks for it.
    """
    path = Path(elf)
    words = () if chip else chip_of(path)
    own = dict(zip(words[::2], words[1::2], strict=True))
    has_strays = _check(path, any_core, chip or own.get("--chip", ""))
    if strict and gaps:
        raise SimulatorError("--strict and --gaps contradict each other: give one of them.")
    named = own | {option: value for option, value in (("--chip", chip), ("--hse", hse)) if value}
    options = [f"{option}={value}" for option, value in named.items()]
    options += [f"--attach={attachment}" for attachment in attach]
    switches = (
        *(("--strict", strict), ("--gaps", gaps)),
        *(("--semihosting", semihosting), ("--any-core", any_core)),
    )
    return UserProgram(path, (*options, *(switch for switch, on in switches if on)), has_strays)


def _check(path: Path, any_core: bool, chip: str) -> bool:
    """Whether some of its objects are for another core. Raises SimulatorError."""
    line = line_of(chip)
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            _check_elf(path, elf)
            made_for = "" if any_core else other_core(elf, line.core)
            if made_for and mostly_for(elf, line.core):
                return True
    except OSError as error:
        raise SimulatorError(f"{path} cannot be read: {error.strerror or error}.") from None
    except DAMAGED:
        raise SimulatorError(
            f"{path} is no ELF file: name the program that the linker wrote, not a .bin or .hex made of it."
        ) from None
    if made_for:
        raise SimulatorError(
            f"{path} was made for {made_for}, and {chip or 'this'} is a {line.core_title}: build it with "
            f"-mcpu={line.core}, or run it all the same with --any-core."
        )
    return False


def _check_elf(path: Path, elf: ELFFile) -> None:
    if elf["e_machine"] == "EM_ARM" and not elf.little_endian:
        raise SimulatorError(
            f"{path} is a big-endian program, and this core is little-endian: link it without -mbig-endian."
        )
    if elf["e_machine"] != "EM_ARM" or elf.elfclass != 32:
        raise SimulatorError(
            f"{path} is a program for another processor ({elf.get_machine_arch()}, {elf.elfclass} bits): "
            "build it for a Cortex-M4, with arm-none-eabi-gcc -mcpu=cortex-m4."
        )
    loaded = [
        (int(segment["p_paddr"]), int(segment["p_filesz"]))
        for segment in elf.iter_segments()
        if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
    ]
    if elf["e_type"] != "ET_EXEC" or not loaded:
        raise SimulatorError(f"{path} is not linked: give the program that the linker wrote.")
    if not any(_holds(place, start) for place in loaded for start in (FLASH_ADDRESS, _ALIAS_ADDRESS)):
        first = min(address for address, _ in loaded)
        raise SimulatorError(
            f"{path} begins at {first:#010x}, as if behind a bootloader, but the core takes its vector table "
            f"from {FLASH_ADDRESS:#010x}: link it to that address."
        )


def _holds(place: tuple[int, int], start: int) -> bool:
    """Whether a loaded part holds the first two words of a vector table at `start`."""
    address, size = place
    return address <= start and start + 2 * _WORD_BYTES <= address + size
