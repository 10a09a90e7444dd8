//! Registers and PLL of the clock control of the STM32F1 (RM0008 §7.3) and the STM32F0 (RM0091 §6.4),
//! which follows it.

use super::*;

/// The rest is the STM32F0's.
pub const AHBRSTR: u32 = 0x28;
const CFGR2: u32 = 0x2C;
const HSI14ON: u32 = 1 << 0;
const HSI14DIS: u32 = 1 << 2;
const HSI14TRIM: u32 = 0x1F << 3;

const HSI_HZ: u64 = 8_000_000;
const HPRE: u32 = 0xF << 4;
const PPRE1: u32 = 0b111 << 8;
const PPRE2: u32 = 0b111 << 11;
const PLLMUL: u32 = 0xF << 18;
const PLLXTPRE: u32 = 1 << 17;
const CR_BITS: u32 = HSION | HSITRIM | HSEON | HSEBYP | PLLON;
const CR_FLAGS: u32 = HSIRDY | HSERDY | PLLRDY | 0xFF << 8;
const CSSON: u32 = 1 << 19;
const RMVF: u32 = 1 << 24;

/// TIM2–4, WWDG, SPI2, USART2–3, I2C1–2, USB, CAN, BKP, PWR.
const F103_APB1: u32 = 0x1AE6_4807;
/// AFIO, GPIOA–E, ADC1–2, TIM1, SPI1, USART1.
const F103_APB2: u32 = 0x0000_5E7D;

registers! {
    TABLE_F103:
    CR = 0x00, 0x0000_0083, CR_BITS, inert CR_FLAGS, missing CSSON;
    // Missing: the dividers of ADC and USB, MCO.
    CFGR = 0x04, 0, SW | HPRE | PPRE1 | PPRE2 | 1 << 16 | PLLXTPRE | PLLMUL, inert SWS, missing 0b11 << 14 | 1 << 22 | 0b111 << 24;
    CIR = 0x08, 0, 0, inert 0x009F_009F, missing 0x0000_1F00;
    pub APB2RSTR = 0x0C, 0, F103_APB2;
    pub APB1RSTR = 0x10, 0, F103_APB1;
    // DMA1, CRC. SRAM and flash interface stay on in Sleep mode.
    pub AHBENR = 0x14, 0x14, 0x41, missing 0x14;
    pub APB2ENR = 0x18, 0, F103_APB2;
    pub APB1ENR = 0x1C, 0, F103_APB1;
    BDCR = 0x20, 0, LSEON | LSEBYP | RTCSEL | RTCEN | BDRST, inert LSERDY;
    CSR = 0x24, PINRSTF | PORRSTF, LSION | RMVF, inert LSIRDY | 0xFC << 24;
}

pub static LAYOUT_F103: Layout = F103;

const F103: Layout = Layout {
    table: TABLE_F103,
    cfgr: CFGR,
    bdcr: BDCR,
    csr: CSR,
    switch: SW,
    switched_shift: SWS_SHIFT,
    ahb_shift: 4,
    apb1_shift: 8,
    apb2_shift: 11,
    remove_flags: RMVF,
    reset_flags: 0xFC << 24,
    brown_out_flag: PORRSTF,
    internal: (HSION, HSIRDY, HSI_HZ),
    sources: [
        Some(Source::Internal),
        Some(Source::Hse),
        Some(Source::Pll),
        None,
    ],
    idle: &[],
    lsi_hz: 40_000,
    pll_lock_us: 200,
    pll_settings: (CFGR, 1 << 16 | PLLXTPRE | PLLMUL),
    timers_fast: None,
    pll: pll_f103,
};

/// §7.3.2: the HSI by two, or the HSE by one or two, times PLLMUL. Input 1–25 MHz, output 16–72 MHz
/// (DS5319, table "PLL characteristics").
fn pll_f103(rcc: &Rcc) -> Pll {
    let setting = rcc.registers.get(CFGR);
    let (source, input) = match (setting >> 16 & 1 != 0, setting & PLLXTPRE != 0) {
        (true, halved) => (
            Source::Hse,
            Frequency::hz(rcc.hse.hz()).over(1 + u64::from(halved)),
        ),
        (false, _) => (Source::Internal, Frequency::hz(HSI_HZ).over(2)),
    };
    multiplied(source, input, setting, (1, 25), (16, 72))
}

fn multiplied(
    source: Source,
    input: Frequency,
    setting: u32,
    input_mhz: (u64, u64),
    output_mhz: (u64, u64),
) -> Pll {
    // 14 and 15 are both 16 times.
    let factor = u64::from((setting >> 18 & 0xF) + 2).min(16);
    let output = input.times(factor);
    Pll {
        source: Some(source),
        impossible: None,
        input,
        input_mhz,
        vco: output,
        vco_mhz: output_mhz,
        output: Some(output),
        second: None,
        clock_48: None,
    }
}

/// TIM2–3, TIM6–7, TIM14, WWDG, SPI2, USART2–4, I2C1–2, USB, CAN, CRS, PWR, DAC, CEC.
const F072_APB1: u32 = 0x7AEE_4933;
/// SYSCFG, ADC, TIM1, SPI1, USART1, TIM15–17, DBGMCU.
const F072_APB2: u32 = 0x0047_5A01;
/// GPIOA–F and TSC.
const F072_AHB: u32 = 0x017E_0000;
const PLLSRC: u32 = 0b11 << 15;

static TABLE_F072: [Register; 14] = rows! {
    CR, "CR", 0x0000_0083, CR_BITS, inert CR_FLAGS, missing CSSON;
    // Missing: the ADC's divider, MCO.
    CFGR, "CFGR", 0, SW | HPRE | PPRE1 | PLLSRC | PLLXTPRE | PLLMUL, inert SWS, missing 1 << 14 | 0xFF << 24;
    0x08, "CIR", 0, 0, inert 0x00FF_00FF, missing 0x0000_7F00;
    APB2RSTR, "APB2RSTR", 0, F072_APB2;
    APB1RSTR, "APB1RSTR", 0, F072_APB1;
    AHBENR, "AHBENR", 0x14, F072_AHB | 0x41, missing 0x14;
    APB2ENR, "APB2ENR", 0, F072_APB2;
    APB1ENR, "APB1ENR", 0, F072_APB1;
    // LSEDRV keeps its value.
    BDCR, "BDCR", 0, LSEON | LSEBYP | 0b11 << 3 | RTCSEL | RTCEN | BDRST, inert LSERDY;
    CSR, "CSR", PINRSTF | PORRSTF, LSION | RMVF, inert LSIRDY | 0xFE << 24 | 1 << 23;
    AHBRSTR, "AHBRSTR", 0, F072_AHB;
    CFGR2, "CFGR2", 0, 0xF;
    // The clocks of USART1, I2C1, CEC, USB, ADC and USART2.
    0x30, "CFGR3", 0, 0, missing 0x0003_01D3;
    // HSI14 feeds the ADC alone.
    CR2, "CR2", 0x80, HSI48ON | HSI14ON | HSI14DIS | HSI14TRIM, inert HSI48RDY | HSI14ON << 1 | 0xFF << 8 | 0xFF << 24;
};

pub static LAYOUT_F072: Layout = Layout {
    table: &TABLE_F072,
    apb2_shift: 8,
    reset_flags: 0xFE << 24 | 1 << 23,
    sources: [
        Some(Source::Internal),
        Some(Source::Hse),
        Some(Source::Pll),
        Some(Source::Internal48),
    ],
    pll_settings: (CFGR, PLLSRC | PLLXTPRE | PLLMUL),
    idle: &[(CR2, HSI14ON, 1)],
    timers_fast: None,
    pll: pll_f072,
    ..F103
};

/// §6.4.2, §6.4.12: the HSI by two, or one of three by PREDIV, times PLLMUL. Input 1–24 MHz, output
/// 16–48 MHz (DS9826, table "PLL characteristics").
fn pll_f072(rcc: &Rcc) -> Pll {
    let setting = rcc.registers.get(CFGR);
    let divider = u64::from(rcc.registers.get(CFGR2) & 0xF) + 1;
    let (source, input) = match setting >> 15 & 0b11 {
        0 => (Source::Internal, Frequency::hz(HSI_HZ).over(2)),
        1 => (Source::Internal, Frequency::hz(HSI_HZ).over(divider)),
        2 => (Source::Hse, Frequency::hz(rcc.hse.hz()).over(divider)),
        _ => (Source::Internal48, Frequency::hz(HSI48_HZ).over(divider)),
    };
    multiplied(source, input, setting, (1, 24), (16, 48))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(chip: &str) -> Rcc {
        let mut rcc = Rcc::named(chip);
        rcc.write(CR, 0x83 | HSEBYP, 0).unwrap();
        rcc.write(CR, 0x83 | HSEBYP | HSEON, 0).unwrap();
        rcc
    }

    fn mhz(rcc: &Rcc) -> u64 {
        let core = rcc.clocks().core;
        core.numerator / core.denominator / 1_000_000
    }

    const ALL_ON: u32 = 0x83 | HSEBYP | HSEON | PLLON;

    /// RM0008 §7.3.2; DS5319: the PLL locks within 200 µs, here of 8 MHz.
    #[test]
    fn the_pll_of_the_f103_makes_72_mhz() {
        let mut rcc = started("f103rb");
        assert_eq!(mhz(&rcc), 8);
        rcc.write(CFGR, 1 << 16 | 7 << 18 | 4 << 8, 0).unwrap();
        rcc.write(CR, ALL_ON, 0).unwrap();
        assert!(rcc
            .write(CFGR, 1 << 16 | 7 << 18 | 4 << 8 | 2, 1_599)
            .is_err());
        rcc.write(CFGR, 1 << 16 | 7 << 18 | 4 << 8 | 2, 1_600)
            .unwrap();
        let clocks = rcc.clocks();
        assert_eq!(
            (mhz(&rcc), clocks.apb1_divider, clocks.apb2_divider),
            (72, 2, 1)
        );
        // The settings of the PLL stay while it is on; the prescalers do not.
        assert!(rcc.write(CFGR, 1 << 16 | 2 << 18 | 2, 1_700).is_err());
        assert_eq!((mhz(&rcc), rcc.clocks().apb1_divider), (72, 1));
    }

    #[test]
    fn the_pll_of_the_f103_has_its_limits() {
        // 8 MHz × 16, then the HSI by two, × 2.
        for setting in [1 << 16 | 14 << 18, 0] {
            let mut rcc = started("f103rb");
            rcc.write(CFGR, setting, 0).unwrap();
            assert!(rcc.write(CR, ALL_ON, 0).is_err());
        }
    }

    /// RM0091 §6.4.2, §6.4.12, §6.4.14: HSE / 1 × 6, and the HSI48. One divider serves both APBs.
    #[test]
    fn the_f072_makes_48_mhz_in_two_ways() {
        let mut rcc = started("f072rb");
        rcc.write(CFGR, 2 << 15 | 4 << 18, 0).unwrap();
        rcc.write(CR, ALL_ON, 0).unwrap();
        rcc.write(CFGR, 2 << 15 | 4 << 18 | 2 | 0b100 << 8, 1_600)
            .unwrap();
        let clocks = rcc.clocks();
        assert_eq!(
            (mhz(&rcc), clocks.apb1_divider, clocks.apb2_divider),
            (48, 2, 2)
        );
        // The HSI14 feeds the ADC alone.
        rcc.write(CR2, 0x80 | HSI14ON, 0).unwrap();
        assert_eq!(rcc.read(CR2, 0) & 0b11, 0b11);
        let mut rcc = started("f072rb");
        assert!(rcc.write(CFGR, 3, 0).is_err());
        rcc.write(CR2, 0x80 | HSI48ON, 0).unwrap();
        assert_eq!(rcc.read(CR2, 0) & HSI48RDY, HSI48RDY);
        rcc.write(CFGR, 3, 0).unwrap();
        assert_eq!((mhz(&rcc), rcc.read(CFGR, 0) & SWS), (48, 3 << 2));
    }
}
