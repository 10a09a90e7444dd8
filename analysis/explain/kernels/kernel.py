"""The kernel of a program: recognised by its symbols, with the places of what is asked of it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import KernelError
from analysis.explain.kernels.layout import Layout, Spot
from analysis.explain.program import Function, Program
from base.files.errors import no_such
from simulator.kernel import NO_WORDS, KernelWords

if TYPE_CHECKING:
    from analysis.explain.kernels.kernel_file import KernelFile, Loops, Wrapper

FOLDER = Path(__file__).parent
NONE = "none"


def supplied() -> list[Path]:
    """The files of the kernels that come with the program, by name."""
    return sorted(FOLDER.glob("*.toml"))


def chosen(word: str) -> list[Path]:
    """The files that `--kernel WORD` means: of a name, a file; without a word all of them,
    of "none" none. Raises KernelError.
    """
    if not word:
        return supplied()
    if word == NONE:
        return []
    named = {path.stem: path for path in supplied()}
    if word in named:
        return [named[word]]
    if word.endswith(".toml") or "/" in word:
        return [Path(word)]
    raise KernelError(no_such("kernel", word, [*named, NONE]))


_WORD_BYTES = 4


@dataclass(frozen=True)
class HandlerTable:
    """The handlers behind common ones: `functions` are their names.

    The word at `address`, plus `stride` for each exception from `first_exception` on, is a handler.
    `end` is the table's first address that is none of it.
    """

    functions: tuple[str, ...]
    address: int
    end: int
    stride: int
    first_exception: int

    def slot(self, exception: int) -> int | None:
        """The address of an exception's word; None if the table has none."""
        slot_address = self.address + self.stride * (exception - self.first_exception)
        return (
            slot_address
            if exception >= self.first_exception and slot_address + _WORD_BYTES <= self.end
            else None
        )


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

    @property
    def start(self) -> Function | None:
        """The function at which the scheduler starts, or after which."""
        return self.starts_after or self.starts_at


def find(program: Program, word: str = "") -> Kernel | None:
    """The kernel of a program: the first that has all its symbols there; None if none has.

    `word` is that of `--kernel`: a name, a TOML file, "none", or empty for all that are known.
    Raises KernelError, also if the kernel that is named is not in the program.
    """
    for path in chosen(word):
        if not word and not all(map(program.has, tomllib.loads(path.read_text("utf-8"))["symbols"])):
            continue
        from analysis.explain.kernels.kernel_file import read  # takes a while

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
    layout = _layout(program, kernel)
    variable = _variables(program, layout)
    task, scheduler = kernel.task, kernel.scheduler
    current = _first(variable, task.current) if task else None
    locked = _locked(kernel, layout, variable, current)
    members = [
        tuple(_each(layout, task.struct, paths)) if task else ()
        for paths in ((task.name, task.entry, task.number) if task else ((), (), ()))
    ]
    tables = [table for wrapper in kernel.wrappers if (table := _table(program, layout, wrapper))]
    return Kernel(
        name=kernel.name,
        words=KernelWords(None if current is None else current[0], locked),
        names=members[0],
        entries=members[1],
        numbers=members[2],
        idle=tuple(task.idle) if task else (),
        starts_at=_function(program, scheduler.starts_at),
        starts_after=_function(program, scheduler.starts_after),
        locks=dict(kernel.interrupts.locks),
        nesting=tuple(
            at for wrapper in kernel.interrupts.nesting if (at := program.variable(wrapper)) is not None
        ),
        loops=kernel.loops,
        tables=tuple(tables),
        untold=tuple(_untold(kernel, current, locked, members[0])),
    )


def _untold(
    kernel: KernelFile, current: tuple[int, Spot] | None, locked: str, names: Sequence[Spot]
) -> Iterable[str]:
    """What the file asks for and the program does not tell, in words."""
    if kernel.task and current is None:
        yield "which task runs"
    elif kernel.task and kernel.task.name and not names:
        yield "the names of its tasks"
    if (kernel.scheduler.locked or kernel.scheduler.locked_member) and not locked:
        yield "its scheduler's lock"


def _layout(program: Program, kernel: KernelFile) -> Layout:
    task = kernel.task
    paths = [*(task.current if task else ()), *kernel.scheduler.locked]
    names = [_variable_of(path) for path in paths]
    wanted = [*names, *(wrapper.table for wrapper in kernel.wrappers)]
    return Layout(
        program, {name for name in wanted if program.variable(name) is not None}, task.struct if task else ()
    )


def _variable_of(path: str) -> str:
    """`_kernel` of `_kernel.cpus[0].current`."""
    return path.replace("[", ".").partition(".")[0]


Variable = Callable[[str], tuple[int, Spot] | None]


def _variables(program: Program, layout: Layout) -> Variable:
    """Address and kind of `variable.member[3]`; a word where nothing tells more of a variable."""

    def variable(path: str) -> tuple[int, Spot] | None:
        address = program.variable(_variable_of(path))
        if address is None:
            return None
        spot = layout.of_variable(path)
        if spot is None and path.isidentifier():
            spot = Spot(0, _WORD_BYTES, "number")
        return None if spot is None else (address + spot.offset, spot)

    return variable


def _first(variable: Variable, paths: Iterable[str]) -> tuple[int, Spot] | None:
    return next((match for path in paths if (match := variable(path))), None)


def _each(layout: Layout, structs: Sequence[str], paths: Iterable[str]) -> Iterable[Spot]:
    return (spot for path in paths if (spot := layout.of_member(structs, path)))


def _locked(kernel: KernelFile, layout: Layout, variable: Variable, current: tuple[int, Spot] | None) -> str:
    """The place of the scheduler's lock in the words of virtual-nucleo; empty if it has none."""
    lock = _first(variable, kernel.scheduler.locked)
    if lock:
        return f"{lock[0]:#010x}:{lock[1].bytes}"
    structs = kernel.task.struct if kernel.task else []
    member = next(iter(_each(layout, structs, kernel.scheduler.locked_member)), None)
    return f"*{current[0]:#010x}+{member.offset}:{member.bytes}" if current and member else ""


def _function(program: Program, names: Iterable[str]) -> Function | None:
    named = (program.functions_named(name) for name in names)
    return next((functions[0] for functions in named if len(functions) == 1), None)


def _table(program: Program, layout: Layout, wrapper: Wrapper) -> HandlerTable | None:
    """The table as debug information tells of it, else as the file does."""
    address, stride = program.variable(wrapper.table), layout.stride(wrapper.table) or wrapper.entry_bytes
    handler = layout.of_variable(f"{wrapper.table}[0].{wrapper.handler}")
    if address is None or not stride or (handler is None and wrapper.entry_bytes is None):
        return None
    first = address + (handler.offset if handler else wrapper.handler_offset)
    end = address + program.data_size(wrapper.table)
    return HandlerTable(tuple(wrapper.functions), first, end, stride, wrapper.first_exception)
