//! Reset and clock control, and the clock tree: what the lines have in common. Registers and PLL of
//! each line are in a file of its own.

pub mod f1;
pub mod f4;
pub mod g0;
pub mod g4;
pub mod l4;

use super::registers::{merged, registers, rows, Register, Registers, Unmodelled};
use super::{Peripheral, ResetCause};
use crate::timebase::Frequency;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// At the same place on every chip.
const CR: u32 = 0x00;

const HSION: u32 = 1 << 0;
const HSIRDY: u32 = 1 << 1;
const HSITRIM: u32 = 0x1F << 3;
const HSEON: u32 = 1 << 16;
const HSERDY: u32 = 1 << 17;
const HSEBYP: u32 = 1 << 18;
const PLLON: u32 = 1 << 24;
const PLLRDY: u32 = 1 << 25;
const LSEON: u32 = 1 << 0;
const LSERDY: u32 = 1 << 1;
const LSEBYP: u32 = 1 << 2;
const RTCSEL: u32 = 0b11 << 8;
const RTCEN: u32 = 1 << 15;
const BDRST: u32 = 1 << 16;

/// BDCR of the newer lines. LSEDRV keeps its value. Missing: CSS on the LSE and LSCO.
const BACKUP: u32 = LSEON | LSEBYP | 0b11 << 3 | RTCSEL | RTCEN | BDRST;
const BACKUP_FLAGS: u32 = LSERDY | 1 << 6;
const BACKUP_MISSING: u32 = 1 << 5 | 0b11 << 24;

const LSION: u32 = 1 << 0;
const LSIRDY: u32 = 1 << 1;
const PINRSTF: u32 = 1 << 26;
const PORRSTF: u32 = 1 << 27;
const SFTRSTF: u32 = 1 << 28;
const IWDGRSTF: u32 = 1 << 29;
const WWDGRSTF: u32 = 1 << 30;

/// CFGR's, unless a line has more sources.
const SW: u32 = 0b11;
const SWS_SHIFT: u32 = 2;
const SWS: u32 = SW << SWS_SHIFT;

/// Of the STM32L4's MSI.
const MSION: u32 = 1 << 0;
const MSIRDY: u32 = 1 << 1;
const MSIRGSEL: u32 = 1 << 3;
const MSIRANGE: u32 = 0xF << 4;
/// §6.2.3: the range after reset and after Standby.
const MSI_RESET_HZ: u64 = 4_000_000;
/// §6.4.1, MSIRANGE.
const MSI_HZ: [u64; 12] = [
    100_000, 200_000, 400_000, 800_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000,
    24_000_000, 32_000_000, 48_000_000,
];

/// Of the STM32F0's HSI48.
const CR2: u32 = 0x34;
const HSI48ON: u32 = 1 << 16;
const HSI48RDY: u32 = 1 << 17;
const HSI48_HZ: u64 = 48_000_000;

/// What tells the clock control of one line from that of another.
#[derive(Clone, Copy)]
pub struct Layout {
    table: &'static [Register],
    cfgr: u32,
    bdcr: u32,
    csr: u32,
    /// CFGR.SW, and where SWS stands.
    switch: u32,
    switched_shift: u32,
    /// Where CFGR has HPRE, PPRE1 and PPRE2. The latter are the same where both buses have one divider.
    ahb_shift: u32,
    apb1_shift: u32,
    apb2_shift: u32,
    /// CSR.RMVF, the flags that it removes, and the one of a supply that fell.
    remove_flags: u32,
    reset_flags: u32,
    brown_out_flag: u32,
    /// The HSI: on, ready, and its frequency.
    internal: (u32, u32, u64),
    /// What each value of CFGR.SW selects.
    sources: [Option<Source>; 4],
    /// Oscillators and PLLs that feed nothing modelled: their register, the bits that turn them on,
    /// and how far behind these their ready flags are. They are ready at once.
    idle: &'static [(u32, u32, u32)],
    /// The LSI's typical frequency (the datasheets' tables "LSI oscillator characteristics").
    pub lsi_hz: u64,
    /// The longest PLL lock time of the datasheet.
    pll_lock_us: u64,
    /// The register with the PLL's settings, and their bits: not to be written while it is on.
    pll_settings: (u32, u32),
    /// TIMPRE, where there is one: its register and bit.
    timers_fast: Option<(u32, u32)>,
    pll: fn(&Rcc) -> Pll,
}

/// What the core's clock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The HSI.
    Internal,
    Hse,
    Pll,
    /// The STM32F446's PLL by its output R.
    SecondPll,
    /// The STM32L4's oscillator of many frequencies.
    Msi,
    /// The STM32F0's oscillator of 48 MHz.
    Internal48,
}

/// The PLL as its registers set it.
struct Pll {
    /// What feeds it. `None`: nothing.
    source: Option<Source>,
    /// A setting that cannot be followed, and its register.
    impossible: Option<(u32, &'static str)>,
    input: Frequency,
    /// The lowest and the highest input and output of the VCO that the manual allows.
    input_mhz: (u64, u64),
    vco: Frequency,
    vco_mhz: (u64, u64),
    /// `None`: that output is off.
    output: Option<Frequency>,
    second: Option<Frequency>,
    /// What USB, SDIO and the random number generator get.
    clock_48: Option<Frequency>,
}

/// How long crystals take to start: typical values (DS10086, tables "HSE 4-26 MHz oscillator
/// characteristics" and "LSE oscillator characteristics").
const HSE_START_US: u64 = 2_000;
const LSE_START_US: u64 = 2_000_000;
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
    /// Core cycles per clock of the timers of a bus with this divider. They run at twice its clock,
    /// unless that is undivided (§6.2).
    pub fn timer_divider(&self, apb_divider: u64) -> u64 {
        let times = if self.timers_fast { 4 } else { 2 };
        (apb_divider / times).max(1)
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Rcc {
    /// A snapshot leaves it out.
    #[serde(skip, default = "f4::layout_f401")]
    pub layout: &'static Layout,
    lowest_vco_hz: u64,
    registers: Registers,
    hse: Hse,
    pll_ready_cycle: u64,
    hse_ready_cycle: u64,
    lse_ready_cycle: u64,
    /// PWR_CR.DBP: software may write RCC_BDCR.
    pub backup_writable: bool,
    /// The clocks that were turned on last: their register, their bits, and when.
    turned_on: Option<TurnedOn>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct TurnedOn {
    register: u32,
    bits: u32,
    cycle: u64,
}

impl Rcc {
    /// `lowest_vco_hz` is the lowest frequency of the PLL's VCO.
    pub fn of(layout: &'static Layout, lowest_vco_hz: u64) -> Rcc {
        Rcc {
            layout,
            lowest_vco_hz,
            registers: Registers::new("RCC", layout.table),
            hse: NUCLEO_HSE,
            pll_ready_cycle: 0,
            hse_ready_cycle: 0,
            lse_ready_cycle: 0,
            backup_writable: false,
            turned_on: None,
        }
    }

    fn pll(&self) -> Pll {
        (self.layout.pll)(self)
    }

    /// What feeds OSC_IN from now on.
    pub fn set_hse(&mut self, hse: Hse) {
        self.hse = hse;
    }

    pub fn clocks(&self) -> Clocks {
        let layout = self.layout;
        let configuration = self.registers.get(layout.cfgr);
        Clocks {
            core: self
                .system_clock()
                .over(ahb_divider(configuration >> layout.ahb_shift & 0xF)),
            apb1_divider: apb_divider(configuration >> layout.apb1_shift & 0b111),
            apb2_divider: apb_divider(configuration >> layout.apb2_shift & 0b111),
            timers_fast: layout
                .timers_fast
                .is_some_and(|(register, bits)| self.registers.get(register) & bits != 0),
        }
    }

    /// Whether a bit that turns on a peripheral's clock is set.
    pub fn enabled(&self, enable_register: u32, bit: u32) -> bool {
        self.registers.has(enable_register, 1 << bit)
    }

    /// When the clock of a bit was turned on, if it is among those that were last.
    pub fn turned_on_at(&self, enable_register: u32, bit: u32) -> Option<u64> {
        let last = self.turned_on?;
        let among = last.register == enable_register && last.bits >> bit & 1 != 0;
        among.then_some(last.cycle)
    }

    pub fn lsi_on(&self) -> bool {
        self.registers.has(self.layout.csr, LSION)
    }

    /// The flags of the resets that were, as if these had been (§6.3.18). Other bits are not touched.
    pub fn set_reset_flags(&mut self, flags: u32) {
        let layout = self.layout;
        let others = self.registers.get(layout.csr) & !layout.reset_flags;
        self.registers
            .set(layout.csr, others | flags & layout.reset_flags);
    }

    /// The same after a system reset. The flags of earlier ones stay until RMVF clears them
    /// (§6.3.18). Every reset also sets the pin's (§6.1.1, figure 11). Only a reset of the backup
    /// domain clears BDCR (§6.3.17).
    pub fn after_reset(&self, cause: ResetCause) -> Rcc {
        let layout = self.layout;
        let flag = match cause {
            ResetCause::Pin => 0,
            ResetCause::BrownOut => layout.brown_out_flag,
            ResetCause::Software => SFTRSTF,
            ResetCause::IndependentWatchdog => IWDGRSTF,
            ResetCause::WindowWatchdog => WWDGRSTF,
        };
        let mut rcc = Rcc {
            hse: self.hse,
            lse_ready_cycle: self.lse_ready_cycle,
            ..Rcc::of(layout, self.lowest_vco_hz)
        };
        rcc.set_reset_flags(self.registers.get(layout.csr) | flag | PINRSTF);
        rcc.registers
            .set(layout.bdcr, self.registers.get(layout.bdcr));
        rcc
    }

    fn write_status(&mut self, value: u32) {
        let layout = self.layout;
        let mut status = self.registers.get(layout.csr) & layout.reset_flags;
        if value & layout.remove_flags != 0 {
            status = 0;
        }
        if value & LSION != 0 {
            status |= LSION | LSIRDY;
        }
        let kept = value & !(layout.reset_flags | layout.remove_flags | LSION | LSIRDY);
        self.registers.set(layout.csr, status | kept);
    }

    pub fn pll_on(&self) -> bool {
        self.registers.has(CR, PLLON)
    }

    /// What CFGR.SW selects, if its value is not reserved.
    fn selected(&self, configuration: u32) -> Option<Source> {
        let layout = self.layout;
        let source = layout.sources.get((configuration & layout.switch) as usize);
        source.copied().flatten()
    }

    fn system_clock(&self) -> Frequency {
        let nothing = Frequency::hz(0);
        match self.selected(self.registers.get(self.layout.cfgr)) {
            Some(Source::Hse) => Frequency::hz(self.hse.hz()),
            Some(Source::Pll) => self.pll().output.unwrap_or(nothing),
            Some(Source::SecondPll) => self.pll().second.unwrap_or(nothing),
            Some(Source::Msi) => msi(&self.registers),
            Some(Source::Internal48) => Frequency::hz(HSI48_HZ),
            Some(Source::Internal) | None => Frequency::hz(self.layout.internal.2),
        }
    }

    /// PLL48CLK, for USB, SDIO and the random number generator. `None` while the PLL is off.
    pub fn pll_48(&self) -> Option<Frequency> {
        self.pll().clock_48.filter(|_| self.pll_on())
    }

    /// The register and the bits that turn a source on and tell that it is ready.
    fn switch(&self, source: Source) -> (u32, u32, u32) {
        match source {
            Source::Internal => (CR, self.layout.internal.0, self.layout.internal.1),
            Source::Msi => (CR, MSION, MSIRDY),
            Source::Hse => (CR, HSEON, HSERDY),
            Source::Pll | Source::SecondPll => (CR, PLLON, PLLRDY),
            Source::Internal48 => (CR2, HSI48ON, HSI48RDY),
        }
    }

    fn write_control(&mut self, mut value: u32, now: u64) -> Result<(), Unmodelled> {
        let present = self.registers.get(CR);
        let remark = |why| Err(self.registers.remark(CR, why));
        let mut odd = self.check_source(value);
        if (value ^ present) & HSEBYP != 0 && present & HSEON != 0 {
            value ^= HSEBYP;
            odd = odd.and(remark("HSEBYP can be written only while the HSE is off"));
        }
        let in_use = match self.selected(self.registers.get(self.layout.cfgr)) {
            Some(source) => self.switch(source),
            None => (CR, 0, 0),
        };
        if in_use.0 == CR && value & in_use.1 == 0 {
            value |= in_use.1;
            odd = odd.and(remark("turning the clock off that the core runs from"));
        }
        if value & !present & HSEON != 0 {
            self.hse_ready_cycle = self.hse_starts(value, now);
        }
        if value & !present & PLLON != 0 {
            let (locks, checked) = self.check_pll(value)?;
            self.pll_ready_cycle = if locks {
                now + self.cycles_of(self.layout.pll_lock_us)
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
        let bdcr = self.layout.bdcr;
        let present = self.registers.get(bdcr);
        if value & !present & LSEON != 0 {
            self.lse_ready_cycle = now + self.cycles_of(LSE_START_US);
        }
        let kept = if value & BDRST != 0 { BDRST } else { value };
        self.registers.set(bdcr, kept);
    }

    /// RCC_BDCR with the ready flag at cycle `now`.
    fn backup(&self, now: u64) -> u32 {
        let backup = self.registers.get(self.layout.bdcr);
        if backup & LSEON != 0 && now >= self.lse_ready_cycle {
            backup | LSERDY
        } else {
            backup & !LSERDY
        }
    }

    /// Whether the PLL locks, and which limit of the manual it exceeds. Outside these the manual
    /// promises nothing; here it locks all the same.
    fn check_pll(&self, control: u32) -> Result<(bool, Result<(), Unmodelled>), Unmodelled> {
        let pll = self.pll();
        let register = self.layout.pll_settings.0;
        let remark = |why: &str| Err(self.registers.remark(register, why));
        let on = pll.source.is_some_and(|source| {
            let (place, bit, _) = self.switch(source);
            let present = if place == CR {
                control
            } else {
                self.registers.get(place)
            };
            present & bit != 0
        });
        if !on {
            return Ok((false, remark("PLL turned on while its source is off")));
        }
        if pll.source == Some(Source::Hse) && self.hse == Hse::Nothing {
            let why = "PLL turned on from the HSE, which never becomes ready: --hse names none";
            return Ok((false, remark(why)));
        }
        if let Some((register, why)) = pll.impossible {
            return Err(self.registers.refuse(register, why));
        }
        let mhz = |mhz: u64| mhz * 1_000_000;
        let outside = |clock: Frequency, (lowest, highest): (u64, u64)| {
            clock.below_hz(mhz(lowest)) || clock.exceeds_hz(mhz(highest))
        };
        let (lowest, highest) = pll.input_mhz;
        if outside(pll.input, pll.input_mhz) {
            let why = format!("PLL input outside {lowest}–{highest} MHz");
            return Ok((true, remark(&why)));
        }
        let (lowest, highest) = pll.vco_mhz;
        if outside(pll.vco, pll.vco_mhz) {
            let why = format!("PLL output of the VCO outside {lowest}–{highest} MHz");
            return Ok((true, remark(&why)));
        }
        Ok((true, Ok(())))
    }

    fn write_configuration(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        let cfgr = self.layout.cfgr;
        let Some(source) = self.selected(value) else {
            return Err(self.registers.refuse(cfgr, "SW is a reserved value"));
        };
        let (place, _, ready) = self.switch(source);
        if self.with_ready_flags(place, now) & ready == 0 {
            return Err(self
                .registers
                .refuse(cfgr, "SW selects a clock that is not ready"));
        }
        let frozen = self.frozen_settings(cfgr);
        let present = self.registers.get(cfgr);
        let (switch, shift) = (self.layout.switch, self.layout.switched_shift);
        let kept = value & !(switch << shift | frozen) | (value & switch) << shift;
        let kept = kept | present & frozen;
        self.registers.set(cfgr, kept);
        match (value ^ present) & frozen {
            0 => Ok(()),
            _ => Err(self.written_while_on(cfgr)),
        }
    }

    /// Bits of a register that cannot be written, since the PLL is on.
    fn frozen_settings(&self, offset: u32) -> u32 {
        let (register, bits) = self.layout.pll_settings;
        match register == offset && self.pll_on() {
            true => bits,
            false => 0,
        }
    }

    /// §6.3.2: the PLL's settings can be written only while it is off.
    fn written_while_on(&self, offset: u32) -> Unmodelled {
        self.registers.remark(offset, "written while the PLL is on")
    }

    /// RCC_CR, or another register with such flags, with its ready flags at cycle `now`.
    fn with_ready_flags(&self, offset: u32, now: u64) -> u32 {
        let mut control = self.registers.get(offset);
        let sources = self.layout.sources.iter().flatten();
        for (place, on, ready) in sources.map(|source| self.switch(*source)) {
            if place == offset {
                let is_ready = match on {
                    HSEON => self.hse != Hse::Nothing && now >= self.hse_ready_cycle,
                    PLLON => now >= self.pll_ready_cycle,
                    _ => true,
                };
                let flag = if control & on != 0 && is_ready {
                    ready
                } else {
                    0
                };
                control = control & !ready | flag;
            }
        }
        for &(_, on, behind) in self.layout.idle.iter().filter(|row| row.0 == offset) {
            control = control & !(on << behind) | (control & on) << behind;
        }
        control
    }
}

impl Peripheral for Rcc {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        if offset == self.layout.bdcr {
            return self.backup(now);
        }
        self.with_ready_flags(offset, now)
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        let layout = self.layout;
        if offset == CR {
            return self.write_control(value, now);
        }
        if offset == layout.cfgr {
            return self.write_configuration(value, now);
        }
        if offset == layout.csr {
            self.write_status(value);
        } else if offset == layout.bdcr {
            self.write_backup(value, now);
        } else if self.frozen_settings(offset) != 0 {
            return Err(self.written_while_on(offset));
        } else {
            let bits = value & !self.registers.get(offset);
            if bits != 0 {
                self.turned_on = Some(TurnedOn {
                    register: offset,
                    bits,
                    cycle: now,
                });
            }
            self.registers.set(offset, value);
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = Rcc {
            hse: self.hse,
            ..Rcc::of(self.layout, self.lowest_vco_hz)
        };
    }
}

/// §6.2.3: CR.MSIRANGE once MSIRGSEL is set. Before, it is the range of CSR.MSISRANGE after Standby,
/// which is not modelled: 4 MHz. Reserved ranges are taken as the highest.
fn msi(registers: &Registers) -> Frequency {
    let control = registers.get(CR);
    if control & MSIRGSEL == 0 {
        return Frequency::hz(MSI_RESET_HZ);
    }
    let range = (control & MSIRANGE) >> 4;
    Frequency::hz(MSI_HZ[(range as usize).min(MSI_HZ.len() - 1)])
}

/// The dividers of the PLL's outputs R and Q, which are on by a bit below them: 2, 4, 6 or 8.
fn by_twos(setting: u32) -> [Option<u64>; 2] {
    [24, 20].map(|enable| {
        let divider = u64::from(setting >> (enable + 1) & 0b11) * 2 + 2;
        (setting >> enable & 1 != 0).then_some(divider)
    })
}

/// The PLL of the STM32L4 and later lines: PLLM's bits, what PLLN may be and what is wrong otherwise, the
/// input in MHz, and the dividers of the outputs for the core and for 48 MHz.
fn with_factor(
    rcc: &Rcc,
    (source, clock): (Option<Source>, Frequency),
    setting: u32,
    input_divider: u32,
    (factors, outside): (RangeInclusive<u32>, &'static str),
    input_mhz: (u64, u64),
    dividers: [Option<u64>; 2],
) -> Pll {
    let input = clock.over(u64::from(setting >> 4 & input_divider) + 1);
    let factor = setting >> 8 & 0x7F;
    let vco = input.times(u64::from(factor));
    let [output, clock_48] = dividers.map(|divider| Some(vco.over(divider?)));
    Pll {
        source,
        impossible: (!factors.contains(&factor)).then_some((rcc.layout.pll_settings.0, outside)),
        input,
        input_mhz,
        vco,
        vco_mhz: (rcc.lowest_vco_hz / 1_000_000, 344),
        output,
        second: None,
        clock_48,
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
    use crate::peripherals::tests::*;

    impl Rcc {
        /// That of a chip, as after power-up.
        pub fn named(chip: &str) -> Rcc {
            let chip = crate::chip::Chip::named(chip).unwrap();
            Rcc::of(crate::lines::facts(chip.family).rcc, chip.lowest_vco_hz)
        }
    }

    // The registers of the F4.
    const PLLCFGR: u32 = 0x04;
    const CFGR: u32 = 0x08;
    const BDCR: u32 = 0x70;
    const CSR: u32 = 0x74;
    const RMVF: u32 = 1 << 24;

    /// At reset but for HSE and the setting of the PLL.
    fn started(chip: &str, pll: u32) -> Rcc {
        let mut rcc = Rcc::named(chip);
        rcc.follow([
            Write(CR, 0x83 | HSEBYP, 0),
            Write(CR, 0x83 | HSEBYP | HSEON, 0),
            Write(PLLCFGR, pll, 0),
        ]);
        rcc
    }

    const ALL_ON: u32 = 0x83 | HSEBYP | HSEON | PLLON;

    #[test]
    fn reset_runs_from_the_16_mhz_hsi() {
        let mut rcc = Rcc::named("f401re");
        assert_eq!(rcc.read(CR, 0), 0x83);
        let clocks = rcc.clocks();
        assert_eq!(clocks.core, Frequency::hz(16_000_000));
        assert_eq!(
            (
                clocks.apb1_divider,
                clocks.timer_divider(clocks.apb1_divider)
            ),
            (1, 1)
        );
    }

    #[test]
    fn the_pll_makes_84_mhz_after_its_lock_time() {
        // PLLM 4, PLLN 168, PLLP 4, HSE: 8 / 4 × 168 / 4 = 84 MHz.
        let mut rcc = started("f401re", 4 | 168 << 6 | 1 << 16 | 1 << 22 | 7 << 24);
        rcc.follow([Write(CR, ALL_ON, 1_000), Bits(CR, PLLRDY, 0, 1_000)]);
        assert!(rcc.write(CFGR, 2, 1_000 + 3_199).is_err());
        rcc.follow([
            // 200 µs at 16 MHz.
            Bits(CR, PLLRDY, PLLRDY, 1_000 + 3_200),
            // PPRE1 = /2.
            Write(CFGR, 2 | 0b100 << 10, 1_000 + 3_200),
            Read(CFGR, 2 | 2 << 2 | 0b100 << 10, 0),
        ]);
        let clocks = rcc.clocks();
        assert_eq!(clocks.core.numerator, 84_000_000 * clocks.core.denominator);
        let dividers = [clocks.apb1_divider, clocks.apb2_divider];
        assert_eq!(
            (dividers, clocks.timer_divider(clocks.apb1_divider)),
            ([2, 1], 1)
        );
    }

    #[test]
    fn settings_outside_the_manual_are_refused() {
        // The input of the PLL, 8 MHz, by PLLM, and the VCO by PLLN and by what the chip allows.
        for (chip, input, multiplier, allowed) in [
            ("f401re", 16, 336, false), // input of 0.5 MHz
            ("f401re", 4, 100, true),   // VCO of 200 MHz
            ("f401re", 4, 95, false),
            ("f401re", 4, 50, false), // VCO of 100 MHz
            ("f411re", 4, 50, true),
            ("f407vg", 4, 50, true),
        ] {
            let mut rcc = started(chip, input | multiplier << 6 | 1 << 22 | 7 << 24);
            let on = rcc.write(CR, ALL_ON, 0);
            assert_eq!(on.is_ok(), allowed, "{chip} {input} {multiplier}");
        }
        for (register, value) in [(CR, 0x83 | HSEON), (CR, 0x82), (CFGR, 3)] {
            assert!(Rcc::named("f401re").write(register, value, 0).is_err());
        }
    }

    #[test]
    fn reset_flags_gather_until_they_are_removed() {
        let mut rcc = Rcc::named("f401re");
        rcc.follow([Read(CSR, 0x0E00_0000, 0)]);
        for (cause, flags, removal, left) in [
            (
                ResetCause::IndependentWatchdog,
                0x2E00_0000,
                LSION,
                LSION | LSIRDY,
            ),
            (ResetCause::BrownOut, 0x0600_0000, 0, 0),
            (ResetCause::Software, 0x1400_0000, 0, 0),
        ] {
            rcc = rcc.after_reset(cause);
            rcc.follow([
                Read(CSR, flags, 0),
                Write(CSR, RMVF | removal, 0),
                Read(CSR, left, 0),
            ]);
        }
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
            let mut rcc = Rcc::named("f401re");
            rcc.set_hse(hse);
            rcc.write(CR, 0x83 | HSEON, 0).unwrap();
            rcc.read(CR, now) & HSERDY != 0
        };
        let crystal = Hse::Crystal { hz: 25_000_000 };
        // 2 ms at 16 MHz.
        assert!(!ready(crystal, 31_999) && ready(crystal, 32_000));
        assert!(!ready(Hse::Nothing, 1_000_000_000));
        let mut rcc = Rcc::named("f401re");
        rcc.set_hse(crystal);
        assert!(rcc.write(CR, 0x83 | HSEON | HSEBYP, 0).is_err());
    }

    #[test]
    fn the_f446_runs_at_180_mhz_from_either_output_of_its_pll() {
        // PLLM 4, PLLN 180, PLLP 2, PLLR 2 or 4; HSE 8 MHz.
        for (divider, select, mhz) in [(2, 2, 180), (2, 3, 180), (4, 3, 90)] {
            let setting = 4 | 180 << 6 | 1 << 22 | 7 << 24 | divider << 28;
            let mut rcc = started("f446re", setting);
            rcc.follow([Write(CR, ALL_ON, 0), Write(CFGR, select, 3_200)]);
            let core = rcc.clocks().core;
            assert_eq!(core.numerator, mhz * 1_000_000 * core.denominator);
        }
    }

    #[test]
    fn the_backup_domain_is_written_only_with_dbp_and_survives_a_reset() {
        let mut rcc = Rcc::named("f401re");
        rcc.follow([Write(BDCR, LSEON, 0), Read(BDCR, 0, 0)]);
        rcc.backup_writable = true;
        rcc.follow([
            Write(BDCR, LSEON | RTCEN, 0),
            // 2 s at 16 MHz.
            Read(BDCR, LSEON | RTCEN, 31_999_999),
            Read(BDCR, LSEON | LSERDY | RTCEN, 32_000_000),
        ]);
        rcc = rcc.after_reset(ResetCause::Software);
        assert_eq!(rcc.read(BDCR, 32_000_000), LSEON | LSERDY | RTCEN);
    }
}
