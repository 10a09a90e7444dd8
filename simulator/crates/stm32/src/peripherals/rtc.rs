//! Real-time clock of the STM32F4 (RM0368 §17.6, RM0090 §26.6): its registers, their protection and
//! the initialization mode. The calendar stands still, and alarms, the wake-up timer and time stamps
//! never come. On the chip a system reset leaves most of it as it is; here nothing else resets it.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::manners::Oddity;
use serde::{Deserialize, Serialize};

const TR: u32 = 0x00;
const DR: u32 = 0x04;
const ISR: u32 = 0x0C;
const PRER: u32 = 0x10;
const WPR: u32 = 0x24;
const TAFCR: u32 = 0x40;
const BKP0R: u32 = 0x50;
/// In ISR: alarms and wake-up timer may be written, the calendar is set, its shadow is in step, and
/// the initialization mode, asked for and entered.
const WRITABLE: u32 = 0b111;
const INITS: u32 = 1 << 4;
const RSF: u32 = 1 << 5;
const INITF: u32 = 1 << 6;
const INIT: u32 = 1 << 7;
const YEAR: u32 = 0xFF << 16;
const KEYS: [u32; 2] = [0xCA, 0x53];

const fn backup(offset: u32, name: &'static str) -> Register {
    Register::new(offset, name, 0, !0)
}

static TABLE: [Register; 39] = [
    Register::new(TR, "TR", 0, 0x007F_7F7F),
    Register::new(DR, "DR", 0x0000_2101, 0x00FF_FF3F),
    // FMT, BYPSHAD and BKP. Missing: all that the alarms and the other timers have.
    Register::new(0x08, "CR", 0, 0x0004_0060).missing(0x00FB_FF9F),
    Register::new(ISR, "ISR", WRITABLE, INIT | RSF).inert(!(INIT | RSF)),
    Register::new(PRER, "PRER", 0x007F_00FF, 0x007F_7FFF),
    Register::new(0x14, "WUTR", 0x0000_FFFF, 0).missing(0xFFFF),
    Register::new(0x18, "CALIBR", 0, 0).missing(0x9F),
    Register::new(0x1C, "ALRMAR", 0, 0).missing(!0),
    Register::new(0x20, "ALRMBR", 0, 0).missing(!0),
    Register::new(WPR, "WPR", 0, 0xFF),
    Register::new(0x28, "SSR", 0, 0),
    Register::new(0x2C, "SHIFTR", 0, 0).missing(0x8000_7FFF),
    Register::new(0x30, "TSTR", 0, 0),
    Register::new(0x34, "TSDR", 0, 0),
    Register::new(0x38, "TSSSR", 0, 0),
    Register::new(0x3C, "CALR", 0, 0).missing(0xE1FF),
    Register::new(TAFCR, "TAFCR", 0, 0).missing(0x0007_FFFF),
    Register::new(0x44, "ALRMASSR", 0, 0).missing(0x0F00_7FFF),
    Register::new(0x48, "ALRMBSSR", 0, 0).missing(0x0F00_7FFF),
    backup(BKP0R, "BKP0R"),
    backup(0x54, "BKP1R"),
    backup(0x58, "BKP2R"),
    backup(0x5C, "BKP3R"),
    backup(0x60, "BKP4R"),
    backup(0x64, "BKP5R"),
    backup(0x68, "BKP6R"),
    backup(0x6C, "BKP7R"),
    backup(0x70, "BKP8R"),
    backup(0x74, "BKP9R"),
    backup(0x78, "BKP10R"),
    backup(0x7C, "BKP11R"),
    backup(0x80, "BKP12R"),
    backup(0x84, "BKP13R"),
    backup(0x88, "BKP14R"),
    backup(0x8C, "BKP15R"),
    backup(0x90, "BKP16R"),
    backup(0x94, "BKP17R"),
    backup(0x98, "BKP18R"),
    backup(0x9C, "BKP19R"),
];

#[derive(Clone, Serialize, Deserialize)]
pub struct Rtc {
    registers: Registers,
    /// How many of the keys have come, in turn.
    keys: usize,
}

impl Default for Rtc {
    fn default() -> Self {
        Rtc {
            registers: Registers::new("RTC", &TABLE),
            keys: 0,
        }
    }
}

impl Rtc {
    /// §17.3.5: the mode is entered at once here. On the chip it takes two clocks.
    fn write_status(&mut self, value: u32) -> Result<(), Unmodelled> {
        let before = self.registers.get(ISR);
        // Flags are cleared by zeros; the shadow is in step again at once, outside the mode.
        let initializes = value & INIT != 0;
        self.registers.set_bits(ISR, INIT | INITF, initializes);
        self.registers.set_bits(ISR, RSF, !initializes);
        if before & INITF == 0 || initializes {
            return Ok(());
        }
        let is_set = self.registers.get(DR) & YEAR != 0;
        self.registers.set_bits(ISR, INITS, is_set);
        let what = format!("{} (starts the calendar)", self.registers.name(ISR));
        Err(Unmodelled(what, Oddity::Bits))
    }
}

impl Peripheral for Rtc {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        let unlocked = self.keys == KEYS.len();
        match offset {
            WPR => {
                let next = KEYS.get(self.keys) == Some(&value);
                self.keys = if next {
                    self.keys + 1
                } else {
                    usize::from(value == KEYS[0])
                };
            }
            BKP0R.. => self.registers.set(offset, value),
            // §17.3.5: the rest is protected.
            _ if !unlocked => {}
            ISR => return self.write_status(value),
            TR | DR | PRER if self.registers.get(ISR) & INITF == 0 => {}
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = Rtc::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RM0368 §17.3.5.
    #[test]
    fn the_calendar_is_set_behind_two_keys_in_the_initialization_mode() {
        let mut rtc = Rtc::default();
        let write = |rtc: &mut Rtc, offset, value| rtc.write(offset, value, 0);
        write(&mut rtc, ISR, INIT).unwrap();
        assert_eq!(rtc.read(ISR, 0), WRITABLE, "it is locked");
        for key in KEYS {
            write(&mut rtc, WPR, key).unwrap();
        }
        write(&mut rtc, DR, 0x0026_1128).unwrap();
        assert_eq!(rtc.read(DR, 0), 0x2101, "it runs");
        write(&mut rtc, ISR, INIT).unwrap();
        assert_eq!(rtc.read(ISR, 0), WRITABLE | INIT | INITF);
        write(&mut rtc, DR, 0x0026_1128).unwrap();
        assert!(write(&mut rtc, ISR, 0).is_err(), "it does not count");
        assert_eq!(rtc.read(ISR, 0), WRITABLE | INITS | RSF);
        assert_eq!(rtc.read(DR, 0), 0x0026_1128);
        write(&mut rtc, WPR, 0xFF).unwrap();
        write(&mut rtc, ISR, INIT).unwrap();
        assert_eq!(rtc.read(ISR, 0) & INITF, 0, "it is locked again");
        write(&mut rtc, BKP0R, 7).unwrap();
        assert_eq!(rtc.read(BKP0R, 0), 7);
    }
}
