//! What the ports of the STM32F1 configure in a way of their own (RM0008 §9.2): four bits a pin, and no
//! numbers of alternate functions.

use super::gpio::{Configuration, Gpio, GpioKind, CRH, CRL, CRL_PLACES, LCKK, PINS};
use super::registers::{rows, Register};

/// Pins start as floating inputs.
pub static TABLE: [Register; 7] = rows! {
    CRL, "CRL", 0x4444_4444, !0;
    CRH, "CRH", 0x4444_4444, !0;
    CRL_PLACES.idr, "IDR", 0, 0, inert PINS;
    CRL_PLACES.odr, "ODR", 0, PINS;
    CRL_PLACES.bsrr, "BSRR", 0, !0;
    CRL_PLACES.brr, "BRR", 0, PINS;
    CRL_PLACES.lckr, "LCKR", 0, LCKK | PINS;
};

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
        match self.kind {
            GpioKind::Crl => {
                let mode = self.mode_f1(pin);
                matches!(
                    mode,
                    Mode::Output {
                        alternate: true,
                        ..
                    }
                )
            }
            GpioKind::Moder => true,
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

#[cfg(test)]
mod tests {
    use super::*;

    const IDR: u32 = CRL_PLACES.idr;
    const ODR: u32 = CRL_PLACES.odr;
    use crate::peripherals::gpio::Levels;
    use crate::peripherals::Peripheral;

    fn port() -> Gpio {
        Gpio::new(&crate::lines::f1::LINE.gpio, 3)
    }

    /// RM0008 §9.1, table 20: CNF and MODE.
    #[test]
    fn a_pin_is_what_its_four_bits_say() {
        let mut port = port();
        // Pins 0 to 3: push-pull, open drain, pulled, analog; all high.
        port.write(CRL, 0x4444_0873, 0).unwrap();
        port.write(ODR, 0b1111, 0).unwrap();
        let levels = Levels {
            high: 0b0101,
            driven: 0b0001,
        };
        assert_eq!(port.levels(), levels);
        port.write(CRL_PLACES.brr, 0b0110, 0).unwrap();
        let levels = Levels {
            high: 0b0001,
            driven: 0b0011,
        };
        assert_eq!(port.levels(), levels);
        assert_eq!((port.read(ODR, 0), port.read(IDR, 0)), (0b1001, 0b0001));
    }

    #[test]
    fn alternate_outputs_and_inputs_are_functions() {
        let mut port = port();
        // Alternate push-pull, floating, push-pull, analog.
        port.write(CRL, 0x4444_034B, 0).unwrap();
        let functions = [0, 1, 2, 3].map(|pin| port.alternate_function(pin));
        assert_eq!(functions, [Some(0), Some(0), None, None]);
        let drives = [0, 1, 2, 3].map(|pin| port.lets_drive(pin));
        assert_eq!(drives, [true, false, false, false]);
    }

    /// §9.3.5: the debug port's pins are no pins of the port.
    #[test]
    fn what_the_debug_port_holds_follows_its_pulls() {
        let mut port = port();
        port.claim(1 << 4 | 1 << 3, 1 << 4);
        port.write(CRL, 0x4443_3444, 0).unwrap();
        let levels = Levels {
            high: 1 << 4,
            driven: 0,
        };
        assert_eq!(port.levels(), levels);
        port.claim(0, 0);
        let levels = Levels {
            high: 0,
            driven: 0b1_1000,
        };
        assert_eq!(port.levels(), levels);
    }
}
