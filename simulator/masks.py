"""What held interrupts off, and when marked instructions execute.

They are `virtual-nucleo run --masks` and `--mark` (docs/reference/simulator-files.md).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from base.processes import signals
from simulator.build import build
from simulator.kernel import NO_WORDS, KernelWords
from simulator.outputs import Change, Stats, hexadecimal, read_changes, read_stacks, read_stats, read_table
from simulator.process import run_to_end
from simulator.program import UserProgram
from simulator.run import Instant, image_argument, instant

_MASKS, _STACKS, _MASKS_STATS, _IMAGE = "masks.csv", "stacks.csv", "stats.json", "operations.bin"


class Passage(NamedTuple):
    """An execution of the instruction at `address`, from `cycle` to before `end_cycle`, in the
    handler `exception` or the `task`, which is None where the kernel runs none, or is not known.
    """

    address: int
    cycle: int
    end_cycle: int
    exception: int
    sp: int
    end_sp: int
    next_pc: int
    task: int | None


@dataclass(frozen=True)
class MaskRun:
    """What a run left behind.

    `changes` and `stacks` are those of outputs.read_changes() and outputs.read_stacks(). `ended` is
    what the simulator says of an end that it was not asked for; else empty. `passages` are as
    Passages.rows, of the instructions that were to be marked.
    """

    stats: Stats
    changes: list[Change]
    stacks: dict[int, list[int]]
    ended: str
    passages: tuple[Passage, ...] = ()


def run_masks(
    program: UserProgram,
    until: Instant,
    image: bytes | None = None,
    *,
    kernel: KernelWords = NO_WORDS,
    marked: Iterable[int] = (),
    once: bool = False,
) -> MaskRun:
    """Runs a program from reset up to `until`, and keeps what held interrupts off.

    `image` lies where run.run() puts it. `kernel` says where the program's kernel has its state,
    and `marked` which instructions to note the passages of, or only the first if `once`. The run is
    the same as one without.
    What the program does that is not modelled ends it early. Raises SimulatorError if it cannot run
    at all.
    """
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-masks-") as name:
        folder = Path(name)
        command: list[str | Path] = [build(), "run", *program.arguments, "--until", instant(until)]
        if image is not None:
            (folder / _IMAGE).write_bytes(image)
            command += ["--image", image_argument(Path(_IMAGE), program.elf)]
        command += ["--masks", _MASKS, "--mask-stacks", _STACKS, "--stats", _MASKS_STATS]
        command += [*kernel.arguments, *_marks(marked, once)]
        ended = run_to_end(command, folder / _MASKS_STATS)
        return MaskRun(
            stats=read_stats(folder / _MASKS_STATS),
            changes=read_changes(folder / _MASKS),
            stacks=read_stacks(folder / _STACKS),
            ended=ended,
            passages=_read(folder / _MARKS) if marked else (),
        )


def _marks(addresses: Iterable[int], once: bool = False, first: Iterable[int] = ()) -> list[str]:
    words = []
    for kind, marked in (("first" if once else "pc", addresses), ("first", first)):
        places = ",".join(f"{address:#010x}" for address in sorted(set(marked)))
        words += ["--mark", f"{kind}:{places}"] if places else []
    return [*words, "--marks", _MARKS] if words else []


MOST_MARKS = 127
"""So many addresses can be marked in one run."""
_MARKS, _PASSAGES_STATS = "marks.csv", "stats.json"


@dataclass(frozen=True)
class Passages:
    """When the marked instructions executed, by `cycle`. `ended` says why the run ended early."""

    stats: Stats
    rows: tuple[Passage, ...]
    ended: str


def run_marks(
    program: UserProgram,
    addresses: Iterable[int],
    until: Instant,
    kernel: KernelWords = NO_WORDS,
    *,
    once: bool = False,
    first: Iterable[int] = (),
) -> Passages:
    """Runs the program from reset up to `until`, and notes each execution of these instructions, or
    only the first if `once`; and the first execution of those of `first`.

    What the program does that is not modelled ends it early. Raises SimulatorError if it cannot run
    at all.
    """
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-marks-") as name:
        folder = Path(name)
        command: list[str | Path] = [build(), "run", *program.arguments, "--until", instant(until)]
        command += [*_marks(addresses, once, first), "--stats", _PASSAGES_STATS, *kernel.arguments]
        ended = run_to_end(command, folder / _PASSAGES_STATS)
        return Passages(read_stats(folder / _PASSAGES_STATS), _read(folder / _MARKS), ended)


def _read(path: Path) -> tuple[Passage, ...]:
    columns = ("mark", *Passage._fields[1:])
    rows = (Passage(*row) for row in read_table(path, columns, hexadecimal, *[int] * 3, *[hexadecimal] * 4))
    return tuple(sorted(rows, key=lambda passage: passage.cycle))
