"""The kernel of a program: recognised by its symbols, with the places of what is asked of it.

Where variables and members lie, symbols and debug information (DWARF 5, section 5) tell.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import KernelError
from analysis.explain.kernels.kernel_file import KernelFile, Loops, Task, Wrapper, read
from analysis.explain.program import Function, Program
from base.files.elf import DAMAGED
from base.files.errors import no_such
from simulator.kernel import NO_WORDS, KernelWords

_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]")
_STRUCTS = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_ALIASES = ("DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_const_type", "DW_TAG_atomic_type")
_POINTER_BYTES = 4


@dataclass(frozen=True)
class Spot:
    """A value: `offset` from the beginning of its variable or struct, its size, and its kind.

    `kind` is text (an array of characters), pointer, or number.
    """

    offset: int
    bytes: int
    kind: str


class Layout:
    """The layout of the variables and structs of a program that are asked for by name."""

    def __init__(self, program: Program, variables: Collection[str], structs: Collection[str]) -> None:
        self._variables: dict[str, Any] = {}
        self._structs: dict[str, Any] = {}
        with suppress(*DAMAGED):
            for unit in program.dwarf.iter_CUs():
                if set(variables) <= self._variables.keys() and set(structs) <= self._structs.keys():
                    return
                for die in unit.get_top_DIE().iter_children():
                    if die.tag == "DW_TAG_variable" and _name(die) in variables:
                        whole = _plain(_type(die))
                        # A struct may be declared alone.
                        if whole is not None and "DW_AT_declaration" not in whole.attributes:
                            self._variables.setdefault(_name(die), _type(die))
                    elif (
                        die.tag in _STRUCTS and _name(die) in structs and "DW_AT_byte_size" in die.attributes
                    ):
                        self._structs.setdefault(_name(die), die)

    def of_variable(self, path: str) -> Spot | None:
        """What `variable.member[3]` is; None if nothing tells."""
        name = _variable_of(path)
        return self._spot(self._variables.get(name), path[len(name) :])

    def of_member(self, structs: Iterable[str], path: str) -> Spot | None:
        """What a member is of the first of these structs that is there; None if it has none."""
        struct = next((self._structs[name] for name in structs if name in self._structs), None)
        return self._spot(struct, f".{path}")

    def _spot(self, start: Any, path: str) -> Spot | None:
        try:
            offset, die = 0, _plain(start)
            for member, index in _STEP.findall(path):
                if die is None:
                    return None
                if member:
                    further, die = _member(die, member)
                else:
                    die = _type(die) if die.tag == "DW_TAG_array_type" else None
                    further = int(index) * _size(die)
                offset, die = offset + further, _plain(die)
            return None if die is None else Spot(offset, _size(die), _kind(die))
        except DAMAGED:
            return None


def _member(struct: Any, name: str) -> tuple[int, Any]:
    """Offset and type of a member, also of one without a name's; (0, None) if there is none."""
    for die in struct.iter_children():
        if die.tag != "DW_TAG_member":
            continue
        place = die.attributes.get("DW_AT_data_member_location")
        offset = int(place.value) if place else 0
        if _name(die) == name:
            return offset, _type(die)
        inner = _plain(_type(die)) if not _name(die) else None
        if inner is not None and inner.tag in _STRUCTS:
            further, whole = _member(inner, name)
            if whole is not None:
                return offset + further, whole
    return 0, None


def _kind(die: Any) -> str:
    if die.tag == "DW_TAG_pointer_type":
        return "pointer"
    if die.tag == "DW_TAG_array_type":
        return "text" if _size(_type(die)) == 1 else "array"
    return "struct" if die.tag in _STRUCTS else "number"


def _size(die: Any) -> int:
    """The bytes of a type; 0 if nothing tells."""
    die = _plain(die)
    if die is None:
        return 0
    if "DW_AT_byte_size" in die.attributes:
        return int(die.attributes["DW_AT_byte_size"].value)
    if die.tag == "DW_TAG_pointer_type":
        return _POINTER_BYTES
    if die.tag != "DW_TAG_array_type":
        return 0
    count = 1
    for bound in die.iter_children():
        upper = bound.attributes.get("DW_AT_upper_bound") or bound.attributes.get("DW_AT_count")
        more = "DW_AT_upper_bound" in bound.attributes
        count *= int(upper.value) + more if upper else 0
    return count * _size(_type(die))


def _plain(die: Any) -> Any:
    """The type behind its other names; None of none."""
    while die is not None and die.tag in _ALIASES:
        die = _type(die)
    return die


def _type(die: Any) -> Any:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def _name(die: Any) -> str:
    name = die.attributes.get("DW_AT_name")
    return name.value.decode(errors="replace") if name else ""


FOLDER = Path(__file__).parent
NONE = "none"


def supplied() -> list[Path]:
    """The files of the kernels that come with the program, by name."""
    return sorted(FOLDER.glob("*.toml"))


def chosen(word: str) -> list[Path]:
    """The files that `--kernel WORD` means: of a name, a file; without a word all of them,
    of "none" none. Raises KernelError.
    """
    named = {path.stem: [path] for path in supplied()}
    if not word:
        return supplied()
    if word.endswith(".toml") or "/" in word:
        return [Path(word)]
    if word not in (NONE, *named):
        raise KernelError(no_such("kernel", word, [*named, NONE]))
    return named.get(word, [])


_WORD_BYTES = 4


@dataclass(frozen=True)
class HandlerTable:
    """The handlers behind common ones: `functions` are their names.

    The words at `addresses` are the handlers of the exceptions from `first_exception` on.
    """

    functions: tuple[str, ...]
    addresses: range
    first_exception: int


@dataclass(frozen=True)
class Kernel:
    """What is known of a program's kernel. What nothing tells is empty.

    `words` are for the simulator. `names`, `entries` and `numbers` are members of a task's
    control block, the first that tells counts. The scheduler starts where `starts_at` first
    executes, or where the function `starts_after` is first left. `locks` has the words for inlined
    functions that hold interrupts off, and `nesting` the addresses of counters of critical sections
    that were entered and not left. `untold` says what the program does not tell.
    """

    name: str
    words: KernelWords = NO_WORDS
    names: tuple[Spot, ...] = ()
    entries: tuple[Spot, ...] = ()
    numbers: tuple[Spot, ...] = ()
    idle: tuple[str, ...] = ()
    starts_at: Function | None = None
    starts_after: Function | None = None
    locks: dict[str, str] = field(default_factory=dict)
    nesting: tuple[int, ...] = ()
    loops: Loops | None = None
    tables: tuple[HandlerTable, ...] = ()
    untold: tuple[str, ...] = ()


def find(program: Program, word: str = "") -> Kernel | None:
    """The kernel of a program: the first that has all its symbols there; None if none has.

    `word` is that of `--kernel`: a name, a TOML file, "none", or empty for all that are known.
    Raises KernelError, also if the kernel that is named is not in the program.
    """
    for path in chosen(word):
        kernel = read(path)
        missing = [name for name in kernel.symbols if not program.has(name)]
        if not missing:
            return _of(program, kernel)
        if word:
            raise KernelError(
                f"The kernel of {path.name} is not in the program: it has no {', '.join(missing)}; "
                "name another kernel, or none."
            )
    return None


def words_of(kernel: Kernel | None) -> KernelWords:
    """Where the kernel that find() found has its state; of none nowhere."""
    return kernel.words if kernel else NO_WORDS


def _of(program: Program, kernel: KernelFile) -> Kernel:
    task, scheduler = kernel.task or Task(current=[]), kernel.scheduler
    names = [
        *map(_variable_of, (*task.current, *scheduler.locked)),
        *(each.table for each in kernel.wrappers),
    ]
    layout = Layout(program, {name for name in names if program.variable(name) is not None}, task.struct)

    def variable(paths: Iterable[str]) -> tuple[int, Spot] | None:
        """Address and kind of the first `variable.member[3]` that is there; a word where nothing
        tells more of a variable.
        """
        for path in paths:
            address, spot = program.variable(_variable_of(path)), layout.of_variable(path)
            if spot is None and path.isidentifier():
                spot = Spot(0, _WORD_BYTES, "number")
            if address is not None and spot:
                return address + spot.offset, spot
        return None

    def members(paths: Iterable[str]) -> tuple[Spot, ...]:
        return tuple(spot for path in paths if (spot := layout.of_member(task.struct, path)))

    def function(names: Iterable[str]) -> Function | None:
        named = (program.functions_named(name) for name in names)
        return next((functions[0] for functions in named if len(functions) == 1), None)

    current, lock = variable(task.current), variable(scheduler.locked)
    # The place of the scheduler's lock in the words of virtual-nucleo; empty if it has none.
    locked = f"{lock[0]:#010x}:{lock[1].bytes}" if lock else ""
    if current and not lock:
        for member in members(scheduler.locked_member)[:1]:
            locked = f"*{current[0]:#010x}+{member.offset}:{member.bytes}"
    task_names = members(task.name)
    # What the file asks for and the program does not tell.
    untold = []
    if kernel.task and current is None:
        untold.append("which task runs")
    elif task.name and not task_names:
        untold.append("the names of its tasks")
    if (scheduler.locked or scheduler.locked_member) and not locked:
        untold.append("its scheduler's lock")
    nesting = map(program.variable, kernel.interrupts.nesting)
    tables = (_table(program, layout, wrapper) for wrapper in kernel.wrappers)
    return Kernel(
        name=kernel.name,
        words=KernelWords(None if current is None else current[0], locked),
        names=task_names,
        entries=members(task.entry),
        numbers=members(task.number),
        idle=tuple(task.idle),
        starts_at=function(scheduler.starts_at),
        starts_after=function(scheduler.starts_after),
        locks=dict(kernel.interrupts.locks),
        nesting=tuple(address for address in nesting if address is not None),
        loops=kernel.loops,
        tables=tuple(table for table in tables if table),
        untold=tuple(untold),
    )


def _variable_of(path: str) -> str:
    """`_kernel` of `_kernel.cpus[0].current`."""
    return path.replace("[", ".").partition(".")[0]


def _table(program: Program, layout: Layout, wrapper: Wrapper) -> HandlerTable | None:
    """The table as debug information tells of it, else as the file does."""
    address, entry = program.variable(wrapper.table), layout.of_variable(f"{wrapper.table}[0]")
    stride = (entry.bytes if entry else 0) or wrapper.entry_bytes
    handler = layout.of_variable(f"{wrapper.table}[0].{wrapper.handler}")
    if address is None or not stride or (handler is None and wrapper.entry_bytes is None):
        return None
    first = address + (handler.offset if handler else wrapper.handler_offset)
    end = address + program.data_size(wrapper.table) - _WORD_BYTES + 1
    return HandlerTable(tuple(wrapper.functions), range(first, end, stride), wrapper.first_exception)
