"""The operations of a baseline as text: a few words a line, equal ones folded.

    512 depth 1: F391/204 (A365/185/4 F460/243)*3

docs/how-to/ci.md shows it. A line holds what has one label, or eight operations, so that a change
of one operation changes one line.

The text has lines `SEQ[ LABEL]: WORD WORD…`. SEQ is the number of the first operation of the line.
LABEL is for the reader, without colons. A word is

    KIND CYCLES[-MOST][/INSTRUCTIONS[/PROBES]][+HITS][~PULSE]

without spaces.

| part | meaning |
|---|---|
| KIND | that of the record `OP` |
| CYCLES | of the critical section by DWT; of several repetitions the least, and MOST the greatest;
`*` if an interrupt met the operation in each |
| INSTRUCTIONS | `-` if they were not counted |
| PROBES, HITS | 0 if absent |
| HITS | the interrupts that ran within the section: the control interrupt, and under the lock
`scheduler` the other, too |
| PULSE | in samples; there if it is not CYCLES plus *pulse_beyond_cycles*; `-` is none |

`(WORD WORD)*N` stands for the words N times. A line has what has one label, if that fits 96
columns, else eight operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from analysis.errors import GateError
from base.run_folder.records import OPERATION_KINDS
from base.run_folder.tables import MOST_OPERATIONS

COLUMNS_MOST = 96
"""A label's operations stand in one line where they fit into so many columns."""
OPERATIONS_A_LINE = 8
_LABEL_MOST = 40
_PERIOD_MOST = 4
_NUMBER = r"[0-9]{1,10}"
_OPERATION = re.compile(
    rf"([{''.join(OPERATION_KINDS)}])(\*|{_NUMBER})(?:-({_NUMBER}))?(?:/(-|{_NUMBER}))?(?:/({_NUMBER}))?"
    rf"(?:\+({_NUMBER}))?(?:~(-|{_NUMBER}))?"
)
_PART = re.compile(r"(?:\(([^()]*)\)\*([0-9]{1,5})|([^\s()]+))(?:\s+|$)")
_LINE = re.compile(rf"({_NUMBER})(?: [^:\n]*)?: (\S.*)")


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation did.

    `cycles` and `most_cycles` are the least and the most of its critical section over all
    repetitions, None where an interrupt met it in each. `hits` counts the interrupts that ran
    within the section. `pulse` is the section on the wire in samples, None where there is none or
    it is not kept.
    """

    kind: str
    cycles: int | None
    most_cycles: int | None
    instructions: int | None
    probes: int
    hits: int = 0
    pulse: int | None = None


def write(
    operations: Sequence[Operation], labels: Sequence[str | None], pulse_beyond_cycles: int | None
) -> str:
    """The lines of `operations`, each ending in a newline; `labels` are theirs.

    A pulse is told only where it is not `pulse_beyond_cycles` longer than the cycles are; of None,
    no pulse is.
    """
    words = [_word(operation, pulse_beyond_cycles) for operation in operations]
    lines: list[str] = []
    for label, numbers in groupby(range(len(words)), key=lambda number: labels[number]):
        group = list(numbers)
        lines += _lines(group[0], label, [words[number] for number in group])
    return "".join(f"{line}\n" for line in lines)


def read(text: str, pulse_beyond_cycles: int | None) -> list[Operation]:
    """The operations of `text`. Raises GateError: a predicate with the line's number."""
    operations: list[Operation] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise GateError(f"has in line {number} no operations, but {line[:40]!r}")
        if int(match[1]) != len(operations):
            raise GateError(
                f"has in line {number} operation {match[1][:10]}, where {len(operations):,} must follow"
            )
        for word, times in _parts(match[2], number):
            group = [_operation(part, pulse_beyond_cycles, number) for part in word.split()]
            if not group or times < 1 or len(operations) + times * len(group) > MOST_OPERATIONS:
                raise GateError(
                    f"has in line {number} more operations than the {MOST_OPERATIONS:,} of an image"
                )
            operations += group * times
    return operations


def _word(operation: Operation, pulse_beyond_cycles: int | None) -> str:
    cycles = "*" if operation.cycles is None else str(operation.cycles)
    if operation.most_cycles != operation.cycles:
        cycles += f"-{operation.most_cycles}"
    word = operation.kind + cycles
    if operation.instructions is not None or operation.probes:
        word += f"/{'-' if operation.instructions is None else operation.instructions}"
        word += f"/{operation.probes}" if operation.probes else ""
    word += f"+{operation.hits}" if operation.hits else ""
    if operation.pulse != _usual_pulse(operation.cycles, pulse_beyond_cycles):
        word += f"~{'-' if operation.pulse is None else operation.pulse}"
    return word


def _usual_pulse(cycles: int | None, beyond: int | None) -> int | None:
    return cycles + beyond if cycles and beyond is not None else None


def _operation(word: str, pulse_beyond_cycles: int | None, line: int) -> Operation:
    match = _OPERATION.fullmatch(word)
    if match is None:
        raise GateError(f"has in line {line} no operation, but {word[:40]!r}")
    kind, least, most, instructions, probes, hits, pulse = match.groups()
    cycles = None if least == "*" else int(least)
    if most and (cycles is None or int(most) < cycles):
        raise GateError(f"has in line {line} cycles that end before they begin, {word[:40]!r}")
    return Operation(
        kind,
        cycles,
        int(most) if most else cycles,
        None if instructions in (None, "-") else int(instructions),
        int(probes or 0),
        int(hits or 0),
        _usual_pulse(cycles, pulse_beyond_cycles) if pulse is None else None if pulse == "-" else int(pulse),
    )


def _parts(text: str, line: int) -> Iterator[tuple[str, int]]:
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            raise GateError(f"has in line {line} no operation, but {text[at : at + 40]!r}")
        yield match[1] or match[3] or "", int(match[2] or 1)
        at = match.end()


def _lines(first: int, label: str | None, words: Sequence[str]) -> Iterable[str]:
    """One line where all of the label fits into it, else one for each eight operations."""
    label = "" if label is None else f" {_plain(label)}"
    whole = f"{first}{label}: {_folded(words)}"
    if len(whole) <= COLUMNS_MOST:
        return [whole]
    return [
        f"{first + at}{label}: {_folded(words[at : at + OPERATIONS_A_LINE])}"
        for at in range(0, len(words), OPERATIONS_A_LINE)
    ]


def _plain(label: str) -> str:
    """The label as far as it can stand in a line; it is there for who reads."""
    return re.sub(r"[^\w .,=+-]", "_", label)[:_LABEL_MOST]


def _folded(words: Sequence[str]) -> str:
    """The words, with what stands there several times in a row said once."""
    parts = []
    at = 0
    while at < len(words):
        period, times = max(
            ((period, _times(words, at, period)) for period in range(1, _PERIOD_MOST + 1)),
            key=lambda pair: (pair[0] * (pair[1] - 1), -pair[0]),
        )
        if times < 2:
            period, times = 1, 1
        text = " ".join(words[at : at + period])
        parts.append(f"({text})*{times}" if times > 1 else text)
        at += period * times
    return " ".join(parts)


def _times(words: Sequence[str], at: int, period: int) -> int:
    """How often the `period` words at `at` stand there in a row."""
    unit = words[at : at + period]
    if len(unit) < period:
        return 1
    times = 1
    while words[at + times * period : at + (times + 1) * period] == unit:
        times += 1
    return times
