//! Registers and PLL of the STM32G0's clock control (RM0444 §5.4).

use super::*;

const CFGR: u32 = 0x08;
const PLLCFGR: u32 = 0x0C;
pub const IOPRSTR: u32 = 0x24;
pub const AHBRSTR: u32 = 0x28;
pub const APBRSTR1: u32 = 0x2C;
pub const APBRSTR2: u32 = 0x30;
pub const IOPENR: u32 = 0x34;
pub const AHBENR: u32 = 0x38;
pub const APBENR1: u32 = 0x3C;
pub const APBENR2: u32 = 0x40;
const BDCR: u32 = 0x5C;
const CSR: u32 = 0x60;

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

static TABLE: [Register; 22] = rows! {
    // Missing: the HSI for peripherals in Stop mode, its divider, and CSSON.
    CR, "CR", 0x0000_0500, HSI16ON | HSEON | HSEBYP | PLLON, inert HSI16RDY | HSERDY | PLLRDY, missing 1 << 9 | 0b111 << 11 | 1 << 19;
    // The calibration of a chip that does not exist.
    0x04, "ICSCR", 0x0000_4080, 0x7F << 8, inert 0xFF;
    // Missing: MCO.
    CFGR, "CFGR", 0, SW_G0 | PRESCALERS, inert SW_G0 << SWS_G0_SHIFT, missing 0x7700_0000;
    PLLCFGR, "PLLCFGR", 0x0000_1000, 0xFF3F_7F73;
    0x18, "CIER", 0, 0, missing 0x3B;
    0x1C, "CIFR", 0, 0, inert 0x33B;
    0x20, "CICR", 0, 0, inert 0x33B;
    IOPRSTR, "IOPRSTR", 0, PORTS;
    AHBRSTR, "AHBRSTR", 0, AHB;
    APBRSTR1, "APBRSTR1", 0, APB_1 & !RTC_AND_WWDG;
    APBRSTR2, "APBRSTR2", 0, APB_2;
    IOPENR, "IOPENR", 0, PORTS;
    AHBENR, "AHBENR", 0x100, AHB;
    APBENR1, "APBENR1", 0, APB_1;
    APBENR2, "APBENR2", 0, APB_2;
    // Clocks stay on in Sleep mode. Turning one off there is not modelled.
    0x44, "IOPSMENR", PORTS, 0, missing PORTS;
    0x48, "AHBSMENR", AHB | 0x200, 0, missing AHB | 0x200;
    0x4C, "APBSMENR1", APB_1, 0, missing APB_1;
    0x50, "APBSMENR2", APB_2, 0, missing APB_2;
    // Peripherals that choose their clock run from the one after reset: PCLK, for USARTs.
    0x54, "CCIPR", 0, 0, missing !0;
    BDCR, "BDCR", 0, BACKUP, inert BACKUP_FLAGS, missing BACKUP_MISSING;
    CSR, "CSR", PINRSTF | PORRSTF, LSION | RMVF, inert LSIRDY | RESET_FLAGS;
};

pub static LAYOUT: Layout = Layout {
    table: &TABLE,
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
    let (source, clock) = source(rcc, setting);
    let input = clock.over(u64::from(setting >> 4 & 0b111) + 1);
    let factor = setting >> 8 & 0x7F;
    let vco = input.times(u64::from(factor));
    let output = |enable: u32, divider: u32| {
        let divided = vco.over(u64::from(divider & 0b111) + 1);
        (setting >> enable & 1 != 0).then_some(divided)
    };
    Pll {
        source,
        impossible: (!(8..=86).contains(&factor)).then_some((PLLCFGR, "PLLN outside 8–86")),
        input,
        input_mhz: (2, 16),
        vco,
        vco_mhz: (rcc.lowest_vco_hz / 1_000_000, 344),
        output: output(28, setting >> 29),
        second: None,
        clock_48: output(24, setting >> 25),
    }
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
