"""Reads the firmware's ELF file: functions, data, code and source lines of addresses.

pyelftools reads the file and its DWARF; capstone disassembles the code.
"""

from __future__ import annotations

import bisect
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import elftools
from elftools.dwarf.callframe import FDE
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from analysis.errors import ExplainError, LatencyError
from base.files.elf import DAMAGED
from base.files.errors import first_line
from base.files.remembered import remembered
from simulator.program import FLASH_ADDRESS


def encoded(opcode: int) -> bytes:
    """An instruction as it lies in memory: one halfword, or of a wide one the first half first."""
    halves = (opcode >> 16, opcode & 0xFFFF) if opcode > 0xFFFF else (opcode,)
    return b"".join(half.to_bytes(2, "little") for half in halves)


@dataclass(frozen=True)
class Function:
    """`size` bytes of code from `address` on, which is without the Thumb bit."""

    name: str
    address: int
    size: int

    @property
    def code(self) -> range:
        """The addresses of its code."""
        return range(self.address, self.address + self.size)


class Program:
    """A built firmware. Raises ExplainError if the file is no ELF file with symbols.

    With `stripped` the file need not have symbols: then no function and no variable is known.
    """

    def __init__(self, elf: Path, stripped: bool = False) -> None:
        try:
            self._content = elf.read_bytes()
            self._file = ELFFile(io.BytesIO(self._content))
            table = self._file.get_section_by_name(".symtab")
            entries = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
            symbols = [(symbol.name, symbol.entry) for symbol in entries]
            # First address and end of each section with code, by its number.
            sections = {
                number: (int(section["sh_addr"]), int(section["sh_addr"]) + int(section["sh_size"]))
                for number, section in enumerate(self._file.iter_sections())
                if section["sh_flags"] & _EXECUTABLE
            }
        except (OSError, *DAMAGED) as error:
            raise ExplainError(f"{elf} is no firmware ({first_line(error)}); build it again.") from None
        if not isinstance(table, SymbolTableSection) and not stripped:
            raise ExplainError(f"{elf} has no symbols; build it again.")
        self.functions = _functions(symbols, sections)
        """All functions, by address."""
        self.labels = _labels(symbols)
        """Functions and labels of assembly code: the addresses of each name."""
        self._starts = [function.address for function in self.functions]
        self._data = {
            name: (int(entry.st_value), int(entry.st_size))
            for name, entry in symbols
            if entry.st_info.type == "STT_OBJECT"
        }

    @cached_property
    def dwarf(self) -> Any:
        """pyelftools' view of the debug information. Raises ExplainError, and what it gives raises
        DAMAGED.
        """
        with _told("debug information"):
            return self._file.get_dwarf_info()

    @cached_property
    def _sources(self) -> tuple[list[tuple[int, str]], dict[str, Path]]:
        of = [self._content, elftools.__version__.encode()]
        lines, files = remembered("lines", of, [Path(__file__)], lambda: _read(self._content))
        return [tuple(line) for line in lines], {name: Path(path) for name, path in files.items()}

    @property
    def lines(self) -> list[tuple[int, str]]:
        """(address, file:line) at each change of line, by address; "" at the end of a sequence."""
        return self._sources[0]

    @property
    def has_lines(self) -> bool:
        """True if the file says which source line an address comes from."""
        return bool(self.lines)

    def instructions(self, function: Function) -> list[tuple[int, int, str, str]]:
        """Address, bytes, mnemonic and operands of its code. What is no instruction, as its
        constants, is `.byte`.
        """
        code = self.code(function.address, function.size)
        self._decoder.skipdata = True
        try:
            return list(self._decoder.disasm_lite(code, function.address))
        finally:
            self._decoder.skipdata = False

    def function_at(self, address: int) -> Function | None:
        """The function that holds the code at `address`; None if there is none."""
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        function = self.functions[index]
        return function if address < function.address + max(function.size, 1) else None

    def function(self, name: str) -> Function | None:
        """The function called `name`; None if there is none."""
        return next((function for function in self.functions if function.name == name), None)

    def has(self, name: str) -> bool:
        """Whether it has a function or a variable of that name."""
        return name in self.labels or self.variable(name) is not None or bool(self.functions_named(name))

    def functions_named(self, name: str) -> list[Function]:
        """The functions called `name`, also with a suffix of the compiler's: `name.lto_priv.0`."""
        return [
            function
            for function in self.functions
            if function.name == name or function.name.startswith(f"{name}.")
        ]

    def variable(self, name: str) -> int | None:
        """The address of a variable, also with a suffix of the compiler's; None if there is not
        exactly one.
        """
        addresses = {
            address
            for label, (address, _) in self._data.items()
            if label == name or label.startswith(f"{name}.")
        }
        return addresses.pop() if len(addresses) == 1 else None

    def variable_at(self, address: int) -> str:
        """The variable that holds `address`, as `name` or `name+0x40`; empty if there is none."""
        held = (item for item in self._data.items() if item[1][0] <= address < sum(item[1]))
        name, (first, _) = next(held, ("", (address, 0)))
        return f"{name}+{address - first:#x}" if address > first else name

    def tells_caller(self, address: int) -> bool:
        """Whether call frame information tells who called the code at `address`; of damaged
        information it is not known that it does not.
        """
        spans = self._frame_spans
        if spans is None:
            return True
        index = bisect.bisect_right(spans, (address, 1 << 32)) - 1
        return index >= 0 and address < spans[index][1]

    def data_size(self, name: str) -> int:
        """The bytes of a variable; 0 if there is none of that name."""
        return self._data.get(name, (0, 0))[1]

    def place(self, address: int) -> str:
        """`function+0x1c`, or the address itself if no function is known there."""
        function = self.function_at(address)
        if function is None:
            return f"{address:#010x}"
        offset = address - function.address
        return f"{function.name}+{offset:#x}" if offset else function.name

    def source_line(self, address: int) -> str:
        """`file.c:12`, from the line table; empty if that has nothing. Raises ExplainError."""
        index = bisect.bisect_right(self.lines, address, key=itemgetter(0)) - 1
        return self.lines[index][1] if index >= 0 else ""

    @cached_property
    def never_return(self) -> set[str]:
        """The functions that their source declares never to return; damaged information tells of
        none.
        """
        of = [self._content, elftools.__version__.encode()]
        try:
            return set(remembered("never_return", of, [Path(__file__)], lambda: [*self._declared()]))
        except (ExplainError, *DAMAGED):
            return set()

    def _declared(self) -> Iterator[str]:
        """Their names. Of most files only the abbreviations are read, and of no function its body:
        all of a large image takes a quarter of a minute.
        """
        for unit in filter(_has_noreturn, self.dwarf.iter_CUs()):
            scopes = [unit.get_top_DIE()]
            while scopes:
                for die in unit.iter_DIE_children(scopes.pop()):
                    named = die.attributes
                    if die.tag in _SCOPES:
                        scopes.append(die)
                    elif "DW_AT_noreturn" in named and "DW_AT_name" in named:
                        yield named["DW_AT_name"].value.decode()

    @property
    def source_files(self) -> dict[str, Path]:
        """The paths of the source files, by the name that source_line() has.

        Those are left out that share their name with another. They begin where the compiler was
        told to let them begin: those of the bench's firmware at `firmware/heap/facade.c`.
        """
        return self._sources[1]

    def code(self, address: int, size: int) -> bytes:
        """`size` bytes of the image from `address` on; empty if the image does not hold them."""
        for first, length, data in self._loaded:
            offset = address - first
            if offset >= 0 and offset + size <= length:
                return data[offset : offset + size]
        return b""

    def read_only(self, address: int, size: int) -> int | None:
        """The number of `size` bytes that stands at `address`; None if the program may change it,
        or holds nothing there. Code in RAM is taken to stay what the file has there.
        """
        for first, end, data in self._constants:
            if first <= address and address + size <= end:
                return int.from_bytes(data[address - first : address - first + size], "little")
        return None

    def instruction_text(self, address: int, opcode: int) -> str:
        """The instruction in assembly language."""
        for _, _, mnemonic, operands in self._decoder.disasm_lite(encoded(opcode), address, 1):
            return f"{mnemonic} {operands}".strip()
        return f".inst {opcode:#x}"

    @cached_property
    def _decoder(self) -> Any:
        import capstone  # takes a while

        return capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)

    @cached_property
    def _loaded(self) -> list[tuple[int, int, bytes]]:
        """First address, length and content of what the file has for memory: where it is linked to,
        then where it is loaded, such as a vector table that start-up copies to RAM.

        It is asked for by each call of each stack, and to read the headers anew takes far longer.
        """
        segments = [part for part in self._file.iter_segments() if part.header.p_type == "PT_LOAD"]
        return [
            (int(part.header[address]), int(part.header.p_filesz), part.data())
            for address in ("p_vaddr", "p_paddr")
            for part in segments
        ]

    @cached_property
    def _constants(self) -> list[tuple[int, int, bytes]]:
        """First address, end and content of each loaded section that is not writable."""
        constants = []
        for section in self._file.iter_sections():
            flags, first = section["sh_flags"], int(section["sh_addr"])
            if section["sh_type"] != "SHT_PROGBITS" or not flags & _LOADED:
                continue
            data, end = section.data(), first + int(section["sh_size"])
            spans = [(first, end)]
            if flags & _WRITABLE:
                # The functions there, each with the constants behind its code.
                functions = self.functions if flags & _EXECUTABLE else ()
                within = (function for function in functions if first <= function.address < end)
                spans = [(each.address, min(each.code.stop, end)) for each in within]
            constants += [(begin, last, data[begin - first : last - first]) for begin, last in spans]
        return constants

    @cached_property
    def _frame_spans(self) -> list[tuple[int, int]] | None:
        """First address and end of the code that call frame information tells of, in order; None of
        damaged information.
        """
        try:
            dwarf = self.dwarf
            entries = [
                *(dwarf.CFI_entries() if dwarf.has_CFI() else ()),
                *(dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else ()),
            ]
        except (ExplainError, *DAMAGED):
            return None
        spans = []
        for header in (entry.header for entry in entries if isinstance(entry, FDE)):
            first = int(header.initial_location) & ~1
            spans.append((first, first + int(header.address_range)))
        return sorted(spans)


_SCOPES = ("DW_TAG_namespace", "DW_TAG_class_type", "DW_TAG_structure_type")


def _has_noreturn(unit: Any) -> bool:
    """Whether an abbreviation of a unit has the attribute (DWARF 5, 7.5.3). Compilers number them
    from 1.
    """
    table = unit.get_abbrev_table()
    with suppress(KeyError):
        for code in count(1):
            if any(name == "DW_AT_noreturn" for name, _ in table.get_abbrev(code).iter_attr_specs()):
                return True
    return False


def vector(program: Program, exception: int) -> int:
    """The word of an exception in the table at the flash's beginning; 0 if the image has none."""
    return int.from_bytes(program.code(FLASH_ADDRESS + 4 * exception, 4), "little")


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Tells what is raised within of a damaged file as ExplainError."""
    try:
        yield
    except DAMAGED as error:
        words = f"The {what} of the firmware is damaged: {first_line(error)}"
        raise ExplainError(f"{words}; build it again.") from None


def _read(elf: bytes) -> tuple[list[tuple[int, str]], dict[str, str]]:
    file = ELFFile(io.BytesIO(elf))
    rows: list[tuple[int, str]] = []
    paths: dict[str, set[str]] = {}
    if not file.has_dwarf_info():
        return [], {}
    with _told("line table"):
        dwarf = file.get_dwarf_info()
        for unit in dwarf.iter_CUs():
            lines = dwarf.line_program_for_CU(unit)
            if lines is None:
                continue
            where = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
            folder = Path(where.value.decode(errors="replace") if where else "")
            compiled_in = folder if folder.is_absolute() else Path()
            # A line table names a folder once, and each file below one of them. Before DWARF 5
            # both count from 1, and folder 0 is the one that was compiled in.
            first = 0 if lines.header.version >= 5 else 1
            folders = [str(compiled_in)] * first
            folders += [name.decode(errors="replace") for name in lines.header.include_directory]
            files = [(Path(each.name.decode(errors="replace")), each) for each in lines.header.file_entry]
            for name, entry in files:
                if entry.dir_index < len(folders):
                    path = os.path.normpath(compiled_in / folders[entry.dir_index] / name)
                    paths.setdefault(name.name, set()).add(path)
            for entry in lines.get_entries():
                state = entry.state
                if state is not None and state.address:
                    index = state.file - first
                    has_line = not state.end_sequence and 0 <= index < len(files)
                    source = f"{files[index][0].name}:{state.line}" if has_line else ""
                    rows.append((int(state.address), source))
    sources = {name: named.pop() for name, named in paths.items() if len(named) == 1}
    return sorted(rows, key=lambda row: row[0]), sources


_WRITABLE, _LOADED, _EXECUTABLE = 0x1, 0x2, 0x4
"""SHF_WRITE, SHF_ALLOC and SHF_EXECINSTR (ELF, figure 4-11)."""


def _functions(symbols: list[tuple[str, Any]], sections: dict[int, tuple[int, int]]) -> list[Function]:
    """One function for each address, in order. Of several names a global one counts before a local
    one, a weak one last, then the alphabet's first: a vector's alias of a common handler is weak.
    Code that has many weak names alone is the handler of all vectors that nobody defines.

    Assemblers give sizes, and even types, only where they are told to. A function without a size
    goes up to the next symbol of its section, or to the section's end; a global label of code that
    lies in no function is one.
    """
    named: list[tuple[int, bool, int, str, int]] = []
    for name, entry in symbols:
        address, kind, binding = int(entry.st_value) & ~1, entry.st_info.type, entry.st_info.bind
        first, end = sections.get(entry.st_shndx, (0, 0))
        is_function = kind == "STT_FUNC" and entry.st_shndx != "SHN_UNDEF"
        is_label = (
            kind == "STT_NOTYPE" and first <= address < end and binding != "STB_LOCAL" and "$" not in name
        )
        if is_function or is_label:
            size = int(entry.st_size) if is_function else 0
            named.append((address, is_label, _RANKS.get(binding, len(_RANKS)), name, size))
    functions: dict[int, Function] = {}
    end_of_sized = 0
    bounds = sorted({*(address for address, *_ in named), *(end for _, end in sections.values())})
    for address, names in groupby(sorted(named), key=itemgetter(0)):
        (_, is_label, rank, name, size), *others = names
        if is_label and address < end_of_sized:
            continue
        typed = 1 + sum(not other[1] for other in others)
        is_default = not is_label and rank == _RANKS["STB_WEAK"] and typed >= _MANY_ALIASES
        if size:
            end_of_sized = address + size
        elif any(first <= address < end for first, end in sections.values()):
            following = bisect.bisect_right(bounds, address)
            size = bounds[following] - address if following < len(bounds) else 0
        functions[address] = Function(DEFAULT_HANDLER if is_default else name, address, size)
    return [*functions.values()]


DEFAULT_HANDLER = "default handler"
_RANKS = {"STB_GLOBAL": 0, "STB_LOCAL": 1, "STB_WEAK": 2}
_MANY_ALIASES = 4


def _labels(symbols: list[tuple[str, Any]]) -> dict[str, list[int]]:
    """The addresses of names in the code. Names with a $ are the assembler's own (AAELF, 5.5.5)."""
    labels: dict[str, set[int]] = {}
    for name, entry in symbols:
        in_code = isinstance(entry.st_shndx, int) and entry.st_info.type in ("STT_FUNC", "STT_NOTYPE")
        if in_code and name and "$" not in name:
            labels.setdefault(name, set()).add(int(entry.st_value) & ~1)
    return {name: sorted(addresses) for name, addresses in labels.items()}


# The instructions by which a function is left.


_RETURNS = re.compile(r"bx(\w\w)?$")
_LOADS = ("pop", "ldm", "ldr")
_BRANCH = re.compile(r"b(eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?(\.w|\.n)?$")


def exits_of(program: Program, function: Function) -> dict[int, bool]:
    """The instructions by which a function may be left; True if each execution of it leaves it.

    The others are branches, which leave it if they are taken. Raises LatencyError if none is found.
    """
    exits = {}
    for address, _, mnemonic, operands in program.instructions(function):
        base = mnemonic.split(".")[0]
        if _RETURNS.match(base) or (base.startswith(_LOADS) and re.search(r"\bpc\b", operands)):
            # A table of jumps also loads the PC; then the next instruction lies within.
            exits[address] = base.startswith(("pop", "ldm")) or operands == "lr"
        elif base.startswith("mov") and operands.startswith("pc,"):
            exits[address] = operands == "pc, lr"
        elif (
            _BRANCH.match(mnemonic)
            and operands.startswith("#")
            and int(operands[1:], 16) not in function.code
        ):
            exits[address] = False
    if not exits:
        raise LatencyError(
            f"No way out of {function.name} was found in its code: give both ends, {function.name}..PLACE."
        )
    return exits
