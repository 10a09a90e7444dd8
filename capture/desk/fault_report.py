"""What a board's core says of its own end: fault registers and stacked frame, in one sentence.

PM0214 (STM32 Cortex-M4 programming manual), sections 2.3.7 and 4.4; DHCSR is of the ARMv7-M manual
(DDI 0403E, C1.6.2). A core of ARMv6-M has no fault registers, which then read 0: IPSR tells that it
faulted, and the stacked frame where (PM0215, section 2.3).

Run as a program, it attaches to a board's debug probe and prints the sentence:

    python -m capture.desk.fault_report TARGET ELF [PROBE]

It halts the core for the look, so it is for a run that is over.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from base.files.errors import TailscopeError, first_line
from base.paths import ROOT
from base.processes import children
from capture.desk.board import ProbeAddress, Sentences

if TYPE_CHECKING:  # it loads pyOCD
    from capture.desk.debug_probe import ProbeSession

SHCSR_TO_BFAR = 0xE000_ED24
S_LOCKUP = 1 << 19
VECTTBL = 1 << 1
MMARVALID, BFARVALID = 1 << 7, 1 << 15

# Bits of CFSR: which of them are set when nothing could be stacked, and those of an address.
STACKING_FAILED = 1 << 4 | 1 << 5 | 1 << 12 | 1 << 13
FETCH_FAILED = 1 << 0 | 1 << 8

EXCEPTIONS = {3: "hard-faulted", 4: "took a memory fault", 5: "took a bus fault", 6: "took a usage fault"}
"""By the number of the exception that is active (IPSR)."""

FLASH = range(0x0800_0000, 0x0810_0000)
"""That of the largest of the boards' chips."""
FRAME_WORDS = 8
FRAME_PC, FRAME_XPSR = 6, 7
XPSR_THUMB = 1 << 24
XPSR_RESERVED = 0xF << 20
EXCEPTION_NUMBER = 0x1FF
MOST_STACK_WORDS = 2048

ADDR2LINE = "arm-none-eabi-addr2line"
ADDR2LINE_WITHIN_S = 20.0


class Frame(NamedTuple):
    """What the core stacked when it took the fault (PM0214, 2.3.7): where it was."""

    pc: int
    exception: int
    """The exception that it was in; 0 for a thread."""


class FaultRegisters(NamedTuple):
    """The fault registers and the core's place at one moment."""

    pc: int
    exception: int
    """The exception that is active, by number; 0 for a thread."""
    dhcsr: int
    """As read before the core was halted."""
    cfsr: int = 0
    hfsr: int = 0
    mmfar: int = 0
    bfar: int = 0
    frame: Frame | None = None
    """Where the fault was taken; None where no frame is found."""


def report(probe: ProbeSession, elf: Path) -> str:
    """The sentence for the board behind `probe`, which runs the firmware `elf`.

    A core that runs is halted for the look and runs on. Raises what the probe raises.
    """
    with probe.halted() as dhcsr:
        _, cfsr, hfsr, _, mmfar, bfar = probe.read_words(SHCSR_TO_BFAR, 6)
        exception = probe.read_register("xpsr") & EXCEPTION_NUMBER
        faulted = cfsr or hfsr or exception in EXCEPTIONS
        astray = bool(cfsr & FETCH_FAILED) and not dhcsr & S_LOCKUP
        frame = _frame(probe, astray) if faulted and not cfsr & STACKING_FAILED else None
        pc = probe.read_register("pc")
    return decode(
        FaultRegisters(pc, exception, dhcsr, cfsr, hfsr, mmfar, bfar, frame), partial(place_in, elf)
    )


def decode(registers: FaultRegisters, place: Callable[[int], str]) -> str:
    """One sentence. `place` names a code address, as place_in() does."""
    frame, locked_up = registers.frame, registers.dhcsr & S_LOCKUP
    if not (locked_up or registers.cfsr or registers.hfsr or registers.exception in EXCEPTIONS):
        return (
            f"The firmware has not faulted: it was at {place(registers.pc)}; look there for a loop that does "
            "not end or a sleep, and check the line of the records."
        )
    took = "locked up" if locked_up else EXCEPTIONS.get(registers.exception, "faulted")
    causes = " and ".join(_causes(registers)) or "for a reason that no fault register of this core tells"
    where = ""
    if frame:  # a core that is locked up stacks nothing: its frame is that of the fault before
        where = f", {'after a fault that was ' if locked_up else ''}taken at {place(frame.pc)}"
        where += f", in the handler of exception {frame.exception}" if frame.exception else ""
    return f"The firmware {took}: {causes}{where}."


def place_in(elf: Path, address: int) -> str:
    """The address by function and line of the ELF file, as far as the toolchain tells them."""
    command = [ADDR2LINE, "-f", "-e", str(elf), f"{address & ~1:#x}"]
    try:
        lines = children.run(command, within_s=ADDR2LINE_WITHIN_S).stdout.splitlines()
    except (OSError, subprocess.TimeoutExpired):
        lines = []
    places = [line.split(" (")[0].removeprefix(f"{ROOT}/") for line in lines if not line.startswith("?")]
    return f"{address:#010x} ({', '.join(places)})" if places else f"{address:#010x}"


def _causes(registers: FaultRegisters) -> list[str]:
    """PM0214, 4.4.14 to 4.4.19, bit by bit."""
    memory = f" {registers.mmfar:#010x} (MMFAR)" if registers.cfsr & MMARVALID else " an address not recorded"
    bus = f" {registers.bfar:#010x} that nothing answers (BFAR)"
    if not registers.cfsr & BFARVALID:
        bus = " an address that nothing answers"
    texts = {
        0: "an instruction fetch that the memory map forbids",
        1: f"an access to{memory} that the memory protection forbids",
        3: "an exception return that the memory protection forbids",
        4: "a stack that the memory protection forbids, on entry of an exception",
        5: "a lazy save of floating-point registers that the memory protection forbids",
        8: "an instruction fetch from where nothing answers",
        9: f"an access to{bus}",
        10: "a buffered write that nothing answered (imprecise)",
        11: "an exception return from a stack where nothing answers",
        12: "a stack where nothing answers, on entry of an exception",
        13: "a lazy save of floating-point registers where nothing answers",
        16: "an undefined instruction",
        17: "a jump without the Thumb bit, or an invalid state (INVSTATE)",
        18: "an invalid exception return (INVPC)",
        19: "a floating-point or coprocessor instruction that is not enabled (NOCP)",
        24: "an unaligned access",
        25: "a division by zero",
    }
    causes = [words for bit, words in texts.items() if registers.cfsr >> bit & 1]
    if registers.hfsr & VECTTBL:
        causes.append("a vector that cannot be read (VECTTBL)")
    return causes


def _frame(core: ProbeSession, astray: bool) -> Frame | None:
    """The frame of the fault.

    A thread that uses the process stack leaves it on top of that. Else it is on the main stack,
    below what the handler has pushed since: the first that looks like one. One of a handler comes
    first. `astray`: the core was where no code is.
    """
    words = _stack(core, core.read_register("msp"), MOST_STACK_WORDS)
    frames = (
        _frame_in(core, words[start : start + FRAME_WORDS], astray) for start in range(0, len(words), 2)
    )
    on_main = next((frame for frame in frames if frame), None)
    if on_main and on_main.exception:
        return on_main
    on_process = _frame_in(core, _stack(core, core.read_register("psp"), FRAME_WORDS), astray)
    return on_process if on_process and not on_process.exception else on_main


def _stack(core: ProbeSession, top: int, most_words: int) -> Sequence[int]:
    """Words from the top of a stack on, as far as there is memory."""
    if top % 4 or top not in core.sram:
        return []
    return core.read_words(top, min(most_words, (core.sram.stop - top) // 4))


def _frame_in(core: ProbeSession, words: Sequence[int], astray: bool) -> Frame | None:
    """What these words are if they are a frame: its PC is code, or just not that; its xPSR has
    Thumb set.
    """
    if len(words) < FRAME_WORDS:
        return None
    pc, xpsr = words[FRAME_PC], words[FRAME_XPSR]
    if pc % 2 or (pc in FLASH or pc in core.sram) == astray or not xpsr & XPSR_THUMB or xpsr & XPSR_RESERVED:
        return None
    return Frame(pc, xpsr & EXCEPTION_NUMBER)


def main(arguments: Sequence[str]) -> int:
    """Prints the sentence for the board behind a probe."""
    from capture.desk.debug_probe import ProbeSession  # loads pyOCD

    target, elf, *probe = arguments
    try:
        session = ProbeSession(ProbeAddress(probe[0] if probe else "", target))
        try:
            print(report(session, Path(elf)))
        finally:
            session.close()
    except TailscopeError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception as error:  # whatever pyOCD raises
        print(f"The board's core cannot be read: {first_line(error)}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

FAULTS_WITHIN_S = 60.0


def post_mortem(probe: ProbeAddress, elf: Path) -> Sentences:
    """What the core's fault registers tell, in a sentence, or why they cannot be read.

    A process of its own attaches to the probe (fault_report.py) and halts the core for a moment.
    Raises signals.Stopped.
    """
    command = [*children.with_devices(), sys.executable, "-m", "capture.desk.fault_report"]
    command += [probe.target, str(elf.resolve())]
    command += [probe.unique_id] if probe.unique_id else []
    try:
        done = children.run(command, within_s=FAULTS_WITHIN_S, folder=ROOT)
    except subprocess.TimeoutExpired:
        return (
            f"The board's fault registers could not be read within {FAULTS_WITHIN_S:g} s; end what else uses "
            "the probe, and leave the board its power: without it DBG_SLEEP is lost, and a core that sleeps "
            "answers nothing.",
        )
    if done.returncode:
        return (f"The board's fault registers could not be read: {children.last_words(done.stderr)}",)
    return tuple(done.stdout.strip().splitlines()[-1:])
