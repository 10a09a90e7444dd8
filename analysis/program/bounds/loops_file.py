"""What the user says of a program that its code does not: loops, and calls through pointers.

docs/how-to/bounds.md has the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NoReturn

from pydantic import Field

from analysis.bounds.calls import Calls
from analysis.bounds.flow import Flow, Outcome, solve
from analysis.bounds.graph import Disassembler
from analysis.bounds.state import Masks
from analysis.bounds.statements import Hint, Recursion, Stated
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
    from elsewhere, or how many of its calls wait for each other, itself among them.
    """

    calls: Annotated[int, Field(ge=1, le=1 << 28)] | None = None
    depth: Annotated[int, Field(ge=1, le=64)] | None = None

    @property
    def says(self) -> str:
        return f"runs {self.calls} times in all" if self.depth is None else f"{self.depth} calls deep"


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

    def read(
        self, source: str, kind: str, entries: Iterable[_Loop | _Call | _Recursion | _Untaken]
    ) -> list[Annotation]:
        """The entries of a file."""
        rows = [
            Annotation(source, kind, entry.function, getattr(entry, "line", ""), entry.says, entry.why)
            for entry in entries
        ]
        self._rows += rows
        return rows

    def add(self, annotation: Annotation) -> None:
        """What was of use elsewhere than in a file; it may be used again."""
        annotation.used = True
        if annotation not in self._rows:
            self._rows.append(annotation)

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """All of a user's file; of the compiler's library what was of use."""
        return tuple(row for row in self._rows if row.used or row.source != LIBRARY.name)


def read(path: Path, program: Program, record: Record | None = None) -> Stated:
    """What the file says of a program. Raises NoBoundError with file, line and key."""
    record = record or Record()
    document = open_toml(path, NoBoundError)
    file = document.check(_File)

    def refuse(words: str, *key: str | int) -> NoReturn:
        raise document.wrong(WrongValueError(words, *key))

    def entry_of(name: str, *key: str | int) -> list[int]:
        functions = program.functions_named(name)
        if not functions:
            refuse(f"names {name}, which the program does not have", *key)
        return [function.address for function in functions]

    placed: tuple[tuple[str, Sequence[_PlacedEntry]], ...] = (("loops", file.loops), ("calls", file.calls))
    for table, entries in placed:
        for number, entry in enumerate(entries):
            if not entry.function and not entry.line:
                refuse("names neither a function nor a line", table, number)
    for number, recursion in enumerate(file.recursions):
        if (recursion.calls is None) == (recursion.depth is None):
            refuse("needs one of calls and depth", "recursions", number)
        entry_of(recursion.function, "recursions", number, "function")
    targets = [
        [address for name in call.to for address in entry_of(name, "calls", number, "to")]
        for number, call in enumerate(file.calls)
    ]
    loops = record.read(path.name, "loop", file.loops)
    calls = record.read(path.name, "call", file.calls)
    for annotation in record.read(path.name, "recursion", file.recursions):
        annotation.used = True
    for annotation in record.read(path.name, "untaken", file.untaken):
        annotation.used = bool(program.functions_named(annotation.function))

    def passes(function: str, lines: set[str]) -> int | None:
        for loop, annotation in zip(file.loops, loops, strict=True):
            if loop.fits(function, lines):
                annotation.used = True
                # A loop that goes round n times passes its head once more.
                return loop.at_most + 1
        return None

    def called(address: int) -> Iterable[int]:
        holder, line = program.function_at(address), program.source_line(address)
        for call, addresses, annotation in zip(file.calls, targets, calls, strict=True):
            if call.fits(holder.name if holder else "", {line}):
                annotation.used = True
                return addresses
        return ()

    untaken = frozenset(entry.function for entry in file.untaken)
    recursions = {
        recursion.function: Recursion(recursion.calls, recursion.depth) for recursion in file.recursions
    }
    return Stated(passes=passes, called=called, untaken=untaken, recursions=recursions)


def hints(
    program: Program, record: Record, kernel: Kernel | None, counts: Mapping[str, int]
) -> Callable[[str, set[str], Sequence[int]], Hint | str | None]:
    """What the source, the compiler's library and the kernel's file say of loops, as Stated.hints
    takes it. `counts` are how many tasks and the like the program has.
    """
    pragmas, library = Pragmas(program.source_files), read(LIBRARY, program, record)
    inlined = Inlined(program)

    def laps(function: str, lines: set[str], addresses: Sequence[int]) -> Hint | str | None:
        of_source = pragmas.laps(function, lines)
        if of_source is None:
            of_library = library.passes(function, lines)
            if of_library is not None:
                return Hint(of_library - 1)
            return _of_kernel(kernel, counts, record, _around(inlined, function, addresses))
        line = min(lines, key=lambda place: (place.rpartition(":")[0], int(place.rpartition(":")[2])))
        says = f"at most {of_source.at_most} laps"
        record.add(Annotation("pragma in the source", "loop", function, line, says, ""))
        return of_source

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
            words = f"copies at most {most} bytes"
            record.add(Annotation(source, "call", function, "", words, why))
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
        disassembler, program.read_only, lambda called: [Outcome(called.masks, None)], {}, lambda _: (), {}
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


def _of_kernel(
    kernel: Kernel | None, counts: Mapping[str, int], record: Record, names: Iterable[str]
) -> Hint | str | None:
    """As Stated.hints, of a loop of the first of `names` that the kernel's file has."""
    if kernel is None or kernel.loops is None:
        return None
    function = next((name for name in names if name in kernel.loops.laps), "")
    if not function:
        return None
    laps, source = kernel.loops.laps[function], f"{kernel.name} {kernel.loops.version}"
    missing = [f"--{word} N" for word in laps if isinstance(word, str) and word not in counts]
    why = f"as many as {' and '.join(map(str, laps))} in {source}"
    if missing:
        return f"its laps are {why}; give {' '.join(missing)}"
    total = sum(counts[word] if isinstance(word, str) else word for word in laps)
    record.add(Annotation(source, "loop", function, "", f"at most {total} laps", why))
    return Hint(total)


LIBRARY = Path(__file__).parent / "library.toml"
"""What is known of the compiler's own library."""

_PRAGMA = re.compile(r'_Pragma\s*\(\s*"loopbound\s+min\s+\d+\s+max\s+(\d{1,9})\s*"\s*\)')
_DO = re.compile(r"do\b")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class Pragmas:
    """The bounds that stand in the source, right before their loops:
    `_Pragma("loopbound min 1 max 100")`.
    """

    def __init__(self, files: dict[str, Path]) -> None:
        self._files = files
        self._pragmas: dict[str, list[_Pragma]] = {}

    def laps(self, _function: str, lines: set[str]) -> Hint | None:
        """As Stated.hints: of the innermost statement that has all the loop's lines."""
        by_file: dict[str, set[int]] = {}
        for line in lines:
            name, _, number = line.rpartition(":")
            by_file.setdefault(name, set()).add(int(number))
        pragmas = [(pragma, name) for name in by_file for pragma in self._of(name)]
        around = [
            (pragma, name)
            for pragma, name in pragmas
            if all(pragma.first <= number <= pragma.last for number in by_file[name])
        ]
        if around:
            return _hint(*min(around, key=lambda pair: pair[0].last - pair[0].first))
        begin = [(pragma, name) for pragma, name in pragmas if pragma.first in by_file[name]]
        outer = [
            (pragma, name)
            for pragma, name in begin
            if not any(other.encloses(pragma) for other, other_name in begin if other_name == name)
        ]
        if len(outer) == 1:
            # It has lines that the compiler brought there from elsewhere.
            return _hint(*outer[0])
        return Hint(max(pragma.at_most for pragma, _ in begin)) if begin else None

    def _of(self, name: str) -> list[_Pragma]:
        if name not in self._pragmas:
            self._pragmas[name] = _pragmas(self._files.get(name))
        return self._pragmas[name]


class _Pragma(NamedTuple):
    """The loop on the lines `first` to `last` goes round at most so often. From `body` on none of
    them has the condition that is looked at before each lap.
    """

    first: int
    body: int
    last: int
    at_most: int

    def encloses(self, other: _Pragma) -> bool:
        return self != other and self.first <= other.first and other.last <= self.last


def _hint(pragma: _Pragma, name: str) -> Hint:
    return Hint(pragma.at_most, frozenset(f"{name}:{line}" for line in range(pragma.body, pragma.last + 1)))


def _pragmas(path: Path | None) -> list[_Pragma]:
    try:
        text = path.read_text(errors="replace") if path else ""
    except OSError:
        return []
    code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    pragmas = []
    for match in _PRAGMA.finditer(code):
        begin = match.end() + len(code[match.end() :]) - len(code[match.end() :].lstrip())
        end = _end_of_statement(code, begin)
        first, body, last = (code.count("\n", 0, at) + 1 for at in (begin, _body(code, begin), end))
        pragmas.append(_Pragma(first, body, last, int(match[1])))
    return pragmas


def _body(code: str, begin: int) -> int:
    """From where on a loop's lines are its body's alone: behind the line on which its condition
    ends. A loop that looks at it after each lap is body from its beginning on.
    """
    if _DO.match(code, begin):
        return begin
    depth = 0
    for at in range(begin, len(code)):
        depth += (code[at] == "(") - (code[at] == ")")
        if code[at] == ")" and depth == 0:
            end = code.find("\n", at)
            return end + 1 if end >= 0 else len(code)
    return len(code)


def _end_of_statement(code: str, begin: int) -> int:
    """Where the loop that begins there ends: at a semicolon or brace that nothing encloses."""
    depth = 0
    is_do = code.startswith("do", begin)
    for at in range(begin, len(code)):
        depth += code[at] in "({"
        depth -= code[at] in ")}"
        closed = code[at] == "}" and not is_do
        if depth <= 0 and (code[at] == ";" or closed):
            return at
    return len(code)
