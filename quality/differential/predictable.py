"""Which opcodes of a row of the decode tables the manual leaves UNPREDICTABLE or UNDEFINED.

The rules come from the encoding diagrams and the decode pseudocode of the ARMv7-M Architecture
Reference Manual (DDI 0403E, A7.7). They are deliberately not taken from the simulator, which must
refuse the same opcodes (`decode/unpredictable.rs`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from quality.differential.encodings import Encoding, Mask, Opcodes

Rule = Callable[[Opcodes], Mask]


def field(opcodes: Opcodes, high: int, low: int) -> Opcodes:
    """Bits `high` down to `low`."""
    return (opcodes >> np.uint32(low)) & np.uint32((1 << (high - low + 1)) - 1)


def n(o: Opcodes) -> Opcodes:
    """Rn of a wide encoding."""
    return field(o, 19, 16)


def t(o: Opcodes) -> Opcodes:
    """Rt, Ra or RdLo of a wide encoding."""
    return field(o, 15, 12)


def d(o: Opcodes) -> Opcodes:
    """Rd, Rt2 or RdHi of a wide encoding."""
    return field(o, 11, 8)


def m(o: Opcodes) -> Opcodes:
    """Rm of a wide encoding."""
    return field(o, 3, 0)


def bad(register: Opcodes) -> Mask:
    """Whether the register is SP or PC."""
    return (register == 13) | (register == 15)


def bit(o: Opcodes, number: int) -> Mask:
    """Whether one bit is set."""
    return field(o, number, number) == 1


def count(o: Opcodes, bits: int) -> Opcodes:
    """How many of the lowest `bits` bits are set."""
    return np.bitwise_count(o & np.uint32((1 << bits) - 1)).astype(np.uint32)


def listed(o: Opcodes, register: Opcodes) -> Mask:
    """Whether the register is in the list that begins at bit 0."""
    return (o >> register & 1) == 1


def lsb(o: Opcodes) -> Opcodes:
    """imm3:imm2, which is the amount of a shift or the lowest bit of a field."""
    return (field(o, 14, 12) << np.uint32(2)) | field(o, 7, 6)


def zero_byte_pattern(o: Opcodes) -> Mask:
    """`ThumbExpandImm` of a repeated zero byte (A5.3.2)."""
    pattern = field(o, 26, 26) << 3 | field(o, 14, 12)
    return (pattern >= 1) & (pattern <= 3) & (field(o, 7, 0) == 0)


def add_shifted(o: Opcodes) -> Mask:
    """ADD, SUB (register) T3/T2 and their SP forms (A7.7.4, A7.7.6)."""
    shifted_sp = (field(o, 5, 4) != 0) | (lsb(o) > 3)
    from_sp = (d(o) == 15) | ((d(o) == 13) & shifted_sp)
    return np.where(n(o) == 13, from_sp, bad(d(o)) | (n(o) == 15)) | bad(m(o))


def add_immediate(o: Opcodes) -> Mask:
    """ADD, SUB (immediate) T3 and T4 and their SP forms (A7.7.3, A7.7.5)."""
    return np.where(n(o) == 13, d(o) == 15, bad(d(o)) | (n(o) == 15))


def move_register(o: Opcodes) -> Mask:
    """MOV (register) T3 has a laxer rule than the shifts (A7.7.77)."""
    plain = (field(o, 5, 4) == 0) & (field(o, 14, 12) == 0) & (field(o, 7, 6) == 0)
    lax = (d(o) == 15) | (m(o) == 15) | ((d(o) == 13) & (m(o) == 13))
    return np.where(plain & ~bit(o, 20), lax, bad(d(o)) | bad(m(o)))


def writes_back(o: Opcodes) -> Mask:
    """W of an imm8 load or store."""
    return bit(o, 8)


def unprivileged(o: Opcodes) -> Mask:
    """P, U, W = 1, 1, 0: LDRT and its kin."""
    return field(o, 10, 8) == 0b110


def double_writes_back(o: Opcodes) -> Mask:
    """LDRD and STRD write back with W, and always when post-indexed."""
    return bit(o, 21)


def double(o: Opcodes) -> Mask:
    """LDRD, STRD (A7.7.50, A7.7.166)."""
    return bad(t(o)) | bad(d(o)) | double_writes_back(o) & ((n(o) == t(o)) | (n(o) == d(o)))


def single_list(o: Opcodes) -> Mask:
    """VLDM, VSTM: no register, or one beyond the last (A7.7.235). D16 and above do not exist."""
    is_double = bit(o, 8)
    words = field(o, 7, 0)
    first = np.where(is_double, field(o, 15, 12) * 2, field(o, 15, 12) * 2 + field(o, 22, 22))
    transferred = np.where(is_double, words & ~np.uint32(1), words)
    outside = (transferred == 0) | (first + transferred > 32) | (words > 32)
    return (n(o) == 15) | outside | is_double & bit(o, 22)


def conditions_of_it(o: Opcodes) -> Mask:
    """IT: the condition 1111, or AL with an else part (A7.7.38)."""
    first = field(o, 7, 4)
    return (first == 15) | ((first == 14) & (count(o, 4) != 1))


DNM: Rule = lambda o: bad(d(o)) | bad(n(o)) | bad(m(o))  # noqa: E731
# Encodings whose constant is a byte and a pattern. T4 of ADD and SUB and T3 of MOV have plain bits.
MODIFIED = (
    r"(?!(ADD|SUB) \(immediate\) T4|MOV \(immediate\) T3)"
    r"(AND|BIC|ORR|ORN|EOR|ADD|ADC|SUB|SBC|RSB|MOV|MVN|TST|TEQ|CMP|CMN) \(immediate\)"
)
DN: Rule = lambda o: bad(d(o)) | bad(n(o))  # noqa: E731

NARROW_RULES: list[tuple[str, Rule]] = [
    (
        r"CMP \(register\) T2",
        lambda o: (
            (field(o, 6, 3) == 15)
            | (field(o, 7, 7) * 8 + field(o, 2, 0) == 15)
            | (field(o, 6, 3) < 8) & ~bit(o, 7)
        ),
    ),
    (r"ADD \(register\) T2, to PC|BLX", lambda o: field(o, 6, 3) == 15),
    (r"(PUSH|POP) T1", lambda o: count(o, 9) == 0),
    (r"LDM T1", lambda o: count(o, 8) == 0),
    (
        r"STM T1",
        lambda o: (
            (count(o, 8) == 0)
            | listed(o, field(o, 10, 8)) & ((o & ((np.uint32(1) << field(o, 10, 8)) - 1)) != 0)
        ),
    ),
    (r"CPS", lambda o: field(o, 1, 0) == 0),
    (r"IT T1", conditions_of_it),
]

WIDE_RULES: list[tuple[str, Rule]] = [
    (r"(AND|BIC|ORR|ORN|EOR|ADC|SBC|RSB) \(register\)", DNM),
    (r"(ADD|SUB) \(register\)", add_shifted),
    (r"(TST|TEQ) \(register\)", lambda o: bad(n(o)) | bad(m(o))),
    (r"(CMP|CMN) \(register\)", lambda o: (n(o) == 15) | bad(m(o))),
    (r"MOV \(register\)", move_register),
    (r"MVN \(register\)", lambda o: bad(d(o)) | bad(m(o))),
    (r"(AND|BIC|ORR|ORN|EOR|ADC|SBC) \(immediate\) T1|RSB \(immediate\) T2", DN),
    (r"(ADD|SUB) \(immediate\) T[34]", add_immediate),
    (r"(MOV|MVN) \(immediate\)|MOVT|ADR", lambda o: bad(d(o))),
    (r"(TST|TEQ) \(immediate\)", lambda o: bad(n(o))),
    (r"(CMP|CMN) \(immediate\)", lambda o: n(o) == 15),
    (MODIFIED, zero_byte_pattern),
    (r"(LSL|LSR|ASR|ROR) \(register\)", DNM),
    (r"[SU]SAT", DN),
    # SSAT16 and USAT16, which are UNDEFINED without the DSP extension (A7.7.152, A7.7.213).
    (r"[SU]SAT T1", lambda o: bit(o, 21) & (lsb(o) == 0)),
    (r"[SU]SAT16", lambda o: field(o, 5, 4) != 0),
    (r"[SU]BFX", lambda o: DN(o) | (lsb(o) + field(o, 4, 0) > 31)),
    (r"BFI", lambda o: bad(d(o)) | (n(o) == 13) | (field(o, 4, 0) < lsb(o))),
    (r"PKH|SEL|Q(D)?(ADD|SUB)|x(ADD|SUB|ASX|SAX)", DNM),
    (r"[SU]XT", lambda o: bad(d(o)) | bad(m(o)) | (n(o) == 13)),
    (r"REV|RBIT|CLZ", lambda o: bad(d(o)) | bad(m(o)) | (n(o) != m(o))),
    (r"MUL T2|[SU]DIV|MLA|MLS|SMUL[xW]|SMU[AS]D|SMM|USAD8", DNM),
    (r"MLA|SMUL[xW]|SMU[AS]D|SMMUL|USAD8", lambda o: t(o) == 13),
    (r"MLS|SMMLS", lambda o: bad(t(o))),
    (r"([SU]MULL|[SU]MLAL|UMAAL|SML[AS]L)", lambda o: DNM(o) | bad(t(o)) | (t(o) == d(o))),
    (r"STREX T1", lambda o: bad(d(o)) | bad(t(o)) | (n(o) == 15) | (d(o) == n(o)) | (d(o) == t(o))),
    (r"STREX[BH]", lambda o: bad(m(o)) | bad(t(o)) | (n(o) == 15) | (m(o) == n(o)) | (m(o) == t(o))),
    (r"LDREX", lambda o: bad(t(o)) | (n(o) == 15)),
    (r"(LDRD|STRD)", double),
    (r"STRD", lambda o: n(o) == 15),
    (r"LDRD", lambda o: (t(o) == d(o)) | (n(o) == 15) & double_writes_back(o)),
    (r"PL[DI] \(register\)", lambda o: bad(m(o))),
    (r"LDRS?[BH] \(literal\)", lambda o: t(o) == 13),
    (r"STR.*\((immediate|register)\)|STR.?T T1", lambda o: n(o) == 15),
    (r"STR[BH] \(", lambda o: bad(t(o))),
    (r"STR \(", lambda o: t(o) == 15),
    (r"LDRS?[BH] \(", lambda o: t(o) == 13),
    (r"(LDRS?[BH] \(immediate\) T3|LDRS[BH] \(immediate\) T2)", lambda o: t(o) == 15),
    (r"(STR|LDR)[BH]? \(immediate\) T[34]|LDRS[BH] \(immediate\) T2",
        lambda o: bit(o, 11) & ~bit(o, 23) & (writes_back(o) & (n(o) == t(o)) | unprivileged(o) & bad(t(o)))),
    (r"(LDR|STR)S?[BH]?T T1", lambda o: bad(t(o))),
    (r"(STR|LDR)S?[BH]? \(register\)", lambda o: bad(m(o))),
    (r"STM", lambda o: (n(o) == 15) | (count(o, 16) < 2) | bit(o, 21) & listed(o, n(o))),
    (r"LDM", lambda o: (n(o) == 15) | (count(o, 16) < 2) | bit(o, 21) & listed(o, n(o))),
    (r"LDM", lambda o: bit(o, 15) & bit(o, 14)),
    (r"TB[BH]", lambda o: (n(o) == 13) | bad(m(o))),
    (r"MSR", lambda o: bad(n(o)) | bit(o, 20) | bit(o, 13) | (field(o, 9, 8) != 0)),
    (r"MRS", lambda o: bad(d(o)) | (field(o, 20, 16) != 15) | bit(o, 13)),
    (r"WFE|WFI|SEV|NOP", lambda o: (n(o) != 15) | bit(o, 13) | bit(o, 11)),
    (r"CLREX|DSB|DMB|ISB", lambda o: (n(o) != 15) | bit(o, 13) | (d(o) != 15)),
    (r"CLREX", lambda o: m(o) != 15),
    (r"VCVT \((from|to) fixed", lambda o: ~bit(o, 7) & ((field(o, 3, 0) << 1 | field(o, 5, 5)) > 16)),
    (r"VCMP, VCMPE T2", lambda o: bit(o, 5) | (m(o) != 0)),
    (r"VMOV \((core to|single to core|scalar to core)", lambda o: bad(t(o))),
    (r"VMOV \((core to scalar|scalar to core)", lambda o: bit(o, 7)),
    (r"VMSR", lambda o: bad(t(o))),
    (r"VMRS", lambda o: t(o) == 13),
    (r"VMOV \((pair to|singles to|double to)", lambda o: bad(t(o)) | bad(n(o))),
    (r"VMOV \((singles to|double to) pair", lambda o: t(o) == n(o)),
    (r"VMOV \((pair to singles|singles to pair)", lambda o: bit(o, 5) & (m(o) == 15)),
    (r"(VLDR|VSTR)", lambda o: bit(o, 8) & bit(o, 22)),
    (r"VSTR", lambda o: n(o) == 15),
    (r"(VLDM|VSTM)", single_list),
]  # fmt: skip


# What the pseudocode of A7.7 refuses anywhere in an IT block, and what it refuses before its end.
NEVER_IN_IT = r"B T1|B T3|CB|IT|CPS|MOV \(register\) T2"
LAST_IN_IT = r"B T2|B T4|BL|BX|TB|.*to PC"


# The special registers of ARMv6-M by SYSm (DDI 0419C, table B4-1).
SPECIAL = (0, 1, 2, 3, 5, 6, 7, 8, 9, 16, 20)
# What ARMv6-M refuses beyond that (DDI 0419C, A6.7.15, B4.2.2 and B4.2.3): CPS sets PRIMASK alone,
# and MSR has one mask. It has neither BASEPRI nor FAULTMASK.
BASELINE_RULES: list[tuple[str, Rule]] = [
    (r"CPS", lambda o: field(o, 3, 0) != 2),
    (r"MSR", lambda o: (field(o, 11, 8) != 8) | ~np.isin(field(o, 7, 0), SPECIAL)),
    (r"MRS", lambda o: ~np.isin(field(o, 7, 0), SPECIAL)),
]


def baseline_unpredictable(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes ARMv6-M gives no result, of an encoding that it has."""
    mask = unpredictable(row, opcodes)
    for pattern, rule in BASELINE_RULES:
        if re.match(pattern, row.name):
            mask |= rule(opcodes)
    return mask


def unpredictable(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes the manual gives no result."""
    mask = np.zeros(len(opcodes), bool)
    for pattern, rule in WIDE_RULES if row.wide else NARROW_RULES:
        if re.match(pattern, row.name):
            mask |= rule(opcodes)
    return mask
