"""What the user says of a program that its code does not: loops, and calls through pointers.

docs/how-to/bounds.md has the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import Field

from analysis.bounds.calls import Calls
from analysis.bounds.flow import Flow, Outcome, solve
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


class _Loop(_PlacedEntry):
    at_most: Annotated[int, Field(ge=0, le=1 << 28)]

    @property
    def says(self) -> str:
        return f"at most {self.at_most} laps"


class _Call(_PlacedEntry):
    """A call through a pointer, and the functions that it may go to."""

    to: Annotated[list[_Function], Field(min_length=1, max_length=256)]

    @property
    def says(self) -> str:
        return f"goes to {', '.join(self.to)}"


class _Recursion(_Entry):
    """A function that calls itself, also by way of others: how often it runs in all for each call
    from elsewhere.
    """

    calls: Annotated[int, Field(ge=1, le=1 << 28)]

    @property
    def says(self) -> str:
        return f"runs {self.calls} times in all"


class _Untaken(_Entry):
    """A function that no path to be bounded leads through, as that of a failed assertion."""

    says: ClassVar[str] = "no path leads through it"


_Entries: Any = Field(default_factory=list, max_length=_MOST_ENTRIES)


class _File(Table):
    schema_: Annotated[Literal[1], Field(alias="schema")]
    loops: list[_Loop] = _Entries
    calls: list[_Call] = _Entries
    recursions: list[_Recursion] = _Entries
    untaken: list[_Untaken] = _Entries


@dataclass
class Annotation:
    """What somebody said of the program that its code does not: where that stands, and why it is
    so. It is `used` if something was found that it fits.
    """

    source: str
    kind: str
    function: str
    line: str
    says: str
    why: str
    used: bool = False


class Record:
    """The annotations that were read, and which of them were of use."""

    def __init__(self) -> None:
        self._rows: list[Annotation] = []

    def read(self, source: str, kind: str, entry: _Loop | _Call | _Recursion | _Untaken) -> Annotation:
        """An entry of a file."""
        line = entry.line if isinstance(entry, _PlacedEntry) else ""
        self._rows.append(Annotation(source, kind, entry.function, line, entry.says, entry.why))
        return self._rows[-1]

    def add(self, source: str, kind: str, function: str, line: str, says: str, why: str) -> None:
        """What was of use elsewhere than in a file; it may be used again."""
        annotation = Annotation(source, kind, function, line, says, why, used=True)
        if annotation not in self._rows:
            self._rows.append(annotation)

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """All of a user's file; of the compiler's library what was of use."""
        return tuple(row for row in self._rows if row.used or row.source != LIBRARY.name)


_Placed = TypeVar("_Placed", _Loop, _Call)


def read(path: Path, program: Program, record: Record | None = None) -> Stated:
    """What the file says of a program. Raises NoBoundError with file, line and key."""
    record = record or Record()
    document = open_toml(path, NoBoundError)
    file = document.check(_File)

    def entry_of(name: str, *key: str | int) -> list[int]:
        functions = program.functions_named(name)
        if not functions:
            words = f"names {name}, which the program does not have"
            raise document.wrong(WrongValueError(words, *key))
        return [function.address for function in functions]

    placed: tuple[tuple[str, Sequence[_PlacedEntry]], ...] = (("loops", file.loops), ("calls", file.calls))
    for table, entries in placed:
        for number, entry in enumerate(entries):
            if not entry.function and not entry.line:
                raise document.wrong(WrongValueError("names neither a function nor a line", table, number))
    for number, recursion in enumerate(file.recursions):
        entry_of(recursion.function, "recursions", number, "function")
    targets = {
        id(call): [address for name in call.to for address in entry_of(name, "calls", number, "to")]
        for number, call in enumerate(file.calls)
    }
    annotations = {
        id(entry): record.read(path.name, kind, entry)
        for kind, entries in (("loop", file.loops), ("call", file.calls))
        for entry in entries
    }
    for recursion in file.recursions:
        record.read(path.name, "recursion", recursion).used = True
    for untaken in file.untaken:
        used = bool(program.functions_named(untaken.function))
        record.read(path.name, "untaken", untaken).used = used

    def fitting(entries: Iterable[_Placed], function: str, lines: set[str]) -> _Placed | None:
        entry = next((entry for entry in entries if entry.fits(function, lines)), None)
        if entry is not None:
            annotations[id(entry)].used = True
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


def hints(
    program: Program, record: Record, kernel: Kernel | None, counts: Mapping[str, int]
) -> Callable[[str, set[str], Sequence[int]], int | str | None]:
    """What the source, the compiler's library and the kernel's file say of loops, as Stated.hints
    takes it. `counts` are how many tasks and the like the program has.
    """
    pragmas, library = Pragmas(program.source_files), read(LIBRARY, program, record)
    inlined = Inlined(program)

    def laps(function: str, lines: set[str], addresses: Sequence[int]) -> int | str | None:
        of_source = pragmas.laps(lines)
        if of_source is not None:
            line = min(lines, key=lambda place: (place.rpartition(":")[0], int(place.rpartition(":")[2])))
            says = f"at most {of_source} laps"
            record.add("pragma in the source", "loop", function, line, says, "")
            return of_source
        of_library = library.passes(function, lines)
        if of_library is not None:
            return of_library - 1
        known = kernel.loops.laps if kernel and kernel.loops else {}
        name = next((name for name in _around(inlined, function, addresses) if name in known), "")
        if kernel is None or kernel.loops is None or not name:
            return None
        words, source = known[name], f"{kernel.name} {kernel.loops.version}"
        missing = [f"--{word} N" for word in words if isinstance(word, str) and word not in counts]
        why = f"as many as {' and '.join(map(str, words))} in {source}"
        if missing:
            return f"its laps are {why}; give {' '.join(missing)}"
        total = sum(counts[word] if isinstance(word, str) else word for word in words)
        record.add(source, "loop", name, "", f"at most {total} laps", why)
        return total

    return laps


def copied(program: Program, record: Record, kernel: Kernel | None) -> Callable[[int], int | None]:
    """The most bytes of an item that the kernel copies, as Stated.copied takes it."""
    if kernel is None or kernel.loops is None or (copies := kernel.loops.copies) is None:
        return lambda _address: None
    source, inlined = f"{kernel.name} {kernel.loops.version}", Inlined(program)
    # Only of a program that copies items by a call: it takes all of the code.
    largest = cache(lambda: largest_item(program, copies.made_by))

    def of(address: int) -> int | None:
        holder = program.function_at(address)
        names = _around(inlined, holder.name if holder else "", [address])
        function = next((name for name in names if name in copies.within), "")
        most = largest() if function else None
        if most is not None:
            why = f"an item is no larger in any call of {' or '.join(copies.made_by)} that the code shows"
            record.add(source, "call", function, "", f"copies at most {most} bytes", why)
        return most

    return of


def largest_item(program: Program, made_by: Mapping[str, int]) -> int | None:
    """The largest size that a call of one of these is given; None if one is not known."""
    makers = {
        function.address: number
        for name, number in made_by.items()
        for function in program.functions_named(name)
    }
    disassembler = Disassembler(program)
    flow = Flow(
        disassembler,
        program.read_only,
        lambda called: [Outcome(called.masks, None)],
        {},
        lambda _: (),
        {},
        lambda _, called: called,
    )
    sizes: list[int | None] = []
    for caller, callees in Calls(program, disassembler, (), frozenset(), {}).callees.items():
        if makers.keys() & callees:
            solved = solve(flow, flow.body(caller), Masks(), (None,) * 4)
            calls = (edge.called for edges in solved.edges.values() for edge in edges if edge.called)
            sizes += [constant(call.arguments[makers[call.entry]]) for call in calls if call.entry in makers]
    constants = [size for size in sizes if size is not None]
    return max(constants, default=None) if len(constants) == len(sizes) else None


def _around(inlined: Inlined, function: str, addresses: Sequence[int]) -> list[str]:
    """The functions that have all of a loop, the innermost first, without the compiler's suffix."""
    others = [{call.function for call in inlined.at(address)} for address in addresses[1:]]
    calls = inlined.at(addresses[0])
    names = [call.function for call in calls if all(call.function in other for other in others)]
    return [*names, function.partition(".")[0]]


LIBRARY = Path(__file__).parent / "library.toml"
"""What is known of the compiler's own library."""

_PRAGMA = re.compile(r'_Pragma\s*\(\s*"loopbound\s+min\s+\d+\s+max\s+(\d{1,9})\s*"\s*\)')
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


class Pragmas:
    """The bounds that stand in the source, right before their loops:
    `_Pragma("loopbound min 1 max 100")`.
    """

    def __init__(self, files: dict[str, Path]) -> None:
        self._files = files
        self._pragmas: dict[str, list[_Pragma]] = {}

    def laps(self, lines: set[str]) -> int | None:
        """As Stated.hints: of the innermost statement that has all the loop's lines."""
        by_file: dict[str, set[int]] = {}
        for line in lines:
            name, _, number = line.rpartition(":")
            by_file.setdefault(name, set()).add(int(number))
        pragmas = [pragma for name in by_file for pragma in self._of(name)]
        around = [
            pragma
            for pragma in pragmas
            if all(pragma.first <= number <= pragma.last for number in by_file[pragma.name])
        ]
        if around:
            return min(around, key=lambda pragma: pragma.last - pragma.first).at_most
        begin = [pragma for pragma in pragmas if pragma.first in by_file[pragma.name]]
        outer = [pragma for pragma in begin if not any(other.encloses(pragma) for other in begin)]
        if len(outer) == 1:
            # It has lines that the compiler brought there from elsewhere.
            return outer[0].at_most
        return max((pragma.at_most for pragma in begin), default=None)

    def _of(self, name: str) -> list[_Pragma]:
        if name not in self._pragmas:
            text = ""
            with suppress(OSError, KeyError):
                text = self._files[name].read_text(errors="replace")
            code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
            self._pragmas[name] = []
            for match in _PRAGMA.finditer(code):
                begin = match.end() + len(code[match.end() :]) - len(code[match.end() :].lstrip())
                first, last = (code.count("\n", 0, at) + 1 for at in (begin, _end_of_statement(code, begin)))
                self._pragmas[name].append(_Pragma(name, first, last, int(match[1])))
        return self._pragmas[name]


def _end_of_statement(code: str, begin: int) -> int:
    """Where the loop that begins there ends: at a semicolon or brace that nothing encloses."""
    depth = 0
    is_do = code.startswith("do", begin)
    for at in range(begin, len(code)):
        depth += (code[at] in "({") - (code[at] in ")}")
        if depth <= 0 and (code[at] == ";" or (code[at] == "}" and not is_do)):
            return at
    return len(code)
