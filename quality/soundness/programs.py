"""Random programs of masked sections, of three kinds.

Branching: C whose loops go round a known number of times. Some of these numbers stand only in a
pragma, or in `STATED`, the file that says how often functions call themselves. Straight: assembler
with one way through each section, which is known. Unusual: what is rare in C: SVC, floating point
in handlers, bit bands, slow buses, longjmp, words that are not aligned, tail calls, code in RAM,
overwritten returns; each section is a few statements of one form, on whatever chip has it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from quality.soundness.compiling import Chip

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


class _Branching:
    """Writes one function's statements; `depth` limits how deep its loops go."""

    def __init__(self, draw: random.Random, helpers: int) -> None:
        self._draw = draw
        self._helpers = helpers
        self._names = 0

    def statements(self, depth: int, indent: str) -> Iterator[str]:
        forms = [self._sum, self._sum, self._branch, self._memory]
        if depth:
            forms += [self._counted, self._counted_down, self._shifted, self._walked, self._called]
            forms += [self._triangle, self._told, self._split, self._at_one_lap]
        for _ in range(self._draw.randint(1, 3)):
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

    def _split(self, _: int, indent: str) -> Iterator[str]:
        yield f"{indent}x += split(y & 3u, x);\n"

    def _body(self, depth: int, indent: str) -> Iterator[str]:
        yield from self.statements(max(depth - 1, 0), indent + "    ")
        yield f"{indent}    KEEP(x);\n{indent}}}\n"


def branching_program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`. `accelerator` is what
    FLASH_ACR gets.
    """
    draw = random.Random(seed)
    parts = [HEAD]
    for number in range(4):
        writer = _Branching(draw, number)
        parts.append(f"__attribute__((noinline)) static uint32_t helper{number}(uint32_t y, uint32_t n) {{\n")
        parts.append("    uint32_t x = n;\n    for (uint32_t lap = 0; lap < n; lap++) {\n        KEEP(x);\n")
        parts += [*writer.statements(1, "        "), "    }\n    return x;\n}\n"]
    for number in range(sections):
        writer = _Branching(draw, 4)
        parts.append(f"__attribute__((noinline)) static void section{number}(uint32_t x, uint32_t y) {{\n")
        parts.append('    __asm__ volatile("cpsid i" ::: "memory");\n')
        parts += writer.statements(3, "    ")
        parts.append('    data[0] = x + y;\n    __asm__ volatile("cpsie i" ::: "memory");\n}\n')
    calls = "".join(f"        section{number}(draw(), draw());\n" for number in range(sections))
    return "".join(parts) + TAIL % (chip.acr, accelerator, rounds, calls)


_SHORT = ("adds r0, r0, r1", "eors r1, r0", "lsls r0, r0, #3", "mov r2, r0", "nop")
_WIDE = ("add.w r0, r1, r2", "movw r3, #4660", "ubfx r0, r1, #2, #5", "mul r2, r0, r1", "mla r3, r2, r1, r0")
_MEMORY = (
    "ldr r0, [r4, #4]", "ldr.w r1, [r4, #8]", "str r0, [r4, #12]", "str.w r1, [r4, #16]",
    "ldrb r2, [r4, #3]", "strh r2, [r4, #6]", "ldr r3, [r4, r5]", "str r3, [r4, r5]",
    "ldrd r0, r1, [r4, #8]", "strd r0, r1, [r4, #8]", "ldm r4, {r0, r1, r2, r3}", "stm r4, {r0, r1}",
    "push {r0, r1, r2}\\n pop {r0, r1, r2}", "ldr r2, [sp]", "mrs r0, primask", "dsb", "isb",
)  # fmt: skip


class _Straight:
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


def straight_program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`. `accelerator` is what
    FLASH_ACR gets.
    """
    draw = random.Random(seed)
    parts = [HEAD]
    for number in range(3):
        body = "\\n ".join(draw.choices(_SHORT + _WIDE, k=draw.randint(1, 5)))
        parts.append(_naked(f"leaf{number}", f"{body}\\n bx lr"))
    for number in range(sections):
        lines = ["push {r4, r5, r6, r7, lr}", "ldr r4, =data", "movs r5, #8", "cpsid i"]
        lines += [*_Straight(draw, f"section{number}").body(2), "cpsie i", "pop {r4, r5, r6, r7, pc}"]
        parts.append(_naked(f"section{number}", "\\n ".join(lines)))
    calls = "".join(f"        section{number}();\n" for number in range(sections))
    return "".join(parts) + TAIL % (chip.acr, accelerator, rounds, calls)


def _naked(name: str, body: str) -> str:
    return (
        f"__attribute__((naked, noinline, used)) static void {name}(void) {{\n"
        f'    __asm__ volatile("{body}\\n .ltorg");\n}}\n'
    )


# Lines of C stand as they are.
# ruff: noqa: E501


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


class _Unusual:
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


def unusual_program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`, and a few of
    handlers. `accelerator` is what FLASH_ACR gets.
    """
    draw = random.Random(seed)
    writer = _Unusual(draw, chip)
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
