//! The timers of the line: which registers each has.

use super::{Model, ARPE, CEN, EVENTS, MOE, OPM, OSSI, TIMERS, UDIS, UIF, URS};
use super::{ARR, BDTR, CCER, CCMR1, CCMR2, CCR1, CCR4, CNT, CR1, CR2, DIER, EGR, PSC, RCR, SR};
use crate::peripherals::registers::{merged, rows, Register};

const SMCR: u32 = 0x08;
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

/// The flags in SR of a timer that has `channels`.
const fn flags(channels: u32) -> u32 {
    events(channels) | (OVERCAPTURES >> (4 - channels)) & OVERCAPTURES
}

/// A timer with four channels, as the STM32F1 and the STM32F0 have it.
const fn plain_table(counter: u32) -> [Register; 18] {
    rows! {
        CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD, missing DOWN;
        CR2, "CR2", 0, MMS, missing CR2_MISSING;
        SMCR, "SMCR", 0, 0, missing 0xFFF7;
        DIER, "DIER", 0, EVENTS, missing DIER_MISSING;
        SR, "SR", 0, flags(4), inert !flags(4);
        EGR, "EGR", 0, EVENTS;
        // What the bits mean depends on CCxS. `check_mode` refuses filters, ETRF and TRC.
        CCMR1, "CCMR1", 0, 0xFFFF;
        CCMR2, "CCMR2", 0, 0xFFFF;
        CCER, "CCER", 0, 0xBBBB;
        CNT, "CNT", 0, counter;
        PSC, "PSC", 0, 0xFFFF;
        ARR, "ARR", counter, counter;
        CCR1, "CCR1", 0, counter;
        0x38, "CCR2", 0, counter;
        0x3C, "CCR3", 0, counter;
        CCR4, "CCR4", 0, counter;
        0x48, "DCR", 0, 0, missing 0x1F1F;
        0x4C, "DMAR", 0, 0, absent;
    }
}

static PLAIN_32: [Register; 18] = plain_table(0xFFFF_FFFF);
static PLAIN_16: [Register; 18] = plain_table(0x0000_FFFF);
/// RM0008 §15.4.9: inputs have one edge.
static PLAIN_16_F1: [Register; 18] = merged(&PLAIN_16, &rows! { CCER, "CCER", 0, 0x3333; });

const OPTIONS: [Register; 1] = rows! { 0x50, "OR", 0, 0, missing 0x0CC0; };
static TABLE_32: [Register; 19] = merged(&PLAIN_32, &OPTIONS);
static TABLE_16: [Register; 19] = merged(&PLAIN_16, &OPTIONS);

/// TIM1 and TIM8. The break input and the complementary outputs with their dead time are missing, so
/// that DTG, OSSR, BKP, LOCK and AOE have no effect.
static ADVANCED: [Register; 20] = rows! {
    CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD, missing DOWN;
    CR2, "CR2", 0, MMS, missing CR2_MISSING | 0x7F05;
    SMCR, "SMCR", 0, 0, missing 0xFFF7;
    DIER, "DIER", 0, EVENTS, missing DIER_MISSING | 0x20A0;
    SR, "SR", 0, flags(4), inert !flags(4);
    EGR, "EGR", 0, EVENTS, missing 0xE0;
    CCMR1, "CCMR1", 0, 0xFFFF;
    CCMR2, "CCMR2", 0, 0xFFFF;
    CCER, "CCER", 0, 0xBBBB, missing 0x0444;
    CNT, "CNT", 0, 0xFFFF;
    PSC, "PSC", 0, 0xFFFF;
    ARR, "ARR", 0xFFFF, 0xFFFF;
    RCR, "RCR", 0, 0xFF;
    CCR1, "CCR1", 0, 0xFFFF;
    0x38, "CCR2", 0, 0xFFFF;
    0x3C, "CCR3", 0, 0xFFFF;
    CCR4, "CCR4", 0, 0xFFFF;
    BDTR, "BDTR", 0, MOE | OSSI | 0x6BFF, missing 1 << 12;
    0x48, "DCR", 0, 0, missing 0x1F1F;
    0x4C, "DMAR", 0, 0, absent;
};

/// TIM9 to TIM14 with their one or two channels. Those with one have no slave mode: SMCR is reserved
/// and reads zero, as does CR2.
const fn small_table(channels: u32) -> [Register; 14] {
    let two = channels == 2;
    rows! {
        CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD;
        CR2, "CR2", 0, if two { MMS } else { 0 };
        SMCR, "SMCR", 0, 0, missing if two { 0x00F7 } else { 0 };
        DIER, "DIER", 0, events(channels), missing if two { 0x40 } else { 0 };
        SR, "SR", 0, flags(channels), inert !flags(channels);
        EGR, "EGR", 0, events(channels), missing if two { 0x40 } else { 0 };
        CCMR1, "CCMR1", 0, if two { 0xFFFF } else { 0x00FF };
        CCER, "CCER", 0, if two { 0xBB } else { 0x0B };
        CNT, "CNT", 0, 0xFFFF;
        PSC, "PSC", 0, 0xFFFF;
        ARR, "ARR", 0xFFFF, 0xFFFF;
        CCR1, "CCR1", 0, 0xFFFF;
        0x38, "CCR2", 0, if two { 0xFFFF } else { 0 };
        0x50, "OR", 0, 0, missing if two { 0 } else { 0b11 };
    }
}

static TWO_CHANNELS: [Register; 14] = small_table(2);
static ONE_CHANNEL: [Register; 14] = small_table(1);

/// UIFREMAP, and the fourth bit of OCxM, of the STM32L4.
const REMAP: u32 = 1 << 11;
const MODE_3: u32 = 0x0101_0000;

/// RM0351 §31.4: with modes that combine channels, which are not modelled.
const L4_ROWS: [Register; 6] = rows! {
    CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD, missing DOWN | REMAP;
    SMCR, "SMCR", 0, 0, missing 0x0001_FFF7;
    CCMR1, "CCMR1", 0, 0xFFFF, missing MODE_3;
    CCMR2, "CCMR2", 0, 0xFFFF, missing MODE_3;
    0x50, "OR1", 0, 0, missing 0x1F;
    0x60, "OR2", 0, 0, missing 0x0001_C000;
};
static L4_32: [Register; 20] = merged(&PLAIN_32, &L4_ROWS);
static L4_16: [Register; 20] = merged(&PLAIN_16, &L4_ROWS);

/// RM0444 §22.4: as the STM32L4's, with what chooses inputs in other registers.
const G0_ROWS: [Register; 4] = rows! {
    SMCR, "SMCR", 0, 0, missing 0x0031_FFF7;
    0x50, "OR1", 0, 0, missing 1;
    0x60, "AF1", 0, 0, missing 0x0003_C000;
    0x68, "TISEL", 0, 0, missing 0x0F0F;
};
static G0_32: [Register; 21] = merged(&L4_32, &G0_ROWS);
static G0_16: [Register; 21] = merged(&L4_16, &G0_ROWS);

/// RM0440 §29.5: with dithering, an encoder's index and more inputs, which are not modelled. The registers
/// of DMA bursts lie far behind, and are left out, as are those behind CCR4.
const fn g4_table(l4: &[Register]) -> [Register; 20] {
    let rows = rows! {
        CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD, missing DOWN | REMAP | 1 << 12;
        CR2, "CR2", 0, MMS, missing CR2_MISSING | 0x0200_0000;
        SMCR, "SMCR", 0, 0, missing 0x0331_FFF7;
        DIER, "DIER", 0, EVENTS, missing DIER_MISSING | 0x00F0_0000;
        0x58, "ECR", 0, 0, missing 0x07FF_00FF;
        0x5C, "TISEL", 0, 0, missing 0x0F0F_0F0F;
        0x60, "AF1", 0, 0, missing 0x0003_C000;
        0x64, "AF2", 0, 0, missing 0x0007_0000;
    };
    merged(l4.split_at(16).0, &rows)
}

static G4_32: [Register; 20] = g4_table(&L4_32);
static G4_16: [Register; 20] = g4_table(&L4_16);

/// RM0351 §30.4: with two more channels and a second break input.
static ADVANCED_L4: [Register; 26] = {
    let rows = rows! {
        CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD, missing DOWN | REMAP;
        CR2, "CR2", 0, MMS, missing CR2_MISSING | 0x00F5_7F05;
        SMCR, "SMCR", 0, 0, missing 0x0001_FFF7;
        EGR, "EGR", 0, EVENTS, missing 0x1E0;
        CCMR1, "CCMR1", 0, 0xFFFF, missing MODE_3;
        CCMR2, "CCMR2", 0, 0xFFFF, missing MODE_3;
        CCER, "CCER", 0, 0xBBBB, missing 0x0033_0444;
        RCR, "RCR", 0, 0xFFFF;
        BDTR, "BDTR", 0, MOE | OSSI | 0x6BFF, missing 1 << 12 | 0x03FF_0000;
        0x50, "OR1", 0, 0, missing 0x1F;
        0x54, "CCMR3", 0, 0, missing 0x0101_FCFC;
        0x58, "CCR5", 0, 0, missing 0xE000_FFFF;
        0x5C, "CCR6", 0, 0, missing 0xFFFF;
        0x60, "OR2", 1, 0, missing 0x0001_CF07;
        0x64, "OR3", 1, 0, missing 0x0F07;
    };
    merged(&ADVANCED, &rows)
};

/// RM0444 §21.4.
static ADVANCED_G0: [Register; 27] = {
    let rows = rows! {
        0x60, "AF1", 1, 0, missing 0x0001_CE07;
        0x64, "AF2", 1, 0, missing 0x0F07;
        0x68, "TISEL", 0, 0, missing 0x0F0F;
    };
    merged(&ADVANCED_L4, &rows)
};

/// RM0440 §28.6, as far as an STM32L4 has the same.
static ADVANCED_G4: [Register; 21] = {
    let rows = rows! {
        CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD, missing DOWN | REMAP | 1 << 12;
        CR2, "CR2", 0, MMS, missing CR2_MISSING | 0x02F5_FF05;
        SMCR, "SMCR", 0, 0, missing 0x0331_FFF7;
        DIER, "DIER", 0, EVENTS, missing DIER_MISSING | 0x00F0_20A0;
        CCER, "CCER", 0, 0xBBBB, missing 0x0033_4CC4 & !0xBBBB | 0x4444;
        BDTR, "BDTR", 0, MOE | OSSI | 0x6BFF, missing 1 << 12 | 0x3FFF_0000;
        0x5C, "TISEL", 0, 0, missing 0x0F0F_0F0F;
        0x60, "AF1", 1, 0, missing 0x0003_FEFF;
        0x64, "AF2", 1, 0, missing 0x0007_3EFF;
    };
    merged(ADVANCED_L4.split_at(18).0, &rows)
};

/// RM0008 §14.4.9.
static ADVANCED_F1: [Register; 20] = merged(
    &ADVANCED,
    &rows! { CCER, "CCER", 0, 0x3333, missing 0x0CCC; },
);

/// TIM15 to TIM17 (RM0351 §32, RM0091 §20) with their two or one channels. The complementary output,
/// the break input and DMA are missing.
const fn complementary_table(channels: u32) -> [Register; 19] {
    let two = channels == 2;
    rows! {
        CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE | CKD, missing REMAP;
        CR2, "CR2", 0, if two { MMS } else { 0 }, missing 0x078D;
        SMCR, "SMCR", 0, 0, missing if two { 0x0001_00F7 } else { 0 };
        DIER, "DIER", 0, events(channels), missing 0x7FE0;
        SR, "SR", 0, flags(channels), inert !flags(channels);
        EGR, "EGR", 0, events(channels), missing 0xE0;
        CCMR1, "CCMR1", 0, if two { 0xFFFF } else { 0x00FF }, missing MODE_3;
        CCER, "CCER", 0, if two { 0xBB } else { 0x0B }, missing 0x04;
        CNT, "CNT", 0, 0xFFFF;
        PSC, "PSC", 0, 0xFFFF;
        ARR, "ARR", 0xFFFF, 0xFFFF;
        RCR, "RCR", 0, 0xFF;
        CCR1, "CCR1", 0, 0xFFFF;
        0x38, "CCR2", 0, if two { 0xFFFF } else { 0 };
        BDTR, "BDTR", 0, MOE | OSSI | 0x6BFF, missing 1 << 12 | 0xF << 16;
        0x48, "DCR", 0, 0, missing 0x1F1F;
        0x4C, "DMAR", 0, 0, absent;
        0x50, "OR1", 0, 0, missing 0b11;
        0x60, "OR2", 0, 0, missing 0x0F07;
    }
}

static TIM15: [Register; 19] = complementary_table(2);
static TIM16: [Register; 19] = complementary_table(1);

/// The same of the STM32G0 (RM0444 §25) and the STM32G4 (RM0440 §30), whose TISEL are elsewhere.
const fn newer_complementary(channels: u32, inputs: u32) -> [Register; 19] {
    let rows = rows! {
        inputs, "TISEL", 0, 0, missing 0x0F0F;
        0x60, "AF1", 1, 0, missing 0x3EFF;
    };
    merged(complementary_table(channels).split_at(17).0, &rows)
}

static TIM15_G0: [Register; 19] = newer_complementary(2, 0x68);
static TIM16_G0: [Register; 19] = newer_complementary(1, 0x68);
static TIM15_G4: [Register; 19] = newer_complementary(2, 0x5C);
static TIM16_G4: [Register; 19] = newer_complementary(1, 0x5C);

/// TIM6 and TIM7 (RM0090 §20.4).
static BASIC: [Register; 8] = rows! {
    CR1, "CR1", 0, CEN | UDIS | URS | OPM | ARPE;
    CR2, "CR2", 0, MMS;
    DIER, "DIER", 0, UIF, missing 1 << 8;
    SR, "SR", 0, flags(0), inert !flags(0);
    EGR, "EGR", 0, UIF;
    CNT, "CNT", 0, 0xFFFF;
    PSC, "PSC", 0, 0xFFFF;
    ARR, "ARR", 0xFFFF, 0xFFFF;
};

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
