"""What a core must not execute: opcodes that it lacks, and those without a result in its manual."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quality.differential import batches, encodings
from quality.differential.batches import EXECUTED, M4, Core, Program, Results
from quality.differential.encodings import Encoding, Opcodes, Random
from quality.differential.series import parts

NOP, IT_AL, ITT_AL = 0xBF00, 0xBFE8, 0xBFE4
# What the pseudocode of A7.7 refuses anywhere in an IT block, and what it refuses before its end.
NEVER_IN_IT = r"B T1|B T3|CB|IT|CPS|MOV \(register\) T2"
LAST_IN_IT = r"B T2|B T4|BL|BX|TB|.*to PC"
# So many opcodes of each encoding are tried at the wrong place of an IT block.
MISPLACED = 32


def executed_absent(tried: int, seed: int, core: Core) -> tuple[int, list[str], set[str]]:
    """Tries opcodes of instructions that the Cortex-M4 has and this core lacks.

    They are `tried` of each encoding. Returns how many they are, which of them the simulated core
    executes all the same, and the encodings of which Unicorn's model executes some. Unicorn is not
    asked about branches, which it might follow for ever.
    """
    binary = encodings.build()
    rows, present = encodings.load(binary), encodings.load(binary, core.name)
    random = np.random.default_rng(seed)
    made: list[Program] = []
    for index, row in enumerate(rows):
        if encodings.elsewhere(row):
            continue
        drawn = encodings.draw(rows, index, random, tried)
        has = encodings.loads_pc(row, drawn)
        for other in present:
            has |= other.covers(drawn) if other.wide == row.wide else False
        made += [Program(index, (opcode,)) for opcode in drawn[~has].tolist()]
    straight = [program for program in made if not encodings.branches(rows[program.row])]
    theirs = {
        rows[program.row].name
        for batch, part in parts(straight, rows, random, counted=False)
        for program in _executed(part, batches.run_unicorn(batch, core))
    }
    return len(made), _executed_by(binary, made, rows, random, core), theirs


def executed_unpredictable(tried: int, seed: int, core: Core = M4) -> tuple[int, list[str]]:
    """Tries opcodes that the manual gives no result, alone or in an IT block.

    They are those among `tried` opcodes of each encoding. Returns how many they are, and which the
    core executes all the same.
    """
    binary = encodings.build()
    rows = encodings.load(binary, core.name)
    random = np.random.default_rng(seed)
    made: list[Program] = []
    for index in range(len(rows)):
        drawn = _draw_unpredictable(rows, index, random, tried)
        made += [Program(index, (opcode,)) for opcode in drawn.tolist()]
        if core.mainline:
            made += _misplaced(rows, index, encodings.draw(rows, index, random, MISPLACED))
    return len(made), _executed_by(binary, made, rows, random, core)


def _executed_by(
    binary: Path, made: Sequence[Program], rows: Sequence[Encoding], random: Random, core: Core
) -> list[str]:
    """Which of the programs the simulated core executes."""
    return [
        f"{rows[program.row].label}: {[hex(opcode) for opcode in program.opcodes]}"
        for batch, part in parts(made, rows, random, counted=True, odd_data=True)
        for program in _executed(part, batches.run_core(binary, batch, core))
    ]


def _executed(part: Sequence[Program], results: Results) -> list[Program]:
    return [part[at] for at in np.flatnonzero(results["outcome"] == EXECUTED).tolist()]


def _misplaced(rows: Sequence[Encoding], index: int, opcodes: Opcodes) -> list[Program]:
    """The opcodes of a row that are UNPREDICTABLE in an IT block, or before its end, put there."""
    name = rows[index].name
    if re.match(NEVER_IN_IT, name):
        return [Program(index, (IT_AL, opcode)) for opcode in opcodes.tolist()]
    if not re.match(LAST_IN_IT, name):
        opcodes = opcodes[encodings.loads_pc(rows[index], opcodes)]
    return [Program(index, (ITT_AL, opcode, NOP)) for opcode in opcodes.tolist()]


def _draw_unpredictable(rows: Sequence[Encoding], index: int, random: Random, tried: int) -> Opcodes:
    """Draws `tried` opcodes of a row, and returns those that the manual gives no result."""
    row = rows[index]
    free = np.uint32(~row.mask & row.width_mask)
    opcodes = np.uint32(row.value) | encodings.uniform(random, (tried,)) & free
    return opcodes[encodings.unpredictable(row, opcodes) & encodings.described_by(rows, index, opcodes)]
