"""Programs of random masked sections in assembler: each has one way, and it is known."""

from __future__ import annotations

import random
from collections.abc import Iterator

from quality.soundness.branching import HEAD, TAIL
from quality.soundness.chips import Chip

_SHORT = ("adds r0, r0, r1", "eors r1, r0", "lsls r0, r0, #3", "mov r2, r0", "nop")
_WIDE = ("add.w r0, r1, r2", "movw r3, #4660", "ubfx r0, r1, #2, #5", "mul r2, r0, r1", "mla r3, r2, r1, r0")
_MEMORY = (
    "ldr r0, [r4, #4]", "ldr.w r1, [r4, #8]", "str r0, [r4, #12]", "str.w r1, [r4, #16]",
    "ldrb r2, [r4, #3]", "strh r2, [r4, #6]", "ldr r3, [r4, r5]", "str r3, [r4, r5]",
    "ldrd r0, r1, [r4, #8]", "strd r0, r1, [r4, #8]", "ldm r4, {r0, r1, r2, r3}", "stm r4, {r0, r1}",
    "push {r0, r1, r2}\\n pop {r0, r1, r2}", "ldr r2, [sp]", "mrs r0, primask", "dsb", "isb",
)  # fmt: skip


class _Writer:
    def __init__(self, draw: random.Random, name: str) -> None:
        self._draw = draw
        self._name = name
        self._labels = 0

    def body(self, depth: int) -> Iterator[str]:
        for _ in range(self._draw.randint(1, 12)):
            kinds = [self._plain] * 8 + [self._literal, self._over, self._skipped, self._called]
            yield from self._draw.choice(kinds + [self._loop] * (2 if depth else 0))(depth)

    def _plain(self, _: int) -> Iterator[str]:
        yield self._draw.choice(self._draw.choice((_SHORT, _SHORT, _WIDE, _MEMORY)))

    def _literal(self, _: int) -> Iterator[str]:
        yield f"ldr r{self._draw.randint(0, 3)}, ={self._draw.randrange(1 << 31, 1 << 32):#x}"

    def _skipped(self, _: int) -> Iterator[str]:
        yield "cmp r0, r1"
        yield "it eq"
        yield "addeq r0, r0, #1"

    def _over(self, _: int) -> Iterator[str]:
        label = self._label()
        yield f"b {label}"
        yield from (self._draw.choice(_SHORT) for _ in range(self._draw.randint(0, 6)))
        yield f"{label}:"

    def _called(self, _: int) -> Iterator[str]:
        yield f"bl leaf{self._draw.randrange(3)}"

    def _loop(self, depth: int) -> Iterator[str]:
        label, counter = self._label(), f"r{5 + depth}"
        yield f"movs {counter}, #{self._draw.randint(1, 9)}"
        yield f"{label}:"
        yield from self.body(depth - 1)
        yield f"subs {counter}, #1"
        yield f"bne.{self._draw.choice('nw')} {label}" if depth == 1 else f"bne {label}"

    def _label(self) -> str:
        self._labels += 1
        return f".L{self._name}_{self._labels}"


def program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`. `accelerator` is what
    FLASH_ACR gets.
    """
    draw = random.Random(seed)
    parts = [HEAD]
    for number in range(3):
        body = "\\n ".join(draw.choices(_SHORT + _WIDE, k=draw.randint(1, 5)))
        parts.append(_function(f"leaf{number}", f"{body}\\n bx lr"))
    for number in range(sections):
        lines = ["push {r4, r5, r6, r7, lr}", "ldr r4, =data", "movs r5, #8", "cpsid i"]
        lines += [*_Writer(draw, f"section{number}").body(2), "cpsie i", "pop {r4, r5, r6, r7, pc}"]
        parts.append(_function(f"section{number}", "\\n ".join(lines)))
    calls = "".join(f"        section{number}();\n" for number in range(sections))
    return "".join(parts) + TAIL % (chip.acr, accelerator, rounds, calls)


def _function(name: str, body: str) -> str:
    return (
        f"__attribute__((naked, noinline, used)) static void {name}(void) {{\n"
        f'    __asm__ volatile("{body}\\n .ltorg");\n}}\n'
    )
