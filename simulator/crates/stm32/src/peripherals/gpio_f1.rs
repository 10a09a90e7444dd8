//! What the ports of the STM32F1 configure in a way of their own (RM0008 §9.2): four bits a pin, and no
//! numbers of alternate functions.

use super::gpio::{Configuration, Gpio, PINS};
use super::registers::Register;

const CRL: u32 = 0x00;
const CRH: u32 = 0x04;
pub const IDR: u32 = 0x08;
pub const ODR: u32 = 0x0C;
pub const BSRR: u32 = 0x10;
pub const BRR: u32 = 0x14;
pub const LCKR: u32 = 0x18;

/// Pins start as floating inputs.
pub static TABLE: [Register; 7] = [
    Register::new(CRL, "CRL", 0x4444_4444, !0),
    Register::new(CRH, "CRH", 0x4444_4444, !0),
    Register::new(IDR, "IDR", 0, 0).inert(PINS),
    Register::new(ODR, "ODR", 0, PINS),
    Register::new(BSRR, "BSRR", 0, !0),
    Register::new(BRR, "BRR", 0, PINS),
    Register::new(LCKR, "LCKR", 0, 1 << 16 | PINS),
];

pub fn configures(offset: u32) -> bool {
    matches!(offset, CRL | CRH)
}

/// The bits of a pin in a register that LCKR protects.
pub fn field(offset: u32, pin: u32) -> u32 {
    match offset {
        CRL if pin < 8 => 0xF << (4 * pin),
        CRH if pin >= 8 => 0xF << (4 * (pin - 8)),
        _ => 0,
    }
}

/// CNF and MODE of a pin (§9.1, table 20).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Analog,
    Floating,
    Pulled,
    Output { open_drain: bool, alternate: bool },
}

impl Gpio {
    fn mode_f1(&self, pin: u32) -> Mode {
        let bits = self.registers.get(if pin < 8 { CRL } else { CRH }) >> (pin % 8 * 4) & 0xF;
        match (bits & 0b11, bits >> 2) {
            (0, 0) => Mode::Analog,
            (0, 2) => Mode::Pulled,
            (0, _) => Mode::Floating,
            (_, kind) => Mode::Output {
                open_drain: kind & 1 != 0,
                alternate: kind & 2 != 0,
            },
        }
    }

    /// The debug port holds these pins (AFIO_MAPR.SWJ_CFG), and pulls some of them up.
    pub fn claim(&mut self, pins: u32, high: u32) {
        self.claimed = pins;
        self.claimed_high = high;
        self.configured();
    }

    /// Whether a peripheral may use a pin: as its output, or as its input.
    pub(super) fn is_f1_function(&self, pin: u32) -> bool {
        self.claimed >> pin & 1 == 0
            && !matches!(
                self.mode_f1(pin),
                Mode::Analog
                    | Mode::Output {
                        alternate: false,
                        ..
                    }
            )
    }

    /// Whether a peripheral drives a pin, if it is switched to it.
    pub fn lets_drive(&self, pin: u32) -> bool {
        match self.line {
            crate::chip::Line::F1 => {
                let mode = self.mode_f1(pin);
                matches!(
                    mode,
                    Mode::Output {
                        alternate: true,
                        ..
                    }
                )
            }
            _ => true,
        }
    }

    pub(super) fn configuration_f1(&self) -> Configuration {
        let mut all = Configuration::default();
        for pin in (0..16).filter(|pin| self.claimed >> pin & 1 == 0) {
            let bit = 1 << pin;
            match self.mode_f1(pin) {
                Mode::Analog => all.analog |= bit,
                Mode::Floating => {}
                Mode::Pulled => all.pulled_by_data |= bit,
                Mode::Output {
                    open_drain,
                    alternate,
                } => {
                    all.open_drain |= u32::from(open_drain) << pin;
                    match alternate {
                        true => all.alternate |= bit,
                        false => all.output |= bit,
                    }
                }
            }
        }
        all.pulled_up = self.claimed_high;
        all
    }
}
