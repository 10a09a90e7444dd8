//! Power controller (RM0368 §5.4, RM0351 §5.4, RM0008 §5.4, RM0091 §6.4): the voltage scale, and the
//! lock of the backup domain.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::chip::Scale;
use serde::{Deserialize, Serialize};

pub const CR: u32 = 0x00;
pub const CSR: u32 = 0x04;
pub const VOS_SHIFT: u32 = 14;
pub const VOSRDY: u32 = 1 << 14;
/// The backup regulator, in CSR, and that it is ready.
pub const BRE: u32 = 1 << 9;
pub const BRR: u32 = 1 << 3;
pub const DBP: u32 = 1 << 8;
/// The boost of range 1 is off.
pub const CR5: u32 = 0x80;
pub const R1MODE: u32 = 8;
/// The over-drive, in CR; the flags that it is ready stand in the same places of CSR.
pub const ODEN: u32 = 1 << 16;
pub const ODSWEN: u32 = 1 << 17;
pub const ODRDY: u32 = 1 << 16;
pub const ODSWRDY: u32 = 1 << 17;

/// What tells the controller of one family from that of another.
#[derive(Clone, Copy, Default)]
pub struct PwrFacts {
    pub table: &'static [Register],
    /// Where CR has VOS. `None`: the chip has one voltage.
    pub vos_shift: Option<u32>,
    /// Whether CSR tells that the scale and the backup regulator are ready.
    pub tells_ready: bool,
    pub over_drive: OverDrive,
}

/// How a scale is made to allow more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverDrive {
    #[default]
    None,
    /// By ODEN and ODSWEN, whose flags are in CSR.
    Switched,
    /// By clearing R1MODE in CR5.
    Boost,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Pwr {
    /// A snapshot leaves them out, as the chip's scales.
    #[serde(skip)]
    pub facts: PwrFacts,
    #[serde(skip)]
    pub scales: &'static [Scale],
    registers: Registers,
}

impl Pwr {
    pub fn of(facts: PwrFacts, scales: &'static [Scale]) -> Pwr {
        Pwr {
            facts,
            scales,
            registers: Registers::new("PWR", facts.table),
        }
    }

    /// On the chip the selected scale becomes active when the PLL is turned on (§5.1.3). Here it
    /// does at once.
    pub fn set_pll_on(&mut self, on: bool) {
        if self.facts.tells_ready {
            self.registers.set_bits(CSR, VOSRDY, on);
        }
    }

    /// The highest HCLK that the scale allows with the PLL on (§5.1.3). No document says what a
    /// reserved scale allows: here, all that the chip does.
    pub fn highest_core_hz(&self) -> u64 {
        let control = self.registers.get(CR);
        let over_drive = match self.facts.over_drive {
            OverDrive::None => false,
            OverDrive::Switched => control & (ODEN | ODSWEN) == ODEN | ODSWEN,
            OverDrive::Boost => !self.registers.has(CR5, 1 << R1MODE),
        };
        let highest = |scale: &Scale| match over_drive {
            true => scale.over_drive_hz,
            false => scale.highest_hz,
        };
        match self.scale(control) {
            Some(scale) => highest(scale),
            None => self.scales.iter().map(highest).max().unwrap_or(0),
        }
    }

    /// Whether the backup domain may be written.
    pub fn backup_writable(&self) -> bool {
        self.registers.has(CR, DBP)
    }

    fn scale(&self, control: u32) -> Option<&'static Scale> {
        let vos = (self.facts.vos_shift).map_or(0, |shift| control >> shift & 0b11);
        self.scales.iter().find(|scale| scale.vos == vos)
    }
}

impl Peripheral for Pwr {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        self.registers.set(offset, value);
        if offset == CSR && self.facts.tells_ready {
            // §5.4.2: ready at once here.
            self.registers.set_bits(CSR, BRR, value & BRE != 0);
        }
        if offset == CR && self.facts.over_drive == OverDrive::Switched {
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
        let pll_on = self.facts.tells_ready && self.registers.has(CSR, VOSRDY);
        self.registers.reset();
        self.set_pll_on(pll_on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use crate::lines::facts;

    /// RM0390 §5.1.4 and its table of the highest frequencies.
    fn named(chip: &str) -> Pwr {
        let chip = Chip::named(chip).unwrap();
        Pwr::of(facts(chip.family).pwr, &chip.scales)
    }

    #[test]
    fn the_over_drive_of_the_f446_allows_180_mhz_once_it_is_switched_on() {
        let mut pwr = named("f446re");
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

    /// RM0440 §6.1.5: 150 MHz in range 1, 170 with its boost, 26 in range 2.
    #[test]
    fn the_boost_of_the_g474_allows_170_mhz() {
        let mut pwr = named("g474re");
        let mhz = |pwr: &Pwr| pwr.highest_core_hz() / 1_000_000;
        assert_eq!((pwr.read(CR5, 0), mhz(&pwr)), (0x100, 150));
        pwr.write(CR5, 0, 0).unwrap();
        assert_eq!(mhz(&pwr), 170);
        pwr.write(CR, 0b10 << 9, 0).unwrap();
        assert_eq!(mhz(&pwr), 26);
    }
}
