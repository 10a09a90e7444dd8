"""Places in the code as a user writes them: `main`, `main+0x12`, `0x08000123`, `app.c:42`."""

from __future__ import annotations

import re

from analysis.errors import LatencyError
from analysis.explain.program import Function, Program
from base.files.errors import nearest


def function_named(program: Program, name: str) -> Function:
    """The function of that name. Raises LatencyError, which suggests near names."""
    functions = [function for function in program.functions if function.name == name]
    if len(functions) == 1:
        return functions[0]
    if functions:
        addresses = ", ".join(f"{function.address:#010x}" for function in functions)
        raise LatencyError(f"{len(functions)} functions are named {name}: give an address, of {addresses}.")
    raise _unknown(program, f"function {name}", name, [function.name for function in program.functions])


def _unknown(program: Program, what: str, name: str, names: list[str]) -> LatencyError:
    if not program.functions:
        return LatencyError(f"The program has no symbols, so {name} is not known: give an address, 0x….")
    near = nearest(name, names)
    advice = f"did you mean {' or '.join(near)}?" if near else "it may have been inlined or left out."
    return LatencyError(f"There is no {what}: {advice}")


def _label(program: Program, name: str) -> int:
    places = program.labels.get(name, [])
    if len(places) == 1:
        return places[0]
    if places:
        addresses = ", ".join(f"{address:#010x}" for address in places)
        raise LatencyError(f"{len(places)} places are named {name}: give an address, of {addresses}.")
    raise _unknown(program, f"place {name} in the code", name, list(program.labels))


def addresses_of(program: Program, place: str) -> list[int]:
    """The instructions that a place means; of a line one for each function that has code of it.

    Raises LatencyError.
    """
    if re.fullmatch(r"0x[0-9a-fA-F]+", place):
        return [int(place, 16) & ~1]
    file, colon, line = place.rpartition(":")
    if colon:
        return _line(program, file, line)
    name, plus, offset = place.partition("+")
    if plus and re.fullmatch(r"0x[0-9a-fA-F]+", offset) is None:
        raise LatencyError(f"{place} is no place: write {name}+0x and hexadecimal digits.")
    return [_label(program, name) + (int(offset, 16) if plus else 0)]


def _line(program: Program, file: str, line: str) -> list[int]:
    if not line.isdecimal():
        raise LatencyError(f"{file}:{line} is no place: write FILE:LINE, such as main.c:42.")
    if not program.has_lines:
        raise LatencyError(f"The program has no line table, so {file}:{line} is not known: build it with -g.")
    number = int(line)
    lowest: dict[int, int] = {}
    for address, source in program.lines:
        function = program.function_at(address)
        if source == f"{file}:{number}" and function is not None:
            lowest.setdefault(function.address, address)
    if lowest:
        return list(lowest.values())
    lines = sorted({int(s.rpartition(":")[2]) for _, s in program.lines if s.startswith(f"{file}:")})
    if not lines:
        files = sorted({source.rpartition(":")[0] for _, source in program.lines} - {""})
        near = nearest(file, files)
        advice = f"did you mean {' or '.join(near)}?" if near else "give the file's name without folders."
        raise LatencyError(f"No code comes from a file {file}: {advice}")
    behind = next((line for line in lines if line > number), lines[-1])
    raise LatencyError(f"There is no code of {file}:{number}; the next with code is {file}:{behind}.")
