"""Programs changed by chance: `./lab bounds` says a sentence or a bound, and never breaks.

TAILSCOPE_MUTATIONS is how many changes are tried.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from base.files.errors import TailscopeError
from cli.shell import start
from tests import masked_sections

MUTATIONS = int(os.environ.get("TAILSCOPE_MUTATIONS", "12"))
SEED = 20_261_125
STATUSES = {0, 1, 2, 3}
WITHIN_CPU_S = 60.0
WITHIN_BYTES = 1 << 30

Change = Callable[[random.Random, bytearray, dict[str, range]], None]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return masked_sections.build(tmp_path_factory.mktemp("whole")).read_bytes()


@pytest.mark.parametrize("number", range(MUTATIONS))
def test_a_damaged_program_is_bounded_or_refused(whole: bytes, number: int, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED}:{number}")
    damaged = bytearray(whole)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if len(damaged) == len(whole):
            chance.choice(CHANGES)(chance, damaged, places(whole))
    elf = tmp_path / "damaged.elf"
    elf.write_bytes(damaged)
    since_s = time.process_time()
    status, said = bounds_of(elf)
    assert status in STATUSES
    assert said.strip()
    assert time.process_time() - since_s < WITHIN_CPU_S
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < WITHIN_BYTES


def bounds_of(elf: Path) -> tuple[int, str]:
    """The exit status of `./lab bounds`, and all that it printed."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            status = start.run(["bounds", str(elf), "--until", "1ms", "--gaps"])
        except TailscopeError as error:
            status = 2
            print(error)
    return status, output.getvalue()


def places(whole: bytes) -> dict[str, range]:
    """Where the sections of the whole file lie in it."""
    sections = ELFFile(io.BytesIO(whole)).iter_sections()
    ranges = {
        section.name: range(section["sh_offset"], section["sh_offset"] + section["sh_size"])
        for section in sections
    }
    return {name: where for name, where in ranges.items() if name and where}


def _any_bit(chance: random.Random, damaged: bytearray, _: dict[str, range]) -> None:
    damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)


def _code(chance: random.Random, damaged: bytearray, where: dict[str, range]) -> None:
    """Another halfword of any kind in the code."""
    at = chance.choice(where[".text"]) & ~1
    damaged[at : at + 2] = chance.randbytes(2)


def _symbol(chance: random.Random, damaged: bytearray, where: dict[str, range]) -> None:
    """Another address, size or kind of a symbol."""
    damaged[chance.choice(where[".symtab"])] = chance.randrange(256)


def _debug(chance: random.Random, damaged: bytearray, where: dict[str, range]) -> None:
    """Noise in one of the parts of the debug information."""
    named = [name for name in where if name.startswith(".debug")]
    at = chance.choice(where[chance.choice(named)])
    damaged[at : at + 8] = chance.randbytes(len(damaged[at : at + 8]))


def _header(chance: random.Random, damaged: bytearray, _: dict[str, range]) -> None:
    damaged[chance.randrange(52)] = chance.randrange(256)


def _cut(chance: random.Random, damaged: bytearray, _: dict[str, range]) -> None:
    del damaged[chance.randrange(1, len(damaged)) :]


CHANGES: tuple[Change, ...] = (_any_bit, _code, _code, _symbol, _symbol, _debug, _header, _cut)
