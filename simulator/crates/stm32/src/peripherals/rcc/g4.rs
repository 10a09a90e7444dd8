//! Registers and PLL of the STM32G4's clock control (RM0440 §7.4).

use super::g0::{source, HSI16ON, HSI16RDY, HSI16_HZ, RESET_FLAGS, RMVF};
use super::*;

const PRESCALERS: u32 = 0xF << 4 | 0b111 << 8 | 0b111 << 11;

/// DMA1–2, DMAMUX1, CORDIC, FMAC, flash, CRC; GPIOA–G, ADCs, DACs, RNG; FMC, QSPI; and those of the APBs.
const AHB1: u32 = 0x0000_111F;
const AHB2: u32 = 0x040F_607F;
const AHB3: u32 = 0x0000_0101;
const APB1_1: u32 = 0xD2FE_CD3F;
const APB1_2: u32 = 0x0000_0103;
const APB2: u32 = 0x0437_F801;
const RTC_AND_WWDG: u32 = 0b11 << 10;
/// SRAM1; SRAM2 and CCM SRAM.
const SRAM_1: u32 = 1 << 9;
const SRAM_2: u32 = 0b11 << 9;

registers! {
    TABLE:
    // Missing: the HSI for peripherals in Stop mode, and CSSON.
    CR = 0x00, 0x0000_0500, HSI16ON | HSEON | HSEBYP | PLLON, inert HSI16RDY | HSERDY | PLLRDY, missing 1 << 9 | 1 << 19;
    // The calibration of a chip that does not exist.
    ICSCR = 0x04, 0x4000_0000, 0x7F << 24, inert 0x00FF_0000;
    // Missing: MCO.
    CFGR = 0x08, 0x0000_0005, SW | PRESCALERS, inert SWS, missing 0x7F00_0000;
    PLLCFGR = 0x0C, 0x0000_1000, 0xFF73_7FF3;
    CIER = 0x18, 0, 0, missing 0x63B;
    CIFR = 0x1C, 0, 0, inert 0x73B;
    CICR = 0x20, 0, 0, inert 0x73B;
    pub AHB1RSTR = 0x28, 0, AHB1;
    pub AHB2RSTR = 0x2C, 0, AHB2;
    AHB3RSTR = 0x30, 0, AHB3;
    pub APB1RSTR1 = 0x38, 0, APB1_1 & !RTC_AND_WWDG;
    APB1RSTR2 = 0x3C, 0, APB1_2;
    pub APB2RSTR = 0x40, 0, APB2;
    pub AHB1ENR = 0x48, 0x100, AHB1;
    pub AHB2ENR = 0x4C, 0, AHB2;
    AHB3ENR = 0x50, 0, AHB3;
    pub APB1ENR1 = 0x58, 0, APB1_1;
    APB1ENR2 = 0x5C, 0, APB1_2;
    pub APB2ENR = 0x60, 0, APB2;
    // Clocks stay on in Sleep mode. Turning one off there is not modelled.
    AHB1SMENR = 0x68, AHB1 | SRAM_1, 0, missing AHB1 | SRAM_1;
    AHB2SMENR = 0x6C, AHB2 | SRAM_2, 0, missing AHB2 | SRAM_2;
    AHB3SMENR = 0x70, AHB3, 0, missing AHB3;
    APB1SMENR1 = 0x78, APB1_1, 0, missing APB1_1;
    APB1SMENR2 = 0x7C, APB1_2, 0, missing APB1_2;
    APB2SMENR = 0x80, APB2, 0, missing APB2;
    // Peripherals that choose their clock run from the one after reset: PCLK, for USARTs.
    CCIPR = 0x88, 0, 0, missing !0;
    BDCR = 0x90, 0, BACKUP, inert BACKUP_FLAGS, missing BACKUP_MISSING;
    CSR = 0x94, PINRSTF | PORRSTF, LSION | RMVF, inert LSIRDY | RESET_FLAGS;
    // Missing: the HSI48, for USB and the random number generator.
    CRRCR = 0x98, 0, 0, missing 1;
    CCIPR2 = 0x9C, 0, 0, missing 0x0030_0003;
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
    reset_flags: RESET_FLAGS,
    brown_out_flag: PORRSTF,
    internal: (HSI16ON, HSI16RDY, HSI16_HZ),
    sources: [
        None,
        Some(Source::Internal),
        Some(Source::Hse),
        Some(Source::Pll),
    ],
    idle: &[],
    lsi_hz: 32_000,
    pll_lock_us: 40,
    pll_settings: (PLLCFGR, !0),
    timers_fast: None,
    pll,
};

/// §7.4.4. DS12288, table "PLL characteristics": input 2.66–16 MHz, VCO 96–344 MHz in range 1; of the
/// input's limit whole megahertz are looked at.
fn pll(rcc: &Rcc) -> Pll {
    let setting = rcc.registers.get(PLLCFGR);
    let source = source(rcc, setting);
    with_factor(
        rcc,
        source,
        setting,
        0xF,
        (8..=127, "PLLN below 8"),
        (2, 16),
        by_twos(setting),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §7.4.3, §7.4.4: 24 MHz / 6 × 85 / 2, after a crystal's 2 ms.
    #[test]
    fn the_pll_makes_170_mhz_of_a_crystal() {
        let mut rcc = Rcc::named("g474re");
        rcc.set_hse(Hse::Crystal { hz: 24_000_000 });
        let mhz =
            |rcc: &Rcc| rcc.clocks().core.numerator / rcc.clocks().core.denominator / 1_000_000;
        assert_eq!((rcc.read(CR, 0), mhz(&rcc)), (0x500, 16));
        rcc.write(CR, 0x500 | HSEON, 0).unwrap();
        assert_eq!(rcc.read(CR, 31_999) & HSERDY, 0);
        rcc.write(PLLCFGR, 3 | 5 << 4 | 85 << 8 | 1 << 24, 32_000)
            .unwrap();
        rcc.write(CR, 0x500 | HSEON | PLLON, 32_000).unwrap();
        rcc.write(CFGR, 3, 33_000).unwrap();
        assert_eq!((mhz(&rcc), rcc.read(CFGR, 33_000)), (170, 0b1111));
        assert!(rcc.write(CFGR, 0, 33_000).is_err(), "reserved");
    }
}
