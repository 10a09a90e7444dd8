"""Programs of random masked sections, whose loops go round a known number of times.

Some of these numbers stand only in a pragma, or in `STATED`, the file that says how deep functions
call themselves.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from quality.soundness.chips import Chip

HEAD = """\
#include <stdint.h>
#define REGISTER(address) (*(volatile uint32_t *)(address))
extern uint32_t stack_top[];
void reset(void);
static void stop(void) { for (;;) { __asm__ volatile("wfi"); } }
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, stop, stop,
};
static volatile uint32_t seed;
__attribute__((used)) static uint32_t data[64];
static uint8_t bytes[64];
static const uint16_t table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static uint32_t draw(void) { return seed = seed * 1664525u + 1013904223u; }
/* The compiler does not see how often a loop that has this goes round. */
#define KEEP(value) __asm__ volatile("" : "+r"(value))
/* It stays a function that calls itself, as it is. */
#define AS_IT_IS __attribute__((noipa, used)) static uint32_t
/* Calls itself as deep as its argument says, which the code of each caller tells. */
AS_IT_IS fallen(uint32_t n, uint32_t y) {
    if (n == 0) {
        return y;
    }
    for (uint32_t lap = 0; lap < 3; lap++) {
        KEEP(y);
        y += data[lap & 63u];
    }
    uint32_t below = fallen(n - 1u, y ^ n);
    KEEP(below);
    if (n > 2) {
        below += fallen(n - 2u, below);
        KEEP(below);
    }
    return below;
}
/* At most 8 of its calls wait for each other: only STATED says so. */
AS_IT_IS deep(uint32_t n, uint32_t y) {
    KEEP(n);
    data[n & 63u] = y;
    uint32_t below = n ? deep(n - 1u, y + n) : y;
    KEEP(below);
    if (n && y & 1u) {
        below += deep(n - 1u, y);
        KEEP(below);
    }
    return below;
}
/* At most 15 of it run: only STATED says so. */
AS_IT_IS split(uint32_t n, uint32_t y) {
    KEEP(n);
    bytes[n & 63u] += (uint8_t)y;
    uint32_t below = n ? split(n - 1u, y + n) : y;
    KEEP(below);
    below += n ? split(n - 1u, below) : y;
    KEEP(below);
    return below;
}
"""

STATED = """\
schema = 1
[[recursions]]
function = "deep"
depth = 8
why = "it is called with 7 at the most, and calls itself with one less down to 0"
[[recursions]]
function = "split"
calls = 15
why = "it is called with 3 at the most, and each calls itself twice with one less: 1 + 2 + 4 + 8"
"""

TAIL = """\
void reset(void) {
    for (uint32_t i = 0; i < 64; i++) {
        data[i] = draw();
        bytes[i] = (uint8_t)draw();
    }
    REGISTER(%#x) = %d;
    for (uint32_t round = 0; round < %d; round++) {
%s    }
    stop();
}
"""


class _Writer:
    """Writes one function's statements; `depth` limits how deep its loops go."""

    def __init__(self, draw: random.Random, helpers: int) -> None:
        self._draw = draw
        self._helpers = helpers
        self._names = 0

    def statements(self, depth: int, indent: str) -> Iterator[str]:
        for _ in range(self._draw.randint(1, 3)):
            yield from self._statement(depth, indent)

    def _statement(self, depth: int, indent: str) -> Iterator[str]:
        forms = [self._sum, self._sum, self._branch, self._memory]
        if depth:
            forms += [self._counted, self._counted_down, self._shifted, self._walked, self._called]
            forms += [self._triangle, self._told, self._fallen, self._at_one_lap]
        yield from self._draw.choice(forms)(depth, indent)

    def _name(self) -> str:
        self._names += 1
        return f"i{self._names}"

    def _sum(self, _: int, indent: str) -> Iterator[str]:
        sign = self._draw.choice("+-^|&*")
        yield f"{indent}x = (x {sign} {self._draw.randint(1, 999)}u) + y;\n"
        if self._draw.random() < 0.3:
            yield f"{indent}y = x / ((y & {self._draw.choice((7, 255, 65535))}u) + 1u);\n"

    def _memory(self, _: int, indent: str) -> Iterator[str]:
        yield f"{indent}data[(x >> {self._draw.randint(0, 9)}) & 63u] += bytes[y & 63u] + table[x & 15u];\n"

    def _branch(self, depth: int, indent: str) -> Iterator[str]:
        yield f"{indent}if (x & {1 << self._draw.randint(0, 9)}u) {{\n"
        yield from self.statements(max(depth - 1, 0), indent + "    ")
        yield f"{indent}}} else {{\n"
        yield from self._sum(depth, indent + "    ")
        yield f"{indent}}}\n"

    def _counted(self, depth: int, indent: str) -> Iterator[str]:
        name, most, step = self._name(), self._draw.randint(1, 12), self._draw.randint(1, 3)
        kind = self._draw.choice(("uint32_t", "int32_t", "uint8_t"))
        yield f"{indent}for ({kind} {name} = 0; {name} < {most}; {name} += {step}) {{\n"
        yield from self._body(depth, indent)

    def _counted_down(self, depth: int, indent: str) -> Iterator[str]:
        name = self._name()
        first = f"(x & {self._draw.choice((3, 7, 15))}u) + 1u"
        yield f"{indent}for (uint32_t {name} = {first}; {name}; {name}--) {{\n"
        yield from self._body(depth, indent)

    def _shifted(self, depth: int, indent: str) -> Iterator[str]:
        name = self._name()
        by = self._draw.choice((4, 5, 8))
        yield f"{indent}for (uint32_t {name} = x; {name}; {name} >>= {by}) {{\n"
        yield f"{indent}    KEEP(x);\n"
        yield from self._body(depth - 1, indent)

    def _walked(self, depth: int, indent: str) -> Iterator[str]:
        name, words = self._name(), self._draw.randint(1, 12)
        first = self._draw.randint(0, 64 - words)
        ends = f"{name} != &data[{first + words}]"
        yield f"{indent}for (uint32_t *{name} = &data[{first}]; {ends}; {name}++) {{\n"
        yield f"{indent}    x ^= *{name};\n"
        yield from self._body(depth - 1, indent)

    def _called(self, _: int, indent: str) -> Iterator[str]:
        if self._helpers:
            which = self._draw.randrange(self._helpers)
            yield f"{indent}x += helper{which}(y, {self._draw.randint(1, 9)}u);\n"

    def _triangle(self, depth: int, indent: str) -> Iterator[str]:
        outer, inner, most = self._name(), self._name(), self._draw.randint(2, 9)
        ways = (
            f"uint32_t {inner} = 0; {inner} < {outer}; {inner}++",
            f"uint32_t {inner} = {outer}; {inner} < {most}; {inner}++",
            f"int32_t {inner} = (int32_t){outer}; {inner} >= 0; {inner} -= 2",
        )
        yield f"{indent}for (uint32_t {outer} = 0; {outer} < {most}; {outer}++) {{\n"
        yield f"{indent}    for ({self._draw.choice(ways)}) {{\n"
        yield from self._body(depth - 1, indent + "    ")
        yield f"{indent}    KEEP(x);\n{indent}}}\n"

    def _at_one_lap(self, depth: int, indent: str) -> Iterator[str]:
        name, most = self._name(), self._draw.randint(2, 9)
        test = f"{name} {self._draw.choice(('==', '!=', '<', '>='))} {self._draw.randrange(most)}"
        yield f"{indent}for (uint32_t {name} = 0; {name} < {most}; {name}++) {{\n"
        yield f"{indent}    if ({test}) {{\n"
        yield from self._body(depth - 1, indent + "    ")
        yield f"{indent}    KEEP(x);\n{indent}}}\n"

    def _told(self, depth: int, indent: str) -> Iterator[str]:
        """How often it goes round, only the pragma tells."""
        name, most = self._name(), self._draw.choice((3, 7, 15))
        keep = f"KEEP({name});"
        heads = (
            (f"while ({name}) {{", f"{name}--; {keep}", "}"),
            (f"for (; {name} > 0; {name}--) {{", keep, "}"),
            (f"for (; data[{name}] = x, {name};) {{", f"{name}--; {keep}", "}"),
            ("do {", keep, f"}} while ({name}-- > 1);"),
        )
        head, step, end = self._draw.choice(heads)
        yield f"{indent}uint32_t {name} = (x & {most - 1}u) + 1u;\n{indent}{keep}\n"
        yield f'{indent}_Pragma("loopbound min 1 max {most}")\n{indent}{head}\n'
        yield from self.statements(max(depth - 1, 0), indent + "    ")
        yield f"{indent}    {step}\n{indent}{end}\n"

    def _fallen(self, _: int, indent: str) -> Iterator[str]:
        times = self._draw.randint(1, 6)
        calls = (f"fallen({times}u, y)", "deep(x & 7u, y)", "split(y & 3u, x)")
        yield f"{indent}x += {self._draw.choice(calls)};\n"

    def _body(self, depth: int, indent: str) -> Iterator[str]:
        yield from self.statements(max(depth - 1, 0), indent + "    ")
        yield f"{indent}    KEEP(x);\n{indent}}}\n"


def program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`. `accelerator` is what
    FLASH_ACR gets.
    """
    draw = random.Random(seed)
    parts = [HEAD]
    for number in range(4):
        writer = _Writer(draw, number)
        parts.append(f"__attribute__((noinline)) static uint32_t helper{number}(uint32_t y, uint32_t n) {{\n")
        parts.append("    uint32_t x = n;\n    for (uint32_t lap = 0; lap < n; lap++) {\n        KEEP(x);\n")
        parts += [*writer.statements(1, "        "), "    }\n    return x;\n}\n"]
    for number in range(sections):
        writer = _Writer(draw, 4)
        parts.append(f"__attribute__((noinline)) static void section{number}(uint32_t x, uint32_t y) {{\n")
        parts.append('    __asm__ volatile("cpsid i" ::: "memory");\n')
        parts += writer.statements(3, "    ")
        parts.append('    data[0] = x + y;\n    __asm__ volatile("cpsie i" ::: "memory");\n}\n')
    calls = "".join(f"        section{number}(draw(), draw());\n" for number in range(sections))
    return "".join(parts) + TAIL % (chip.acr, accelerator, rounds, calls)
