//! Registers and PLL of the STM32L4's clock control (RM0351 §6.4).

use super::*;

const HSI16ON: u32 = 1 << 8;
const HSI16RDY: u32 = 1 << 10;
const HSI16_HZ: u64 = 16_000_000;
const PLLSAI1ON: u32 = 1 << 26;
const PLLSAI2ON: u32 = 1 << 28;
const PRESCALERS: u32 = 0xF << 4 | 0b111 << 8 | 0b111 << 11;
const RMVF: u32 = 1 << 23;

/// DMA1–2, flash, CRC, TSC; GPIOA–H, OTG_FS, ADC, RNG; FMC, QSPI; and those of the APBs.
const AHB1: u32 = 0x0001_1103;
const AHB2: u32 = 0x0004_30FF;
const AHB3: u32 = 0x0000_0101;
const APB1_1: u32 = 0xF2FE_CA3F;
const APB1_2: u32 = 0x0000_0025;
const APB2: u32 = 0x0167_7C81;
const WWDG: u32 = 1 << 11;
const FIREWALL: u32 = 1 << 7;

registers! {
    TABLE:
    // Missing: the MSI's PLL, the HSI for peripherals in Stop mode, and CSSON.
    CR = 0x00, 0x0000_0063, MSION | MSIRGSEL | MSIRANGE | HSI16ON | HSEON | HSEBYP | PLLON | PLLSAI1ON | PLLSAI2ON, inert MSIRDY | HSI16RDY | HSERDY | PLLRDY | 1 << 27 | 1 << 29, missing 1 << 2 | 1 << 9 | 1 << 11 | 1 << 19;
    // The calibration of a chip that does not exist.
    ICSCR = 0x04, 0x1000_0000, 0xFF << 8 | 0x1F << 24, inert 0x00FF_00FF;
    // Missing: the wake-up clock and MCO.
    CFGR = 0x08, 0, SW | PRESCALERS, inert SWS, missing 1 << 15 | 0x7700_0000;
    PLLCFGR = 0x0C, 0x0000_1000, 0x0773_7F73;
    PLLSAI1CFGR = 0x10, 0x0000_1000, 0, missing 0x0773_7F00;
    PLLSAI2CFGR = 0x14, 0x0000_1000, 0, missing 0x0703_7F00;
    CIER = 0x18, 0, 0, missing 0x2FF;
    CIFR = 0x1C, 0, 0, inert 0x3FF;
    CICR = 0x20, 0, 0, inert 0x3FF;
    pub AHB1RSTR = 0x28, 0, AHB1;
    pub AHB2RSTR = 0x2C, 0, AHB2;
    AHB3RSTR = 0x30, 0, AHB3;
    pub APB1RSTR1 = 0x38, 0, APB1_1 & !WWDG;
    APB1RSTR2 = 0x3C, 0, APB1_2;
    pub APB2RSTR = 0x40, 0, APB2 & !FIREWALL;
    pub AHB1ENR = 0x48, 0x100, AHB1;
    pub AHB2ENR = 0x4C, 0, AHB2;
    AHB3ENR = 0x50, 0, AHB3;
    pub APB1ENR1 = 0x58, 0, APB1_1;
    APB1ENR2 = 0x5C, 0, APB1_2;
    pub APB2ENR = 0x60, 0, APB2;
    // Clocks stay on in Sleep mode. Turning one off there is not modelled.
    AHB1SMENR = 0x68, 0x0001_1303, 0, missing 0x0001_1303;
    AHB2SMENR = 0x6C, 0x0004_32FF, 0, missing 0x0004_32FF;
    AHB3SMENR = 0x70, 0x0000_0101, 0, missing 0x0000_0101;
    APB1SMENR1 = 0x78, APB1_1, 0, missing APB1_1;
    APB1SMENR2 = 0x7C, APB1_2, 0, missing APB1_2;
    APB2SMENR = 0x80, APB2 & !FIREWALL, 0, missing APB2;
    // Peripherals that choose their clock run from the one after reset: PCLK, for USARTs.
    CCIPR = 0x88, 0, 0, missing !0;
    BDCR = 0x90, 0, BACKUP, inert BACKUP_FLAGS, missing BACKUP_MISSING;
    CSR = 0x94, 0x0C00_0600, LSION | 0xF << 8 | RMVF, inert LSIRDY | 0xFF << 24;
}

pub static LAYOUT: Layout = Layout {
    table: TABLE,
    cfgr: CFGR,
    bdcr: BDCR,
    csr: CSR,
    switch: SW,
    switched_shift: SWS_SHIFT,
    ahb_shift: 4,
    apb1_shift: 8,
    apb2_shift: 11,
    remove_flags: RMVF,
    reset_flags: 0xFF << 24,
    brown_out_flag: 1 << 27,
    internal: (HSI16ON, HSI16RDY, HSI16_HZ),
    sources: [
        Some(Source::Msi),
        Some(Source::Internal),
        Some(Source::Hse),
        Some(Source::Pll),
    ],
    idle: &[(CR, PLLSAI1ON | PLLSAI2ON, 1)],
    lsi_hz: 32_000,
    pll_lock_us: 40,
    pll_settings: (PLLCFGR, !0),
    timers_fast: None,
    pll,
};

/// §6.4.4: VCO input 4–16 MHz. DS10198, table "PLL, PLLSAI1, PLLSAI2 characteristics": VCO output
/// 64–344 MHz in range 1.
fn pll(rcc: &Rcc) -> Pll {
    let setting = rcc.registers.get(PLLCFGR);
    let (source, clock) = match setting & 0b11 {
        0 => (None, Frequency::hz(0)),
        1 => (Some(Source::Msi), msi(&rcc.registers)),
        2 => (Some(Source::Internal), Frequency::hz(HSI16_HZ)),
        _ => (Some(Source::Hse), Frequency::hz(rcc.hse.hz())),
    };
    let outside = "PLLN outside 8–86";
    with_factor(
        rcc,
        (source, clock),
        setting,
        0b111,
        (8..=86, outside),
        (4, 16),
        by_twos(setting),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rcc() -> Rcc {
        Rcc::named("l476rg")
    }

    fn mhz(rcc: &Rcc) -> f64 {
        let core = rcc.clocks().core;
        core.numerator as f64 / core.denominator as f64 / 1e6
    }

    /// §6.2.3, §6.4.1.
    #[test]
    fn reset_runs_from_the_msi_whose_range_can_be_chosen() {
        let mut rcc = rcc();
        assert_eq!((rcc.read(CR, 0), mhz(&rcc)), (0x63, 4.0));
        for (range, expected) in [(0, 0.1), (5, 2.0), (7, 8.0), (11, 48.0)] {
            rcc.write(CR, MSION | MSIRGSEL | range << 4, 0).unwrap();
            assert_eq!(mhz(&rcc), expected);
        }
    }

    /// §6.4.4: 8 MHz × 20 / 2, after 40 µs at 4 MHz. R must be on.
    #[test]
    fn the_pll_makes_80_mhz() {
        let mut rcc = rcc();
        rcc.write(CR, 0x63 | HSEBYP, 0).unwrap();
        rcc.write(CR, 0x63 | HSEBYP | HSEON, 0).unwrap();
        rcc.write(PLLCFGR, 3 | 20 << 8 | 1 << 24, 0).unwrap();
        rcc.write(CR, 0x63 | HSEBYP | HSEON | PLLON, 0).unwrap();
        assert!(rcc.write(CFGR, 3, 159).is_err());
        rcc.write(CFGR, 3 | 0b100 << 8, 160).unwrap();
        assert_eq!((mhz(&rcc), rcc.clocks().apb1_divider), (80.0, 2));
        assert!(rcc.write(PLLCFGR, 3 | 10 << 8 | 1 << 24, 200).is_err());
        assert_eq!(mhz(&rcc), 80.0);
    }
}
