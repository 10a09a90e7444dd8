"""Programs of masked sections with what is rare in C: SVC, floating point in handlers, bit bands,
slow buses, longjmp, words that are not aligned, tail calls, code in RAM, overwritten returns.

Each section is a few statements of one form, on whatever chip has it.
"""

# Lines of C stand as they are.
# ruff: noqa: E501

from __future__ import annotations

import random
from collections.abc import Callable

from quality.soundness.chips import Chip

_HEAD = """\
#include <stdint.h>
#define REGISTER(address) (*(volatile uint32_t *)(address))
#define APART __attribute__((noinline, noclone))
#define AS_IT_IS __attribute__((naked, noinline, used))
#define IN_RAM __attribute__((noinline, noclone, section(".ramcode")))
#define MASK __asm__ volatile("cpsid i" ::: "memory")
#define UNMASK __asm__ volatile("cpsie i" ::: "memory")
#define KEEP(value) __asm__ volatile("" : "+r"(value))
#define COUNTER REGISTER(0x40000024)
#define ICSR REGISTER(0xE000ED04)
extern uint32_t stack_top[], code_start[], code_end[], code_load[];
void reset(void);
static void stop(void) { for (;;) { __asm__ volatile("wfi"); } }
static void service(void);
static void pended(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, stop, stop, [11] = service, [14] = pended,
};
static volatile uint32_t seed, which, flags;
static volatile float product = 1.5f;
static uint32_t words[32];
static uint8_t bytes[64];
static uint32_t place[12];
struct __attribute__((packed)) record { uint8_t a; uint32_t b; uint16_t c; uint32_t d; };
static struct record records[6];
static uint32_t draw(void) { return seed = seed * 1664525u + 1013904223u; }
static APART uint32_t leaf(uint32_t x) { return x * 3u + words[x & 31u]; }
#ifdef __ARM_ARCH_6M__
__attribute__((noinline, used, optimize("no-tree-loop-distribute-patterns")))
void *memcpy(void *to, const void *from, __SIZE_TYPE__ n) {
    for (__SIZE_TYPE__ i = 0; i < n; i++) { ((char *)to)[i] = ((const char *)from)[i]; }
    return to;
}
#endif
static APART uint32_t read_at(const void *from) { uint32_t x; __builtin_memcpy(&x, from, 4); return x; }
static APART void done(uint32_t x) { words[0] += x; UNMASK; }
static IN_RAM uint32_t in_ram(uint32_t x) { for (uint32_t i = 0; i < 4; i++) { x += words[(x + i) & 31u]; } return x; }
static IN_RAM uint32_t back(uint32_t x) { return leaf(x) + 1u; }
"""
_JUMPS = """\
AS_IT_IS int set_jump(uint32_t *at) {
    __asm__ volatile("stmia r0!, {r4-r7}\\n mov r1, r8\\n mov r2, r9\\n mov r3, sp\\n stmia r0!, {r1, r2, r3}\\n"
                     "mov r1, lr\\n str r1, [r0]\\n movs r0, #0\\n bx lr");
}
AS_IT_IS void long_jump(uint32_t *at, int value) {
    __asm__ volatile("movs r3, r0\\n adds r3, #16\\n ldmia r3!, {r2}\\n mov r8, r2\\n ldmia r3!, {r2}\\n mov r9, r2\\n"
                     "ldmia r3!, {r2}\\n mov sp, r2\\n ldr r2, [r3]\\n mov lr, r2\\n ldmia r0!, {r4-r7}\\n"
                     "movs r0, r1\\n bx lr");
}
AS_IT_IS void elsewhere(void) {
    __asm__ volatile("movs r0, #200\\n 1: subs r0, #1\\n bne 1b\\n cpsie i\\n bx lr");
}
AS_IT_IS void leaves_to(void) {
    __asm__ volatile("push {r4, lr}\\n ldr r0, =elsewhere + 1\\n str r0, [sp, #4]\\n pop {r4, pc}\\n .ltorg");
}
"""
_TAIL = """\
static APART void run(void) {
    for (uint32_t i = 0; i < (uint32_t)(code_end - code_start); i++) { code_start[i] = code_load[i]; }
    for (uint32_t i = 0; i < 32; i++) { words[i] = draw(); bytes[i] = (uint8_t)draw(); }
%(start)s
    for (uint32_t round = 0; round < %(rounds)d; round++) {
%(calls)s    }
    stop();
}
void reset(void) {
%(floats)s    run();
}
"""


class _Writer:
    """Writes sections and handlers of one program for a chip."""

    def __init__(self, draw: random.Random, chip: Chip) -> None:
        self._draw = draw
        self._chip = chip

    def form(self) -> Callable[[int], str]:
        forms = [
            self._slow_bus,
            self._late_store,
            self._tail_call,
            self._code_in_ram,
            self._jump,
            self._packed,
        ]
        if self._chip.mainline:
            forms += [self._service, self._bit_band, self._bit_band, self._overwritten, self._unaligned]
        if self._chip.name == "stm32f407vg":
            forms += [self._second_sram, self._second_sram]
        return self._draw.choice(forms)

    def _plain(self) -> str:
        k = self._draw.randint(1, 99)
        return self._draw.choice(
            (
                f"x = x * {k}u + words[x & 31u];",
                f"words[{k & 31}] ^= x; x += bytes[x & 31u];",
                f"for (uint32_t i = 0; i < {k % 7 + 1}u; i++) {{ KEEP(x); x += words[i]; }}",
                f"if (x & {1 << k % 8}u) {{ x += leaf(x); }}",
                "x ^= x >> 3;",
            )
        )

    def _some(self, least: int = 0, most: int = 3) -> str:
        return " ".join(self._plain() for _ in range(self._draw.randint(least, most)))

    def _masked(self, number: int, text: str, ends: str = "UNMASK;") -> str:
        return (
            f"static APART void section{number}(uint32_t x) {{\n    MASK;\n    {self._some()} {text} "
            f"{self._some()}\n    words[1] = x; {ends}\n}}\n"
        )

    def _register(self) -> str:
        return self._draw.choice(("COUNTER", "REGISTER(0x4000002C)", f"REGISTER({self._chip.edges:#x})"))

    def _slow_bus(self, number: int) -> str:
        access = self._draw.choice(("{0} = x;", "x += {0};", "{0} += x;", "{0} = x; {0} = x + 1u;"))
        times = self._draw.randint(1, 4)
        body = access.format(self._register())
        return self._masked(number, f"for (uint32_t i = 0; i < {times}u; i++) {{ KEEP(x); {body} }}")

    def _late_store(self, number: int) -> str:
        inside = f"static APART void part{number}(uint32_t x) {{ MASK; words[2] = words[x & 31u]; {self._some()} UNMASK; }}\n"
        store = f"{self._register()} = x;"
        calls = self._draw.choice((f"part{number}(x);", f"x = leaf(x); {store} part{number}(x);"))
        own = f"static APART void section{number}(uint32_t x) {{ {store} {calls} MASK; {store} x = leaf(x); words[3] = x; UNMASK; }}\n"
        return inside + own

    def _tail_call(self, number: int) -> str:
        return f"static APART void section{number}(uint32_t x) {{\n    MASK;\n    {self._some(1)}\n    done(x);\n}}\n"

    def _code_in_ram(self, number: int) -> str:
        call = self._draw.choice(("in_ram", "back"))
        if self._draw.random() < 0.5:
            return self._masked(number, f"x = {call}(x);")
        return self._masked(number, f"x += {call}(x);").replace("static APART", "static IN_RAM", 1)

    def _jump(self, number: int) -> str:
        return (
            f"static APART void section{number}(uint32_t x) {{\n    if (set_jump(place) == 0) {{\n        MASK;\n"
            f"        {self._some(1)} if (x & 1u) {{ long_jump(place, 1); }}\n        words[1] = x; UNMASK;\n"
            f"    }} else {{\n        {self._some(2)} words[2] = x; UNMASK;\n    }}\n}}\n"
        )

    def _overwritten(self, number: int) -> str:
        return self._masked(number, "leaves_to();", "")

    def _packed(self, number: int) -> str:
        count = self._draw.randint(1, 6)
        body = "x += all[i].b + all[i].c; all[i].d = x;"
        return (
            f"static APART void all{number}(struct record *all, uint32_t x) {{\n    MASK; {self._some()}\n"
            f"    for (uint32_t i = 0; i < {count}u; i++) {{ {body} }}\n    UNMASK;\n}}\n"
            f"static APART void section{number}(uint32_t x) {{ all{number}(records, x); }}\n"
        )

    def _unaligned(self, number: int) -> str:
        at = self._draw.choice(("x & 31u", str(self._draw.randint(0, 9))))
        return self._masked(number, f"x += read_at(bytes + ({at}));")

    def _service(self, number: int) -> str:
        times, level = self._draw.randint(1, 4), self._draw.choice((0x40, 0x80))
        return (
            f'static APART void section{number}(uint32_t x) {{\n    __asm__ volatile("msr basepri, %0\\n isb" ::"r"'
            f'({level}) : "memory");\n    {self._some()}\n    for (uint32_t i = 0; i < {times}u; i++) {{ '
            f'__asm__ volatile("svc 1" ::: "memory"); KEEP(x); }}\n    words[4] = x;\n'
            '    __asm__ volatile("msr basepri, %0" ::"r"(0) : "memory");\n}\n'
        )

    def _bit_band(self, number: int) -> str:
        offset = self._draw.choice((0x24, 0x2C, self._chip.edges - 0x4000_0000))
        alias = f"REGISTER({0x4200_0000 + 32 * offset:#x}u + 4u * (i & 7u))"
        of_sram = "REGISTER(0x22000000u + ((uint32_t)&flags & 0xFFFFFu) * 32u + 4u * (i & 31u))"
        word = self._draw.choice((alias, alias, of_sram))
        access = self._draw.choice(("{0} = x & 1u;", "x += {0};", "{0} ^= 1u;")).format(word)
        return self._masked(
            number, f"for (uint32_t i = 0; i < {self._draw.randint(1, 8)}u; i++) {{ {access} }}"
        )

    def _second_sram(self, number: int) -> str:
        step = self._draw.randint(1, 2)
        body = f"x += REGISTER(0x2001C000u + {4 * step}u * i); REGISTER(0x2001C100u + 4u * i) = x;"
        return self._masked(
            number, f"for (uint32_t i = 0; i < {self._draw.randint(1, 9)}u; i++) {{ {body} }}"
        )

    def handler(self, number: int) -> str:
        """A section within the pended handler, perhaps the first there that uses floats."""
        text = self._some(1)
        if self._chip.floats and self._draw.random() < 0.7:
            by = self._draw.randint(2, 9)
            text = (
                self._draw.choice((f"product = product * {by}.5f + 1.0f;", f"product = product / {by}.25f;"))
                + text
            )
        return f"static APART void handled{number}(uint32_t x) {{ MASK; {text} words[5] = x; UNMASK; }}\n"


def program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`, and a few of
    handlers. `accelerator` is what FLASH_ACR gets.
    """
    draw = random.Random(seed)
    writer = _Writer(draw, chip)
    handled = 3
    parts = [_HEAD, _JUMPS if chip.mainline else _JUMPS.partition("AS_IT_IS void elsewhere")[0]]
    parts += [writer.form()(number) for number in range(sections)]
    parts += [writer.handler(number) for number in range(handled)]
    floats = chip.floats and draw.random() < 0.5
    more = "product = product * 1.5f;" if floats else "words[6]++;"
    laps = draw.randint(1, 9)
    parts.append(
        f"static void service(void) {{ for (uint32_t i = 0; i < {laps}u; i++) {{ words[7] += i; }} {more} }}\n"
    )
    cases = "".join(
        f"    if (which == {number}u) {{ handled{number}(seed); }}\n" for number in range(handled)
    )
    parts.append(f"static void pended(void) {{\n{cases}}}\n")
    pend = 'ICSR = 1u << 28; __asm__ volatile("dsb\\n isb" ::: "memory");'
    calls = "".join(f"        section{number}(draw());\n" for number in range(sections))
    touched = "product = product + 0.25f; " if chip.floats else ""
    calls += "".join(f"        {touched}which = {number}u; {pend}\n" for number in range(handled))
    divider = draw.choice((0, 4, 5, 6, 7))
    start = [f"    REGISTER({chip.acr:#x}) = {accelerator:#x};", f"    REGISTER({chip.enable:#x}) |= 1u;"]
    start.append(f"    REGISTER({chip.cfgr:#x}) |= {chip.clocks(divider):#x};")
    enable = '    REGISTER(0xE000ED88) |= 0xF00000u; __asm__ volatile("dsb\\n isb");\n'
    for_tail = {"start": "\n".join(start), "rounds": rounds, "calls": calls}
    for_tail["floats"] = enable if chip.floats else ""
    return "".join(parts) + _TAIL % for_tail
