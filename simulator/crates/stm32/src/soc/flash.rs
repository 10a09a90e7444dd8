//! What the flash interface does to the array, and to accesses while it is busy.

use super::address_map::Block;
use super::schedule::FLASH;
use super::Soc;
use crate::manners::{Access, Oddity};
use crate::memory::Memory;
use crate::peripherals::flash::Store;
use crate::peripherals::registers::Unmodelled;
use cortex_m::bus::{Fault, Width};

impl Soc {
    /// The cycle from which the flash can be read. If it is not busy, that cycle is in the past.
    pub fn flash_busy_until(&self) -> u64 {
        self.logic.flash.busy_until()
    }

    /// Ends what the flash is busy with. It has an oscillator of its own, which a debugger that halts
    /// the core does not stop, and a probe takes longer from one access to the next.
    pub fn end_flash_operation(&mut self, now: u64) {
        if self.logic.flash.busy_until() > now {
            self.logic.flash.end_operation(now);
            self.flash_changed();
            self.reschedule(FLASH);
        }
    }

    /// The core made an access that holds it up until this cycle.
    pub fn stalled_until(&self) -> u64 {
        self.logic.stalled_until
    }

    /// Whether code in flash may have changed since the last call.
    pub fn take_code_changed(&mut self) -> bool {
        std::mem::take(&mut self.logic.code_changed)
    }

    /// A read of the array waits until the operation is over (RM0368 §3.5).
    #[inline]
    pub(super) fn stall_read(&mut self, address: u32, now: u64) {
        if self.logic.flash.busy_until() > now && self.memory.in_flash(address).is_some() {
            self.stall();
        }
    }

    /// The cycle in which a write to a register takes effect. FLASH_CR waits until the operation is
    /// over (§3.5.1).
    pub(super) fn stall_register_write(&mut self, block: Block, offset: u32, now: u64) -> u64 {
        if block != Block::Flash
            || !self.logic.flash.write_stalls(offset)
            || self.logic.flash.busy_until() <= now
        {
            return now;
        }
        self.stall();
        self.logic.stalled_until
    }

    /// Changes memory without any program, as an injected fault.
    pub fn overwrite(&mut self, address: u32, bytes: &[u8]) {
        // Where there is no memory, there is nothing to change.
        let _ = self.memory.load(Memory::canonical(address), bytes);
    }

    /// Turns read protection of level 1 on or off, as the option bytes have it.
    pub fn protect_flash(&mut self, protected: bool) {
        self.logic.flash.protect(protected);
    }

    pub fn ignore_flash_writes(&mut self, ignored: bool) {
        self.logic.flash.ignores_writes = ignored;
    }

    /// The bytes that the flash is told of, so that it can see whether they are erased.
    const CELL_BYTES: usize = 8;

    pub(super) fn program_flash(
        &mut self,
        address: u32,
        offset: usize,
        width: Width,
        value: u32,
        now: u64,
    ) -> Result<(), Fault> {
        self.catch_up(now);
        let start = now.max(self.logic.flash.busy_until());
        if start > now {
            self.stall();
        }
        self.catch_up(start);
        let held = self.memory.cell(offset - offset % Self::CELL_BYTES);
        let done = match self.logic.flash.store(offset, width, value, held, start) {
            Store::Nothing => Ok(()),
            Store::Cells {
                offset,
                bytes,
                value,
            } => {
                self.memory.program(offset, &value.to_le_bytes()[..bytes]);
                self.logic.code_changed = true;
                Ok(())
            }
            Store::BusError => Err(Fault::Bus { address }),
            Store::Unspecified(why) => {
                let odd = Unmodelled(why.into(), Oddity::Setting);
                self.take(odd, address, Access::Write, now)
            }
        };
        self.flash_changed();
        self.reschedule(FLASH);
        self.logic.attention = true;
        done
    }

    pub(super) fn flash_changed(&mut self) {
        self.set_interrupt_line(self.logic.flash_irq, self.logic.flash.interrupt());
    }

    fn stall(&mut self) {
        self.logic.stalled_until = self.logic.flash.busy_until();
        self.logic.attention = true;
    }
}
