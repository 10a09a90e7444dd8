//! Flash interface: access control, locks, programming, erasing, write protection. Here are the
//! registers of the flash with sectors (RM0368 §3.8); `l4.rs` and `f1.rs` have those of the other kinds.
//!
//! This file has the registers. The SoC changes the array, and holds up accesses while an operation
//! is under way (§3.5).

pub mod f1;
pub mod l4;
mod lock;
mod operation;
pub mod sectors;

use super::registers::{rows, Register, Registers, Unmodelled};
use super::{Peripheral, Supply};
use crate::chip::{nucleo, Chip};
use crate::timebase::Frequency;
use lock::Lock;
use serde::{Deserialize, Serialize};
use std::ops::Range;

pub const ACR: u32 = 0x00;
const KEYR: u32 = 0x04;
const OPTKEYR: u32 = 0x08;
const SR: u32 = 0x0C;
const CR: u32 = 0x10;
const OPTCR: u32 = 0x14;

const LATENCY: u32 = 0xF;
pub const ICEN: u32 = 1 << 9;
pub const DCEN: u32 = 1 << 10;
pub const ICRST: u32 = 1 << 11;
pub const DCRST: u32 = 1 << 12;
const ACR_BITS: u32 = LATENCY | 1 << 8 | ICEN | DCEN | ICRST | DCRST;

pub const EOP: u32 = 1 << 0;
pub const OPERR: u32 = 1 << 1;
pub const WRPERR: u32 = 1 << 4;
pub const PGAERR: u32 = 1 << 5;
const PGPERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
pub const BSY: u32 = 1 << 16;
const SR_FLAGS: u32 = EOP | OPERR | WRPERR | PGAERR | PGPERR | PGSERR | 1 << 8;

pub const PG: u32 = 1 << 0;
const SER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const SNB: u32 = 0xF << 3;
const PSIZE_SHIFT: u32 = 8;
const PSIZE: u32 = 0b11 << PSIZE_SHIFT;
pub const STRT: u32 = 1 << 16;
pub const EOPIE: u32 = 1 << 24;
pub const ERRIE: u32 = 1 << 25;
pub const LOCK: u32 = 1 << 31;
const CR_BITS: u32 = PG | SER | MER | SNB | PSIZE | STRT | EOPIE | ERRIE | LOCK;

const OPTLOCK: u32 = 1 << 0;
const OPTSTRT: u32 = 1 << 1;
const NWRP_SHIFT: u32 = 16;
/// BOR_LEV, nRST_STOP and nRST_STDBY keep their value but have no effect here. One nWRP bit for
/// each sector.
const OPTION_BITS: u32 = 0b11 << 2 | 0b11 << 6 | 0xFF << NWRP_SHIFT;
/// The nWRP bits of the sectors 8 to 11.
const LARGE_OPTION_BITS: u32 = 0xF << (NWRP_SHIFT + 8);
/// WDG_SW, RDP and SPRMOD: the hardware watchdog and read protection.
const PROTECTION_BITS: u32 = 1 << 5 | 0xFF << 8 | 1 << 31;
const RDP: u32 = 0xFF << 8;
const RDP_LEVEL_1: u32 = 0x55 << 8;
/// §3.8.6: no protection, watchdog by software.
pub const OPTCR_RESET: u32 = 0x0FFF_AAED;

/// §3.5.1 and §3.6.2.
const KEYS: [u32; 2] = [0x4567_0123, 0xCDEF_89AB];
const OPTION_KEYS: [u32; 2] = [0x0819_2A3B, 0x4C5D_6E7F];

/// How a flash is programmed and erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlashKind {
    #[default]
    /// In sectors of unlike sizes, by the width that PSIZE says.
    Sectors,
    /// In pages of one or two banks, by double words.
    DoubleWords,
    /// In pages, by half words.
    HalfWords,
}

/// What tells the flash of one line from that of another.
#[derive(Clone, Copy, Default)]
pub struct FlashFacts {
    pub kind: FlashKind,
    pub layout: &'static Layout,
    /// The registers of chips with up to so many bytes of flash.
    pub tables: &'static [(usize, &'static [Register])],
    /// ACR's wait states.
    pub latency: u32,
    /// The option bytes of a chip as it is delivered, as their register shows them.
    pub options: u32,
    /// RDP of a chip without protection.
    pub open: u8,
    /// Of sectors, that of the first.
    pub page_bytes: usize,
    pub banks: usize,
    /// Typical times to program once, and to erase a page or the first sector.
    pub program_us: u64,
    pub page_erase_us: u64,
}

/// Where a kind has its registers, and which bits mean what.
pub struct Layout {
    status: u32,
    busy: u32,
    control: u32,
    /// Where the option bytes show, and what else a reset sets there.
    options: (u32, u32),
    /// Of the option bytes: what tells of read protection, without it and with it.
    protection: (u32, u32, u32),
    /// Writes to these wait while the flash is busy.
    stalls: &'static [u32],
    /// Enables in the control register, and the flags of which each lets one interrupt.
    interrupts: [(u32, u32); 2],
    /// Bits that the end of an operation clears.
    started: &'static [(u32, u32)],
    /// The flag of that end. `Some`: only while this is enabled.
    end: (u32, Option<u32>),
}

pub static SECTORS: Layout = Layout {
    status: SR,
    busy: BSY,
    control: CR,
    options: (OPTCR, OPTLOCK),
    protection: (RDP, OPTCR_RESET & RDP, RDP_LEVEL_1),
    stalls: &[CR, OPTCR],
    interrupts: [(EOPIE, EOP), (ERRIE, OPERR)],
    started: &[(CR, STRT), (OPTCR, OPTSTRT)],
    // §3.8.4: EOP is set only with its interrupt enabled.
    end: (EOP, Some(EOPIE)),
};

impl Default for &Layout {
    fn default() -> Self {
        &SECTORS
    }
}

const fn table(options: u32) -> [Register; 6] {
    rows! {
        ACR, "ACR", 0, ACR_BITS;
        KEYR, "KEYR", 0, !0;
        OPTKEYR, "OPTKEYR", 0, !0;
        SR, "SR", 0, SR_FLAGS, inert BSY;
        CR, "CR", LOCK, CR_BITS;
        OPTCR, "OPTCR", OPTCR_RESET, OPTLOCK | OPTSTRT | options, missing PROTECTION_BITS;
    }
}

pub static TABLE: [Register; 6] = table(OPTION_BITS);
pub static LARGE_TABLE: [Register; 6] = table(OPTION_BITS | LARGE_OPTION_BITS);

/// What a store to the array does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// A flag tells why, or more is to come.
    Nothing,
    /// These bytes are programmed.
    Cells {
        offset: usize,
        bytes: usize,
        value: u64,
    },
    /// The bus answers with an error.
    BusError,
    /// The manual does not say what happens. Here, nothing.
    Unspecified(&'static str),
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Flash {
    /// A snapshot keeps the chip beside its memories, and leaves the facts out.
    #[serde(skip, default = "nucleo")]
    pub chip: &'static Chip,
    #[serde(skip)]
    pub facts: FlashFacts,
    registers: Registers,
    lock: Lock,
    option_lock: Lock,
    /// The option bytes in force, as FLASH_OPTCR shows them. They survive a reset.
    options: u32,
    core: Frequency,
    /// What holds instead of ACR from the firmware's first setting of that on: a chip that does not do
    /// what its register says. It survives a reset.
    pub forced: Option<u32>,
    /// The cycle in which the operation under way ends.
    busy: Option<u64>,
    /// Of two words that are programmed at once the first, until the second comes.
    first_word: Option<(usize, u32)>,
    /// The bytes that the last operation erases, until the SoC has done it.
    erasure: Option<Range<usize>>,
    /// An injected fault: operations take their time and change nothing.
    #[serde(skip)]
    pub ignores_writes: bool,
    /// Read protection, with a debugger connected.
    #[serde(skip)]
    shut: bool,
}

impl Flash {
    /// `core` is the core's clock.
    pub fn of(chip: &'static Chip, facts: FlashFacts, core: Frequency) -> Flash {
        let fits = |row: &&(usize, &[Register])| chip.flash_bytes <= row.0;
        let table = facts.tables.iter().find(fits).map_or(&[][..], |row| row.1);
        Flash {
            chip,
            facts,
            registers: Registers::new("FLASH", table),
            lock: Lock::new(KEYS),
            option_lock: Lock::new(OPTION_KEYS),
            options: facts.options,
            shut: false,
            core,
            forced: None,
            busy: None,
            first_word: None,
            erasure: None,
            ignores_writes: false,
        }
    }

    /// The same after a reset of the chip. The option bytes and injected faults survive it.
    pub fn after_reset(&self, core: Frequency) -> Flash {
        let mut flash = Flash {
            options: self.options,
            forced: self.forced,
            ignores_writes: self.ignores_writes,
            shut: self.shut,
            ..Flash::of(self.chip, self.facts, core)
        };
        let (place, bits) = self.facts.layout.options;
        flash.registers.set(place, self.options | bits);
        flash
    }

    /// FLASH_ACR, or what is forced: wait states, prefetch and caches. The fetch timing needs it.
    pub fn access_control(&self) -> u32 {
        match (self.registers.get(ACR), self.forced) {
            (set, Some(forced)) if set != self.registers.reset_value(ACR) => forced,
            (set, _) => set,
        }
    }

    /// The highest HCLK for the wait states at 2.7–3.6 V (§3.4.1, table 6).
    pub fn highest_core_hz(&self) -> u64 {
        let latency = self.registers.get(ACR) & self.facts.latency;
        self.chip.highest_core_hz(latency)
    }

    /// Turns read protection on or off (§3.6.3): RDP is neither 0xAA nor 0xCC at level 1. A program
    /// on the board runs as before. The desk's probe is always connected, so nothing can be programmed
    /// or erased. That a debugger cannot read the array is not modelled.
    pub fn protect(&mut self, protected: bool) {
        self.shut = protected;
        let layout = self.facts.layout;
        let (mask, open, shut) = layout.protection;
        let level = if protected { shut } else { open };
        self.options = self.options & !mask | level;
        let shown = self.registers.get(layout.options.0) & !mask | level;
        self.registers.set(layout.options.0, shown);
    }

    /// The halfwords of the option bytes: RDP and USER, nWRP (§3.6.1, table 9).
    pub fn option_bytes(&self) -> (u32, u32) {
        let user = self.options & 0xFFFF & !(OPTLOCK | OPTSTRT);
        (user, self.options >> NWRP_SHIFT & 0x0FFF)
    }

    /// The option bytes in force, as the register shows them.
    pub fn options(&self) -> u32 {
        self.options
    }

    /// Whether read protection is on.
    pub fn is_protected(&self) -> bool {
        let (mask, open, _) = self.facts.layout.protection;
        self.options & mask != open
    }

    pub fn interrupt(&self) -> bool {
        let layout = self.facts.layout;
        let status = self.registers.get(layout.status);
        let control = self.registers.get(layout.control);
        let up = |(enable, flags): &(u32, u32)| control & enable != 0 && status & flags != 0;
        layout.interrupts.iter().any(up)
    }

    fn write_access_control(&mut self, value: u32) -> Result<(), Unmodelled> {
        // §3.8.1: a cache can be reset only while it is disabled.
        let mut ignored = 0;
        for (enable, reset) in [(ICEN, ICRST), (DCEN, DCRST)] {
            if value & enable != 0 {
                ignored |= value & reset;
            }
        }
        self.registers.set(ACR, value & !ignored);
        if ignored != 0 {
            return Err(self
                .registers
                .remark(ACR, "reset of a cache that is enabled"));
        }
        Ok(())
    }

    fn write_control(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        if !self.lock.is_open() {
            return Ok(()); // §3.5.1: not writable while locked
        }
        self.registers.set(CR, value & !(LOCK | STRT));
        if value & STRT != 0 {
            self.start_erasing(now)?;
        }
        if value & LOCK != 0 {
            self.lock.shut();
            self.registers.set_bits(CR, LOCK, true);
        }
        Ok(())
    }

    fn write_options(&mut self, value: u32, now: u64) {
        if !self.option_lock.is_open() {
            return;
        }
        self.registers.set(OPTCR, value & !(OPTLOCK | OPTSTRT));
        if value & OPTSTRT != 0 {
            self.start_options(now);
        }
        if value & OPTLOCK != 0 {
            self.option_lock.shut();
            self.registers.set_bits(OPTCR, OPTLOCK, true);
        }
    }
}

impl Peripheral for Flash {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        self.registers.get(offset) // keys are not kept
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match self.facts.kind {
            FlashKind::Sectors => {}
            FlashKind::DoubleWords => return self.write_l4(offset, value, now),
            FlashKind::HalfWords => return self.write_f1(offset, value, now),
        }
        match offset {
            ACR => self.write_access_control(value)?,
            KEYR => {
                self.lock.key(value);
                self.registers.set_bits(CR, LOCK, !self.lock.is_open());
            }
            OPTKEYR => {
                self.option_lock.key(value);
                self.registers
                    .set_bits(OPTCR, OPTLOCK, !self.option_lock.is_open());
            }
            SR => self.registers.set_bits(SR, value & SR_FLAGS, false),
            CR => self.write_control(value, now)?,
            _ => self.write_options(value, now),
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = self.after_reset(self.core);
    }

    fn set_clocks(&mut self, clocks: &Supply, _now: u64) {
        self.core = clocks.core;
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.interrupt())
    }

    fn next_event(&self) -> Option<u64> {
        self.busy
    }

    fn advance(&mut self, now: u64) {
        if self.busy.is_some_and(|end| end <= now) {
            self.busy = None;
            let layout = self.facts.layout;
            self.registers.set_bits(layout.status, layout.busy, false);
            for (register, bits) in layout.started {
                self.registers.set_bits(*register, *bits, false);
            }
            let control = self.registers.get(layout.control);
            let (flag, enable) = layout.end;
            let signals = enable.is_none_or(|enable| control & enable != 0);
            self.registers.set_bits(layout.status, flag, signals);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    impl Flash {
        /// That of a chip, as after a reset.
        pub(in super::super) fn named(chip: &str) -> Flash {
            let chip = Chip::named(chip).unwrap();
            let facts = crate::lines::facts(chip.family);
            let core = crate::peripherals::rcc::Rcc::named(&chip.name)
                .clocks()
                .core;
            Flash::of(chip, facts.line.flash, core)
        }
    }

    #[test]
    fn what_is_forced_holds_once_the_register_is_set_and_the_register_does_not_tell() {
        let mut flash = Flash::named("f401re");
        flash.forced = Some(5);
        assert_eq!(flash.access_control(), 0, "as after reset");
        flash.write(ACR, 0x702, 0).unwrap();
        assert_eq!(flash.access_control(), 5);
        assert_eq!(flash.read(ACR, 0), 0x702);
        flash.reset();
        assert_eq!(flash.access_control(), 0);
        flash.write(ACR, 0x702, 0).unwrap();
        assert_eq!(flash.access_control(), 5, "it survives a reset");
    }

    #[test]
    fn the_two_keys_open_and_lock_closes() {
        let mut flash = Flash::named("f401re");
        flash.follow([
            Read(CR, LOCK, 0),
            Write(KEYR, KEYS[0], 0),
            Read(CR, LOCK, 0),
            Write(KEYR, KEYS[1], 0),
            Read(CR, 0, 0),
            Write(CR, LOCK, 0),
            Read(CR, LOCK, 0),
            Write(CR, PG, 0),
            Read(CR, LOCK, 0),
        ]);
    }

    #[test]
    fn a_wrong_key_locks_until_reset() {
        let mut flash = Flash::named("f401re");
        for key in [KEYS[1], KEYS[0], KEYS[1]] {
            flash.write(KEYR, key, 0).unwrap();
        }
        assert_eq!(flash.read(CR, 0), LOCK);
        flash.reset();
        for key in KEYS {
            flash.write(KEYR, key, 0).unwrap();
        }
        assert_eq!(flash.read(CR, 0), 0);
    }

    #[test]
    fn wait_states_bound_the_clock() {
        let mut flash = Flash::named("f401re");
        assert_eq!(flash.highest_core_hz(), 30_000_000);
        flash.write(ACR, 2, 0).unwrap();
        assert_eq!(flash.highest_core_hz(), 84_000_000);
    }

    #[test]
    fn option_bytes_have_their_own_keys_and_wdg_sw_reads_one() {
        let mut flash = Flash::named("f401re");
        assert_eq!(flash.read(OPTCR, 0), OPTCR_RESET);
        assert_eq!(flash.read(OPTCR, 0) >> 5 & 1, 1);
        flash.follow([
            Write(OPTCR, OPTCR_RESET & !(1 << 18), 0),
            Read(OPTCR, OPTCR_RESET, 0),
        ]);
        for key in OPTION_KEYS {
            flash.write(OPTKEYR, key, 0).unwrap();
        }
        assert_eq!(flash.read(OPTCR, 0), OPTCR_RESET & !OPTLOCK);
    }
}
