//! Registers of the peripherals that the virtual board lacks (RM0368, the register map at the end
//! of each chapter). They give names to what firmware touches, and the values after reset for runs
//! with `--gaps`.

use super::registers::Register;

const fn row(offset: u32, name: &'static str, reset: u32) -> Register {
    Register::new(offset, name, reset, 0).absent()
}

/// The 19 backup registers after BKP0R are named by their offset.
pub static RTC: &[Register] = &[
    row(0x00, "TR", 0),
    row(0x04, "DR", 0x0000_2101),
    row(0x08, "CR", 0),
    row(0x0C, "ISR", 0x0000_0007),
    row(0x10, "PRER", 0x007F_00FF),
    row(0x14, "WUTR", 0x0000_FFFF),
    row(0x18, "CALIBR", 0),
    row(0x1C, "ALRMAR", 0),
    row(0x20, "ALRMBR", 0),
    row(0x24, "WPR", 0),
    row(0x28, "SSR", 0),
    row(0x2C, "SHIFTR", 0),
    row(0x30, "TSTR", 0),
    row(0x34, "TSDR", 0),
    row(0x38, "TSSSR", 0),
    row(0x3C, "CALR", 0),
    row(0x40, "TAFCR", 0),
    row(0x44, "ALRMASSR", 0),
    row(0x48, "ALRMBSSR", 0),
    row(0x50, "BKP0R", 0),
];

pub static SPI: &[Register] = &[
    row(0x00, "CR1", 0),
    row(0x04, "CR2", 0),
    row(0x08, "SR", 0x0000_0002),
    row(0x0C, "DR", 0),
    row(0x10, "CRCPR", 0x0000_0007),
    row(0x14, "RXCRCR", 0),
    row(0x18, "TXCRCR", 0),
    row(0x1C, "I2SCFGR", 0),
    row(0x20, "I2SPR", 0x0000_0002),
];

pub static I2C: &[Register] = &[
    row(0x00, "CR1", 0),
    row(0x04, "CR2", 0),
    row(0x08, "OAR1", 0),
    row(0x0C, "OAR2", 0),
    row(0x10, "DR", 0),
    row(0x14, "SR1", 0),
    row(0x18, "SR2", 0),
    row(0x1C, "CCR", 0),
    row(0x20, "TRISE", 0x0000_0002),
    row(0x24, "FLTR", 0),
];

pub static USART: &[Register] = &[
    row(0x00, "SR", 0x0000_00C0),
    row(0x04, "DR", 0),
    row(0x08, "BRR", 0),
    row(0x0C, "CR1", 0),
    row(0x10, "CR2", 0),
    row(0x14, "CR3", 0),
    row(0x18, "GTPR", 0),
];

pub static ADC: &[Register] = &[
    row(0x00, "SR", 0),
    row(0x04, "CR1", 0),
    row(0x08, "CR2", 0),
    row(0x0C, "SMPR1", 0),
    row(0x10, "SMPR2", 0),
    row(0x14, "JOFR1", 0),
    row(0x18, "JOFR2", 0),
    row(0x1C, "JOFR3", 0),
    row(0x20, "JOFR4", 0),
    row(0x24, "HTR", 0x0000_0FFF),
    row(0x28, "LTR", 0),
    row(0x2C, "SQR1", 0),
    row(0x30, "SQR2", 0),
    row(0x34, "SQR3", 0),
    row(0x38, "JSQR", 0),
    row(0x3C, "JDR1", 0),
    row(0x40, "JDR2", 0),
    row(0x44, "JDR3", 0),
    row(0x48, "JDR4", 0),
    row(0x4C, "DR", 0),
    row(0x304, "CCR", 0),
];

pub static SDIO: &[Register] = &[
    row(0x00, "POWER", 0),
    row(0x04, "CLKCR", 0),
    row(0x08, "ARG", 0),
    row(0x0C, "CMD", 0),
    row(0x10, "RESPCMD", 0),
    row(0x14, "RESP1", 0),
    row(0x18, "RESP2", 0),
    row(0x1C, "RESP3", 0),
    row(0x20, "RESP4", 0),
    row(0x24, "DTIMER", 0),
    row(0x28, "DLEN", 0),
    row(0x2C, "DCTRL", 0),
    row(0x30, "DCOUNT", 0),
    row(0x34, "STA", 0),
    row(0x38, "ICR", 0),
    row(0x3C, "MASK", 0),
    row(0x48, "FIFOCNT", 0),
    row(0x80, "FIFO", 0),
];

/// TIM1 has all of these, TIM9–TIM11 have some.
pub static ADVANCED_TIMER: &[Register] = &[
    row(0x00, "CR1", 0),
    row(0x04, "CR2", 0),
    row(0x08, "SMCR", 0),
    row(0x0C, "DIER", 0),
    row(0x10, "SR", 0),
    row(0x14, "EGR", 0),
    row(0x18, "CCMR1", 0),
    row(0x1C, "CCMR2", 0),
    row(0x20, "CCER", 0),
    row(0x24, "CNT", 0),
    row(0x28, "PSC", 0),
    row(0x2C, "ARR", 0x0000_FFFF),
    row(0x30, "RCR", 0),
    row(0x34, "CCR1", 0),
    row(0x38, "CCR2", 0),
    row(0x3C, "CCR3", 0),
    row(0x40, "CCR4", 0),
    row(0x44, "BDTR", 0),
    row(0x48, "DCR", 0),
    row(0x4C, "DMAR", 0),
];

pub static SMALL_TIMER: &[Register] = &[
    row(0x00, "CR1", 0),
    row(0x08, "SMCR", 0),
    row(0x0C, "DIER", 0),
    row(0x10, "SR", 0),
    row(0x14, "EGR", 0),
    row(0x18, "CCMR1", 0),
    row(0x20, "CCER", 0),
    row(0x24, "CNT", 0),
    row(0x28, "PSC", 0),
    row(0x2C, "ARR", 0x0000_FFFF),
    row(0x34, "CCR1", 0),
    row(0x38, "CCR2", 0),
    row(0x50, "OR", 0),
];

/// OTG_FS and I2Sext: registers are named by their offset.
pub static UNNAMED: &[Register] = &[];
