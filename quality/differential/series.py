"""A series: which cases it runs and how many, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from quality.differential import batches, cores, encodings, opcodes, oracle, programs
from quality.differential import report as differential_report
from quality.differential.batches import EXECUTED, SLOTS, Batch, Kind, Results, assemble
from quality.differential.cores import Core
from quality.differential.encodings import Encoding, Opcodes
from quality.differential.programs import Program
from quality.differential.report import Report, load_accepted
from quality.differential.values import Random

SEQUENCES = "sequences of instructions"
# So many of a hundred cases are IT blocks, and so many are sequences.
IT_PERCENT, SEQUENCE_PERCENT = 8, 8
# So many cases of each encoding make a round. Each round draws new opcodes.
ROUND_CASES = 64
# So many opcodes of each encoding are tried at the wrong place of an IT block.
MISPLACED = 32


def run(count: int, seed: int, core: Core = cores.M4) -> Report:
    """Runs at least `count` cases on a core, and reports on each encoding."""
    binary = encodings.build()
    rows = encodings.load(binary, core.name)
    names = [*(row.label for row in rows), SEQUENCES]
    report = Report(
        names,
        {row.label: reason for row in rows if (reason := opcodes.elsewhere(row))},
        load_accepted(core.name),
    )
    random = np.random.default_rng(seed)
    while report.cases < count:
        for batch in round_of_batches(rows, random, core):
            ours, theirs = run_both(binary, batch, core)
            report.add(batch.rows, differential_report.divergences(batch, ours, theirs))
    return report


def run_both(binary: Path, batch: Batch, core: Core) -> tuple[Results, Results]:
    """The results of a batch: the simulated core's and Unicorn's."""
    return core.comparable(batches.run(binary, batch, core.name)), oracle.run(batch, core)


def executed_absent(tried: int, seed: int, core: Core) -> tuple[int, list[str], set[str]]:
    """Tries opcodes of instructions that the Cortex-M4 has and this core lacks.

    They are `tried` of each encoding. Returns how many they are, which of them the simulated core
    executes all the same, and the encodings of which Unicorn's model executes some. Unicorn is not
    asked about branches, which it might follow for ever.
    """
    binary = encodings.build()
    rows, present = encodings.load(binary), encodings.load(binary, core.name)
    random = np.random.default_rng(seed)
    made: dict[bool, list[Program]] = {True: [], False: []}
    for index, row in enumerate(rows):
        if opcodes.elsewhere(row):
            continue
        drawn = opcodes.draw(rows, index, random, tried)
        has = opcodes.loads_pc(row, drawn)
        for other in present:
            has |= other.covers(drawn) if other.wide == row.wide else False
        made[opcodes.branches(row)] += [Program(index, (int(opcode),), 1) for opcode in drawn[~has]]
    ours: list[str] = []
    theirs: set[str] = set()
    for branching, programs_of_kind in made.items():
        for start in range(0, len(programs_of_kind), SLOTS):
            part = programs_of_kind[start : start + SLOTS]
            batch = assemble(part, rows, random, Kind(counted=False))
            results = batches.run(binary, batch, core.name)
            done = np.flatnonzero(results["outcome"] == EXECUTED)
            ours += [f"{rows[part[at].row].label}: {part[at].opcodes[0]:#x}" for at in done]
            if not branching:
                done = np.flatnonzero(oracle.run(batch, core)["outcome"] == EXECUTED)
                theirs |= {rows[part[at].row].name for at in done}
    return sum(map(len, made.values())), ours, theirs


def executed_unpredictable(tried: int, seed: int, core: Core = cores.M4) -> tuple[int, list[str]]:
    """Tries opcodes that the manual gives no result, alone or in an IT block.

    They are those among `tried` opcodes of each encoding. Returns how many they are, and which the
    core executes all the same.
    """
    binary = encodings.build()
    rows = encodings.load(binary, core.name)
    random = np.random.default_rng(seed)
    made: list[Program] = []
    for index in range(len(rows)):
        drawn = opcodes.draw_unpredictable(rows, index, random, tried)
        made += [Program(index, (int(opcode),), 1) for opcode in drawn]
        if core.mainline:
            made += programs.misplaced(rows, index, opcodes.draw(rows, index, random, MISPLACED))
    executed = []
    for start in range(0, len(made), SLOTS):
        part = made[start : start + SLOTS]
        batch = assemble(part, rows, random, Kind(counted=True))
        results = batches.run(binary, batch, core.name)
        done = np.flatnonzero(results["outcome"] == EXECUTED)
        executed += [f"{rows[part[at].row].label}: {[hex(o) for o in part[at].opcodes]}" for at in done]
    return len(made), executed


def round_of_batches(rows: Sequence[Encoding], random: Random, core: Core) -> Iterator[Batch]:
    """The batches of a round: ROUND_CASES cases of each encoding, and IT blocks and sequences."""
    made: dict[Kind, list[Program]] = {}
    drawn_plain: list[Opcodes] = []
    for index, row in enumerate(rows):
        if opcodes.elsewhere(row) or row.name == "IT T1":
            continue
        drawn = opcodes.draw(rows, index, random, ROUND_CASES)
        to_pc = opcodes.loads_pc(row, drawn)
        for opcode, loads_pc, prelude in zip(drawn, to_pc, random.integers(0, 2, len(drawn)), strict=True):
            kind = Kind(counted=bool(loads_pc) or opcodes.branches(row), odd_data=bool(loads_pc))
            made.setdefault(kind, []).append(programs.program(row, index, int(opcode), int(prelude)))
        drawn_plain.append(opcodes.plain_opcodes(row, drawn))
    plain = np.concatenate(drawn_plain)
    straight = made[Kind(counted=False)]
    total = sum(map(len, made.values()))
    if core.mainline:
        straight += programs.it_blocks(plain, rows, random, total * IT_PERCENT // 100)
    straight += programs.sequences(plain, len(rows), random, total * SEQUENCE_PERCENT // 100)
    for kind, members in made.items():
        for start in range(0, len(members), SLOTS):
            yield assemble(members[start : start + SLOTS], rows, random, kind)
