//! Reset and clock control (RM0368 §6.3, RM0383 §6.3, RM0090 §7.3) and the clock tree.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::chip::{nucleo, Chip, Family};
use serde::{Deserialize, Serialize};

const CR: u32 = 0x00;
const PLLCFGR: u32 = 0x04;
const CFGR: u32 = 0x08;
pub const AHB1RSTR: u32 = 0x10;
pub const AHB2RSTR: u32 = 0x14;
pub const APB1RSTR: u32 = 0x20;
pub const APB2RSTR: u32 = 0x24;
pub const AHB1ENR: u32 = 0x30;
pub const AHB2ENR: u32 = 0x34;
pub const APB1ENR: u32 = 0x40;
pub const APB2ENR: u32 = 0x44;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const DCKCFGR: u32 = 0x8C;
const TIMPRE: u32 = 1 << 24;

const HSION: u32 = 1 << 0;
const HSIRDY: u32 = 1 << 1;
const HSITRIM: u32 = 0x1F << 3;
const HSEON: u32 = 1 << 16;
const HSERDY: u32 = 1 << 17;
const HSEBYP: u32 = 1 << 18;
const PLLON: u32 = 1 << 24;
const PLLRDY: u32 = 1 << 25;
const READY_FLAGS: u32 = HSIRDY | HSERDY | PLLRDY | 1 << 27 | 0xFF << 8;

const LSEON: u32 = 1 << 0;
const LSERDY: u32 = 1 << 1;
const LSEBYP: u32 = 1 << 2;
const RTCSEL: u32 = 0b11 << 8;
const RTCEN: u32 = 1 << 15;
const BDRST: u32 = 1 << 16;

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

/// The clocks of a family: the bits of the registers that turn them on.
struct ClockBits {
    ahb1: u32,
    /// Not every clock of AHB1 has a reset of its own.
    ahb1_resets: u32,
    /// Clocks that are on after reset.
    ahb1_on: u32,
    ahb2: u32,
    ahb3: u32,
    apb1: u32,
    apb2: u32,
    apb2_resets: u32,
    /// The reset values of AHB1LPENR, AHB2LPENR, APB1LPENR and APB2LPENR.
    in_sleep: [u32; 4],
}

const F401: ClockBits = ClockBits {
    ahb1: 0x0060_109F,
    ahb1_resets: 0x0060_109F,
    ahb1_on: 0,
    ahb2: 1 << 7,
    ahb3: 0,
    apb1: 0x10E2_C80F,
    apb2: 0x0007_7931,
    apb2_resets: 0x0007_7931,
    in_sleep: [0x0061_900F, 0x0000_0080, 0x10E2_C80F, 0x0007_7930],
};

/// RM0383 §6.3.9–6.3.12: SPI5 is new.
const F411: ClockBits = ClockBits {
    apb2: F401.apb2 | 1 << 20,
    apb2_resets: F401.apb2 | 1 << 20,
    in_sleep: [0x0061_900F, 0x0000_0080, 0x10E2_C80F, 0x0017_7930],
    ..F401
};

/// RM0090 §7.3.10–7.3.14. The core coupled memory's clock is on after reset. One bit resets all
/// three converters.
const F407: ClockBits = ClockBits {
    ahb1: 0x7E74_11FF,
    ahb1_resets: 0x2260_11FF,
    ahb1_on: 1 << 20,
    ahb2: 0xC1,
    ahb3: 1,
    apb1: 0x36FE_C9FF,
    apb2: 0x0007_5F33,
    apb2_resets: 0x0007_5933,
    in_sleep: [0x7E67_91FF, 0x0000_00F1, 0x36FE_C9FF, 0x0007_5F33],
};

/// RM0390 §6.3.10–6.3.14. One bit resets all three converters.
const F446: ClockBits = ClockBits {
    ahb1: 0x6064_10FF,
    ahb1_resets: 0x2060_10FF,
    ahb1_on: 0,
    ahb2: 0x81,
    ahb3: 0b11,
    apb1: 0x3FFF_C9FF,
    apb2: 0x00C7_7F33,
    apb2_resets: 0x00C7_7933,
    in_sleep: [0x6067_90FF, 0x0000_0081, 0x3FFF_C9FF, 0x00C7_7F33],
};

const fn table(clocks: &ClockBits) -> [Register; 24] {
    [
        Register::new(
            CR,
            "CR",
            0x0000_0083,
            HSION | HSITRIM | HSEON | HSEBYP | PLLON,
        )
        // Missing: CSSON and the PLL for I2S.
        .inert(READY_FLAGS)
        .missing(1 << 19 | 1 << 26),
        // Bit 29 is reserved and reads one. Vendor code writes it as zero.
        Register::new(PLLCFGR, "PLLCFGR", 0x2400_3010, 0x0F43_7FFF).inert(1 << 29),
        // Missing: the RTC's divider and the clock outputs MCO.
        Register::new(CFGR, "CFGR", 0, SW | PRESCALERS)
            .inert(SWS)
            .missing(0x1F << 16 | 0x1FF << 23),
        // Missing: interrupts of clocks that become ready. Their flags are never set, so clearing
        // them has no effect.
        Register::new(0x0C, "CIR", 0, 0)
            .inert(0x00BF_00BF)
            .missing(0x0000_3F00),
        Register::new(AHB1RSTR, "AHB1RSTR", 0, clocks.ahb1_resets),
        Register::new(AHB2RSTR, "AHB2RSTR", 0, clocks.ahb2),
        Register::new(0x18, "AHB3RSTR", 0, clocks.ahb3),
        Register::new(APB1RSTR, "APB1RSTR", 0, clocks.apb1),
        Register::new(APB2RSTR, "APB2RSTR", 0, clocks.apb2_resets),
        Register::new(AHB1ENR, "AHB1ENR", clocks.ahb1_on, clocks.ahb1),
        Register::new(AHB2ENR, "AHB2ENR", 0, clocks.ahb2),
        Register::new(0x38, "AHB3ENR", 0, clocks.ahb3),
        Register::new(APB1ENR, "APB1ENR", 0, clocks.apb1),
        Register::new(APB2ENR, "APB2ENR", 0, clocks.apb2),
        // Clocks stay on in Sleep mode. Turning one off there is not modelled.
        Register::new(0x50, "AHB1LPENR", clocks.in_sleep[0], 0)
            .missing(clocks.in_sleep[0] | clocks.ahb1),
        Register::new(0x54, "AHB2LPENR", clocks.in_sleep[1], 0)
            .missing(clocks.in_sleep[1] | clocks.ahb2),
        Register::new(0x58, "AHB3LPENR", clocks.ahb3, 0).missing(clocks.ahb3),
        Register::new(0x60, "APB1LPENR", clocks.in_sleep[2], 0)
            .missing(clocks.in_sleep[2] | clocks.apb1),
        Register::new(0x64, "APB2LPENR", clocks.in_sleep[3], 0)
            .missing(clocks.in_sleep[3] | clocks.apb2),
        Register::new(BDCR, "BDCR", 0, LSEON | LSEBYP | RTCSEL | RTCEN | BDRST).inert(LSERDY),
        Register::new(CSR, "CSR", PINRSTF | PORRSTF | BORRSTF, LSION | RMVF)
            .inert(LSIRDY | RESET_FLAGS),
        Register::unmodelled(0x80, "SSCGR"),
        Register::unmodelled(0x84, "PLLI2SCFGR"),
        Register::unmodelled(DCKCFGR, "DCKCFGR"),
    ]
}

static TABLE_F401: [Register; 24] = table(&F401);
static TABLE_F411: [Register; 24] = table(&F411);
static TABLE_F407: [Register; 24] = table(&F407);
/// RM0390 §6.3.2: PLLR divides for the second output of the PLL. §6.3.1: a third PLL, for SAI.
static TABLE_F446: [Register; 24] = {
    let mut table = table(&F446);
    table[0] = table[0].missing(1 << 19 | 1 << 26 | 1 << 28);
    table[1] = Register::new(PLLCFGR, "PLLCFGR", 0x2400_3010, 0x7F43_7FFF);
    // §6.3.25: what it chooses for SAI and I2S is not modelled.
    table[23] = Register::new(DCKCFGR, "DCKCFGR", 0, TIMPRE).missing(0x07F0_1F1F & !TIMPRE);
    table
};

const HSI_HZ: u64 = 16_000_000;
/// The clock of a core that has just been reset: the HSI, undivided.
pub const RESET_CLOCK: Frequency = Frequency::hz(HSI_HZ);
/// The LSI's typical frequency (DS10086, table "LSI oscillator characteristics").
pub const LSI_HZ: u64 = 32_000;
/// How long crystals take to start: typical values (DS10086, tables "HSE 4-26 MHz oscillator
/// characteristics" and "LSE oscillator characteristics").
const HSE_START_US: u64 = 2_000;
const LSE_START_US: u64 = 2_000_000;
/// The longest PLL lock time of the datasheet (DS10086, table "Main PLL characteristics").
const PLL_LOCK_US: u64 = 200;

/// What feeds the chip's OSC_IN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hse {
    /// A clock, which needs HSEBYP.
    Clock { hz: u64 },
    /// A crystal between OSC_IN and OSC_OUT.
    Crystal { hz: u64 },
    /// Nothing: the HSE never becomes ready.
    Nothing,
}

/// The ST-Link's MCO on OSC_IN (UM1724, "OSC clock supply").
pub const NUCLEO_HSE: Hse = Hse::Clock { hz: 8_000_000 };

impl Hse {
    /// The same, so many millionths too fast.
    pub fn off_by(self, ppm: i64) -> Hse {
        let off = |hz: u64| hz.saturating_add_signed(hz as i64 * ppm / 1_000_000);
        match self {
            Hse::Clock { hz } => Hse::Clock { hz: off(hz) },
            Hse::Crystal { hz } => Hse::Crystal { hz: off(hz) },
            Hse::Nothing => Hse::Nothing,
        }
    }

    fn hz(self) -> u64 {
        match self {
            Hse::Clock { hz } | Hse::Crystal { hz } => hz,
            Hse::Nothing => 0,
        }
    }
}

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

/// Why the chip is reset while it has power (§6.1.1). The debugger resets by the pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResetCause {
    Pin,
    /// The supply fell below the threshold of the option bytes.
    BrownOut,
    Software,
    IndependentWatchdog,
    WindowWatchdog,
}

impl ResetCause {
    /// Flags in RCC_CSR. Every reset also sets the pin's (§6.1.1, figure 11).
    fn flags(self) -> u32 {
        PINRSTF
            | match self {
                ResetCause::Pin => 0,
                ResetCause::BrownOut => BORRSTF,
                ResetCause::Software => SFTRSTF,
                ResetCause::IndependentWatchdog => IWDGRSTF,
                ResetCause::WindowWatchdog => WWDGRSTF,
            }
    }
}

/// The frequencies that the clock tree delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// HCLK, the clock of the core and of the cycle count.
    pub core: Frequency,
    /// Core cycles per PCLK1 and PCLK2 cycle.
    pub apb1_divider: u64,
    pub apb2_divider: u64,
    /// TIMPRE: timers run at HCLK or four times their bus (RM0390 §6.3.25).
    pub timers_fast: bool,
}

impl Clocks {
    /// Core cycles per clock of TIM2–5. Timers run at twice PCLK1, unless PCLK1 is undivided (§6.2).
    pub fn timer_divider(&self) -> u64 {
        timer_divider(self.apb1_divider, self.timers_fast)
    }

    /// The same for the timers of APB2.
    pub fn timer_divider_2(&self) -> u64 {
        timer_divider(self.apb2_divider, self.timers_fast)
    }
}

fn timer_divider(apb_divider: u64, fast: bool) -> u64 {
    let times = if fast { 4 } else { 2 };
    (apb_divider / times).max(1)
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Rcc {
    #[serde(skip, default = "nucleo")]
    chip: &'static Chip,
    registers: Registers,
    hse: Hse,
    pll_ready_cycle: u64,
    hse_ready_cycle: u64,
    lse_ready_cycle: u64,
    /// PWR_CR.DBP: software may write RCC_BDCR.
    backup_writable: bool,
}

impl Rcc {
    pub fn of(chip: &'static Chip) -> Rcc {
        let table = match chip.family {
            Family::F401 => &TABLE_F401,
            Family::F411 => &TABLE_F411,
            Family::F407 => &TABLE_F407,
            Family::F446 => &TABLE_F446,
        };
        Rcc {
            chip,
            registers: Registers::new("RCC", table),
            hse: NUCLEO_HSE,
            pll_ready_cycle: 0,
            hse_ready_cycle: 0,
            lse_ready_cycle: 0,
            backup_writable: false,
        }
    }

    /// The chip, which a snapshot keeps beside its memories.
    pub fn set_chip(&mut self, chip: &'static Chip) {
        self.chip = chip;
    }

    /// What feeds OSC_IN from now on.
    pub fn set_hse(&mut self, hse: Hse) {
        self.hse = hse;
    }

    /// Follows PWR_CR.DBP.
    pub fn set_backup_writable(&mut self, writable: bool) {
        self.backup_writable = writable;
    }

    pub fn clocks(&self) -> Clocks {
        let configuration = self.registers.get(CFGR);
        Clocks {
            core: self
                .system_clock()
                .over(ahb_divider(configuration >> 4 & 0xF)),
            apb1_divider: apb_divider(configuration >> 10 & 0b111),
            apb2_divider: apb_divider(configuration >> 13 & 0b111),
            timers_fast: self.registers.get(DCKCFGR) & TIMPRE != 0,
        }
    }

    /// Whether a bit that turns on a peripheral's clock is set.
    pub fn enabled(&self, enable_register: u32, bit: u32) -> bool {
        self.registers.bit(enable_register, bit)
    }

    pub fn lsi_on(&self) -> bool {
        self.registers.get(CSR) & LSION != 0
    }

    /// A system reset. The flags of earlier ones stay until RMVF clears them (§6.3.18).
    pub fn reset_because(&mut self, cause: ResetCause) {
        let flags = self.registers.get(CSR) & RESET_FLAGS;
        // §6.3.17: only a reset of the backup domain clears BDCR.
        let backup = self.registers.get(BDCR);
        let (hse, lse_ready_cycle) = (self.hse, self.lse_ready_cycle);
        *self = Rcc {
            hse,
            lse_ready_cycle,
            ..Rcc::of(self.chip)
        };
        self.registers.set(CSR, flags | cause.flags());
        self.registers.set(BDCR, backup);
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
            1 => Frequency::hz(self.hse.hz()),
            3 => self.pll_second_output(),
            _ => self.pll_output(),
        }
    }

    fn pll_input(&self) -> Frequency {
        let configuration = self.registers.get(PLLCFGR);
        let source = if configuration >> 22 & 1 != 0 {
            self.hse.hz()
        } else {
            HSI_HZ
        };
        Frequency::hz(source).over(u64::from(configuration & 0x3F))
    }

    fn pll_vco(&self) -> Frequency {
        self.pll_input()
            .times(u64::from(self.registers.get(PLLCFGR) >> 6 & 0x1FF))
    }

    /// PLL48CLK, for USB, SDIO and the random number generator. `None` while the PLL is off.
    pub fn pll_48(&self) -> Option<Frequency> {
        let divider = self.registers.get(PLLCFGR) >> 24 & 0xF;
        let on = self.pll_on() && divider != 0;
        on.then(|| self.pll_vco().over(u64::from(divider)))
    }

    fn pll_output(&self) -> Frequency {
        let divider = (self.registers.get(PLLCFGR) >> 16 & 0b11) * 2 + 2;
        self.pll_vco().over(u64::from(divider))
    }

    /// The output of PLLR, which the core can run from on the STM32F446 (RM0390 §6.3.2, §6.3.3).
    fn pll_second_output(&self) -> Frequency {
        let divider = self.registers.get(PLLCFGR) >> 28 & 0b111;
        self.pll_vco().over(u64::from(divider.max(2)))
    }

    fn write_control(&mut self, mut value: u32, now: u64) -> Result<(), Unmodelled> {
        let present = self.registers.get(CR);
        let remark = |why| Err(self.registers.remark(CR, why));
        let mut odd = self.check_source(value);
        if (value ^ present) & HSEBYP != 0 && present & HSEON != 0 {
            value ^= HSEBYP;
            odd = odd.and(remark("HSEBYP can be written only while the HSE is off"));
        }
        let in_use = match self.registers.get(CFGR) & SW {
            0 => HSION,
            1 => HSEON,
            _ => PLLON,
        };
        if value & in_use == 0 {
            value |= in_use;
            odd = odd.and(remark("turning the clock off that the core runs from"));
        }
        if value & !present & HSEON != 0 {
            self.hse_ready_cycle = self.hse_starts(value, now);
        }
        if value & !present & PLLON != 0 {
            let (locks, checked) = self.check_pll(value)?;
            self.pll_ready_cycle = if locks {
                now + self.cycles_of(PLL_LOCK_US)
            } else {
                u64::MAX
            };
            odd = odd.and(checked);
        }
        self.registers.set(CR, value);
        odd
    }

    /// Whether the HSE is turned on for what is at OSC_IN.
    fn check_source(&self, control: u32) -> Result<(), Unmodelled> {
        let remark = |why| Err(self.registers.remark(CR, why));
        let bypassed = control & HSEBYP != 0;
        match self.hse {
            Hse::Clock { .. } if control & HSEON != 0 && !bypassed => {
                remark(
                    "HSEON without HSEBYP: the board feeds OSC_IN with a clock and has no crystal; --hse names one",
                )
            }
            Hse::Crystal { .. } if control & HSEON != 0 && bypassed => {
                remark("HSEON with HSEBYP: the board has a crystal at OSC_IN and no clock")
            }
            _ => Ok(()),
        }
    }

    /// The cycle in which the HSE that is turned on is ready. A clock at OSC_IN passes the
    /// oscillator's amplifier, too. A crystal that nothing drives gives none.
    fn hse_starts(&self, control: u32, now: u64) -> u64 {
        match self.hse {
            Hse::Crystal { .. } if control & HSEBYP != 0 => u64::MAX,
            Hse::Crystal { .. } => now + self.cycles_of(HSE_START_US),
            Hse::Clock { .. } | Hse::Nothing => now,
        }
    }

    /// Core cycles of a time at the present clock.
    fn cycles_of(&self, microseconds: u64) -> u64 {
        let core = self.clocks().core;
        core.numerator * microseconds / (core.denominator * 1_000_000)
    }

    /// The backup domain ignores writes unless PWR_CR.DBP allows them (§5.1.2).
    fn write_backup(&mut self, value: u32, now: u64) {
        if !self.backup_writable {
            return;
        }
        let present = self.registers.get(BDCR);
        if value & !present & LSEON != 0 {
            self.lse_ready_cycle = now + self.cycles_of(LSE_START_US);
        }
        let kept = if value & BDRST != 0 { BDRST } else { value };
        self.registers.set(BDCR, kept);
    }

    /// RCC_BDCR with the ready flag at cycle `now`.
    fn backup(&self, now: u64) -> u32 {
        let backup = self.registers.get(BDCR);
        if backup & LSEON != 0 && now >= self.lse_ready_cycle {
            backup | LSERDY
        } else {
            backup & !LSERDY
        }
    }

    /// Whether the PLL locks, and which limit of §6.3.2 it exceeds: VCO input 1–2 MHz, VCO output
    /// up to 432 MHz. Outside these the manual promises nothing; here it locks all the same.
    fn check_pll(&self, control: u32) -> Result<(bool, Result<(), Unmodelled>), Unmodelled> {
        let configuration = self.registers.get(PLLCFGR);
        let source_on = if configuration >> 22 & 1 != 0 {
            HSEON
        } else {
            HSION
        };
        let remark = |why: &str| Err(self.registers.remark(PLLCFGR, why));
        if control & source_on == 0 {
            return Ok((false, remark("PLL turned on while its source is off")));
        }
        if source_on == HSEON && self.hse == Hse::Nothing {
            let why = "PLL turned on from the HSE, which never becomes ready: --hse names none";
            return Ok((false, remark(why)));
        }
        if configuration & 0x3F < 2 {
            return Err(self.registers.refuse(PLLCFGR, "PLLM below 2"));
        }
        if self.pll_input().below_hz(1_000_000) || self.pll_input().exceeds_hz(2_000_000) {
            return Ok((true, remark("PLL input outside 1–2 MHz")));
        }
        let lowest = self.chip.lowest_vco_hz;
        if self.pll_vco().below_hz(lowest) || self.pll_vco().exceeds_hz(432_000_000) {
            let why = format!(
                "PLL output of the VCO outside {}–432 MHz",
                lowest / 1_000_000
            );
            return Ok((true, remark(&why)));
        }
        Ok((true, Ok(())))
    }

    fn write_configuration(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        let ready = match value & SW {
            0 => HSIRDY,
            1 => HSERDY,
            2 => PLLRDY,
            3 if self.chip.family == Family::F446 => PLLRDY,
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

    /// RCC_CR with the ready flags at cycle `now`.
    fn control(&self, now: u64) -> u32 {
        let control = self.registers.get(CR) & !(HSIRDY | HSERDY | PLLRDY);
        let mut flags = 0;
        if control & HSION != 0 {
            flags |= HSIRDY;
        }
        let started = self.hse != Hse::Nothing && now >= self.hse_ready_cycle;
        if control & HSEON != 0 && started {
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
            BDCR => self.backup(now),
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        match offset {
            CR => self.write_control(value, now)?,
            CFGR => self.write_configuration(value, now)?,
            CSR => self.write_status(value),
            BDCR => self.write_backup(value, now),
            PLLCFGR if self.pll_on() => {
                // §6.3.2: it can be written only while the PLL is off.
                return Err(self
                    .registers
                    .remark(PLLCFGR, "written while the PLL is on"));
            }
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        let hse = self.hse;
        *self = Rcc::of(self.chip);
        self.hse = hse;
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
        let mut rcc = Rcc::of(nucleo());
        rcc.write(CR, 0x83 | HSEBYP, 0).unwrap();
        rcc.write(CR, 0x83 | HSEBYP | HSEON, 0).unwrap();
        rcc.write(PLLCFGR, pll, 0).unwrap();
        rcc
    }

    const ALL_ON: u32 = 0x83 | HSEBYP | HSEON | PLLON;

    #[test]
    fn reset_runs_from_the_16_mhz_hsi() {
        let mut rcc = Rcc::of(nucleo());
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
        let mut rcc = Rcc::of(nucleo());
        assert!(rcc.write(CR, 0x83 | HSEON, 0).is_err());
        assert!(rcc.write(CR, 0x82, 0).is_err());
        assert!(rcc.write(CFGR, 3, 0).is_err());
    }

    #[test]
    fn reset_flags_gather_until_they_are_removed() {
        let mut rcc = Rcc::of(nucleo());
        assert_eq!(rcc.read(CSR, 0), 0x0E00_0000);
        rcc.reset_because(ResetCause::IndependentWatchdog);
        assert_eq!(rcc.read(CSR, 0), 0x2E00_0000);
        rcc.write(CSR, RMVF | LSION, 0).unwrap();
        assert_eq!(rcc.read(CSR, 0), LSION | LSIRDY);
        rcc.reset_because(ResetCause::BrownOut);
        assert_eq!(rcc.read(CSR, 0), 0x0600_0000);
        rcc.write(CSR, RMVF, 0).unwrap();
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

    #[test]
    fn a_crystal_is_ready_after_its_start_and_nothing_never_is() {
        let ready = |hse, now| {
            let mut rcc = Rcc::of(nucleo());
            rcc.set_hse(hse);
            rcc.write(CR, 0x83 | HSEON, 0).unwrap();
            rcc.read(CR, now) & HSERDY != 0
        };
        let crystal = Hse::Crystal { hz: 25_000_000 };
        // 2 ms at 16 MHz.
        assert!(!ready(crystal, 31_999) && ready(crystal, 32_000));
        assert!(!ready(Hse::Nothing, 1_000_000_000));
        let mut rcc = Rcc::of(nucleo());
        rcc.set_hse(crystal);
        assert!(rcc.write(CR, 0x83 | HSEON | HSEBYP, 0).is_err());
    }

    #[test]
    fn the_vco_of_other_chips_goes_down_to_100_mhz() {
        // PLLM 4, HSE 8 MHz: 2 MHz × 50.
        let setting = 4 | 50 << 6 | 1 << 16 | 1 << 22 | 7 << 24;
        for (chip, allowed) in [("f401re", false), ("f411re", true), ("f407vg", true)] {
            let mut rcc = Rcc::of(Chip::named(chip).unwrap());
            rcc.write(CR, 0x83 | HSEBYP, 0).unwrap();
            rcc.write(CR, 0x83 | HSEBYP | HSEON, 0).unwrap();
            rcc.write(PLLCFGR, setting, 0).unwrap();
            assert_eq!(rcc.write(CR, ALL_ON, 0).is_ok(), allowed, "{chip}");
        }
    }

    #[test]
    fn the_f446_runs_at_180_mhz_from_either_output_of_its_pll() {
        // PLLM 4, PLLN 180, PLLP 2, PLLR 2 or 4; HSE 8 MHz.
        for (divider, select, mhz) in [(2, 2, 180), (2, 3, 180), (4, 3, 90)] {
            let mut rcc = Rcc::of(Chip::named("f446re").unwrap());
            rcc.write(CR, 0x83 | HSEBYP, 0).unwrap();
            rcc.write(CR, 0x83 | HSEBYP | HSEON, 0).unwrap();
            let setting = 4 | 180 << 6 | 1 << 22 | 7 << 24 | divider << 28;
            rcc.write(PLLCFGR, setting, 0).unwrap();
            rcc.write(CR, ALL_ON, 0).unwrap();
            rcc.write(CFGR, select, 3_200).unwrap();
            let core = rcc.clocks().core;
            assert_eq!(core.numerator, mhz * 1_000_000 * core.denominator);
        }
    }

    #[test]
    fn timers_of_the_f446_run_as_timpre_says() {
        // PPRE1 and PPRE2 of CFGR; RM0390 §6.3.25.
        for (divider, code, slow, fast) in [(2, 4, 1, 1), (4, 5, 2, 1), (8, 6, 4, 2)] {
            let mut rcc = Rcc::of(Chip::named("f446re").unwrap());
            rcc.write(CFGR, code << 10 | code << 13, 0).unwrap();
            assert_eq!(rcc.clocks().apb1_divider, divider);
            assert_eq!(rcc.clocks().timer_divider(), slow);
            rcc.write(DCKCFGR, TIMPRE, 0).unwrap();
            assert_eq!(rcc.clocks().timer_divider(), fast);
            assert_eq!(rcc.clocks().timer_divider_2(), fast);
        }
    }

    #[test]
    fn the_backup_domain_is_written_only_with_dbp_and_survives_a_reset() {
        let mut rcc = Rcc::of(nucleo());
        rcc.write(BDCR, LSEON, 0).unwrap();
        assert_eq!(rcc.read(BDCR, 0), 0);
        rcc.set_backup_writable(true);
        rcc.write(BDCR, LSEON | RTCEN, 0).unwrap();
        // 2 s at 16 MHz.
        assert_eq!(rcc.read(BDCR, 31_999_999), LSEON | RTCEN);
        assert_eq!(rcc.read(BDCR, 32_000_000), LSEON | LSERDY | RTCEN);
        rcc.reset_because(ResetCause::Software);
        assert_eq!(rcc.read(BDCR, 32_000_000), LSEON | LSERDY | RTCEN);
    }
}
