"""Names, offsets and reset values of registers, from the SVD files that pyOCD's package carries.

The simulator's register tables are typed from the manuals. This is their second source: a test
compares the two. Only these facts are taken, no descriptions.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

# Where the simulator's test reads them. `python -m simulator.tests.svd` writes the file anew.
KEPT = Path(__file__).parents[1] / "crates/stm32/src/peripherals/svd_facts.txt"
# The chips' lines, as the facts name them, and the file of each.
FILES = {"L476": "STM32L4x5.svd", "F103": "STM32F103xx.svd", "F072": "STM32F0xx.svd"}
# Those of which the virtual board has a model on these chips. Some have other names in the files.
PERIPHERALS = re.compile(r"RCC|PWR|FLASH|GPIO[A-H]|EXTI|SYSCFG|AFIO|USART[123]|TIM\d+|DBGMCU|DBG|IWDG|WWDG")
RENAMED = {"Flash": "FLASH", "DBG": "DBGMCU"}


def facts() -> Iterator[str]:
    """A line for each register: line of chips, peripheral, register, offset, value after reset."""
    archive = files("pyocd.debug.svd") / "svd_data.zip"
    with as_file(archive) as path, zipfile.ZipFile(path) as content:
        for line, name in FILES.items():
            for fact in sorted(set(_facts(ElementTree.fromstring(content.read(name))))):
                yield f"{line} {fact}"


def _facts(device: ElementTree.Element) -> Iterator[str]:
    peripherals = {_text(element, "name"): element for element in device.iter("peripheral")}
    for name, peripheral in peripherals.items():
        register = RENAMED.get(name, name)
        if PERIPHERALS.fullmatch(register):
            source = peripherals.get(peripheral.get("derivedFrom", ""), peripheral)
            holder = peripheral if peripheral.find("registers") is not None else source
            yield from (f"{register} {fact}" for fact in _registers(holder))


def _registers(peripheral: ElementTree.Element) -> Iterator[str]:
    for register in peripheral.iter("register"):
        # A register with two meanings stands there twice.
        name = re.sub("_(Input|Output)$", "", _text(register, "name"))
        offset, reset = _number(_text(register, "addressOffset")), _number(_text(register, "resetValue"))
        yield f"{name} {offset:#04x} {reset:#010x}"


def _text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(name) or "0").strip()


def _number(text: str) -> int:
    """Some are hexadecimal digits without a prefix."""
    bare = len(text) == len("00000000") and not text.lower().startswith("0x")
    return int(text, 16 if bare else 0)


if __name__ == "__main__":
    KEPT.write_text("".join(f"{fact}\n" for fact in facts()), encoding="utf-8")
