"""A kernel as a TOML file tells it (docs/reference/kernel-toml.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from analysis.errors import KernelError
from base.files.documents import Table, open_toml
from simulator.interrupts import VECTORS

_Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.$]{0,199}$")]
_Path = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]{1,4}\]){0,16}$")
]
_Names = Annotated[list[_Name], Field(max_length=64)]
_Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=64)]], Field(max_length=64)]
_Paths = Annotated[list[_Path], Field(max_length=64)]
_Empty: Any = Field(default_factory=list)


class Task(Table):
    """How the running task is found, and what it is called."""

    current: _Paths
    """The word that points to the control block of the task that runs: a variable, or a member of
    one, `_kernel.cpus[0].current`.
    """
    struct: _Names = _Empty
    """The control block's type."""
    name: _Paths = _Empty
    """Its member with the name: an array of characters, or a pointer to one."""
    entry: _Paths = _Empty
    """Its member with the entry function."""
    number: _Paths = _Empty
    """Its member with a number."""
    idle: _Words = _Empty
    """Names of idle tasks."""


class Scheduler(Table):
    """When the scheduler starts, and whether it is locked."""

    starts_at: _Names = _Empty
    """The function at whose first instruction the scheduler starts."""
    starts_after: _Names = _Empty
    """The function with whose first return it does; it comes before `starts_at`."""
    locked: _Paths = _Empty
    """A variable, or a member of one: the scheduler is locked unless it is 0."""
    locked_member: _Paths = _Empty
    """The same as a member of the control block of the task that runs."""


class Interrupts(Table):
    """What holds interrupts off."""

    locks: dict[_Name, _Name] = Field(default_factory=dict, max_length=64)
    """Inlined functions that hold interrupts off, each with what a reader calls it."""
    nesting: _Names = _Empty
    """Variables that count how often a critical section was entered and not left: `./lab bounds`
    ends a section where the count comes back to 0. All of them count that the program has.
    """


class Wrapper(Table):
    """A handler of many exceptions, and the table of those that it calls."""

    functions: _Names
    """Handlers that many vectors share."""
    table: _Name
    """The array of the handlers that they call."""
    handler: _Path
    """The member of its entries that is the handler."""
    first_exception: Annotated[int, Field(ge=0, lt=VECTORS)]
    """The exception of its first entry: 16 if that is interrupt 0."""
    entry_bytes: Annotated[int, Field(ge=4, le=256)] | None = None
    """The bytes of an entry, for a program without debug information."""
    handler_offset: Annotated[int, Field(ge=0, le=252)] = 0
    """The place of the handler in it."""


Count = Literal["tasks", "priorities", "timers", "ticks"]
"""Of a program that has the kernel: what there are at once at the most, and the ticks that come
while its scheduler is locked.
"""


class Copies(Table):
    """Functions that copy items, and those that make the queues of these items."""

    within: Annotated[list[_Name], Field(min_length=1, max_length=16)]
    """Functions that copy items by memcpy()."""
    made_by: dict[_Name, Annotated[int, Field(ge=0, le=3)]]
    """What makes the queues, and which of its arguments, from 0, is the size of an item; the
    largest that the code hands it counts.
    """


class Loops(Table):
    """How often loops of the kernel go round at the most that its code does not limit."""

    version: Annotated[str, Field(min_length=1, max_length=64)]
    """Of the sources that were read for this."""
    laps: dict[_Name, Annotated[list[Count | int], Field(min_length=1, max_length=4)]]
    """How often the loops of a function go round that its code does not limit: the sum of numbers,
    and of what the options --tasks, --priorities, --timers, --ticks of `./lab bounds` say.
    """
    copies: Copies | None = None


class KernelFile(Table):
    """A whole file."""

    schema_: Literal[1]
    name: Annotated[str, Field(min_length=1, max_length=64)]
    """What it is called."""
    symbols: Annotated[_Names, Field(min_length=1)]
    """Functions and variables, all of which the program must have."""
    task: Task | None = None
    scheduler: Scheduler = Scheduler()
    interrupts: Interrupts = Interrupts()
    loops: Loops | None = None
    wrappers: list[Wrapper] = Field(default_factory=list, max_length=16)


def read(path: Path) -> KernelFile:
    """The kernel in a file. Raises KernelError with one sentence: file, line and key."""
    return open_toml(path, KernelError).check(KernelFile)
