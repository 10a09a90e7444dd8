"""What the user says of a program that its code does not: loops, and calls through pointers.

docs/how-to/bounds.md has the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from pydantic import Field, model_validator

from analysis.bounds.calls import Calls
from analysis.bounds.flow import Called, Flow
from analysis.bounds.graph import Disassembler
from analysis.bounds.loops import Stated
from analysis.bounds.state import Masks
from analysis.bounds.values import constant
from analysis.errors import NoBoundError
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Program
from analysis.explain.sources import Inlined
from base.files.complaints import WrongValueError
from base.files.documents import Table, open_toml

_Text = Annotated[str, Field(min_length=1, max_length=400)]
_Function = Annotated[str, Field(min_length=1, max_length=200)]
_Line = Annotated[str, Field(pattern=r"^[^:/\\]{1,200}:[1-9][0-9]{0,6}$")]
_MOST_ENTRIES = 10_000


class _Entry(Table):
    """A statement on a function, with its reason."""

    function: _Function
    why: _Text


class _PlacedEntry(_Entry):
    """The same by a function, by a source line, or by both."""

    function: _Function = ""
    line: _Line = ""

    def fits(self, function: str, lines: AbstractSet[str]) -> bool:
        """Whether it is of code in this function that has these lines."""
        return self.function in ("", function) and (not self.line or self.line in lines)

    @model_validator(mode="after")
    def _is_placed(self) -> Self:
        if not self.function and not self.line:
            raise WrongValueError("names neither a function nor a line")
        return self


class _Loop(_PlacedEntry):
    kind: ClassVar[str] = "loop"
    at_most: Annotated[int, Field(ge=0, le=1 << 28)]

    @property
    def says(self) -> str:
        return f"at most {self.at_most} laps"


class _Call(_PlacedEntry):
    """A call through a pointer, and the functions that it may go to."""

    kind: ClassVar[str] = "call"
    to: Annotated[list[_Function], Field(min_length=1, max_length=256)]

    @property
    def says(self) -> str:
        return f"goes to {', '.join(self.to)}"


class _Recursion(_Entry):
    """A function that calls itself, also by way of others: how often it runs in all for each call
    from elsewhere.
    """

    kind: ClassVar[str] = "recursion"
    calls: Annotated[int, Field(ge=1, le=1 << 28)]

    @property
    def says(self) -> str:
        return f"runs {self.calls} times in all"


class _Untaken(_Entry):
    """A function that no path to be bounded leads through, as that of a failed assertion."""

    kind: ClassVar[str] = "untaken"
    says: ClassVar[str] = "no path leads through it"


_AnyEntry = _Loop | _Call | _Recursion | _Untaken
_Entries: Any = Field(default_factory=list, max_length=_MOST_ENTRIES)


class _File(Table):
    schema_: Literal[1]
    loops: list[_Loop] = _Entries
    calls: list[_Call] = _Entries
    recursions: list[_Recursion] = _Entries
    untaken: list[_Untaken] = _Entries


class Annotation(NamedTuple):
    """What somebody said of the program that its code does not: where that stands, and why it is
    so.
    """

    source: str
    kind: str
    function: str
    line: str
    says: str
    why: str


Record = dict[Annotation, bool]
"""All of a user's file and of the compiler's library, and what else was of use; whether something
was found that each fits.
"""
_Placed = TypeVar("_Placed", _Loop, _Call)


def read(path: Path, program: Program, record: Record) -> Stated:
    """What the file says of a program. Raises NoBoundError with file, line and key."""
    document = open_toml(path, NoBoundError)
    file = document.check(_File)

    def entries(name: str, *key: str | int) -> list[int]:
        functions = program.functions_named(name)
        if not functions:
            words = f"names {name}, which the program does not have"
            raise document.wrong(WrongValueError(words, *key))
        return [function.address for function in functions]

    def note(entry: _AnyEntry, used: bool) -> None:
        line = entry.line if isinstance(entry, _PlacedEntry) else ""
        record[Annotation(path.name, entry.kind, entry.function, line, entry.says, entry.why)] = used

    for number, recursion in enumerate(file.recursions):
        entries(recursion.function, "recursions", number, "function")
    targets = {
        id(call): [address for name in call.to for address in entries(name, "calls", number, "to")]
        for number, call in enumerate(file.calls)
    }
    statements: list[_AnyEntry] = [*file.loops, *file.calls, *file.recursions, *file.untaken]
    for entry in statements:
        used = not isinstance(entry, _PlacedEntry) and bool(program.functions_named(entry.function))
        note(entry, used)

    def fitting(entries: Iterable[_Placed], function: str, lines: set[str]) -> _Placed | None:
        entry = next((entry for entry in entries if entry.fits(function, lines)), None)
        if entry is not None:
            note(entry, True)
        return entry

    def passes(function: str, lines: set[str]) -> int | None:
        # A loop that goes round n times passes its head once more.
        loop = fitting(file.loops, function, lines)
        return None if loop is None else loop.at_most + 1

    def called(address: int) -> Iterable[int]:
        holder = program.function_at(address)
        call = fitting(file.calls, holder.name if holder else "", {program.source_line(address)})
        return targets[id(call)] if call else ()

    return Stated(
        passes=passes,
        called=called,
        untaken=frozenset(entry.function for entry in file.untaken),
        recursions={entry.function: entry.calls for entry in file.recursions},
    )


def stated(
    path: Path | None,
    program: Program,
    record: Record,
    kernel: Kernel | None,
    counts: Mapping[str, int],
) -> Stated:
    """What the user's file says of a program, if there is one; and what the source, the compiler's
    library and the kernel's file say of loops and copies. `counts` are how many tasks and the like
    the program has. Raises NoBoundError as read().
    """
    statements = Stated() if path is None else read(path, program, record)
    library, inlined = read(LIBRARY, program, record), Inlined(program)
    of_pragmas = pragma_laps(program.source_files)
    loops = kernel.loops if kernel else None
    source = f"{kernel.name} {loops.version}" if kernel and loops else ""
    copies = loops.copies if loops else None
    makers = copies.made_by if copies else {}
    # Only of a program that copies items by a call: it takes all of the code.
    largest = cache(lambda: largest_item(program, makers))

    def around(names: Collection[str], function: str, addresses: Sequence[int]) -> str:
        """The innermost of the functions `names` that has all of this code, without the compiler's
        suffix; empty if none has.
        """
        first, *others = [[call.function for call in inlined.at(address)] for address in addresses]
        of_all = [name for name in first if all(name in other for other in others)]
        return next((name for name in [*of_all, function.partition(".")[0]] if name in names), "")

    def laps(function: str, lines: set[str], addresses: Sequence[int]) -> int | str | None:
        of_source = of_pragmas(lines)
        if of_source is not None:
            says, line = f"at most {of_source} laps", min(lines, key=_split)
            record[Annotation("pragma in the source", "loop", function, line, says, "")] = True
            return of_source
        of_library = library.passes(function, lines)
        if of_library is not None:
            return of_library - 1
        if loops is None or not (name := around(loops.laps, function, addresses)):
            return None
        words = loops.laps[name]
        missing = [f"--{word} N" for word in words if isinstance(word, str) and word not in counts]
        why = f"as many as {' and '.join(map(str, words))} in {source}"
        if missing:
            return f"its laps are {why}; give {' '.join(missing)}"
        total = sum(counts[word] if isinstance(word, str) else word for word in words)
        record[Annotation(source, "loop", name, "", f"at most {total} laps", why)] = True
        return total

    def copied(address: int) -> int | None:
        """The most bytes of an item that the kernel copies."""
        if copies is None:
            return None
        holder = program.function_at(address)
        function = around(copies.within, holder.name if holder else "", [address])
        most = largest() if function else None
        if most is not None:
            why = f"an item is no larger in any call of {' or '.join(makers)} that the code shows"
            record[Annotation(source, "call", function, "", f"copies at most {most} bytes", why)] = True
        return most

    return replace(statements, hints=laps, copied=copied)


def largest_item(program: Program, made_by: Mapping[str, int]) -> int | None:
    """The largest size that a call of one of these is given; None if one is not known."""
    makers = {
        function.address: number
        for name, number in made_by.items()
        for function in program.functions_named(name)
    }
    disassembler = Disassembler(program)
    flow = Flow(program, disassembler)
    sizes: list[int | None] = []
    for caller, callees in Calls(program, disassembler, (), frozenset(), {}).callees.items():
        if makers.keys() & callees:
            solved = flow.solved(Called(caller, Masks()))
            calls = (edge.called for _, edge in solved.ways if edge.called)
            sizes += [constant(call.arguments[makers[call.entry]]) for call in calls if call.entry in makers]
    constants = [size for size in sizes if size is not None]
    return max(constants, default=None) if len(constants) == len(sizes) else None


LIBRARY = Path(__file__).parent / "library.toml"
"""What is known of the compiler's own library."""

_PRAGMA = re.compile(r'_Pragma\s*\(\s*"loopbound\s+min\s+\d+\s+max\s+(\d{1,9})\s*"\s*\)\s*')
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class _Pragma(NamedTuple):
    """The loop on the lines `first` to `last` of a file goes round at most so often."""

    name: str
    first: int
    last: int
    at_most: int

    def encloses(self, other: _Pragma) -> bool:
        inside = self.first <= other.first and other.last <= self.last
        return self != other and self.name == other.name and inside


def pragma_laps(files: Mapping[str, Path]) -> Callable[[Iterable[str]], int | None]:
    """As Stated.hints: what stands in the source, right before the innermost loop that has all
    these lines: `_Pragma("loopbound min 1 max 100")`. Each file is read once.
    """
    pragmas_of = cache(lambda name: _pragmas(name, files[name]))

    def laps(lines: Iterable[str]) -> int | None:
        by_file: dict[str, set[int]] = {}
        for name, number in map(_split, lines):
            by_file.setdefault(name, set()).add(number)
        pragmas = [
            (pragma, numbers)
            for name, numbers in by_file.items()
            if name in files
            for pragma in pragmas_of(name)
        ]
        around = [it for it, numbers in pragmas if it.first <= min(numbers) and max(numbers) <= it.last]
        if around:
            return min(around, key=lambda pragma: pragma.last - pragma.first).at_most
        begin = [pragma for pragma, numbers in pragmas if pragma.first in numbers]
        outer = [pragma for pragma in begin if not any(other.encloses(pragma) for other in begin)]
        # A single outer one has lines that the compiler brought there from elsewhere.
        return max((pragma.at_most for pragma in (outer if len(outer) == 1 else begin)), default=None)

    return laps


def _split(line: str) -> tuple[str, int]:
    """File and number of `file.c:12`."""
    name, _, number = line.rpartition(":")
    return name, int(number)


def _pragmas(name: str, path: Path) -> list[_Pragma]:
    text = ""
    with suppress(OSError):
        text = path.read_text(errors="replace")
    code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    pragmas = []
    for match in _PRAGMA.finditer(code):
        ends = (match.end(), _end_of_statement(code, match.end()))
        first, last = (code.count("\n", 0, at) + 1 for at in ends)
        pragmas.append(_Pragma(name, first, last, int(match[1])))
    return pragmas


def _end_of_statement(code: str, begin: int) -> int:
    """Where the loop that begins there ends: at a semicolon or brace that nothing encloses."""
    depth = 0
    is_do = code.startswith("do", begin)
    for at in range(begin, len(code)):
        depth += (code[at] in "({") - (code[at] in ")}")
        if depth <= 0 and (code[at] == ";" or (code[at] == "}" and not is_do)):
            return at
    return len(code)
