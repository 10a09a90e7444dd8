//! The timers of the line: which registers each has.

use super::{ARPE, CEN, EVENTS, MOE, OPM, OSSI, UDIS, UIF, URS};
use super::{ARR, BDTR, CCER, CCMR1, CCMR2, CCR1, CCR4, CNT, CR1, CR2, DIER, EGR, PSC, RCR, SR};
use crate::peripherals::registers::Register;

/// What tells one timer from another.
pub struct Model {
    pub name: &'static str,
    pub(super) table: &'static [Register],
    pub(super) counter_max: u32,
    pub(super) channels: usize,
    pub(super) advanced: bool,
}

/// CC1OF–CC4OF.
const OVERCAPTURES: u32 = 0xF << 9;
/// CKD sets the clock of the input filters and the dead time, which are not modelled.
const CKD: u32 = 0b11 << 8;
/// DIR and CMS: counting down.
const DOWN: u32 = 0b111 << 4;
/// MMS selects the trigger output, which nothing modelled uses but the DAC.
const MMS: u32 = 0b111 << 4;
/// CCDS and TI1S.
const CR2_MISSING: u32 = 1 << 3 | 1 << 7;
/// TIE and the DMA requests UDE, CCxDE and TDE.
const DIER_MISSING: u32 = 0x5F40;
/// The flags of a timer that has `channels`.
const fn events(channels: u32) -> u32 {
    EVENTS >> (4 - channels)
}

const fn status(channels: u32) -> Register {
    let flags = events(channels) | (OVERCAPTURES >> (4 - channels)) & OVERCAPTURES;
    Register::new(SR, "SR", 0, flags).inert(!flags)
}

const fn wide_table(counter: u32) -> [Register; 19] {
    [
        Register::new(CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD).missing(DOWN),
        Register::new(CR2, "CR2", 0, MMS).missing(CR2_MISSING),
        Register::new(0x08, "SMCR", 0, 0).missing(0xFFF7),
        Register::new(DIER, "DIER", 0, EVENTS).missing(DIER_MISSING),
        status(4),
        Register::new(EGR, "EGR", 0, EVENTS),
        // What the bits mean depends on CCxS. `check_mode` refuses filters, ETRF and TRC.
        Register::new(CCMR1, "CCMR1", 0, 0xFFFF),
        Register::new(CCMR2, "CCMR2", 0, 0xFFFF),
        Register::new(CCER, "CCER", 0, 0xBBBB),
        Register::new(CNT, "CNT", 0, counter),
        Register::new(PSC, "PSC", 0, 0xFFFF),
        Register::new(ARR, "ARR", counter, counter),
        Register::new(CCR1, "CCR1", 0, counter),
        Register::new(0x38, "CCR2", 0, counter),
        Register::new(0x3C, "CCR3", 0, counter),
        Register::new(CCR4, "CCR4", 0, counter),
        Register::new(0x48, "DCR", 0, 0).missing(0x1F1F),
        Register::unmodelled(0x4C, "DMAR"),
        Register::new(0x50, "OR", 0, 0).missing(0x0CC0),
    ]
}

static TABLE_32: [Register; 19] = wide_table(0xFFFF_FFFF);
static TABLE_16: [Register; 19] = wide_table(0x0000_FFFF);

/// TIM1 and TIM8. The break input and the complementary outputs with their dead time are missing, so
/// that DTG, OSSR, BKP, LOCK and AOE have no effect.
static ADVANCED: [Register; 20] = ADVANCED_ROWS;
const ADVANCED_ROWS: [Register; 20] = [
    Register::new(CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD).missing(DOWN),
    Register::new(CR2, "CR2", 0, MMS).missing(CR2_MISSING | 0x7F05),
    Register::new(0x08, "SMCR", 0, 0).missing(0xFFF7),
    Register::new(DIER, "DIER", 0, EVENTS).missing(DIER_MISSING | 0x20A0),
    status(4),
    Register::new(EGR, "EGR", 0, EVENTS).missing(0xE0),
    Register::new(CCMR1, "CCMR1", 0, 0xFFFF),
    Register::new(CCMR2, "CCMR2", 0, 0xFFFF),
    Register::new(CCER, "CCER", 0, 0xBBBB).missing(0x0444),
    Register::new(CNT, "CNT", 0, 0xFFFF),
    Register::new(PSC, "PSC", 0, 0xFFFF),
    Register::new(ARR, "ARR", 0xFFFF, 0xFFFF),
    Register::new(RCR, "RCR", 0, 0xFF),
    Register::new(CCR1, "CCR1", 0, 0xFFFF),
    Register::new(0x38, "CCR2", 0, 0xFFFF),
    Register::new(0x3C, "CCR3", 0, 0xFFFF),
    Register::new(CCR4, "CCR4", 0, 0xFFFF),
    Register::new(BDTR, "BDTR", 0, MOE | OSSI | 0x6BFF).missing(1 << 12),
    Register::new(0x48, "DCR", 0, 0).missing(0x1F1F),
    Register::unmodelled(0x4C, "DMAR"),
];

/// TIM9 to TIM14 with their one or two channels. Those with one have no slave mode: SMCR is reserved
/// and reads zero, as does CR2.
const fn small_table(channels: u32) -> [Register; 14] {
    let two = channels == 2;
    [
        Register::new(CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD),
        Register::new(CR2, "CR2", 0, if two { MMS } else { 0 }),
        Register::new(0x08, "SMCR", 0, 0).missing(if two { 0x00F7 } else { 0 }),
        Register::new(DIER, "DIER", 0, events(channels)).missing(if two { 0x40 } else { 0 }),
        status(channels),
        Register::new(EGR, "EGR", 0, events(channels)).missing(if two { 0x40 } else { 0 }),
        Register::new(CCMR1, "CCMR1", 0, if two { 0xFFFF } else { 0x00FF }),
        Register::new(CCER, "CCER", 0, if two { 0xBB } else { 0x0B }),
        Register::new(CNT, "CNT", 0, 0xFFFF),
        Register::new(PSC, "PSC", 0, 0xFFFF),
        Register::new(ARR, "ARR", 0xFFFF, 0xFFFF),
        Register::new(CCR1, "CCR1", 0, 0xFFFF),
        Register::new(0x38, "CCR2", 0, if two { 0xFFFF } else { 0 }),
        Register::new(0x50, "OR", 0, 0).missing(if two { 0 } else { 0b11 }),
    ]
}

static TWO_CHANNELS: [Register; 14] = small_table(2);
static ONE_CHANNEL: [Register; 14] = small_table(1);

/// As [`wide_table`] without OR: the STM32F1 and the STM32F0.
const fn plain_table(counter: u32, enables: u32) -> [Register; 18] {
    let [a, b, c, d, e, f, g, h, _, i, j, k, l, m, n, o, p, q, _] = wide_table(counter);
    let enables = Register::new(CCER, "CCER", 0, enables);
    [a, b, c, d, e, f, g, h, enables, i, j, k, l, m, n, o, p, q]
}

static PLAIN_32: [Register; 18] = plain_table(0xFFFF_FFFF, 0xBBBB);
static PLAIN_16: [Register; 18] = plain_table(0x0000_FFFF, 0xBBBB);
/// RM0008 §15.4.9: inputs have one edge.
static PLAIN_16_F1: [Register; 18] = plain_table(0x0000_FFFF, 0x3333);

/// UIFREMAP, and the fourth bit of OCxM, of the STM32L4.
const REMAP: u32 = 1 << 11;
const MODE_3: u32 = 0x0101_0000;

/// RM0351 §31.4: with modes that combine channels, which are not modelled.
const fn l4_table(counter: u32) -> [Register; 20] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, _] = wide_table(counter);
    [
        a.missing(DOWN | REMAP),
        b,
        c.missing(0x0001_FFF7),
        d,
        e,
        f,
        g.missing(MODE_3),
        h.missing(MODE_3),
        i,
        j,
        k,
        l,
        m,
        n,
        o,
        p,
        q,
        r,
        Register::new(0x50, "OR1", 0, 0).missing(0x1F),
        Register::new(0x60, "OR2", 0, 0).missing(0x0001_C000),
    ]
}

static L4_32: [Register; 20] = l4_table(0xFFFF_FFFF);
static L4_16: [Register; 20] = l4_table(0x0000_FFFF);

/// RM0444 §22.4: as the STM32L4's, with what chooses inputs in other registers.
const fn g0_table(counter: u32) -> [Register; 21] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, _, _] = l4_table(counter);
    let options = Register::new(0x50, "OR1", 0, 0).missing(1);
    let alternate = Register::new(0x60, "AF1", 0, 0).missing(0x0003_C000);
    let inputs = Register::new(0x68, "TISEL", 0, 0).missing(0x0F0F);
    [
        a,
        b,
        c.missing(0x0031_FFF7),
        d,
        e,
        f,
        g,
        h,
        i,
        j,
        k,
        l,
        m,
        n,
        o,
        p,
        q,
        r,
        options,
        alternate,
        inputs,
    ]
}

static G0_32: [Register; 21] = g0_table(0xFFFF_FFFF);
static G0_16: [Register; 21] = g0_table(0x0000_FFFF);

/// RM0440 §29.5: with dithering, an encoder's index and more inputs, which are not modelled. The registers
/// of DMA bursts lie far behind, and are left out.
const fn g4_table(counter: u32) -> [Register; 20] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, _, _, _, _] = l4_table(counter);
    [
        a.missing(DOWN | REMAP | 1 << 12),
        b.missing(CR2_MISSING | 0x0200_0000),
        c.missing(0x0331_FFF7),
        d.missing(DIER_MISSING | 0x00F0_0000),
        e,
        f,
        g,
        h,
        i,
        j,
        k,
        l,
        m,
        n,
        o,
        p,
        Register::new(0x58, "ECR", 0, 0).missing(0x07FF_00FF),
        Register::new(0x5C, "TISEL", 0, 0).missing(0x0F0F_0F0F),
        Register::new(0x60, "AF1", 0, 0).missing(0x0003_C000),
        Register::new(0x64, "AF2", 0, 0).missing(0x0007_0000),
    ]
}

static G4_32: [Register; 20] = g4_table(0xFFFF_FFFF);
static G4_16: [Register; 20] = g4_table(0x0000_FFFF);

/// RM0351 §30.4: with two more channels and a second break input.
static ADVANCED_L4: [Register; 26] = {
    let [a, b, c, d, e, f, g, h, _, i, j, k, _, m, n, o, p, q, r, s] = ADVANCED_ROWS;
    [
        a.missing(DOWN | REMAP),
        b.missing(CR2_MISSING | 0x00F5_7F05),
        c.missing(0x0001_FFF7),
        d,
        e,
        f.missing(0x1E0),
        g.missing(MODE_3),
        h.missing(MODE_3),
        Register::new(CCER, "CCER", 0, 0xBBBB).missing(0x0033_0444),
        i,
        j,
        k,
        Register::new(RCR, "RCR", 0, 0xFFFF),
        m,
        n,
        o,
        p,
        q.missing(1 << 12 | 0x03FF_0000),
        r,
        s,
        Register::new(0x50, "OR1", 0, 0).missing(0x1F),
        Register::new(0x54, "CCMR3", 0, 0).missing(0x0101_FCFC),
        Register::new(0x58, "CCR5", 0, 0).missing(0xE000_FFFF),
        Register::new(0x5C, "CCR6", 0, 0).missing(0xFFFF),
        Register::new(0x60, "OR2", 1, 0).missing(0x0001_CF07),
        Register::new(0x64, "OR3", 1, 0).missing(0x0F07),
    ]
};

/// RM0444 §21.4.
static ADVANCED_G0: [Register; 27] = {
    let mut table = [Register::new(0x68, "TISEL", 0, 0).missing(0x0F0F); 27];
    let mut n = 0;
    while n < ADVANCED_L4.len() {
        table[n] = ADVANCED_L4[n];
        n += 1;
    }
    table[24] = Register::new(0x60, "AF1", 1, 0).missing(0x0001_CE07);
    table[25] = Register::new(0x64, "AF2", 1, 0).missing(0x0F07);
    table
};

/// RM0440 §28.6, as far as an STM32L4 has the same.
static ADVANCED_G4: [Register; 21] = {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, ..] = ADVANCED_L4;
    [
        a.missing(DOWN | REMAP | 1 << 12),
        b.missing(CR2_MISSING | 0x02F5_FF05),
        c.missing(0x0331_FFF7),
        d.missing(DIER_MISSING | 0x00F0_20A0),
        e,
        f,
        g,
        h,
        i.missing(0x0033_4CC4 & !0xBBBB | 0x4444),
        j,
        k,
        l,
        m,
        n,
        o,
        p,
        q,
        r.missing(1 << 12 | 0x3FFF_0000),
        Register::new(0x5C, "TISEL", 0, 0).missing(0x0F0F_0F0F),
        Register::new(0x60, "AF1", 1, 0).missing(0x0003_FEFF),
        Register::new(0x64, "AF2", 1, 0).missing(0x0007_3EFF),
    ]
};

/// RM0008 §14.4.9.
static ADVANCED_F1: [Register; 20] = {
    let mut rows = ADVANCED_ROWS;
    rows[8] = Register::new(CCER, "CCER", 0, 0x3333).missing(0x0CCC);
    rows
};

/// TIM15 to TIM17 (RM0351 §32, RM0091 §20) with their two or one channels. The complementary output,
/// the break input and DMA are missing.
const fn complementary_table(channels: u32) -> [Register; 19] {
    let two = channels == 2;
    [
        Register::new(CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD).missing(REMAP),
        Register::new(CR2, "CR2", 0, if two { MMS } else { 0 }).missing(0x078D),
        Register::new(0x08, "SMCR", 0, 0).missing(if two { 0x0001_00F7 } else { 0 }),
        Register::new(DIER, "DIER", 0, events(channels)).missing(0x7FE0),
        status(channels),
        Register::new(EGR, "EGR", 0, events(channels)).missing(0xE0),
        Register::new(CCMR1, "CCMR1", 0, if two { 0xFFFF } else { 0x00FF }).missing(MODE_3),
        Register::new(CCER, "CCER", 0, if two { 0xBB } else { 0x0B }).missing(0x04),
        Register::new(CNT, "CNT", 0, 0xFFFF),
        Register::new(PSC, "PSC", 0, 0xFFFF),
        Register::new(ARR, "ARR", 0xFFFF, 0xFFFF),
        Register::new(RCR, "RCR", 0, 0xFF),
        Register::new(CCR1, "CCR1", 0, 0xFFFF),
        Register::new(0x38, "CCR2", 0, if two { 0xFFFF } else { 0 }),
        Register::new(BDTR, "BDTR", 0, MOE | OSSI | 0x6BFF).missing(1 << 12 | 0xF << 16),
        Register::new(0x48, "DCR", 0, 0).missing(0x1F1F),
        Register::unmodelled(0x4C, "DMAR"),
        Register::new(0x50, "OR1", 0, 0).missing(0b11),
        Register::new(0x60, "OR2", 0, 0).missing(0x0F07),
    ]
}

static TIM15: [Register; 19] = complementary_table(2);
static TIM16: [Register; 19] = complementary_table(1);

/// The same of the STM32G0 (RM0444 §25) and the STM32G4 (RM0440 §30), whose TISEL are elsewhere.
const fn newer_complementary(channels: u32, inputs: u32) -> [Register; 19] {
    let mut table = complementary_table(channels);
    table[17] = Register::new(inputs, "TISEL", 0, 0).missing(0x0F0F);
    table[18] = Register::new(0x60, "AF1", 1, 0).missing(0x3EFF);
    table
}

static TIM15_G0: [Register; 19] = newer_complementary(2, 0x68);
static TIM16_G0: [Register; 19] = newer_complementary(1, 0x68);
static TIM15_G4: [Register; 19] = newer_complementary(2, 0x5C);
static TIM16_G4: [Register; 19] = newer_complementary(1, 0x5C);

/// TIM6 and TIM7 (RM0090 §20.4).
static BASIC: [Register; 8] = [
    Register::new(CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE),
    Register::new(CR2, "CR2", 0, MMS),
    Register::new(DIER, "DIER", 0, UIF).missing(1 << 8),
    status(0),
    Register::new(EGR, "EGR", 0, UIF),
    Register::new(CNT, "CNT", 0, 0xFFFF),
    Register::new(PSC, "PSC", 0, 0xFFFF),
    Register::new(ARR, "ARR", 0xFFFF, 0xFFFF),
];

const fn general(name: &'static str, table: &'static [Register], counter_max: u32) -> Model {
    Model {
        name,
        table,
        counter_max,
        channels: 4,
        advanced: false,
    }
}

const fn advanced(name: &'static str) -> Model {
    Model {
        advanced: true,
        ..general(name, &ADVANCED, 0xFFFF)
    }
}

const fn small(name: &'static str, table: &'static [Register], channels: usize) -> Model {
    Model {
        channels,
        ..general(name, table, 0xFFFF)
    }
}

/// The timers of the STM32F4, in the order of their index. Not every chip has all.
pub static MODELS: [Model; TIMERS] = [
    general("TIM2", &TABLE_32, u32::MAX),
    general("TIM3", &TABLE_16, 0xFFFF),
    general("TIM4", &TABLE_16, 0xFFFF),
    general("TIM5", &TABLE_32, u32::MAX),
    advanced("TIM1"),
    advanced("TIM8"),
    small("TIM9", &TWO_CHANNELS, 2),
    small("TIM10", &ONE_CHANNEL, 1),
    small("TIM11", &ONE_CHANNEL, 1),
    small("TIM12", &TWO_CHANNELS, 2),
    small("TIM13", &ONE_CHANNEL, 1),
    small("TIM14", &ONE_CHANNEL, 1),
    small("TIM6", &BASIC, 0),
    small("TIM7", &BASIC, 0),
];

/// How many a chip may have.
pub const TIMERS: usize = 14;

const fn complementary(name: &'static str, table: &'static [Register], channels: usize) -> Model {
    Model {
        advanced: true,
        ..small(name, table, channels)
    }
}

/// Those of the other lines. TIM15 to TIM17 have the places of TIM9 to TIM11: no chip has both.
const fn newer(
    wide: &'static [Register],
    narrow: &'static [Register],
    advanced: &'static [Register],
    complementaries: [&'static [Register]; 2],
) -> [Model; TIMERS] {
    [
        general("TIM2", wide, u32::MAX),
        general("TIM3", narrow, 0xFFFF),
        general("TIM4", narrow, 0xFFFF),
        general("TIM5", wide, u32::MAX),
        Model {
            advanced: true,
            ..general("TIM1", advanced, 0xFFFF)
        },
        Model {
            advanced: true,
            ..general("TIM8", advanced, 0xFFFF)
        },
        complementary("TIM15", complementaries[0], 2),
        complementary("TIM16", complementaries[1], 1),
        complementary("TIM17", complementaries[1], 1),
        small("TIM12", &TWO_CHANNELS, 2),
        small("TIM13", &ONE_CHANNEL, 1),
        small("TIM14", &ONE_CHANNEL, 1),
        small("TIM6", &BASIC, 0),
        small("TIM7", &BASIC, 0),
    ]
}

pub static MODELS_L4: [Model; TIMERS] = newer(&L4_32, &L4_16, &ADVANCED_L4, [&TIM15, &TIM16]);
pub static MODELS_G0: [Model; TIMERS] = newer(&G0_32, &G0_16, &ADVANCED_G0, [&TIM15_G0, &TIM16_G0]);
pub static MODELS_G4: [Model; TIMERS] = newer(&G4_32, &G4_16, &ADVANCED_G4, [&TIM15_G4, &TIM16_G4]);
pub static MODELS_F0: [Model; TIMERS] = newer(&PLAIN_32, &PLAIN_16, &ADVANCED, [&TIM15, &TIM16]);
/// All of them have 16 bits.
pub static MODELS_F1: [Model; TIMERS] = {
    let mut models = newer(&PLAIN_16_F1, &PLAIN_16_F1, &ADVANCED_F1, [&TIM15, &TIM16]);
    models[0] = general("TIM2", &PLAIN_16_F1, 0xFFFF);
    models[3] = general("TIM5", &PLAIN_16_F1, 0xFFFF);
    models
};

/// The index of a timer, if one has this name on any line.
pub fn place(name: &str) -> Option<usize> {
    let of = |models: &[Model; TIMERS]| models.iter().position(|model| model.name == name);
    of(&MODELS).or_else(|| of(&MODELS_L4))
}
