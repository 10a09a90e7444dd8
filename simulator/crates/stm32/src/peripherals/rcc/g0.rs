//! Registers and PLL of the STM32G0's clock control (RM0444 §5.4).

use super::*;

pub const HSI16ON: u32 = 1 << 8;
pub const HSI16RDY: u32 = 1 << 10;
pub const HSI16_HZ: u64 = 16_000_000;
const PRESCALERS: u32 = 0xF << 8 | 0b111 << 12;
/// CFGR's selection has five sources, of which LSI and LSE are not modelled.
const SW_G0: u32 = 0b111;
const SWS_G0_SHIFT: u32 = 3;
pub const RMVF: u32 = 1 << 23;
pub const RESET_FLAGS: u32 = 0xFE << 24;

/// GPIOA–D and F; DMA1, flash, CRC; and those of the APB, whose registers are two.
const PORTS: u32 = 0x2F;
const AHB: u32 = 0x1101;
const APB_1: u32 = 0xFF7E_4C33;
const APB_2: u32 = 0x0017_D801;
const RTC_AND_WWDG: u32 = 0b11 << 10;

registers! {
    TABLE:
    // Missing: the HSI for peripherals in Stop mode, its divider, and CSSON.
    CR = 0x00, 0x0000_0500, HSI16ON | HSEON | HSEBYP | PLLON, inert HSI16RDY | HSERDY | PLLRDY, missing 1 << 9 | 0b111 << 11 | 1 << 19;
    // The calibration of a chip that does not exist.
    ICSCR = 0x04, 0x0000_4080, 0x7F << 8, inert 0xFF;
    // Missing: MCO.
    CFGR = 0x08, 0, SW_G0 | PRESCALERS, inert SW_G0 << SWS_G0_SHIFT, missing 0x7700_0000;
    PLLCFGR = 0x0C, 0x0000_1000, 0xFF3F_7F73;
    CIER = 0x18, 0, 0, missing 0x3B;
    CIFR = 0x1C, 0, 0, inert 0x33B;
    CICR = 0x20, 0, 0, inert 0x33B;
    pub IOPRSTR = 0x24, 0, PORTS;
    pub AHBRSTR = 0x28, 0, AHB;
    pub APBRSTR1 = 0x2C, 0, APB_1 & !RTC_AND_WWDG;
    pub APBRSTR2 = 0x30, 0, APB_2;
    pub IOPENR = 0x34, 0, PORTS;
    pub AHBENR = 0x38, 0x100, AHB;
    pub APBENR1 = 0x3C, 0, APB_1;
    pub APBENR2 = 0x40, 0, APB_2;
    // Clocks stay on in Sleep mode. Turning one off there is not modelled.
    IOPSMENR = 0x44, PORTS, 0, missing PORTS;
    AHBSMENR = 0x48, AHB | 0x200, 0, missing AHB | 0x200;
    APBSMENR1 = 0x4C, APB_1, 0, missing APB_1;
    APBSMENR2 = 0x50, APB_2, 0, missing APB_2;
    // Peripherals that choose their clock run from the one after reset: PCLK, for USARTs.
    CCIPR = 0x54, 0, 0, missing !0;
    BDCR = 0x5C, 0, BACKUP, inert BACKUP_FLAGS, missing BACKUP_MISSING;
    CSR = 0x60, PINRSTF | PORRSTF, LSION | RMVF, inert LSIRDY | RESET_FLAGS;
}

pub static LAYOUT: Layout = Layout {
    table: TABLE,
    cfgr: CFGR,
    bdcr: BDCR,
    csr: CSR,
    switch: SW_G0,
    switched_shift: SWS_G0_SHIFT,
    ahb_shift: 8,
    apb1_shift: 12,
    apb2_shift: 12,
    remove_flags: RMVF,
    reset_flags: RESET_FLAGS,
    brown_out_flag: PORRSTF,
    internal: (HSI16ON, HSI16RDY, HSI16_HZ),
    sources: [
        Some(Source::Internal),
        Some(Source::Hse),
        Some(Source::Pll),
        None,
    ],
    idle: &[],
    lsi_hz: 32_000,
    pll_lock_us: 40,
    pll_settings: (PLLCFGR, !0),
    timers_fast: None,
    pll,
};

/// What feeds the PLL, from PLLSRC.
pub(super) fn source(rcc: &Rcc, setting: u32) -> (Option<Source>, Frequency) {
    match setting & 0b11 {
        2 => (Some(Source::Internal), Frequency::hz(HSI16_HZ)),
        3 => (Some(Source::Hse), Frequency::hz(rcc.hse.hz())),
        _ => (None, Frequency::hz(0)),
    }
}

/// §5.4.4. DS12232, table "PLL characteristics": input 2.66–16 MHz, VCO 96–344 MHz in range 1; of the
/// input's limit whole megahertz are looked at.
fn pll(rcc: &Rcc) -> Pll {
    let setting = rcc.registers.get(PLLCFGR);
    let source = source(rcc, setting);
    let outputs = [28, 24].map(|enable| {
        let divider = u64::from(setting >> (enable + 1) & 0b111) + 1;
        (setting >> enable & 1 != 0).then_some(divider)
    });
    let outside = "PLLN outside 8–86";
    with_factor(
        rcc,
        source,
        setting,
        0b111,
        (8..=86, outside),
        (2, 16),
        outputs,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §5.4.3, §5.4.4: 16 MHz / 2 × 16 / 2, after 40 µs at 16 MHz.
    #[test]
    fn the_pll_makes_64_mhz() {
        let mut rcc = Rcc::named("g071rb");
        let mhz =
            |rcc: &Rcc| rcc.clocks().core.numerator / rcc.clocks().core.denominator / 1_000_000;
        assert_eq!((rcc.read(CR, 0), mhz(&rcc)), (0x500, 16));
        let setting = 2 | 1 << 4 | 16 << 8 | 1 << 28 | 1 << 29;
        rcc.write(PLLCFGR, setting, 0).unwrap();
        rcc.write(CR, 0x500 | PLLON, 0).unwrap();
        assert!(rcc.write(CFGR, 2, 639).is_err());
        rcc.write(CFGR, 2 | 0b100 << 12, 640).unwrap();
        assert_eq!((mhz(&rcc), rcc.clocks().apb1_divider), (64, 2));
        assert_eq!(rcc.read(CFGR, 640) >> 3 & 0b111, 2);
        rcc.write(CFGR, 2 | 0b1000 << 8, 640).unwrap();
        assert_eq!((mhz(&rcc), rcc.clocks().apb2_divider), (32, 1));
        assert!(rcc.write(CFGR, 4, 640).is_err(), "the LSE");
    }
}
