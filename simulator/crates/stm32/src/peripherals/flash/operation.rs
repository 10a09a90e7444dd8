//! Programming and erasing (RM0368 §3.5.3–3.5.5): what is allowed, which flags it sets, and how
//! long the flash is busy.

use super::*;
use cortex_m::bus::Width;
use sectors::{erase_us, holding};

/// A line of 128 bits. A programmed value may not cross its end.
const ROW_BYTES: usize = 16;

impl Flash {
    /// The cycle from which the flash is free. 0 if it is free.
    pub fn busy_until(&self) -> u64 {
        self.busy.unwrap_or(0)
    }

    /// Whether a write to this register waits while the flash is busy (§3.5.1).
    pub fn write_stalls(&self, offset: u32) -> bool {
        self.facts.layout.stalls.contains(&offset)
    }

    /// Ends what is under way, as if its time had passed.
    pub fn end_operation(&mut self, now: u64) {
        self.busy = self.busy.map(|end| end.min(now));
        self.advance(now);
    }

    /// A store to the array at `offset` bytes, where the 8 bytes around it hold `held`.
    pub fn store(&mut self, offset: usize, width: Width, value: u32, held: u64, now: u64) -> Store {
        self.advance(now);
        match self.facts.kind {
            FlashKind::Sectors => match self.program(offset, width, now) {
                true => Store::Cells {
                    offset,
                    bytes: width.bytes() as usize,
                    value: value.into(),
                },
                false => Store::Nothing,
            },
            FlashKind::DoubleWords => self.store_l4(offset, width, value, held, now),
            FlashKind::HalfWords => self.store_f1(offset, width, value, held, now),
        }
    }

    /// Starts programming for a store to an array of sectors at `offset` bytes. False if it is not allowed;
    /// then its flag is set. False also if an injected fault keeps it from having an effect.
    fn program(&mut self, offset: usize, width: Width, now: u64) -> bool {
        let error = self.programming_error(offset, width);
        if error != 0 {
            self.fail(error);
            return false;
        }
        self.begin(self.facts.program_us, now);
        !self.ignores_writes
    }

    /// The bytes to erase. Returned once.
    pub fn take_erasure(&mut self) -> Option<Range<usize>> {
        self.erasure.take().filter(|_| !self.ignores_writes)
    }

    fn programming_error(&self, offset: usize, width: Width) -> u32 {
        let bytes = width.bytes() as usize;
        let control = self.registers.get(CR);
        if control & PG == 0 {
            PGSERR
        } else if offset % ROW_BYTES + bytes > ROW_BYTES {
            PGAERR
        } else if bytes != 1 << (control >> PSIZE_SHIFT & 0b11) || offset % bytes != 0 {
            // The core splits an unaligned store into narrower ones.
            PGPERR
        } else if self.write_protected(holding(offset)) {
            WRPERR
        } else {
            0
        }
    }

    fn write_protected(&self, sector: u32) -> bool {
        self.shut || self.options >> (NWRP_SHIFT + sector) & 1 == 0
    }

    /// §3.8.4: OPERR is set only with its interrupt enabled.
    fn fail(&mut self, error: u32) {
        self.registers.set_bits(SR, error, true);
        if self.registers.has(CR, ERRIE) {
            self.registers.set_bits(SR, OPERR, true);
        }
    }

    pub(super) fn begin(&mut self, microseconds: u64, now: u64) {
        let hertz_us = self.core.denominator * 1_000_000;
        let cycles = (self.core.numerator * microseconds).div_ceil(hertz_us);
        let start = now.max(self.busy_until());
        self.busy = Some(start + cycles);
        let layout = self.facts.layout;
        self.registers.set_bits(layout.status, layout.busy, true);
    }

    pub(super) fn start_erasing(&mut self, now: u64) -> Result<(), Unmodelled> {
        let control = self.registers.get(CR);
        let sector = (control & SNB) >> 3;
        let parallelism = control >> PSIZE_SHIFT & 0b11;
        let refuse = |why| Err(self.registers.refuse(CR, why));
        if parallelism == 3 {
            return refuse("PSIZE of 64 bits needs the external supply VPP");
        }
        match control & (SER | MER) {
            // §3.5.3: with both set, neither is performed.
            bits if bits == SER | MER => Ok(()),
            MER => {
                let microseconds = self.chip.mass_erase_us[parallelism as usize];
                self.erase(0..self.sectors(), microseconds, now);
                Ok(())
            }
            SER if sector >= self.sectors() => refuse("SNB names a sector that the chip has not"),
            SER => {
                self.erase(sector..sector + 1, erase_us(sector, parallelism), now);
                Ok(())
            }
            _ => refuse("STRT without SER or MER, which the manual forbids"),
        }
    }

    fn sectors(&self) -> u32 {
        sectors::count(self.chip.flash_bytes)
    }

    fn erase(&mut self, sectors: Range<u32>, microseconds: u64, now: u64) {
        if sectors.clone().any(|sector| self.write_protected(sector)) {
            return self.fail(WRPERR);
        }
        let start = sectors::bytes(sectors.start).start;
        let end = sectors::bytes(sectors.end - 1).end;
        self.erasure = Some(start..end);
        self.begin(microseconds, now);
        self.registers.set_bits(CR, STRT, true);
    }

    /// The user configuration sector is erased, then programmed (§3.6.2). The datasheet gives no
    /// time for it, so that of a 16 KiB sector is used.
    pub(super) fn start_options(&mut self, now: u64) {
        self.options = self.registers.get(OPTCR);
        self.begin(erase_us(0, 2), now);
        self.registers.set_bits(OPTCR, OPTSTRT, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    const X32: u32 = 2 << PSIZE_SHIFT;

    fn open() -> Flash {
        let mut flash = Flash::named("f401re");
        for key in KEYS {
            flash.write(KEYR, key, 0).unwrap();
        }
        flash
    }

    fn programming(control: u32) -> Flash {
        let mut flash = open();
        flash.write(CR, PG | control, 0).unwrap();
        flash
    }

    #[test]
    fn a_word_takes_16_us() {
        let mut flash = programming(X32);
        assert!(flash.program(0x100, Width::Word, 1_000));
        flash.follow([
            // 16 µs at the 16 MHz of reset.
            Read(SR, BSY, 1_255),
            Read(SR, 0, 1_256),
        ]);
    }

    #[test]
    fn what_may_not_be_programmed_leaves_its_flag() {
        let cases = [
            (PG | X32, 0x0E, Width::Word, PGAERR),
            (PG | X32, 0x02, Width::Word, PGPERR),
            (PG | X32, 0x00, Width::Half, PGPERR),
            (PG, 0x00, Width::Word, PGPERR),
            (PG | 1 << PSIZE_SHIFT, 0x01, Width::Half, PGPERR),
            (X32, 0x00, Width::Word, PGSERR),
        ];
        for (control, offset, width, flag) in cases {
            let mut flash = open();
            flash.write(CR, control, 0).unwrap();
            assert!(!flash.program(offset, width, 0));
            assert_eq!(flash.read(SR, 0), flag, "{control:#x} {offset:#x}");
            flash.write(SR, flag, 0).unwrap();
            assert_eq!(flash.read(SR, 0), 0);
        }
        let mut locked = Flash::named("f401re");
        assert!(!locked.program(0, Width::Byte, 0));
        assert_eq!(locked.read(SR, 0), PGSERR);
    }

    #[test]
    fn erasing_takes_the_time_of_the_sector_and_ends_with_eop() {
        let mut flash = open();
        flash
            .write(CR, SER | 4 << 3 | X32 | EOPIE | STRT, 0)
            .unwrap();
        assert_eq!(flash.take_erasure(), Some(0x1_0000..0x2_0000));
        assert_eq!(flash.take_erasure(), None);
        let end = 550 * 16_000;
        flash.follow([
            Event(Some(end)),
            Bits(CR, STRT, STRT, end - 1),
            Interrupts(0),
            Read(SR, EOP, end),
            Bits(CR, STRT, 0, end),
            Interrupts(1),
        ]);
    }

    #[test]
    fn mass_erase_takes_everything_and_nothing_together_with_sector_erase() {
        let mut flash = open();
        flash.write(CR, SER | MER | STRT, 0).unwrap();
        assert_eq!((flash.take_erasure(), flash.busy_until()), (None, 0));
        flash.write(CR, MER | STRT, 0).unwrap();
        assert_eq!(flash.take_erasure(), Some(0..512 * 1024));
        assert_eq!(flash.busy_until(), 8 * 16_000_000);
    }

    #[test]
    fn what_the_manual_forbids_stops_by_name() {
        for control in [STRT, SER | 8 << 3 | STRT, SER | PSIZE | STRT] {
            assert!(open().write(CR, control, 0).is_err(), "{control:#x}");
        }
    }

    #[test]
    fn write_protection_holds_from_the_programming_of_the_option_bytes_on() {
        let mut flash = programming(X32);
        for key in OPTION_KEYS {
            flash.write(OPTKEYR, key, 0).unwrap();
        }
        let protected = (OPTCR_RESET & !OPTLOCK) & !(1 << (NWRP_SHIFT + 5));
        flash.write(OPTCR, protected, 0).unwrap();
        assert!(flash.program(0x2_0000, Width::Word, 0));
        flash.follow([
            Write(OPTCR, protected | OPTSTRT, 1_000),
            Read(SR, BSY, 1_000),
        ]);
        let later = flash.busy_until();
        assert!(!flash.program(0x2_0000, Width::Word, later));
        flash.follow([Read(SR, WRPERR, later), Write(SR, WRPERR, later)]);
        assert!(flash.program(0x1_FFFC, Width::Word, later));
        let later = flash.busy_until();
        flash.follow([
            Write(CR, MER | ERRIE | STRT, later),
            Read(SR, WRPERR | OPERR, later),
        ]);
        assert!(flash.interrupt() && flash.take_erasure().is_none());
    }
}
