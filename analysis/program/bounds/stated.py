"""What the user says of a program that its code does not: loops, and calls through pointers.

docs/reference/bounds.md has the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from analysis.bounds.calls import Calls
from analysis.bounds.flow import Flow, Outcome, solve
from analysis.bounds.graph import Disassembler
from analysis.bounds.masks import Masks
from analysis.bounds.stated import Hint, Recursion, Stated
from analysis.bounds.values import constant
from analysis.errors import NoBoundError
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Program
from analysis.explain.sources import Inlined
from base.files.complaints import WrongValueError
from base.files.documents import Document, Table, open_toml

_Text = Annotated[str, Field(min_length=1, max_length=400)]
_Function = Annotated[str, Field(min_length=1, max_length=200)]
_Line = Annotated[str, Field(pattern=r"^[^:/\\]{1,200}:[1-9][0-9]{0,6}$")]
_MOST_ENTRIES = 10_000


class _Loop(Table):
    """A loop by its function, by one of its source lines, or by both."""

    function: _Function = ""
    line: _Line = ""
    at_most: Annotated[int, Field(ge=0, le=1 << 28)]
    why: _Text

    def fits(self, function: str, lines: set[str]) -> bool:
        named = not self.function or self.function == function
        return named and (not self.line or self.line in lines)


class _Call(Table):
    """A call through a pointer, and the functions that it may go to."""

    function: _Function = ""
    line: _Line = ""
    to: Annotated[list[_Function], Field(min_length=1, max_length=256)]
    why: _Text


class _Recursion(Table):
    """A function that calls itself, also by way of others: how often it runs in all for each call
    from elsewhere, or how many of its calls wait for each other, itself among them.
    """

    function: _Function
    calls: Annotated[int, Field(ge=1, le=1 << 28)] | None = None
    depth: Annotated[int, Field(ge=1, le=64)] | None = None
    why: _Text


class _Untaken(Table):
    """A function that no path to be bounded leads through, as that of a failed assertion."""

    function: _Function
    why: _Text


class _File(Table):
    schema_: Annotated[Literal[1], Field(alias="schema")]
    loops: Annotated[list[_Loop], Field(max_length=_MOST_ENTRIES)] = Field(default_factory=list)
    calls: Annotated[list[_Call], Field(max_length=_MOST_ENTRIES)] = Field(default_factory=list)
    recursions: Annotated[list[_Recursion], Field(max_length=_MOST_ENTRIES)] = Field(default_factory=list)
    untaken: Annotated[list[_Untaken], Field(max_length=_MOST_ENTRIES)] = Field(default_factory=list)


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
        self._kept: dict[tuple[str, str, int | str], Annotation] = {}

    def told(self, number: int | str, annotation: Annotation) -> None:
        self._kept.setdefault((annotation.source, annotation.kind, number), annotation)

    def use(self, source: str, kind: str, number: int | str) -> None:
        self._kept[source, kind, number].used = True

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """All of a user's file; of the compiler's library what was of use."""
        return tuple(
            annotation
            for annotation in self._kept.values()
            if annotation.used or annotation.source != LIBRARY.name
        )


def read(path: Path, program: Program, record: Record | None = None) -> Stated:
    """What the file says of a program. Raises NoBoundError with file, line and key."""
    record = record or Record()
    document = open_toml(path, NoBoundError)
    file = document.check(_File)
    for number, loop in enumerate(file.loops):
        _check_named(document, loop.function or loop.line, "loops", number)
    for number, call in enumerate(file.calls):
        _check_named(document, call.function or call.line, "calls", number)
    for number, recursion in enumerate(file.recursions):
        _check_recursion(document, recursion, program, number)
    targets = [
        (call, tuple(_entries(program, document, call, number))) for number, call in enumerate(file.calls)
    ]

    _tell(record, path.name, file, program)

    def passes(function: str, lines: set[str]) -> int | None:
        for number, loop in enumerate(file.loops):
            if loop.fits(function, lines):
                record.use(path.name, "loop", number)
                # A loop that goes round n times passes its head once more.
                return loop.at_most + 1
        return None

    def called(address: int) -> Iterable[int]:
        held = program.function_at(address)
        line = program.source_line(address)
        for number, (call, entries) in enumerate(targets):
            in_function = not call.function or (held is not None and held.name == call.function)
            if in_function and call.line in ("", line):
                record.use(path.name, "call", number)
                return entries
        return ()

    untaken = frozenset(one.function for one in file.untaken)
    recursions = {
        recursion.function: Recursion(recursion.calls, recursion.depth) for recursion in file.recursions
    }
    return Stated(passes=passes, called=called, untaken=untaken, recursions=recursions)


def _tell(record: Record, source: str, file: _File, program: Program) -> None:
    for number, loop in enumerate(file.loops):
        words = f"at most {loop.at_most} laps"
        record.told(number, Annotation(source, "loop", loop.function, loop.line, words, loop.why))
    for number, call in enumerate(file.calls):
        words = f"goes to {', '.join(call.to)}"
        record.told(number, Annotation(source, "call", call.function, call.line, words, call.why))
    for number, again in enumerate(file.recursions):
        words = f"runs {again.calls} times in all" if again.depth is None else f"{again.depth} calls deep"
        record.told(number, Annotation(source, "recursion", again.function, "", words, again.why, used=True))
    for number, one in enumerate(file.untaken):
        used = bool(program.functions_named(one.function))
        words = "no path leads through it"
        record.told(number, Annotation(source, "untaken", one.function, "", words, one.why, used))


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
        words = f"at most {of_source.at_most} laps"
        record.told(line, Annotation("pragma in the source", "loop", function, line, words, "", used=True))
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
            record.told(function, Annotation(source, "call", function, "", words, why, used=True))
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
    known = [size for size in sizes if size is not None]
    return max(known, default=None) if len(known) == len(sizes) else None


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
    words = f"at most {total} laps"
    record.told(function, Annotation(source, "loop", function, "", words, why, used=True))
    return Hint(total)


def _check_named(document: Document, name: str, kind: str, number: int) -> None:
    if not name:
        raise document.wrong(WrongValueError("names neither a function nor a line", kind, number))


def _check_recursion(document: Document, recursion: _Recursion, program: Program, number: int) -> None:
    if (recursion.calls is None) == (recursion.depth is None):
        raise document.wrong(WrongValueError("needs one of calls and depth", "recursions", number))
    if not program.functions_named(recursion.function):
        words = f"names {recursion.function}, which the program does not have"
        raise document.wrong(WrongValueError(words, "recursions", number, "function"))


def _entries(program: Program, document: Document, call: _Call, number: int) -> Iterable[int]:
    for name in call.to:
        found = program.functions_named(name)
        if not found:
            raise document.wrong(
                WrongValueError(f"names {name}, which the program does not have", "calls", number, "to")
            )
        yield from (function.address for function in found)


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
        self._known: dict[str, list[_Pragma]] = {}

    def laps(self, _function: str, lines: set[str]) -> Hint | None:
        """As Stated.hints: of the innermost statement that has all the loop's lines."""
        by_file: dict[str, set[int]] = {}
        for line in lines:
            name, _, number = line.rpartition(":")
            by_file.setdefault(name, set()).add(int(number))
        around = [
            (pragma, name)
            for name, numbers in by_file.items()
            for pragma in self._of(name)
            if all(pragma.first <= number <= pragma.last for number in numbers)
        ]
        if around:
            return _hint(*min(around, key=lambda pair: pair[0].last - pair[0].first))
        starts = [
            (pragma, name)
            for name, numbers in by_file.items()
            for pragma in self._of(name)
            if pragma.first in numbers
        ]
        outer = [
            pair
            for pair in starts
            if not any(other.encloses(pair[0]) for other, name in starts if name == pair[1])
        ]
        if len(outer) == 1:
            # It has lines that the compiler brought there from elsewhere.
            return _hint(*outer[0])
        return Hint(max(pragma.at_most for pragma, _ in starts)) if starts else None

    def _of(self, name: str) -> list[_Pragma]:
        if name not in self._known:
            self._known[name] = _pragmas(self._files.get(name))
        return self._known[name]


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
