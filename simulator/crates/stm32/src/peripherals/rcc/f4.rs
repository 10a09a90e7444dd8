//! Registers and PLL of the STM32F4's clock control (RM0368 §6.3, RM0383 §6.3, RM0090 §7.3, RM0390
//! §6.3).

use super::*;

const CFGR: u32 = 0x08;
const PLLCFGR: u32 = 0x04;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
pub const AHB1RSTR: u32 = 0x10;
pub const AHB2RSTR: u32 = 0x14;
pub const APB1RSTR: u32 = 0x20;
pub const APB2RSTR: u32 = 0x24;
pub const AHB1ENR: u32 = 0x30;
pub const AHB2ENR: u32 = 0x34;
pub const APB1ENR: u32 = 0x40;
pub const APB2ENR: u32 = 0x44;
const DCKCFGR: u32 = 0x8C;
const TIMPRE: u32 = 1 << 24;

const HSI_HZ: u64 = 16_000_000;
const PLLI2SON: u32 = 1 << 26;
const PLLSAION: u32 = 1 << 28;
const CR_BITS: u32 = HSION | HSITRIM | HSEON | HSEBYP | PLLON | PLLI2SON;
const CSSON: u32 = 1 << 19;
const READY_FLAGS: u32 = HSIRDY | HSERDY | PLLRDY | 1 << 27 | 0xFF << 8;
const RMVF: u32 = 1 << 24;
const BORRSTF: u32 = 1 << 25;
const RESET_FLAGS: u32 = 0xFE << 24;
const PRESCALERS: u32 = 0xF << 4 | 0b111 << 10 | 0b111 << 13;

const fn layout(table: &'static [Register]) -> Layout {
    Layout {
        table,
        cfgr: CFGR,
        bdcr: BDCR,
        csr: CSR,
        switch: SW,
        switched_shift: SWS_SHIFT,
        ahb_shift: 4,
        apb1_shift: 10,
        apb2_shift: 13,
        remove_flags: RMVF,
        reset_flags: RESET_FLAGS,
        brown_out_flag: BORRSTF,
        internal: (HSION, HSIRDY, HSI_HZ),
        sources: [
            Some(Source::Internal),
            Some(Source::Hse),
            Some(Source::Pll),
            None,
        ],
        idle: &[(CR, PLLI2SON, 1)],
        lsi_hz: 32_000,
        pll_lock_us: 200,
        pll_settings: (PLLCFGR, !0),
        timers_fast: None,
        pll,
    }
}

pub static LAYOUT_F401: Layout = layout(&TABLE_F401);
/// That of the Nucleo's chip.
pub fn layout_f401() -> &'static Layout {
    &LAYOUT_F401
}

pub static LAYOUT_F411: Layout = layout(&TABLE_F411);
pub static LAYOUT_F407: Layout = layout(&TABLE_F407);
pub static LAYOUT_F446: Layout = Layout {
    sources: [
        Some(Source::Internal),
        Some(Source::Hse),
        Some(Source::Pll),
        Some(Source::SecondPll),
    ],
    idle: &[(CR, PLLI2SON | PLLSAION, 1)],
    // RM0390 §6.3.25.
    timers_fast: Some((DCKCFGR, TIMPRE)),
    ..layout(&TABLE_F446)
};

/// §6.3.2: VCO input 1–2 MHz, VCO output up to 432 MHz.
fn pll(rcc: &Rcc) -> Pll {
    let setting = rcc.registers.get(PLLCFGR);
    let from_hse = setting >> 22 & 1 != 0;
    let (source, hz) = match from_hse {
        true => (Source::Hse, rcc.hse.hz()),
        false => (Source::Internal, HSI_HZ),
    };
    let divider = u64::from(setting & 0x3F);
    let input = Frequency::hz(hz).over(divider);
    let vco = input.times(u64::from(setting >> 6 & 0x1FF));
    let output = |divider: u32| Some(vco.over(u64::from(divider)));
    Pll {
        source: Some(source),
        impossible: (divider < 2).then_some((PLLCFGR, "PLLM below 2")),
        input,
        input_mhz: (1, 2),
        vco,
        vco_mhz: (rcc.lowest_vco_hz / 1_000_000, 432),
        output: output((setting >> 16 & 0b11) * 2 + 2),
        // PLLR, on the STM32F446 (RM0390 §6.3.2).
        second: output((setting >> 28 & 0b111).max(2)),
        clock_48: output(setting >> 24 & 0xF).filter(|_| setting >> 24 & 0xF != 0),
    }
}

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
    rows! {
        CR, "CR", 0x0000_0083, CR_BITS, inert READY_FLAGS, missing CSSON;
        // Bit 29 is reserved and reads one. Vendor code writes it as zero.
        PLLCFGR, "PLLCFGR", 0x2400_3010, 0x0F43_7FFF, inert 1 << 29;
        // Missing: the RTC's divider and the clock outputs MCO.
        CFGR, "CFGR", 0, SW | PRESCALERS, inert SWS, missing 0x1F << 16 | 0x1FF << 23;
        // Missing: interrupts of clocks that become ready. Their flags are never set, so clearing
        // them has no effect.
        0x0C, "CIR", 0, 0, inert 0x00BF_00BF, missing 0x0000_3F00;
        AHB1RSTR, "AHB1RSTR", 0, clocks.ahb1_resets;
        AHB2RSTR, "AHB2RSTR", 0, clocks.ahb2;
        0x18, "AHB3RSTR", 0, clocks.ahb3;
        APB1RSTR, "APB1RSTR", 0, clocks.apb1;
        APB2RSTR, "APB2RSTR", 0, clocks.apb2_resets;
        AHB1ENR, "AHB1ENR", clocks.ahb1_on, clocks.ahb1;
        AHB2ENR, "AHB2ENR", 0, clocks.ahb2;
        0x38, "AHB3ENR", 0, clocks.ahb3;
        APB1ENR, "APB1ENR", 0, clocks.apb1;
        APB2ENR, "APB2ENR", 0, clocks.apb2;
        // Clocks stay on in Sleep mode. Turning one off there is not modelled.
        0x50, "AHB1LPENR", clocks.in_sleep[0], 0, missing clocks.in_sleep[0] | clocks.ahb1;
        0x54, "AHB2LPENR", clocks.in_sleep[1], 0, missing clocks.in_sleep[1] | clocks.ahb2;
        0x58, "AHB3LPENR", clocks.ahb3, 0, missing clocks.ahb3;
        0x60, "APB1LPENR", clocks.in_sleep[2], 0, missing clocks.in_sleep[2] | clocks.apb1;
        0x64, "APB2LPENR", clocks.in_sleep[3], 0, missing clocks.in_sleep[3] | clocks.apb2;
        BDCR, "BDCR", 0, LSEON | LSEBYP | RTCSEL | RTCEN | BDRST, inert LSERDY;
        CSR, "CSR", PINRSTF | PORRSTF | BORRSTF, LSION | RMVF, inert LSIRDY | RESET_FLAGS;
        0x80, "SSCGR", 0, 0, absent;
        0x84, "PLLI2SCFGR", 0, 0, absent;
        DCKCFGR, "DCKCFGR", 0, 0, absent;
    }
}

static TABLE_F401: [Register; 24] = table(&F401);
static TABLE_F411: [Register; 24] = table(&F411);
static TABLE_F407: [Register; 24] = table(&F407);
/// RM0390 §6.3.2: PLLR divides for the second output of the PLL. §6.3.1: a third PLL, for SAI.
static TABLE_F446: [Register; 24] = {
    let rows = rows! {
        CR, "CR", 0x0000_0083, CR_BITS | PLLSAION, inert READY_FLAGS | PLLSAION << 1, missing CSSON;
        PLLCFGR, "PLLCFGR", 0x2400_3010, 0x7F43_7FFF;
        // §6.3.25: what it chooses for SAI and I2S is not modelled.
        DCKCFGR, "DCKCFGR", 0, TIMPRE, missing 0x07F0_1F1F & !TIMPRE;
    };
    merged(&table(&F446), &rows)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_the_f446_run_as_timpre_says() {
        // PPRE1 and PPRE2 of CFGR; RM0390 §6.3.25.
        for (divider, code, slow, fast) in [(2, 4, 1, 1), (4, 5, 2, 1), (8, 6, 4, 2)] {
            let mut rcc = Rcc::named("f446re");
            rcc.write(CFGR, code << 10 | code << 13, 0).unwrap();
            assert_eq!(rcc.clocks().apb1_divider, divider);
            assert_eq!(rcc.clocks().timer_divider(rcc.clocks().apb1_divider), slow);
            rcc.write(DCKCFGR, TIMPRE, 0).unwrap();
            assert_eq!(rcc.clocks().timer_divider(rcc.clocks().apb1_divider), fast);
            assert_eq!(rcc.clocks().timer_divider(rcc.clocks().apb2_divider), fast);
        }
    }
}
