//! Registers of the peripherals that the virtual board lacks (RM0368, the register map at the end
//! of each chapter). They give names to what firmware touches, and the values after reset for runs
//! that go past them.

use super::registers::{rows, Register};

/// The 19 backup registers after BKP0R are named by their offset.
pub static RTC: &[Register] = &rows! {
    0x00, "TR", 0, 0, absent;
    0x04, "DR", 0x0000_2101, 0, absent;
    0x08, "CR", 0, 0, absent;
    0x0C, "ISR", 0x0000_0007, 0, absent;
    0x10, "PRER", 0x007F_00FF, 0, absent;
    0x14, "WUTR", 0x0000_FFFF, 0, absent;
    0x18, "CALIBR", 0, 0, absent;
    0x1C, "ALRMAR", 0, 0, absent;
    0x20, "ALRMBR", 0, 0, absent;
    0x24, "WPR", 0, 0, absent;
    0x28, "SSR", 0, 0, absent;
    0x2C, "SHIFTR", 0, 0, absent;
    0x30, "TSTR", 0, 0, absent;
    0x34, "TSDR", 0, 0, absent;
    0x38, "TSSSR", 0, 0, absent;
    0x3C, "CALR", 0, 0, absent;
    0x40, "TAFCR", 0, 0, absent;
    0x44, "ALRMASSR", 0, 0, absent;
    0x48, "ALRMBSSR", 0, 0, absent;
    0x50, "BKP0R", 0, 0, absent;
};

pub static SDIO: &[Register] = &rows! {
    0x00, "POWER", 0, 0, absent;
    0x04, "CLKCR", 0, 0, absent;
    0x08, "ARG", 0, 0, absent;
    0x0C, "CMD", 0, 0, absent;
    0x10, "RESPCMD", 0, 0, absent;
    0x14, "RESP1", 0, 0, absent;
    0x18, "RESP2", 0, 0, absent;
    0x1C, "RESP3", 0, 0, absent;
    0x20, "RESP4", 0, 0, absent;
    0x24, "DTIMER", 0, 0, absent;
    0x28, "DLEN", 0, 0, absent;
    0x2C, "DCTRL", 0, 0, absent;
    0x30, "DCOUNT", 0, 0, absent;
    0x34, "STA", 0, 0, absent;
    0x38, "ICR", 0, 0, absent;
    0x3C, "MASK", 0, 0, absent;
    0x48, "FIFOCNT", 0, 0, absent;
    0x80, "FIFO", 0, 0, absent;
};
