"""Random programs of masked sections, of three kinds.

Branching: C whose loops go round a known number of times. Some of these numbers stand only in a
pragma, or in `STATED`, the file that says how often functions call themselves. Straight: assembler
with one way through each section, which is known. Unusual: what is rare in C: SVC, floating point
in handlers, bit bands, slow buses, longjmp, words that are not aligned, tail calls, code in RAM,
overwritten returns; each section is a few statements of one form, on whatever chip has it.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

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


_HELPER = """\
__attribute__((noinline)) static uint32_t helper%d(uint32_t y, uint32_t n) {
    uint32_t x = n;
    for (uint32_t lap = 0; lap < n; lap++) {
        KEEP(x);
%s    }
    return x;
}
"""
_SECTION = """\
__attribute__((noinline)) static void section%d(uint32_t x, uint32_t y) {
    __asm__ volatile("cpsid i" ::: "memory");
%s    data[0] = x + y;
    __asm__ volatile("cpsie i" ::: "memory");
}
"""

Form = tuple[Any, ...]
"""A text, and what each of its places `$0`, `$1` … is drawn from, in this order: a sequence, or a
function of the generator and of what was drawn before.
"""
Parts = Mapping[str, Callable[[int], str]]
"""By name the further places of a text, each written anew: by the depth of the loops below it."""


@dataclass
class _Writer:
    """Writes statements. `deep` are the forms of loops and of calls, `most` is how many statements
    stand together. In a form `$i`, `$j` and `$n` are names that no other has, `$body` are
    statements, `$less` less deep ones, and `$first` is one of the first form.
    """

    draw: random.Random
    forms: Sequence[Form] = ()
    deep: Sequence[Form] = ()
    parts: Parts = field(default_factory=dict)
    most: int = 1
    name: str = "i"

    def __post_init__(self) -> None:
        self.names = (f"{self.name}{number}" for number in count())
        self.parts = {
            "body": lambda depth: self.statements(depth - 1),
            "less": lambda depth: self.statements(depth - 2),
            "first": lambda _: self.filled(self.forms[0]),
            **self.parts,
        }

    def statements(self, depth: int) -> str:
        """A few, with loops and calls where `depth` is above 0."""
        forms = [*self.forms, *(self.deep if depth > 0 else ())]
        several = range(self.draw.randint(1, self.most))
        return "".join(self.filled(self.draw.choice(forms), depth) for _ in several)

    def filled(self, form: Form, depth: int = 0) -> str:
        """The text of a form, with all its places."""
        text, *places = form
        drawn: list[Any] = []
        for place in places:
            drawn.append(place(self.draw, *drawn) if callable(place) else self.draw.choice(place))
        names: defaultdict[str, str] = defaultdict(lambda: next(self.names))

        def written(text: str) -> str:
            return re.sub(r"\$(\d|[a-z]+)", part, text)

        def part(place: re.Match[str]) -> str:
            if place[1].isdigit():
                return written(str(drawn[int(place[1])]))
            write = self.parts.get(place[1])
            return write(depth) if write else names[place[1]]

        return written(text)


_SUM: Form = (
    "x = (x $0 $1u) + y;\n$2",
    "+-^|&*",
    range(1, 1000),
    lambda draw, *_: (
        f"y = x / ((y & {draw.choice((7, 255, 65535))}u) + 1u);\n" if draw.random() < 0.3 else ""
    ),
)
_STATEMENTS: Sequence[Form] = (
    _SUM,
    _SUM,
    ("if (x & $0u) {\n$body} else {\n$first}\n", [1 << bit for bit in range(10)]),
    ("data[(x >> $0) & 63u] += bytes[y & 63u] + table[x & 15u];\n", range(10)),
)


def _branching(draw: random.Random, helpers: int) -> _Writer:
    """Of a function that may call so many."""
    loops: list[Form] = [
        (
            "for ($2 $i = 0; $i < $0; $i += $1) {\n$bodyKEEP(x);\n}\n",
            range(1, 13),
            range(1, 4),
            ("uint32_t", "int32_t", "uint8_t"),
        ),
        ("for (uint32_t $i = (x & $0u) + 1u; $i; $i--) {\n$bodyKEEP(x);\n}\n", (3, 7, 15)),
        ("for (uint32_t $i = x; $i; $i >>= $0) {\nKEEP(x);\n$lessKEEP(x);\n}\n", (4, 5, 8)),
        (
            "for (uint32_t *$i = &data[$1]; $i != &data[$1 + $0]; $i++) {\nx ^= *$i;\n$lessKEEP(x);\n}\n",
            range(1, 13),
            lambda draw, words: draw.randint(0, 64 - words),
        ),
        ("x += helper$0(y, $1u);\n", range(helpers), range(1, 10)) if helpers else ("",),
        (
            "for (uint32_t $i = 0; $i < $0; $i++) {\nfor ($1) {\n$lessKEEP(x);\n}\nKEEP(x);\n}\n",
            range(2, 10),
            (
                "uint32_t $j = 0; $j < $i; $j++",
                "uint32_t $j = $i; $j < $0; $j++",
                "int32_t $j = (int32_t)$i; $j >= 0; $j -= 2",
            ),
        ),
        # How often it goes round, only the pragma tells.
        (
            'uint32_t $i = (x & ($0u - 1u)) + 1u;\nKEEP($i);\n_Pragma("loopbound min 1 max $0")\n$1\n',
            (3, 7, 15),
            (
                "while ($i) {\n$body$i--; KEEP($i);\n}",
                "for (; $i > 0; $i--) {\n$bodyKEEP($i);\n}",
                "for (; data[$i] = x, $i;) {\n$body$i--; KEEP($i);\n}",
                "do {\n$bodyKEEP($i);\n} while ($i-- > 1);",
            ),
        ),
        ("x += split(y & 3u, x);\n",),
        (
            "for (uint32_t $i = 0; $i < $0; $i++) {\nif ($i $1 $2) {\n$lessKEEP(x);\n}\nKEEP(x);\n}\n",
            range(2, 10),
            ("==", "!=", "<", ">="),
            lambda draw, most, _: draw.randrange(most),
        ),
    ]
    return _Writer(draw, _STATEMENTS, loops, most=3)


def branching_program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`. `accelerator` is what
    FLASH_ACR gets.
    """
    draw = random.Random(seed)
    parts = [HEAD]
    parts += (_HELPER % (number, _branching(draw, number).statements(1)) for number in range(4))
    parts += (_SECTION % (number, _branching(draw, 4).statements(3)) for number in range(sections))
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
_PLAIN: Form = ("$1\n", (_SHORT, _SHORT, _WIDE, _MEMORY), lambda draw, lines: draw.choice(lines))
_INSTRUCTIONS: Sequence[Form] = (
    *[_PLAIN] * 8,
    ("ldr r$0, =$1\n", range(4), range(1 << 31, 1 << 32)),
    (
        "b $i\n$0$i:\n",
        lambda draw: "".join(f"{draw.choice(_SHORT)}\n" for _ in range(draw.randint(0, 6))),
    ),
    ("cmp r0, r1\nit eq\naddeq r0, r0, #1\n",),
    ("bl leaf$0\n", range(3)),
)
_LAPS: Form = ("movs $counter, #$0\n$i:\n$body subs $counter, #1\nbne$width $i\n", range(1, 10))


def straight_program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`. `accelerator` is what
    FLASH_ACR gets.
    """
    draw = random.Random(seed)
    parts = [HEAD]
    for number in range(3):
        body = "\\n ".join(draw.choices(_SHORT + _WIDE, k=draw.randint(1, 5)))
        parts.append(_naked(f"leaf{number}", f"{body}\\n bx lr"))
    of_loops: Parts = {
        "counter": lambda depth: f"r{5 + depth}",
        "width": lambda depth: f".{draw.choice('nw')}" if depth == 1 else "",
    }
    for number in range(sections):
        writer = _Writer(draw, _INSTRUCTIONS, [_LAPS] * 2, of_loops, most=12, name=f".Lsection{number}_")
        lines = ["push {r4, r5, r6, r7, lr}", "ldr r4, =data", "movs r5, #8", "cpsid i"]
        lines += [*writer.statements(2).splitlines(), "cpsie i", "pop {r4, r5, r6, r7, pc}"]
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
    REGISTER(%(acr)#x) = %(accelerator)#x;
    REGISTER(%(enable)#x) |= 1u;
    REGISTER(%(cfgr)#x) |= %(clocks)#x;
    for (uint32_t round = 0; round < %(rounds)d; round++) {
%(calls)s    }
    stop();
}
void reset(void) {
%(floats)s    run();
}
"""


def _masked(text: str, ends: str = "UNMASK;", where: str = "APART") -> str:
    return f"static {where} void section$n(uint32_t x) {{\n    MASK;\n    $any {text} $any\n    words[1] = x; {ends}\n}}\n"


_ANYWHERE: Form = (
    "$1",
    range(1, 100),
    (
        "x = x * $0u + words[x & 31u];",
        "words[$0 & 31] ^= x; x += bytes[x & 31u];",
        "for (uint32_t i = 0; i < $0u % 7u + 1u; i++) { KEEP(x); x += words[i]; }",
        "if (x & (1u << ($0 % 8))) { x += leaf(x); }",
        "x ^= x >> 3;",
    ),
)


def _some(draw: random.Random, least: int = 0) -> str:
    """Up to three statements."""
    return " ".join(_Writer(draw).filled(_ANYWHERE) for _ in range(draw.randint(least, 3)))


def _unusual_forms(chip: Chip) -> list[Form]:
    """Of the sections that this chip can have."""
    registers = ("COUNTER", "REGISTER(0x4000002C)", f"REGISTER({chip.edges:#x})")
    forms: list[Form] = [
        (
            _masked("for (uint32_t i = 0; i < $1u; i++) { KEEP(x); $0 }"),
            ("$2 = x;", "x += $2;", "$2 += x;", "$2 = x; $2 = x + 1u;"),
            range(1, 5),
            registers,
        ),
        (
            "static APART void part$n(uint32_t x) { MASK; words[2] = words[x & 31u]; $0 UNMASK; }\n"
            "static APART void section$n(uint32_t x) { $1 = x; $2 MASK; $1 = x; x = leaf(x); words[3] = x; UNMASK; }\n",
            _some,
            registers,
            ("part$n(x);", "x = leaf(x); $1 = x; part$n(x);"),
        ),
        ("static APART void section$n(uint32_t x) {\n    MASK;\n    $some\n    done(x);\n}\n",),
        (
            "$1",
            ("in_ram", "back"),
            lambda draw, _: (
                _masked("x = $0(x);") if draw.random() < 0.5 else _masked("x += $0(x);", where="IN_RAM")
            ),
        ),
        (
            "static APART void section$n(uint32_t x) {\n    if (set_jump(place) == 0) {\n        MASK;\n"
            "        $some if (x & 1u) { long_jump(place, 1); }\n        words[1] = x; UNMASK;\n"
            "    } else {\n        $more words[2] = x; UNMASK;\n    }\n}\n",
        ),
        (
            "static APART void all$n(struct record *all, uint32_t x) {\n    MASK; $any\n"
            "    for (uint32_t i = 0; i < $0u; i++) { x += all[i].b + all[i].c; all[i].d = x; }\n    UNMASK;\n}\n"
            "static APART void section$n(uint32_t x) { all$n(records, x); }\n",
            range(1, 7),
        ),
    ]
    alias = "REGISTER($0u + 4u * (i & 7u))"
    of_sram = "REGISTER(0x22000000u + ((uint32_t)&flags & 0xFFFFFu) * 32u + 4u * (i & 31u))"
    bit_band: Form = (
        _masked("for (uint32_t i = 0; i < $3u; i++) { $2 }"),
        [0x4200_0000 + 32 * offset for offset in (0x24, 0x2C, chip.edges - 0x4000_0000)],
        (alias, alias, of_sram),
        ("$1 = x & 1u;", "x += $1;", "$1 ^= 1u;"),
        range(1, 9),
    )
    if chip.mainline:
        forms += [
            (
                "static APART void section$n(uint32_t x) {\n"
                '    __asm__ volatile("msr basepri, %0\\n isb" ::"r"($1) : "memory");\n    $any\n'
                '    for (uint32_t i = 0; i < $0u; i++) { __asm__ volatile("svc 1" ::: "memory"); KEEP(x); }\n'
                '    words[4] = x;\n    __asm__ volatile("msr basepri, %0" ::"r"(0) : "memory");\n}\n',
                range(1, 5),
                (0x40, 0x80),
            ),
            *[bit_band] * 2,
            (_masked("leaves_to();", ""),),
            (_masked("x += read_at(bytes + ($1));"), range(10), ("x & 31u", "$0")),
        ]
    if chip.name == "stm32f407vg":
        words = "x += REGISTER(0x2001C000u + $0u * i); REGISTER(0x2001C100u + 4u * i) = x;"
        forms += [(_masked(f"for (uint32_t i = 0; i < $1u; i++) {{ {words} }}"), (4, 8), range(1, 10))] * 2
    return forms


def unusual_program(seed: int, sections: int, rounds: int, accelerator: int, chip: Chip) -> str:
    """The C source: so many sections, each passed in each of `rounds`, and a few of
    handlers. `accelerator` is what FLASH_ACR gets.
    """
    draw = random.Random(seed)
    handled = 3
    parts = [_HEAD, _JUMPS if chip.mainline else _JUMPS.partition("AS_IT_IS void elsewhere")[0]]
    forms = _unusual_forms(chip)
    of_lines: Parts = {
        "any": lambda _: _some(draw),
        "some": lambda _: _some(draw, 1),
        "more": lambda _: _some(draw, 2),
    }
    writer = _Writer(draw, forms, parts=of_lines, name="")
    parts += [writer.filled(draw.choice(forms)) for _ in range(sections)]
    for number in range(handled):
        text = _some(draw, 1)
        if chip.floats and draw.random() < 0.7:  # perhaps the first there that uses floats
            by = draw.randint(2, 9)
            text = draw.choice((f"product * {by}.5f + 1.0f;", f"product / {by}.25f;")) + text
            text = f"product = {text}"
        parts.append(
            f"static APART void handled{number}(uint32_t x) {{ MASK; {text} words[5] = x; UNMASK; }}\n"
        )
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
    enable = '    REGISTER(0xE000ED88) |= 0xF00000u; __asm__ volatile("dsb\\n isb");\n' if chip.floats else ""
    for_tail = {"accelerator": accelerator, "clocks": chip.clocks(divider), "rounds": rounds, "calls": calls}
    return "".join(parts) + _TAIL % {**vars(chip), **for_tail, "floats": enable}
