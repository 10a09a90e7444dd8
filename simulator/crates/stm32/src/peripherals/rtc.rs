//! Real-time clock of the STM32F4 (RM0368 §17.6, RM0090 §26.6): its registers, their protection and
//! the initialization mode. The calendar stands still, and alarms, the wake-up timer and time stamps
//! never come. On the chip a system reset leaves most of it as it is; here nothing else resets it.

use super::registers::{registers, Registers, Unmodelled};
use super::Peripheral;
use crate::manners::Oddity;
use serde::{Deserialize, Serialize};

/// In ISR: alarms and wake-up timer may be written, the calendar is set, its shadow is in step, and
/// the initialization mode, asked for and entered.
const WRITABLE: u32 = 0b111;
const INITS: u32 = 1 << 4;
const RSF: u32 = 1 << 5;
const INITF: u32 = 1 << 6;
const INIT: u32 = 1 << 7;
const YEAR: u32 = 0xFF << 16;
const KEYS: [u32; 2] = [0xCA, 0x53];

registers! {
    TABLE:
    TR = 0x00, 0, 0x007F_7F7F;
    DR = 0x04, 0x0000_2101, 0x00FF_FF3F;
    // FMT, BYPSHAD and BKP. Missing: all that the alarms and the other timers have.
    CR = 0x08, 0, 0x0004_0060, missing 0x00FB_FF9F;
    ISR = 0x0C, WRITABLE, INIT | RSF, inert !(INIT | RSF);
    PRER = 0x10, 0x007F_00FF, 0x007F_7FFF;
    WUTR = 0x14, 0x0000_FFFF, 0, missing 0xFFFF;
    CALIBR = 0x18, 0, 0, missing 0x9F;
    ALRMAR = 0x1C, 0, 0, missing !0;
    ALRMBR = 0x20, 0, 0, missing !0;
    WPR = 0x24, 0, 0xFF;
    SSR = 0x28, 0, 0;
    SHIFTR = 0x2C, 0, 0, missing 0x8000_7FFF;
    TSTR = 0x30, 0, 0;
    TSDR = 0x34, 0, 0;
    TSSSR = 0x38, 0, 0;
    CALR = 0x3C, 0, 0, missing 0xE1FF;
    TAFCR = 0x40, 0, 0, missing 0x0007_FFFF;
    ALRMASSR = 0x44, 0, 0, missing 0x0F00_7FFF;
    ALRMBSSR = 0x48, 0, 0, missing 0x0F00_7FFF;
    BKP0R = 0x50, 0, !0;
    BKP1R = 0x54, 0, !0;
    BKP2R = 0x58, 0, !0;
    BKP3R = 0x5C, 0, !0;
    BKP4R = 0x60, 0, !0;
    BKP5R = 0x64, 0, !0;
    BKP6R = 0x68, 0, !0;
    BKP7R = 0x6C, 0, !0;
    BKP8R = 0x70, 0, !0;
    BKP9R = 0x74, 0, !0;
    BKP10R = 0x78, 0, !0;
    BKP11R = 0x7C, 0, !0;
    BKP12R = 0x80, 0, !0;
    BKP13R = 0x84, 0, !0;
    BKP14R = 0x88, 0, !0;
    BKP15R = 0x8C, 0, !0;
    BKP16R = 0x90, 0, !0;
    BKP17R = 0x94, 0, !0;
    BKP18R = 0x98, 0, !0;
    BKP19R = 0x9C, 0, !0;
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Rtc {
    registers: Registers,
    /// How many of the keys have come, in turn.
    keys: usize,
}

impl Default for Rtc {
    fn default() -> Self {
        Rtc {
            registers: Registers::new("RTC", TABLE),
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
        let is_set = self.registers.has(DR, YEAR);
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
            TR | DR | PRER if !self.registers.has(ISR, INITF) => {}
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
