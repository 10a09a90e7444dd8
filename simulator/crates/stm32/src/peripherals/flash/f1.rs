//! The flash interface of the STM32F1 (PM0075) and of the STM32F0 (RM0091 §3.5), which follows it:
//! pages, programmed by half words.

use super::*;
use cortex_m::bus::Width;

const OPTKEYR: u32 = 0x08;
pub const SR: u32 = 0x0C;
pub const CR: u32 = 0x10;
const AR: u32 = 0x14;
pub const OBR: u32 = 0x1C;
pub const RDPRT: u32 = 1 << 1;

const PRFTBE: u32 = 1 << 4;
const PRFTBS: u32 = 1 << 5;

pub const BSY: u32 = 1 << 0;
const PGERR: u32 = 1 << 2;
const WRPRTERR: u32 = 1 << 4;
const EOP: u32 = 1 << 5;
const FLAGS: u32 = PGERR | WRPRTERR | EOP;

const PER: u32 = 1 << 1;
const STRT: u32 = 1 << 6;
const LOCK: u32 = 1 << 7;
const OPTWRE: u32 = 1 << 9;
const ERRIE: u32 = 1 << 10;
const EOPIE: u32 = 1 << 12;
const CR_BITS: u32 = PG | PER | MER | STRT | LOCK | OPTWRE | ERRIE | EOPIE;
/// OPTPG and OPTER: option bytes are not programmed.
const CR_MISSING: u32 = 0b11 << 4;

pub static HALF_WORDS: Layout = Layout {
    status: SR,
    busy: BSY,
    control: CR,
    options: (OBR, 0),
    protection: (RDPRT, 0, RDPRT),
    stalls: &[CR],
    interrupts: [(EOPIE, EOP), (ERRIE, PGERR | WRPRTERR)],
    started: &[(CR, STRT)],
    // PM0075 §3.4: EOP tells of every operation.
    end: (EOP, None),
};

/// The registers, with these option bytes and with what is missing in ACR and CR.
pub const fn table(options: u32, access_missing: u32, control_missing: u32) -> [Register; 8] {
    rows! {
        ACR, "ACR", PRFTBE | PRFTBS, 0b111 | PRFTBE, inert PRFTBS, missing access_missing;
        KEYR, "KEYR", 0, !0;
        OPTKEYR, "OPTKEYR", 0, !0;
        SR, "SR", 0, FLAGS, inert BSY;
        CR, "CR", LOCK, CR_BITS, missing CR_MISSING | control_missing;
        AR, "AR", 0, !0;
        OBR, "OBR", options, 0, inert !0;
        0x20, "WRPR", !0, 0, inert !0;
    }
}

impl Flash {
    pub(super) fn write_f1(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        match offset {
            ACR => {
                let on = value & PRFTBE != 0;
                self.registers.set(ACR, value);
                self.registers.set_bits(ACR, PRFTBS, on);
            }
            KEYR => {
                self.lock.key(value);
                self.registers.set_bits(CR, LOCK, !self.lock.is_open());
            }
            OPTKEYR => {
                self.option_lock.key(value);
                let open = self.option_lock.is_open();
                self.registers.set_bits(CR, OPTWRE, open);
            }
            SR => self.registers.set_bits(SR, value & FLAGS, false),
            CR => self.write_control_f1(value, now)?,
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    /// PM0075 §2.3.1: it cannot be written while it is locked.
    fn write_control_f1(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        if !self.lock.is_open() {
            return Ok(());
        }
        let options = match value & OPTWRE {
            0 => {
                self.option_lock.shut();
                0
            }
            _ => self.registers.get(CR) & OPTWRE,
        };
        self.registers
            .set(CR, value & !(LOCK | STRT | OPTWRE) | options);
        if value & STRT != 0 {
            self.erase_f1(now)?;
        }
        if value & LOCK != 0 {
            self.lock.shut();
            self.registers.set_bits(CR, LOCK, true);
        }
        Ok(())
    }

    /// PM0075 §2.3.2: the page that AR points into, or all.
    fn erase_f1(&mut self, now: u64) -> Result<(), Unmodelled> {
        let refuse = |register, why| Err(self.registers.refuse(register, why));
        let size = self.chip.flash_bytes;
        let (bytes, microseconds) = match self.registers.get(CR) & (PER | MER) {
            PER => {
                let page = self.facts.page_bytes;
                let address = self.registers.get(AR);
                let offset = address.wrapping_sub(crate::chip::FLASH_BASE) as usize;
                if offset >= size {
                    return refuse(AR, "an address that is not in the flash");
                }
                let start = offset - offset % page;
                (start..start + page, self.facts.page_erase_us)
            }
            MER => (0..size, self.chip.mass_erase_us[0]),
            _ => return refuse(CR, "STRT without one of PER and MER"),
        };
        self.erasure = Some(bytes);
        self.begin(microseconds, now);
        self.registers.set_bits(CR, STRT, true);
        Ok(())
    }

    /// PM0075 §2.3.3: a half word that is not erased can only be programmed to zeros. Other widths
    /// are bus errors.
    pub(super) fn store_f1(
        &mut self,
        offset: usize,
        width: Width,
        value: u32,
        held: u64,
        now: u64,
    ) -> Store {
        if width != Width::Half || offset % 2 != 0 {
            return Store::BusError;
        }
        if !self.registers.has(CR, PG) {
            return Store::Unspecified("FLASH_CR (a store to the flash without PG)");
        }
        let present = held >> (offset % 8 * 8) & 0xFFFF;
        if present != 0xFFFF && value & 0xFFFF != 0 {
            self.registers.set_bits(SR, PGERR, true);
            return Store::Nothing;
        }
        self.begin(self.facts.program_us, now);
        match self.ignores_writes {
            true => Store::Nothing,
            false => Store::Cells {
                offset,
                bytes: 2,
                value: value.into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(chip: &str, control: u32) -> Flash {
        let mut flash = Flash::named(chip);
        for key in KEYS {
            flash.write(KEYR, key, 0).unwrap();
        }
        flash.write(CR, control, 0).unwrap();
        flash
    }

    /// PM0075 §2.3.3.
    #[test]
    fn half_words_are_programmed_if_they_are_erased() {
        let mut flash = open("f103rb", PG);
        let cells = Store::Cells {
            offset: 2,
            bytes: 2,
            value: 7,
        };
        assert_eq!(flash.store(2, Width::Half, 7, u64::MAX, 0), cells);
        // 53 µs at the 8 MHz of reset.
        assert_eq!((flash.read(SR, 423), flash.read(SR, 424)), (BSY, EOP));
        flash.write(SR, EOP, 424).unwrap();
        let held = !(1_u64 << 16);
        assert_eq!(flash.store(2, Width::Half, 7, held, 500), Store::Nothing);
        assert_eq!(flash.read(SR, 500), PGERR);
        // Zeros may be programmed over anything.
        assert!(matches!(
            flash.store(2, Width::Half, 0, held, 500),
            Store::Cells { .. }
        ));
        assert_eq!(flash.store(0, Width::Word, 0, held, 9_000), Store::BusError);
    }

    /// PM0075 §2.3.2; RM0091 §3.2.2: pages of 1 and of 2 KiB.
    #[test]
    fn the_page_of_an_address_is_erased() {
        for (chip, bytes) in [("f103rb", 0x1400..0x1800), ("f072rb", 0x1000..0x1800)] {
            let mut flash = open(chip, PER);
            flash.write(AR, 0x0800_1456, 0).unwrap();
            flash.write(CR, PER | STRT, 0).unwrap();
            assert_eq!(flash.take_erasure(), Some(bytes));
            assert_eq!(flash.read(SR, 0), BSY);
            // 40 ms at 8 MHz.
            assert_eq!(flash.read(SR, 320_000), EOP);
        }
    }

    /// PM0075 §3.1: the status of the prefetch buffer follows its switch.
    #[test]
    fn the_prefetch_buffer_is_on_from_reset_on() {
        let mut flash = open("f103rb", 0);
        assert_eq!(flash.read(ACR, 0), PRFTBE | PRFTBS);
        flash.write(ACR, 2, 0).unwrap();
        assert_eq!(
            (flash.read(ACR, 0), flash.highest_core_hz()),
            (2, 72_000_000)
        );
    }
}
