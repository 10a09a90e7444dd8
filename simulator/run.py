"""Firmware on the virtual Nucleo from reset to its end, without sockets: `virtual-nucleo run`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.processes import children, signals
from simulator.board_note import chip_of, pins_of
from simulator.build import SimulatorError, build
from simulator.kernel import NO_WORDS, KernelWords
from simulator.outputs import (
    PINS,
    Change,
    State,
    Stats,
    read_changes,
    read_edges,
    read_state,
    read_stats,
    read_trace,
    read_windows,
)
from simulator.program import UserProgram

if TYPE_CHECKING:
    import polars as pl

    from base.run_folder.records import RecordLog

Instant = str | int
"""A time since reset, such as "100ms", "2s" or "900ns"; or a number of core cycles."""

# The exit status if the firmware did what is not modelled, if a condition of stop_on was met, if
# the firmware ended in the handler of a fault, and if no condition was met.
_STOPPED, _MET, _FAULTED, _UNMET = 3, 4, 5, 6

MOST_S = 3600.0
"""Longer than this no run of the bench takes, however slow the host."""

# The files that a run reads and writes in its folder.
_IMAGE, _START = "operations.bin", "start.snapshot"
_UART, _STATS, _EDGES, _WINDOWS, _TRACE = "uart.log", "stats.json", "edges.csv", "windows.csv", "trace.jsonl"
_MASKS = "masks.csv"
_NOTHING: Any = None
_PAGE = "docs/reference/virtual-nucleo.md"


STRICT = ("--strict",)
NUCLEO = "nucleo"
"""The timing of a chip. By the table alone a firmware is faster than what it must wait for."""
"""The bench's own firmware may do nothing that is odd: it stops there."""
_MANNERS = ("--gaps", *STRICT)


class StoppedError(SimulatorError):
    """The firmware did what is not modelled. `uart` holds what it had sent by then."""

    def __init__(self, message: str, uart: bytes) -> None:
        super().__init__(message)
        self.uart = uart


@dataclass(frozen=True)
class Snapshot:
    """A whole machine at an instant. Only the build that saved it can go on from it.

    `options` say how it goes on.
    """

    content: bytes
    options: tuple[str, ...] = STRICT


@dataclass(frozen=True)
class Run:
    """What a run left behind. What was not asked for is empty or None.

    `uart` is what USART2 sent. `edges` and `windows` have the columns of outputs.read_edges() and
    outputs.read_windows(). `trace` has one object for each step of the core
    (docs/reference/simulator-files.md). `states` and `snapshots` are in the order of the instants
    asked for. `masks` are those of outputs.read_changes().
    """

    uart: bytes
    stats: Stats
    edges: pl.DataFrame
    windows: pl.DataFrame
    trace: list[dict[str, Any]]
    states: tuple[State, ...]
    snapshots: tuple[Snapshot, ...]
    masks: list[Change]

    @cached_property
    def records(self) -> RecordLog:
        """The firmware's records, read from `uart`."""
        from base.run_folder import records  # takes a while

        return records.parse(self.uart)

    @property
    def core_hz(self) -> int:
        """The core's clock in Hz, from the BOOT record. Raises SimulatorError if there is none."""
        from base.run_folder.records import Boot

        boot = self.records.first(Boot)
        if boot is None:
            raise SimulatorError("The firmware sent no BOOT record: its clock is not known; build it again.")
        return boot.core_hz


def run(
    start: Path | UserProgram | Snapshot,
    *,
    until: Instant,
    image: bytes | None = None,
    timing: str = NUCLEO,
    flash_acr: int | None = None,
    reset_flags: int | None = None,
    edges: bool = False,
    counts: Mapping[str, str] | None = None,
    count_window: str = "",
    stop_on: Sequence[str] = (),
    trace_last: int = 0,
    trace_window: tuple[int, int] | None = None,
    states_at: Sequence[Instant] = (),
    snapshots_at: Sequence[Instant] = (),
    masks_of: Path | None = None,
    kernel: KernelWords = NO_WORDS,
) -> Run:
    """Runs a firmware from reset, or goes on from a snapshot, up to `until`.

    A firmware is the path of its ELF file, or somebody's own program with its options. The first
    is the bench's own, and stops at whatever is odd.

    - `image` lies where the firmware looks for it.
    - `timing` is nucleo or ideal.
    - `flash_acr` is what the flash does, whatever the firmware sets; the register does not tell.
    - `reset_flags` are those of RCC_CSR that the firmware finds; None for a supply that came.
    - `edges` asks for the edges.
    - `counts` are places in the code, by name; "*" is every instruction. The windows say how often
      each was executed in each pulse of the channel `count_window`.
    - `stop_on` are conditions (docs/reference/virtual-nucleo.md). One must end the run before
      `until`.
    - `trace_last` is how many of the last steps of the core the trace keeps; `trace_window` asks
      for those from one cycle to before another instead.
    - `states_at` and `snapshots_at` ask for states and snapshots at these instants.
    - `masks_of` asks for each change of what holds interrupts and tasks off, after a snapshot: it
      is the ELF file of the firmware. `kernel` says where its scheduler has its state.

    The simulator is built first if it is out of date. Raises BuildError; StoppedError if the
    firmware did what is not modelled; SimulatorError if the program refuses, is killed, or reaches
    `until` without meeting a condition of `stop_on`.
    """
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-run-") as name:
        folder = Path(name)
        command: list[str | Path] = [build(), "run", *_board(folder, start, image, timing)]
        command += [] if flash_acr is None else ["--flash-acr", f"{flash_acr:#x}"]
        command += [] if reset_flags is None else ["--reset-flags", f"{reset_flags:#x}"]
        command += ["--until", instant(until), "--uart-log", _UART, "--stats", _STATS]
        command += ["--edges", _EDGES] if edges else []
        command += count_arguments(counts or {}, count_window, folder / _WINDOWS)
        command += [f"--stop-on={condition}" for condition in stop_on]
        command += [f"--trace-last={trace_last}", "--trace", _TRACE] if trace_last else []
        if trace_window:
            command += ["--trace-window", "{}..{}".format(*trace_window), "--trace", _TRACE]
        command += [f"--save-state={_state(number)}@{instant(at)}" for number, at in enumerate(states_at)]
        saved = enumerate(snapshots_at)
        command += [f"--save-snapshot={_saved(number)}@{instant(at)}" for number, at in saved]
        command += [str(masks_of.resolve()), "--masks", _MASKS, *kernel.arguments] if masks_of else []
        _simulate(folder, command, stop_on)
        return Run(
            uart=(folder / _UART).read_bytes(),
            stats=read_stats(folder / _STATS),
            edges=read_edges(folder / _EDGES, _pins(start, masks_of)) if edges else _NOTHING,
            windows=read_windows((folder / _WINDOWS).read_bytes()) if counts else _NOTHING,
            trace=read_trace(folder / _TRACE) if trace_last or trace_window else [],
            states=tuple(read_state(folder / _state(number)) for number in range(len(states_at))),
            snapshots=tuple(
                Snapshot((folder / _saved(number)).read_bytes(), _manners(start))
                for number in range(len(snapshots_at))
            ),
            masks=read_changes(folder / _MASKS) if masks_of else [],
        )


def image_argument(path: Path, elf: Path) -> str:
    """The value of --image that puts the file at `path` where the firmware `elf` looks for it."""
    from scenarios.operations import image_address  # takes a while

    return f"{path}@{image_address(elf):#010x}"


def count_arguments(
    counts: Mapping[str, str], window: str, table: Path, instructions_while: str = ""
) -> list[str]:
    """The options that count executions in each pulse of the channel `window`, into `table`.

    With a channel `instructions_while` also the instructions while that is high (`serve` only).
    """
    if not counts and not instructions_while:
        return []
    return [
        *(f"--count={name}={place}" for name, place in counts.items()),
        *("--count-window", window, "--windows", str(table)),
        *(("--instructions-while", instructions_while) if instructions_while else ()),
    ]


def _board(folder: Path, start: Path | UserProgram | Snapshot, image: bytes | None, timing: str) -> list[str]:
    """The arguments that say what is on the board as the run begins."""
    if isinstance(start, Snapshot):
        (folder / _START).write_bytes(start.content)
        return ["--from-snapshot", _START, *start.options]
    if isinstance(start, UserProgram):
        elf, firmware = start.elf, start.arguments
    else:
        elf = start.resolve()
        firmware = [str(elf), *(STRICT if timing == NUCLEO else ()), *chip_of(start)]
    board = [*firmware, "--timing", timing]
    if image is None:
        return board
    (folder / _IMAGE).write_bytes(image)
    return [*board, "--image", image_argument(Path(_IMAGE), elf)]


def _pins(start: Path | UserProgram | Snapshot, elf: Path | None) -> Mapping[str, str]:
    """Where the channels are: a snapshot does not tell, but the program `elf` that it is of."""
    path = start if isinstance(start, Path) else elf
    return pins_of(path) if path else PINS


def _manners(start: Path | UserProgram | Snapshot) -> tuple[str, ...]:
    """The options that say what a run does about what is odd."""
    if isinstance(start, Path):
        return STRICT
    return tuple(option for option in start.options if option in _MANNERS)


def instant(at: Instant) -> str:
    """An instant as the program's options take it."""
    return at if isinstance(at, str) else f"cycles:{at}"


def _state(number: int) -> str:
    return f"state{number}.json"


def _saved(number: int) -> str:
    return f"saved{number}.snapshot"


_OWN = "virtual-nucleo: "
_NOTES = ("note: ", "notes: ", "gaps: ")
"""What begins a line that its files have, too."""


def said(stderr: str) -> str:
    """What the simulator says on stderr, in one line, but for its notes; not what the program or
    the options' parser adds.
    """
    lines = [line for line in stderr.splitlines() if not line.removeprefix(_OWN).startswith(_NOTES)]
    own = [line.removeprefix(_OWN).strip() for line in lines if line.startswith(_OWN)]
    words = "; ".join(own) or " ".join(" ".join(lines).split()).removeprefix("error: ")
    for added in (" tip: ", " Usage: ", " For more information, "):
        words = words.partition(added)[0]
    return words or "it does not say why"


def _simulate(folder: Path, command: Sequence[str | Path], stop_on: Sequence[str]) -> None:
    """Runs the program in `folder`. Raises SimulatorError unless it ended as asked."""
    try:
        done = children.run(command, within_s=MOST_S, folder=folder)
    except subprocess.TimeoutExpired:
        raise SimulatorError(
            f"The virtual Nucleo did not end within {MOST_S:g} s and was ended; run a shorter scenario."
        ) from None
    words = said(done.stderr)
    if done.returncode == _STOPPED:
        log = folder / _UART
        uart = log.read_bytes() if log.exists() else b""
        raise StoppedError(f"The virtual Nucleo stopped: {words}; see {_PAGE}.", uart)
    if stop_on and done.returncode in (_FAULTED, _UNMET):
        raise SimulatorError(
            f"None of {', '.join(stop_on)} came before the end of the run; give it longer, or another."
        )
    if done.returncode < 0:
        raise SimulatorError(f"The virtual Nucleo was killed by signal {-done.returncode}; run again.")
    # A firmware that ended in a fault is a run like others: its records and its edges tell.
    if done.returncode not in ((_MET,) if stop_on else (0, _FAULTED)):
        raise SimulatorError(f"The virtual Nucleo cannot run this: {words}; see {_PAGE}.")
