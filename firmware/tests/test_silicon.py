"""What silicon punishes, planted in the bench's own firmware: the simulator must notice each.

A mutation is an edit of the sources, so this file is not in step with them if one does not apply.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from base.paths import ROOT
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import run as simulator
from simulator.build import SimulatorError
from simulator.program import UserProgram
from simulator.run import Run, StoppedError

ALLOCATOR = "tlsf"
Edits = Mapping[str, tuple[str, ...]]
"""By file below `firmware`: what stands there, and what in its place, once or more often."""

WITHOUT_WAIT: Edits = {
    "board/pins.c": (
        "    enable_ports(RCC_ENABLE_GPIOA | RCC_ENABLE_GPIOB);",
        "    RCC_PORTS |= RCC_ENABLE_GPIOA | RCC_ENABLE_GPIOB;",
    )
}
CLEARED_LATE: Edits = {
    "board/compare_output.c": (
        "    TIM_SR(output->timer) = ~(event_bit(output) | TIM_SR_UIF);\n    return TIM_CNT(output->timer);",
        "    TIM_SR(output->timer) = ~(event_bit(output) | TIM_SR_UIF);\n    return 0;",
    ),
    "bench/stimulus.c": (
        "    const uint32_t now = compare_output_clear(&control_output);\n",
        "    const uint32_t now = TIM_CNT(control_output.timer);\n",
        "    pin_write(CISR_PORT, CISR_PIN, false);\n}",
        "    pin_write(CISR_PORT, CISR_PIN, false);\n    compare_output_clear(&control_output);\n}",
    ),
}
SLOW_MARKERS: Edits = {
    "board/pins.c": (
        "GPIO_OSPEEDR(port), pin, 2, PIN_SPEED_FAST);\n    pin_to_output",
        "GPIO_OSPEEDR(port), pin, 2, 0);\n    pin_to_output",
    )
}


def mutated(edits: Edits, folder: Path) -> Path:
    """The firmware's ELF with these edits, built by the commands that build it as it is."""
    built = firmware.make(firmware.BuildSpec.of(ALLOCATOR), compiled=True).elf.parent
    link = _commands(built)
    for name, places in edits.items():
        source = ROOT / "firmware" / name
        text = source.read_text(encoding="utf-8")
        for before, after in zip(places[::2], places[1::2], strict=True):
            assert text.count(before) == 1, f"{name} has no {before!r}"
            text = text.replace(before, after)
        copy = folder / source.name
        copy.write_text(text, encoding="utf-8")
        entry = _entry(built, source)
        made = str(folder / f"{source.name}.obj")
        words = shlex.split(entry["command"])
        object_name = words[words.index("-o") + 1]
        subprocess.run(
            [made if w == object_name else str(copy) if w == str(source) else w for w in words],
            cwd=built,
            check=True,
        )
        assert object_name in link
        link = [made if word == object_name else word for word in link]
    elf = folder / "mutated.elf"
    link[link.index("-o") + 1] = str(elf)
    link = [word for word in link if not word.startswith("-Wl,-Map")]
    subprocess.run(link, cwd=built, check=True)
    return elf


def _entry(built: Path, source: Path) -> dict[str, str]:
    rows: list[dict[str, str]] = json.loads((built / "compile_commands.json").read_text(encoding="utf-8"))
    (entry,) = (row for row in rows if row["file"] == str(source))
    return entry


def _commands(built: Path) -> list[str]:
    """What links the ELF, as Ninja does it."""
    done = subprocess.run(
        ["ninja", "-t", "commands", "-s", "tailscope.elf"],
        cwd=built,
        check=True,
        capture_output=True,
        text=True,
    )
    (link,) = (part for part in done.stdout.split("&&") if " -o tailscope.elf" in part)
    return shlex.split(link)


def conducted(elf: Path, *, strict: bool) -> Run:
    image = catalogue.load("mem_frag", {"depth": 4}).compile().image
    start = elf if strict else UserProgram(elf)
    return simulator.run(start, until="300ms", image=image)


def test_the_firmware_as_it_is_does_nothing_of_it(tmp_path: Path) -> None:
    """Also built by this file's commands, so that they prove something below."""
    elf = mutated({"board/pins.c": ("    hold_serial_line();", "    hold_serial_line() ;")}, tmp_path)
    for strict in (True, False):
        run = conducted(elf, strict=strict)
        assert run.stats.notes == ()
        assert run.uart.splitlines()[-1].startswith(b"@END,")


@pytest.mark.parametrize(
    ("edits", "kind", "says"),
    [
        (WITHOUT_WAIT, "early_access", "GPIOA_PUPDR (2 cycles after its clock was turned on)"),
        (CLEARED_LATE, "late_clear", "interrupt 50 (the store that clears it is still on its way"),
        (SLOW_MARKERS, "slow_pin", "PA8 (a pulse of "),
    ],
    ids=("early access", "late clear", "slow pin"),
)
def test_a_mutation_is_noticed(edits: Edits, kind: str, says: str, tmp_path: Path) -> None:
    """As a note, and the strict bench stops there."""
    elf = mutated(edits, tmp_path)
    notes = [note for note in conducted(elf, strict=False).stats.notes if note.kind == kind]
    assert any(note.what.startswith(says) and note.differs for note in notes), notes
    with pytest.raises(StoppedError) as stopped:
        conducted(elf, strict=True)
    first = min(notes, key=lambda note: note.cycle)
    assert first.what in str(stopped.value)


def test_the_serial_line_is_high_before_its_transmitter_starts(tmp_path: Path) -> None:
    """PA2 floats after a reset (RM0368, 8.4.1); in this model a USART drives no level, so only the
    pull-up makes it high.
    """
    image = catalogue.load("mem_frag", {"depth": 4}).compile().image
    elf = firmware.build(ALLOCATOR).elf
    pulled = simulator.run(elf, until="300ms", image=image, stop_on=("pin:PA2=1",))
    assert pulled.uart == b""
    floating = mutated(
        {"board/pins.c": ("    hold_serial_line();\n", "    (void)hold_serial_line;\n")}, tmp_path
    )
    with pytest.raises(SimulatorError, match="PA2"):
        simulator.run(floating, until="300ms", image=image, stop_on=("pin:PA2=1",))
