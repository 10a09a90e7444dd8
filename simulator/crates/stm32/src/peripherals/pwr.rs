//! Power controller (RM0368 §5.4, RM0351 §5.4, RM0008 §5.4, RM0091 §6.4): the voltage scale, and the
//! lock of the backup domain.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::chip::{nucleo, Chip, Family, Line, Scale};
use serde::{Deserialize, Serialize};

const CR: u32 = 0x00;
const CSR: u32 = 0x04;
const VOS_SHIFT: u32 = 14;
const VOS_SHIFT_L4: u32 = 9;
const VOSRDY: u32 = 1 << 14;
/// The backup regulator, in CSR, and that it is ready.
const BRE: u32 = 1 << 9;
const BRR: u32 = 1 << 3;
const DBP: u32 = 1 << 8;
/// The over-drive, in CR; the flags that it is ready stand in the same places of CSR.
const ODEN: u32 = 1 << 16;
const ODSWEN: u32 = 1 << 17;
const ODRDY: u32 = 1 << 16;
const ODSWRDY: u32 = 1 << 17;

const fn table(reset: u32, scales: u32) -> [Register; 2] {
    [
        // Missing: Stop and Standby modes, the voltage detector, flash power-down. CWUF and CSBF
        // clear flags that are never set. A bit of VOS that the chip has not is reserved.
        Register::new(CR, "CR", reset, scales << VOS_SHIFT | DBP)
            .inert(0b1100 | 0b11 << VOS_SHIFT)
            .missing(0x3EF3),
        // Missing: the wake-up pin.
        Register::new(CSR, "CSR", 0, BRE)
            .inert(VOSRDY | BRR)
            .missing(0x0100),
    ]
}

static TABLE: [Register; 2] = table(0x8000, 0b11);
/// RM0390 §5.4.1: the over-drive. Missing: the under-drive, and what Stop mode does with the flash.
static TABLE_F446: [Register; 2] = {
    let [control, status] = table(0xC000, 0b11);
    [
        Register::new(CR, "CR", 0xC000, control.writable | ODEN | ODSWEN)
            .inert(control.inert)
            .missing(control.missing | 0x003C_0000),
        status
            .inert(VOSRDY | BRR | ODRDY | ODSWRDY)
            .missing(0x000C_0180),
    ]
};
/// RM0090 §5.4.1: VOS has one bit.
static TABLE_F407: [Register; 2] = table(0x4000, 0b01);

const fn pulls(offset: u32, name: &'static str) -> Register {
    Register::new(offset, name, 0, 0).missing(0xFFFF)
}

/// RM0351 §5.4. SR2.VOSF is never set: a new range is there at once. Missing: low-power modes, wake-up
/// pins, the voltage detectors, and the pulls of Standby mode.
static TABLE_L4: [Register; 23] = [
    Register::new(CR, "CR1", 0x0200, 0b11 << VOS_SHIFT_L4 | DBP).missing(0x4007),
    Register::new(0x04, "CR2", 0, 0).missing(0x06FF),
    Register::new(0x08, "CR3", 0x8000, 0).missing(0x851F),
    Register::new(0x0C, "CR4", 0, 0).missing(0x031F),
    Register::new(0x10, "SR1", 0, 0).inert(0x811F),
    Register::new(0x14, "SR2", 0x0100, 0).inert(0xFF00),
    Register::new(0x18, "SCR", 0, 0).inert(0x011F),
    pulls(0x20, "PUCRA"),
    pulls(0x24, "PDCRA"),
    pulls(0x28, "PUCRB"),
    pulls(0x2C, "PDCRB"),
    pulls(0x30, "PUCRC"),
    pulls(0x34, "PDCRC"),
    pulls(0x38, "PUCRD"),
    pulls(0x3C, "PDCRD"),
    pulls(0x40, "PUCRE"),
    pulls(0x44, "PDCRE"),
    pulls(0x48, "PUCRF"),
    pulls(0x4C, "PDCRF"),
    pulls(0x50, "PUCRG"),
    pulls(0x54, "PDCRG"),
    pulls(0x58, "PUCRH"),
    pulls(0x5C, "PDCRH"),
];

/// The STM32F1 and the STM32F0 have one voltage. Missing: Stop and Standby modes, the voltage
/// detector, the wake-up pins.
const fn plain(wake_up_pins: u32) -> [Register; 2] {
    [
        Register::new(CR, "CR", 0, DBP)
            .inert(0b1100)
            .missing(0x00F3),
        Register::new(CSR, "CSR", 0, 0)
            .inert(0b1111)
            .missing(wake_up_pins),
    ]
}
static TABLE_F1: [Register; 2] = plain(0x0100);
static TABLE_F0: [Register; 2] = plain(0xFF00);

#[derive(Clone, Serialize, Deserialize)]
pub struct Pwr {
    #[serde(skip, default = "nucleo")]
    chip: &'static Chip,
    registers: Registers,
}

impl Pwr {
    pub fn of(chip: &'static Chip) -> Pwr {
        let table: &'static [Register] = match chip.family {
            Family::F407 => &TABLE_F407,
            Family::F446 => &TABLE_F446,
            Family::F401 | Family::F411 => &TABLE,
            Family::L476 => &TABLE_L4,
            Family::F103 => &TABLE_F1,
            Family::F072 => &TABLE_F0,
        };
        Pwr {
            chip,
            registers: Registers::new("PWR", table),
        }
    }

    /// The chip, which a snapshot keeps beside its memories.
    pub fn set_chip(&mut self, chip: &'static Chip) {
        self.chip = chip;
    }

    /// On the chip the selected scale becomes active when the PLL is turned on (§5.1.3). Here it
    /// does at once.
    pub fn set_pll_on(&mut self, on: bool) {
        if self.chip.family.line() == Line::F4 {
            self.registers.set_bits(CSR, VOSRDY, on);
        }
    }

    /// The highest HCLK that the scale allows with the PLL on (§5.1.3). No document says what a
    /// reserved scale allows: here, all that the chip does.
    pub fn highest_core_hz(&self) -> u64 {
        let control = self.registers.get(CR);
        let highest = |scale: &Scale| match control & (ODEN | ODSWEN) == ODEN | ODSWEN {
            true => scale.over_drive_hz,
            false => scale.highest_hz,
        };
        match self.scale(control) {
            Some(scale) => highest(scale),
            None => self.chip.scales.iter().map(highest).max().unwrap_or(0),
        }
    }

    /// Whether the backup domain may be written.
    pub fn backup_writable(&self) -> bool {
        self.registers.get(CR) & DBP != 0
    }

    fn scale(&self, control: u32) -> Option<&'static Scale> {
        let vos = match self.chip.family.line() {
            Line::F4 => control >> VOS_SHIFT & 0b11,
            Line::L4 => control >> VOS_SHIFT_L4 & 0b11,
            Line::F1 | Line::F0 => 0,
        };
        self.chip.scales.iter().find(|scale| scale.vos == vos)
    }
}

impl Peripheral for Pwr {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        self.registers.set(offset, value);
        if offset == CSR && self.chip.family.line() == Line::F4 {
            // §5.4.2: ready at once here.
            self.registers.set_bits(CSR, BRR, value & BRE != 0);
        }
        if offset == CR && self.chip.family == Family::F446 {
            // RM0390 §5.1.4: the over-drive is switched on once it is ready. Here both are at once.
            let ready = if value & ODEN == 0 { 0 } else { value };
            self.registers.set_bits(CSR, ODRDY | ODSWRDY, false);
            self.registers
                .set_bits(CSR, ready & (ODRDY | ODSWRDY), true);
        }
        if offset == CR && self.scale(value).is_none() {
            return Err(self.registers.remark(offset, "VOS is a reserved value"));
        }
        Ok(())
    }

    fn reset(&mut self) {
        let pll_on = self.registers.get(CSR) & VOSRDY != 0;
        self.registers.reset();
        self.set_pll_on(pll_on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RM0390 §5.1.4 and its table of the highest frequencies.
    #[test]
    fn the_over_drive_of_the_f446_allows_180_mhz_once_it_is_switched_on() {
        let mut pwr = Pwr::of(Chip::named("f446re").unwrap());
        let mhz = |pwr: &Pwr| pwr.highest_core_hz() / 1_000_000;
        assert_eq!(mhz(&pwr), 168);
        pwr.write(CR, 0xC000 | ODSWEN, 0).unwrap();
        assert_eq!((pwr.read(CSR, 0), mhz(&pwr)), (0, 168));
        pwr.write(CR, 0xC000 | ODEN, 0).unwrap();
        assert_eq!((pwr.read(CSR, 0), mhz(&pwr)), (ODRDY, 168));
        pwr.write(CR, 0xC000 | ODEN | ODSWEN, 0).unwrap();
        assert_eq!((pwr.read(CSR, 0), mhz(&pwr)), (ODRDY | ODSWRDY, 180));
        pwr.write(CR, 0x4000, 0).unwrap();
        assert_eq!((pwr.read(CSR, 0), mhz(&pwr)), (0, 120));
    }
}
