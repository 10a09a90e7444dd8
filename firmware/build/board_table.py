"""What the firmware is compiled and linked with of a board: headers and a linker script, made of
its board.toml and of the registers of its family.

CMake runs this with whatever Python it finds, so it needs only the standard library.
`python -m firmware.build.board_table FOLDER OUT` writes `board_table.h`, `registers.h` and
`board.ld` into OUT and prints what CMake must know: `family;core;lock;…`. The board's table is
checked in boards.py.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

TABLE = "board.toml"
_REGISTERS = "registers.toml"
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

_SHARED = Path(__file__).resolve().parents[1] / "board"

Tables = Mapping[str, Any]
_WORDS = ("core_hz", "pll", "at_osc_in")
"""Keys of the clock tree that are no plain numbers."""


def header(name: str, table: Tables) -> str:
    """The text of board_table.h: constants, usable in assembly."""
    return _header(f"{TABLE} of {name}", _definitions(name, table))


def registers(family: Path) -> str:
    """The text of registers.h, usable in assembly: the registers that all have alike, with what the
    folder `family` says otherwise.
    """
    shared, own = (_read(folder / _REGISTERS) for folder in (_SHARED, family))
    text = _header(f"{_REGISTERS} of board and {family.name}", _constants(_merged(shared, own)))
    return f'{text}\n#include "board/stm32.h"\n'


def _header(origin: str, definitions: Iterable[tuple[str, str]]) -> str:
    lines = [f"/* Made of {origin} by firmware/build/board_table.py. */", "#pragma once", ""]
    return "\n".join([*lines, *(f"#define {key} {value}" for key, value in definitions), ""])


def _merged(shared: Tables, own: Tables) -> Tables:
    """`shared` with what `own` has more or otherwise, at any depth."""
    merged = {**shared, **own}
    for key, table in shared.items():
        if isinstance(table, dict) and isinstance(own.get(key), dict):
            merged[key] = _merged(table, own[key])
    return merged


def _constants(tables: Tables, path: str = "", base: int | None = None) -> Iterator[tuple[str, str]]:
    """What board/registers.toml says of numbers, registers and what is in them."""
    lowest = tables.get("pos")
    for key, value in tables.items():
        name = path + key
        if isinstance(value, dict):
            begin = value.get("base", base)
            yield from _place(name, value, begin)
            yield from _constants(value, f"{name}_", begin)
        elif not path:
            yield name, f"{value:#x}"
        elif key not in ("base", "at", "each", "pos", "bits"):
            yield name, f"(1u << {value})" if lowest is None else f"({value}u << {lowest})"


def _place(name: str, table: Tables, base: int | None) -> Iterator[tuple[str, str]]:
    """Where a register or a field is. Without a base a register lies behind an instance's, `of`."""
    if "pos" in table:
        yield f"{name}_Pos", f"{table['pos']}u"
    if "bits" in table:
        yield f"{name}_Msk", f"({(1 << table['bits']) - 1}u << {table['pos']})"
    if "at" in table:
        first = {} if base is not None else {"of": "(of) + "}
        offset = f"{name}_OFFSET" if first else f"{name}_ADDRESS"
        step = {"number": f" + {table['each']} * (number)"} if "each" in table else {}
        arguments = f"({', '.join(first | step)})" if first or step else ""
        yield offset, f"{(base or 0) + table['at']:#x}"
        yield name + arguments, f"REGISTER({''.join([*first.values(), offset, *step.values()])})"


def _read(file: Path) -> Tables:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def script(table: Tables) -> str:
    """The text of the linker script: the template with the sizes of the board's memories."""
    memory = table["memory"]
    operations = min(memory["flash_bytes"] - memory["firmware_bytes"], MOST_OPERATIONS_BYTES)
    sizes = {"FIRMWARE": memory["firmware_bytes"], "OPERATIONS": operations, "SRAM": memory["sram_bytes"]}
    text = (_SHARED / "board.ld.in").read_text(encoding="utf-8")
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
    """Writes the files and returns what CMake must know."""
    table = _read(folder / TABLE)
    own = (folder / _REGISTERS).exists()
    texts = {
        "board_table.h": header(folder.name, table),
        "registers.h": registers(folder if own else _SHARED / table["family"]),
        "board.ld": script(table),
    }
    out.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        place = out / file
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    return ";".join([table["family"], table["core"], *table["locks"]])


if __name__ == "__main__":
    try:
        print(_write(Path(sys.argv[1]), Path(sys.argv[2])), end="")
    except (IndexError, LookupError, TypeError, ValueError, OSError) as error:
        files = f"{TABLE}, or its family no {_REGISTERS},"
        sys.exit(f"{sys.argv[1:2]} has no {files} that a firmware can be made of: {error!r}.")
