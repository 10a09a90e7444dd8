//! The timers of the line: which registers each has, and which interrupts (RM0368 §10.1.3 table 38,
//! RM0090 §12.1.3 table 61).

use super::{ARPE, CEN, EVENTS, MOE, OPM, OSSI, UDIS, UIF, URS};
use super::{ARR, BDTR, CCER, CCMR1, CCMR2, CCR1, CCR4, CNT, CR1, CR2, DIER, EGR, PSC, RCR, SR};
use crate::peripherals::registers::Register;

/// What tells one timer from another.
pub struct Model {
    pub name: &'static str,
    pub(super) table: &'static [Register],
    pub(super) update_irq: u16,
    pub(super) capture_irq: u16,
    pub(super) counter_max: u32,
    pub(super) channels: usize,
    pub(super) advanced: bool,
    /// Clocked by APB2 instead of APB1.
    pub on_apb2: bool,
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
static ADVANCED: [Register; 20] = [
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

const fn general(
    name: &'static str,
    table: &'static [Register],
    irq: u16,
    counter_max: u32,
) -> Model {
    Model {
        name,
        table,
        update_irq: irq,
        capture_irq: irq,
        counter_max,
        channels: 4,
        advanced: false,
        on_apb2: false,
    }
}

const fn advanced(name: &'static str, update_irq: u16, capture_irq: u16) -> Model {
    Model {
        update_irq,
        advanced: true,
        on_apb2: true,
        ..general(name, &ADVANCED, capture_irq, 0xFFFF)
    }
}

const fn small(
    name: &'static str,
    table: &'static [Register],
    irq: u16,
    channels: usize,
    on_apb2: bool,
) -> Model {
    Model {
        channels,
        on_apb2,
        ..general(name, table, irq, 0xFFFF)
    }
}

/// The timers of the line, in the order of their index. Not every chip has all.
pub static MODELS: [Model; 14] = [
    general("TIM2", &TABLE_32, 28, u32::MAX),
    general("TIM3", &TABLE_16, 29, 0xFFFF),
    general("TIM4", &TABLE_16, 30, 0xFFFF),
    general("TIM5", &TABLE_32, 50, u32::MAX),
    advanced("TIM1", 25, 27),
    advanced("TIM8", 44, 46),
    small("TIM9", &TWO_CHANNELS, 24, 2, true),
    small("TIM10", &ONE_CHANNEL, 25, 1, true),
    small("TIM11", &ONE_CHANNEL, 26, 1, true),
    small("TIM12", &TWO_CHANNELS, 43, 2, false),
    small("TIM13", &ONE_CHANNEL, 44, 1, false),
    small("TIM14", &ONE_CHANNEL, 45, 1, false),
    small("TIM6", &BASIC, 54, 0, false),
    small("TIM7", &BASIC, 55, 0, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The TIMx_..._IRQn of ST's stm32f407xx.h (CMSIS for the F4, 2.6.10).
    #[test]
    fn interrupts_have_the_numbers_of_the_device_header() {
        let rows = [
            ("TIM1", 25, 27),
            ("TIM2", 28, 28),
            ("TIM3", 29, 29),
            ("TIM4", 30, 30),
            ("TIM5", 50, 50),
            ("TIM6", 54, 54),
            ("TIM7", 55, 55),
            ("TIM8", 44, 46),
            ("TIM9", 24, 24),
            ("TIM10", 25, 25),
            ("TIM11", 26, 26),
            ("TIM12", 43, 43),
            ("TIM13", 44, 44),
            ("TIM14", 45, 45),
        ];
        assert_eq!(rows.len(), MODELS.len());
        for (name, update, capture) in rows {
            let model = MODELS.iter().find(|model| model.name == name).unwrap();
            assert_eq!(
                (model.update_irq, model.capture_irq),
                (update, capture),
                "{name}"
            );
        }
    }
}
