//! Reset and clock control (RM0368 §6.3) and the clock tree of the Nucleo-F401RE.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

const CR: u32 = 0x00;
const PLLCFGR: u32 = 0x04;
const CFGR: u32 = 0x08;
pub const AHB1RSTR: u32 = 0x10;
pub const APB1RSTR: u32 = 0x20;
pub const APB2RSTR: u32 = 0x24;
pub const AHB1ENR: u32 = 0x30;
pub const APB1ENR: u32 = 0x40;
pub const APB2ENR: u32 = 0x44;
const CSR: u32 = 0x74;

const HSION: u32 = 1 << 0;
const HSIRDY: u32 = 1 << 1;
const HSITRIM: u32 = 0x1F << 3;
const HSEON: u32 = 1 << 16;
const HSERDY: u32 = 1 << 17;
const HSEBYP: u32 = 1 << 18;
const PLLON: u32 = 1 << 24;
const PLLRDY: u32 = 1 << 25;
const READY_FLAGS: u32 = HSIRDY | HSERDY | PLLRDY | 1 << 27 | 0xFF << 8;

const LSION: u32 = 1 << 0;
const LSIRDY: u32 = 1 << 1;
const RMVF: u32 = 1 << 24;
const BORRSTF: u32 = 1 << 25;
const PINRSTF: u32 = 1 << 26;
const PORRSTF: u32 = 1 << 27;
const SFTRSTF: u32 = 1 << 28;
const IWDGRSTF: u32 = 1 << 29;
const WWDGRSTF: u32 = 1 << 30;
const RESET_FLAGS: u32 = 0xFE << 24;

const SW: u32 = 0b11;
const SWS: u32 = 0b11 << 2;
const PRESCALERS: u32 = 0xF << 4 | 0b111 << 10 | 0b111 << 13;

const AHB1_CLOCKS: u32 = 0x0060_109F;
const APB1_CLOCKS: u32 = 0x10E2_C80F;
const APB2_CLOCKS: u32 = 0x0007_7931;

static TABLE: &[Register] = &[
    Register::new(
        CR,
        "CR",
        0x0000_0083,
        HSION | HSITRIM | HSEON | HSEBYP | PLLON,
    )
    // CSSON and the PLL for I2S.
    .inert(READY_FLAGS)
    .missing(1 << 19 | 1 << 26),
    // Bit 29 is reserved and reads one; vendor code writes it as zero.
    Register::new(PLLCFGR, "PLLCFGR", 0x2400_3010, 0x0F43_7FFF).inert(1 << 29),
    // The RTC's divider and the clock outputs MCO.
    Register::new(CFGR, "CFGR", 0, SW | PRESCALERS)
        .inert(SWS)
        .missing(0x1F << 16 | 0x1FF << 23),
    // Interrupts of clocks that become ready.
    Register::new(0x0C, "CIR", 0, 0)
        .inert(0xBF)
        .missing(0x00BF_3F00),
    Register::new(AHB1RSTR, "AHB1RSTR", 0, AHB1_CLOCKS),
    Register::new(0x14, "AHB2RSTR", 0, 1 << 7),
    Register::new(APB1RSTR, "APB1RSTR", 0, APB1_CLOCKS),
    Register::new(APB2RSTR, "APB2RSTR", 0, APB2_CLOCKS),
    Register::new(AHB1ENR, "AHB1ENR", 0, AHB1_CLOCKS),
    Register::new(0x34, "AHB2ENR", 0, 1 << 7),
    Register::new(APB1ENR, "APB1ENR", 0, APB1_CLOCKS),
    Register::new(APB2ENR, "APB2ENR", 0, APB2_CLOCKS),
    // Clocks stay on in Sleep mode: turning one off there is not modelled.
    Register::new(0x50, "AHB1LPENR", 0x0061_900F, 0),
    Register::new(0x54, "AHB2LPENR", 0x0000_0080, 0),
    Register::new(0x60, "APB1LPENR", 0x10E2_C80F, 0),
    Register::new(0x64, "APB2LPENR", 0x0007_7930, 0),
    Register::unmodelled(0x70, "BDCR"),
    Register::new(CSR, "CSR", PINRSTF | PORRSTF | BORRSTF, LSION | RMVF)
        .inert(LSIRDY | RESET_FLAGS),
    Register::unmodelled(0x80, "SSCGR"),
    Register::unmodelled(0x84, "PLLI2SCFGR"),
    Register::unmodelled(0x8C, "DCKCFGR"),
];

const HSI_HZ: u64 = 16_000_000;
/// The clock of a core that has just been reset: the HSI, undivided.
pub const RESET_CLOCK: Frequency = Frequency::hz(HSI_HZ);
/// The LSI's typical frequency (DS10086, table "LSI oscillator characteristics").
pub const LSI_HZ: u64 = 32_000;
/// The ST-Link's MCO on OSC_IN (UM1724, "OSC clock supply"): an external clock, so HSEBYP belongs to it.
const HSE_HZ: u64 = 8_000_000;
/// The datasheet's greatest PLL lock time (DS10086, table "Main PLL characteristics").
const PLL_LOCK_US: u64 = 200;

/// A frequency that need not be a whole number of hertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequency {
    /// Hertz times `denominator`.
    pub numerator: u64,
    pub denominator: u64,
}

impl Frequency {
    pub const fn hz(hz: u64) -> Frequency {
        Frequency {
            numerator: hz,
            denominator: 1,
        }
    }

    fn times(self, factor: u64) -> Frequency {
        Frequency {
            numerator: self.numerator * factor,
            ..self
        }
    }

    fn over(self, divider: u64) -> Frequency {
        Frequency {
            denominator: self.denominator * divider,
            ..self
        }
    }

    pub fn exceeds_hz(self, hz: u64) -> bool {
        self.numerator > hz * self.denominator
    }

    fn below_hz(self, hz: u64) -> bool {
        self.numerator < hz * self.denominator
    }
}

/// Why the chip is reset while it has power (§6.1.1). The debugger's reset is the pin's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResetCause {
    Pin,
    Software,
    IndependentWatchdog,
    WindowWatchdog,
}

impl ResetCause {
    /// Flags in RCC_CSR: every reset pulls the pin too (§6.1.1, figure 11).
    fn flags(self) -> u32 {
        PINRSTF
            | match self {
                ResetCause::Pin => 0,
                ResetCause::Software => SFTRSTF,
                ResetCause::IndependentWatchdog => IWDGRSTF,
                ResetCause::WindowWatchdog => WWDGRSTF,
            }
    }
}

/// What the clock tree delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// HCLK, which the core and the cycle count run at.
    pub core: Frequency,
    /// Core cycles per PCLK1 and PCLK2 cycle.
    pub apb1_divider: u64,
    pub apb2_divider: u64,
}

impl Clocks {
    /// Core cycles per clock of TIM2–5: timers run at twice PCLK1 unless PCLK1 is undivided (§6.2, TIMPRE = 0).
    pub fn timer_divider(&self) -> u64 {
        match self.apb1_divider {
            1 => 1,
            divider => divider / 2,
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Rcc {
    registers: Registers,
    pll_ready_cycle: u64,
}

impl Default for Rcc {
    fn default() -> Self {
        Rcc {
            registers: Registers::new("RCC", TABLE),
            pll_ready_cycle: 0,
        }
    }
}

impl Rcc {
    pub fn clocks(&self) -> Clocks {
        let configuration = self.registers.get(CFGR);
        Clocks {
            core: self
                .system_clock()
                .over(ahb_divider(configuration >> 4 & 0xF)),
            apb1_divider: apb_divider(configuration >> 10 & 0b111),
            apb2_divider: apb_divider(configuration >> 13 & 0b111),
        }
    }

    /// Whether the bit that gates a peripheral's clock is set.
    pub fn enabled(&self, enable_register: u32, bit: u32) -> bool {
        self.registers.bit(enable_register, bit)
    }

    pub fn lsi_on(&self) -> bool {
        self.registers.get(CSR) & LSION != 0
    }

    /// A system reset: the flags of earlier ones stay until RMVF clears them (§6.3.18).
    pub fn reset_because(&mut self, cause: ResetCause) {
        let flags = self.registers.get(CSR) & RESET_FLAGS;
        *self = Rcc::default();
        self.registers.set(CSR, flags | cause.flags());
    }

    fn write_status(&mut self, value: u32) {
        let mut status = self.registers.get(CSR) & RESET_FLAGS;
        if value & RMVF != 0 {
            status = 0;
        }
        if value & LSION != 0 {
            status |= LSION | LSIRDY;
        }
        self.registers.set(CSR, status);
    }

    pub fn pll_on(&self) -> bool {
        self.registers.get(CR) & PLLON != 0
    }

    fn system_clock(&self) -> Frequency {
        match self.registers.get(CFGR) & SW {
            0 => Frequency::hz(HSI_HZ),
            1 => Frequency::hz(HSE_HZ),
            _ => self.pll_output(),
        }
    }

    fn pll_input(&self) -> Frequency {
        let configuration = self.registers.get(PLLCFGR);
        let source = if configuration >> 22 & 1 != 0 {
            HSE_HZ
        } else {
            HSI_HZ
        };
        Frequency::hz(source).over(u64::from(configuration & 0x3F))
    }

    fn pll_vco(&self) -> Frequency {
        self.pll_input()
            .times(u64::from(self.registers.get(PLLCFGR) >> 6 & 0x1FF))
    }

    fn pll_output(&self) -> Frequency {
        let divider = (self.registers.get(PLLCFGR) >> 16 & 0b11) * 2 + 2;
        self.pll_vco().over(u64::from(divider))
    }

    fn write_control(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        let present = self.registers.get(CR);
        let refuse = |why| Err(self.registers.refuse(CR, why));
        if value & HSEON != 0 && value & HSEBYP == 0 {
            return refuse(
                "HSEON without HSEBYP: the board feeds OSC_IN with a clock and has no crystal",
            );
        }
        if (value ^ present) & HSEBYP != 0 && present & HSEON != 0 {
            return refuse("HSEBYP can be written only while the HSE is off");
        }
        let in_use = match self.registers.get(CFGR) & SW {
            0 => HSION,
            1 => HSEON,
            _ => PLLON,
        };
        if value & in_use == 0 {
            return refuse("turning the clock off that the core runs from");
        }
        if value & !present & PLLON != 0 {
            self.check_pll(value)?;
            let core = self.clocks().core;
            self.pll_ready_cycle =
                now + core.numerator * PLL_LOCK_US / (core.denominator * 1_000_000);
        }
        self.registers.set(CR, value);
        Ok(())
    }

    /// Limits of §6.3.2: VCO input 1–2 MHz, VCO output 192–432 MHz.
    fn check_pll(&self, control: u32) -> Result<(), Unmodelled> {
        let configuration = self.registers.get(PLLCFGR);
        let source_on = if configuration >> 22 & 1 != 0 {
            HSEON
        } else {
            HSION
        };
        let refuse = |why| Err(self.registers.refuse(PLLCFGR, why));
        if control & source_on == 0 {
            return refuse("PLL turned on while its source is off");
        }
        if configuration & 0x3F < 2 {
            return refuse("PLLM below 2");
        }
        if self.pll_input().below_hz(1_000_000) || self.pll_input().exceeds_hz(2_000_000) {
            return refuse("PLL input outside 1–2 MHz");
        }
        if self.pll_vco().below_hz(192_000_000) || self.pll_vco().exceeds_hz(432_000_000) {
            return refuse("PLL output of the VCO outside 192–432 MHz");
        }
        Ok(())
    }

    fn write_configuration(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        let ready = match value & SW {
            0 => HSIRDY,
            1 => HSERDY,
            2 => PLLRDY,
            _ => return Err(self.registers.refuse(CFGR, "SW is a reserved value")),
        };
        if self.control(now) & ready == 0 {
            return Err(self
                .registers
                .refuse(CFGR, "SW selects a clock that is not ready"));
        }
        self.registers.set(CFGR, value & !SWS | (value & SW) << 2);
        Ok(())
    }

    /// RCC_CR with the ready flags as they are at cycle `now`.
    fn control(&self, now: u64) -> u32 {
        let control = self.registers.get(CR) & !(HSIRDY | HSERDY | PLLRDY);
        let mut flags = 0;
        if control & HSION != 0 {
            flags |= HSIRDY;
        }
        if control & HSEON != 0 {
            flags |= HSERDY;
        }
        if control & PLLON != 0 && now >= self.pll_ready_cycle {
            flags |= PLLRDY;
        }
        control | flags
    }
}

impl Peripheral for Rcc {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        match offset {
            CR => self.control(now),
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        match offset {
            CR => self.write_control(value, now)?,
            CFGR => self.write_configuration(value, now)?,
            CSR => self.write_status(value),
            PLLCFGR if self.pll_on() => {
                return Err(self
                    .registers
                    .refuse(PLLCFGR, "written while the PLL is on"));
            }
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = Rcc::default();
    }
}

/// §6.3.3, HPRE.
fn ahb_divider(code: u32) -> u64 {
    const DIVIDERS: [u64; 8] = [2, 4, 8, 16, 64, 128, 256, 512];
    match code {
        0..=7 => 1,
        _ => DIVIDERS[code as usize - 8],
    }
}

/// §6.3.3, PPRE1 and PPRE2.
fn apb_divider(code: u32) -> u64 {
    match code {
        0..=3 => 1,
        _ => 1 << (code - 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PLLM 4, PLLN 168, PLLP 4, HSE: 8 / 4 × 168 / 4 = 84 MHz.
    const PLL_84_MHZ: u32 = 4 | 168 << 6 | 1 << 16 | 1 << 22 | 7 << 24;

    fn started(pll: u32) -> Rcc {
        let mut rcc = Rcc::default();
        rcc.write(CR, 0x83 | HSEBYP, 0).unwrap();
        rcc.write(CR, 0x83 | HSEBYP | HSEON, 0).unwrap();
        rcc.write(PLLCFGR, pll, 0).unwrap();
        rcc
    }

    const ALL_ON: u32 = 0x83 | HSEBYP | HSEON | PLLON;

    #[test]
    fn reset_runs_from_the_16_mhz_hsi() {
        let mut rcc = Rcc::default();
        assert_eq!(rcc.read(CR, 0), 0x83);
        let clocks = rcc.clocks();
        assert_eq!(clocks.core, Frequency::hz(16_000_000));
        assert_eq!((clocks.apb1_divider, clocks.timer_divider()), (1, 1));
    }

    #[test]
    fn the_pll_makes_84_mhz_after_its_lock_time() {
        let mut rcc = started(PLL_84_MHZ);
        rcc.write(CR, ALL_ON, 1_000).unwrap();
        assert_eq!(rcc.read(CR, 1_000) & PLLRDY, 0);
        assert!(rcc.write(CFGR, 2, 1_000 + 3_199).is_err());
        // 200 µs at 16 MHz.
        assert_eq!(rcc.read(CR, 1_000 + 3_200) & PLLRDY, PLLRDY);
        // PPRE1 = /2.
        rcc.write(CFGR, 2 | 0b100 << 10, 1_000 + 3_200).unwrap();
        assert_eq!(rcc.read(CFGR, 0), 2 | 2 << 2 | 0b100 << 10);
        let clocks = rcc.clocks();
        assert_eq!(clocks.core.numerator, 84_000_000 * clocks.core.denominator);
        assert_eq!(
            (
                clocks.apb1_divider,
                clocks.apb2_divider,
                clocks.timer_divider()
            ),
            (2, 1, 1)
        );
    }

    #[test]
    fn settings_outside_the_manual_are_refused() {
        // PLL input 8 / 16 MHz; VCO 2 × 100 MHz = 200 MHz is allowed, 2 × 95 is not.
        assert!(started(16 | 336 << 6 | 1 << 22 | 7 << 24)
            .write(CR, ALL_ON, 0)
            .is_err());
        assert!(started(4 | 100 << 6 | 1 << 22 | 7 << 24)
            .write(CR, ALL_ON, 0)
            .is_ok());
        assert!(started(4 | 95 << 6 | 1 << 22 | 7 << 24)
            .write(CR, ALL_ON, 0)
            .is_err());
        let mut rcc = Rcc::default();
        assert!(rcc.write(CR, 0x83 | HSEON, 0).is_err());
        assert!(rcc.write(CR, 0x82, 0).is_err());
        assert!(rcc.write(CFGR, 3, 0).is_err());
    }

    #[test]
    fn reset_flags_gather_until_they_are_removed() {
        let mut rcc = Rcc::default();
        assert_eq!(rcc.read(CSR, 0), 0x0E00_0000);
        rcc.reset_because(ResetCause::IndependentWatchdog);
        assert_eq!(rcc.read(CSR, 0), 0x2E00_0000);
        rcc.write(CSR, RMVF | LSION, 0).unwrap();
        assert_eq!(rcc.read(CSR, 0), LSION | LSIRDY);
        rcc.reset_because(ResetCause::Software);
        assert_eq!(rcc.read(CSR, 0), 0x1400_0000);
    }

    #[test]
    fn prescalers_by_the_table() {
        assert_eq!(
            [0, 7, 8, 11, 12, 15].map(ahb_divider),
            [1, 1, 2, 16, 64, 512]
        );
        assert_eq!([0, 3, 4, 7].map(apb_divider), [1, 1, 2, 16]);
    }
}
