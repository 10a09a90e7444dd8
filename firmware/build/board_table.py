"""What the firmware is compiled and linked with of a board: a header and a linker script, made of
its board.toml.

CMake runs this with whatever Python it finds, so it needs only the standard library:
`python -m firmware.build.board_table FOLDER OUT` writes `board_table.h` and `board.ld` into OUT and
prints what CMake must know: `family;core;lock;…`. The table itself is checked in boards.py.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

TABLE = "board.toml"
MOST_OPERATIONS_BYTES = 256 << 10
"""Of an operation image, however large the flash is."""

USUAL_PINS = {
    "CRIT": "PA8",
    "OP": "PA9",
    "STIM": "PA0",
    "ISR": "PA10",
    "TASK": "PB10",
    "CTRL": "PA1",
    "CISR": "PB5",
    "SYNC": "PB4",
}
"""Where the channels are on most boards, and where the simulator looks for them."""

_SCRIPT = Path(__file__).resolve().parents[1] / "board" / "board.ld.in"

Tables = Mapping[str, Any]
_WORDS = ("core_hz", "pll", "at_osc_in")
"""Keys of the clock tree that are no plain numbers."""


def header(name: str, table: Tables) -> str:
    """The text of board_table.h: constants, usable in assembly."""
    lines = [f"/* Made of {TABLE} of {name} by firmware/build/board_table.py. */"]
    lines += ["#ifndef TAILSCOPE_BOARD_TABLE_H", "#define TAILSCOPE_BOARD_TABLE_H", ""]
    lines += [f"#define {key} {value}" for key, value in _definitions(name, table)]
    return "\n".join([*lines, "", "#endif", ""])


def script(table: Tables) -> str:
    """The text of the linker script: the template with the sizes of the board's memories."""
    memory = table["memory"]
    operations = min(memory["flash_bytes"] - memory["firmware_bytes"], MOST_OPERATIONS_BYTES)
    sizes = {"FIRMWARE": memory["firmware_bytes"], "OPERATIONS": operations, "SRAM": memory["sram_bytes"]}
    text = _SCRIPT.read_text(encoding="utf-8")
    for name, size in sizes.items():
        text = text.replace(f"@{name}_KIB@", str(size >> 10))
    return text


def _definitions(name: str, table: Tables) -> Iterator[tuple[str, str]]:
    yield "BOARD_NAME", f'"{name}"'
    yield "BOARD_VIRTUAL_CHIP", f'"{table.get("virtual_chip", "")}"'
    clock = table["clock"]
    at_osc_in = clock.get("at_osc_in")
    if at_osc_in in ("crystal", "nothing"):
        yield "BOARD_VIRTUAL_HSE", f'"{"none" if at_osc_in == "nothing" else clock["hse_hz"]}"'
    yield "BOARD_HAS_CRYSTAL", str(int(at_osc_in == "crystal"))
    moved = [f"{role}={at['pin']}" for role, at in table["pins"].items() if at["pin"] != USUAL_PINS.get(role)]
    if moved:
        yield "BOARD_MOVED_PINS", f'"{",".join(moved)}"'
    yield "BOARD_INTERRUPTS", str(table["interrupts"])
    yield "BOARD_CORE_HZ", f"{clock['core_hz']}u"
    # A constant for each number of the clock tree; families.toml has its keys by family.
    numbers = {key: value for key, value in clock.items() if key not in _WORDS}
    numbers |= {"pll_hz" if key == "input_hz" else f"pll_{key}": value for key, value in clock["pll"].items()}
    for key, value in numbers.items():
        if value is not False:
            yield f"BOARD_{key.upper()}", str(int(value))
    for role, timer in table["timers"].items():
        yield from _timer(role.upper(), timer)
    serial = table["serial"]
    yield "SERIAL_USART", serial["usart"]
    yield "SERIAL_CLOCK", f"RCC_ENABLE_{serial['usart']}"
    yield "SERIAL_ALTERNATE", str(serial["alternate"])
    for role, place in {**table["pins"], "UART_TX": serial}.items():
        yield f"{role}_PORT", f"GPIO{place['pin'][1]}"
        yield f"{role}_PIN", place["pin"][2:]


def _timer(role: str, timer: Tables) -> Iterator[tuple[str, str]]:
    name = timer["timer"]
    yield f"{role}_TIMER", name
    yield f"{role}_CLOCK", f"RCC_ENABLE_{name}"
    if "channel" not in timer:  # it counts, and that is all
        return
    yield f"{role}_TIMER_BITS", str(timer.get("bits", 32))
    yield f"{role}_TIMER_LAST", f"{(1 << timer.get('bits', 32)) - 1:#X}u".replace("X", "x")
    yield f"{role}_CHANNEL", str(timer["channel"])
    yield f"{role}_ALTERNATE", str(timer["alternate"])
    yield f"{role}_IRQ", f"{timer['interrupt']}u"
    yield f"{role}_HANDLER", f"{name}_IRQHandler"


def _write(folder: Path, out: Path) -> str:
    """Writes both files and returns what CMake must know."""
    table = tomllib.loads((folder / TABLE).read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    for file, text in (("board_table.h", header(folder.name, table)), ("board.ld", script(table))):
        place = out / file
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    return ";".join([table["family"], table["core"], *table["locks"]])


if __name__ == "__main__":
    try:
        print(_write(Path(sys.argv[1]), Path(sys.argv[2])), end="")
    except (IndexError, LookupError, TypeError, ValueError, OSError) as error:
        sys.exit(f"{sys.argv[1:2]} has no {TABLE} that a firmware can be made of: {error!r}.")
