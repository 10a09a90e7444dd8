//! The flash interface of the STM32L4 (RM0351 §3.7) and of the lines that follow it: pages in one or two
//! banks, programmed by double words.

use super::*;
use cortex_m::bus::Width;

pub const KEYR: u32 = 0x08;
pub const OPTKEYR: u32 = 0x0C;
pub const SR: u32 = 0x10;
pub const CR: u32 = 0x14;
pub const OPTR: u32 = 0x20;
const PROGERR: u32 = 1 << 3;
const SIZERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
pub const ERRORS: u32 = OPERR | PROGERR | WRPERR | PGAERR | SIZERR | PGSERR | 0b11 << 8;

pub const PER: u32 = 1 << 1;
pub const MER1: u32 = 1 << 2;
pub const PNB: u32 = 0xFF << 3;
pub const BKER: u32 = 1 << 11;
pub const MER2: u32 = 1 << 15;
pub const OPTLOCK: u32 = 1 << 30;
pub const CR_BITS: u32 =
    PG | PER | MER1 | PNB | BKER | MER2 | STRT | EOPIE | ERRIE | OPTLOCK | LOCK;

const DOUBLE_WORD_BYTES: usize = 8;

pub static DOUBLE_WORDS: Layout = Layout {
    status: SR,
    busy: BSY,
    control: CR,
    options: (OPTR, 0),
    protection: (0xFF, 0xAA, 0x55),
    stalls: &[CR],
    // §3.7.5: OPERR, as EOP, is set only with its interrupt enabled.
    interrupts: [(EOPIE, EOP), (ERRIE, OPERR)],
    started: &[(CR, STRT)],
    end: (EOP, Some(EOPIE)),
};

impl Flash {
    pub(super) fn write_l4(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        match offset {
            ACR => self.write_access_control(value)?,
            KEYR => {
                self.lock.key(value);
                self.registers.set_bits(CR, LOCK, !self.lock.is_open());
            }
            OPTKEYR => {
                self.option_lock.key(value);
                let locked = !self.option_lock.is_open();
                self.registers.set_bits(CR, OPTLOCK, locked);
            }
            SR => self.registers.set_bits(SR, value & !BSY, false),
            CR => self.write_control_l4(value, now)?,
            _ => {}
        }
        Ok(())
    }

    /// §3.3.5: it cannot be written while it is locked.
    fn write_control_l4(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        if !self.lock.is_open() {
            return Ok(());
        }
        let locks = self.registers.get(CR) & OPTLOCK;
        self.registers
            .set(CR, value & !(LOCK | STRT | OPTLOCK) | locks);
        if value & PG == 0 {
            self.first_word = None;
        }
        if value & STRT != 0 {
            self.erase_l4(now)?;
        }
        if value & OPTLOCK != 0 {
            self.option_lock.shut();
            self.registers.set_bits(CR, OPTLOCK, true);
        }
        if value & LOCK != 0 {
            self.lock.shut();
            self.registers.set_bits(CR, LOCK, true);
        }
        Ok(())
    }

    /// §3.3.6: the page, or one or both banks.
    fn erase_l4(&mut self, now: u64) -> Result<(), Unmodelled> {
        let control = self.registers.get(CR);
        let facts = self.facts;
        let bank = self.chip.flash_bytes / facts.banks;
        let bytes = match control & (PER | MER1 | MER2) {
            PER => {
                let page = (control & PNB) as usize >> 3;
                let start = page * facts.page_bytes + if control & BKER != 0 { bank } else { 0 };
                start..start + facts.page_bytes
            }
            MER1 => 0..bank,
            MER2 => bank..2 * bank,
            bits if bits == MER1 | MER2 => 0..2 * bank,
            _ => {
                let why = "STRT without one of PER and MER, which the manual forbids";
                return Err(self.registers.refuse(CR, why));
            }
        };
        if bytes.end > self.chip.flash_bytes {
            let why = "PNB names a page that the chip has not";
            return Err(self.registers.refuse(CR, why));
        }
        let microseconds = match bytes.len() == facts.page_bytes {
            true => facts.page_erase_us,
            false => self.chip.mass_erase_us[0],
        };
        self.erasure = Some(bytes);
        self.begin(microseconds, now);
        self.registers.set_bits(CR, STRT, true);
        Ok(())
    }

    /// §3.3.7: two words, the first on a double word's boundary. A double word that is not erased can
    /// only be programmed to zeros.
    pub(super) fn store_l4(
        &mut self,
        offset: usize,
        width: Width,
        value: u32,
        held: u64,
        now: u64,
    ) -> Store {
        let first = self.first_word.take();
        let place = offset % DOUBLE_WORD_BYTES;
        if !self.registers.has(CR, PG) || self.registers.has(SR, ERRORS) {
            return self.failed_l4(PGSERR);
        }
        if width != Width::Word {
            return self.failed_l4(SIZERR);
        }
        match first {
            None if place == 0 => {
                self.first_word = Some((offset, value));
                Store::Nothing
            }
            Some((start, low)) if offset == start + 4 => {
                let double = u64::from(low) | u64::from(value) << 32;
                if held != u64::MAX && double != 0 {
                    return self.failed_l4(PROGERR);
                }
                self.begin(self.facts.program_us, now);
                match self.ignores_writes {
                    true => Store::Nothing,
                    false => Store::Cells {
                        offset: start,
                        bytes: DOUBLE_WORD_BYTES,
                        value: double,
                    },
                }
            }
            _ => self.failed_l4(PGAERR),
        }
    }

    /// §3.7.5: OPERR is set only with its interrupt enabled.
    fn failed_l4(&mut self, error: u32) -> Store {
        let signals = self.registers.has(CR, ERRIE);
        let all = error | if signals { OPERR } else { 0 };
        self.registers.set_bits(SR, all, true);
        Store::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(control: u32) -> Flash {
        let mut flash = Flash::named("l476rg");
        for key in KEYS {
            flash.write(KEYR, key, 0).unwrap();
        }
        flash.write(CR, control, 0).unwrap();
        flash
    }

    /// §3.3.7.
    #[test]
    fn two_words_are_programmed_at_once() {
        let mut flash = open(PG);
        assert_eq!(flash.store(8, Width::Word, 1, u64::MAX, 0), Store::Nothing);
        assert_eq!(flash.read(SR, 0), 0);
        let cells = Store::Cells {
            offset: 8,
            bytes: 8,
            value: 2 << 32 | 1,
        };
        assert_eq!(flash.store(12, Width::Word, 2, u64::MAX, 0), cells);
        // 82 µs at the 4 MHz of reset.
        assert_eq!((flash.read(SR, 327), flash.read(SR, 328)), (BSY, 0));
    }

    /// §3.7.5.
    #[test]
    fn what_may_not_be_programmed_leaves_its_flag() {
        let erased = u64::MAX;
        for (control, offset, width, held, flag) in [
            (0, 0, Width::Word, erased, PGSERR),
            (PG, 0, Width::Half, erased, SIZERR),
            (PG, 4, Width::Word, erased, PGAERR),
        ] {
            let mut flash = open(control);
            let store = flash.store(offset, width, 5, held, 0);
            assert_eq!((store, flash.read(SR, 0)), (Store::Nothing, flag));
        }
        let mut flash = open(PG);
        flash.store(0, Width::Word, 5, 0, 0);
        flash.store(4, Width::Word, 0, 0, 0);
        assert_eq!(flash.read(SR, 0), PROGERR);
        // While a flag is up, nothing is programmed.
        flash.store(0, Width::Word, 0, 0, 0);
        assert_eq!(flash.read(SR, 0), PROGERR | PGSERR);
    }

    /// §3.3.5, §3.3.6.
    #[test]
    fn pages_and_banks_are_erased() {
        for (control, bytes) in [
            (PER | 3 << 3, 0x1800..0x2000),
            (PER | BKER | 255 << 3, 0xF_F800..0x10_0000),
            (MER1, 0..0x8_0000),
            (MER2, 0x8_0000..0x10_0000),
            (MER1 | MER2, 0..0x10_0000),
        ] {
            let mut flash = open(control);
            flash.write(CR, control | STRT, 0).unwrap();
            assert_eq!(flash.take_erasure(), Some(bytes));
            assert_eq!(flash.read(SR, 0), BSY);
        }
        let mut locked = Flash::named("l476rg");
        locked.write(CR, PER | STRT, 0).unwrap();
        assert_eq!(locked.take_erasure(), None);
    }

    /// RM0444 §3.3.1: one bank; RM0440 §3.3.1: two, of 256 KiB.
    #[test]
    fn lines_that_follow_have_banks_of_their_own() {
        for (chip, control, bytes) in [
            ("g071rb", PER | 63 << 3, 0x1_F800..0x2_0000),
            ("g071rb", MER1, 0..0x2_0000),
            ("g474re", PER | BKER | 127 << 3, 0x7_F800..0x8_0000),
            ("g474re", MER2, 0x4_0000..0x8_0000),
        ] {
            let mut flash = Flash::named(chip);
            for key in KEYS {
                flash.write(KEYR, key, 0).unwrap();
            }
            flash.write(CR, control | STRT, 0).unwrap();
            assert_eq!(flash.take_erasure(), Some(bytes), "{chip}");
        }
    }
}
