//! Loads and stores: the way to memory, to the chip's registers, and to the private bus.

use super::Core;
use crate::access::Access;
use crate::bus::{Bus, Fault, Loaded, Width};
use crate::data_path::{read_either_alias, with_bit, Purpose};
use crate::memory_map::{
    bit_band, is_private, is_sram_alias, NORMAL_MEMORY_END, SRAM_BYTES, SRAM_START,
};
use crate::mpu::Intent;
use crate::nvic::BUS_FAULT;
use crate::private_gaps::lack;
use crate::state::PrivateUnits;
use crate::stop::Stop;
use crate::trap::{cfsr, Exec, Fault as CoreFault, Trap};
impl Core {
    /// Runs `access` for `purpose`.
    pub(super) fn on_behalf_of<T>(
        &mut self,
        purpose: Purpose,
        access: impl FnOnce(&mut Core) -> T,
    ) -> T {
        let before = self.data.act_for(purpose);
        let result = access(self);
        self.data.act_for(before);
        result
    }

    pub(super) fn access_privileged(&self) -> bool {
        self.data.privileged(&self.registers, &self.private.scb)
    }

    /// Checks an access that is not aligned, or that something guards. True if watchpoints must see it.
    #[cold]
    fn check_access(&mut self, address: u32, width: Width, intent: Intent) -> Exec<bool> {
        let bytes = width.bytes();
        if address & (bytes - 1) != 0 {
            if self.private.scb.traps_unaligned() || address >= NORMAL_MEMORY_END {
                return Err(Trap::usage(cfsr::UNALIGNED));
            }
            self.pipeline.wait_for_unaligned(address, bytes);
        }
        let (priority, privileged) = (self.nvic.execution_priority(), self.access_privileged());
        self.private
            .mpu
            .check(address, bytes, intent, priority, privileged)?;
        Ok(self.data.watches())
    }

    #[inline(always)]
    fn is_plain(&self, address: u32, width: Width) -> bool {
        address & (width.bytes() - 1) == 0 && self.data.unguarded()
    }

    /// Reads, zero-extended, as transfer number `transfer` of the instruction.
    #[inline(always)]
    pub(super) fn load<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        transfer: u64,
    ) -> Exec<u32> {
        let watched =
            !self.is_plain(address, width) && self.check_access(address, width, Intent::Read)?;
        self.pipeline.wait_for_data_bus(transfer);
        // Watched data may be in flash. What lies beyond memory is not.
        self.pipeline
            .wait_for_flash(address, transfer, self.registers.next_pc);
        let now = self.pipeline.access_cycle(transfer);
        if watched || address >= NORMAL_MEMORY_END || is_sram_alias(address) {
            return self.load_beyond_memory(bus, address, width, now);
        }
        let loaded = bus.read(address, width, now);
        self.end_load(loaded)
    }

    /// Waits for what was loaded, or faults at its instruction.
    #[inline(always)]
    fn end_load(&mut self, loaded: Result<Loaded, Fault>) -> Exec<u32> {
        match loaded {
            Ok(loaded) => {
                self.pipeline.wait_for_load(loaded.wait_cycles);
                Ok(loaded.value)
            }
            Err(fault) => Err(Trap::of_data(fault, self.registers.pc)),
        }
    }

    #[inline(always)]
    pub(super) fn store<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        value: u32,
        transfer: u64,
    ) -> Exec<()> {
        self.fast.busy_wait.disturb();
        let watched =
            !self.is_plain(address, width) && self.check_access(address, width, Intent::Write)?;
        self.pipeline.wait_for_data_bus(transfer);
        let now = self.pipeline.access_cycle(transfer);
        if watched || address.wrapping_sub(SRAM_START) >= SRAM_BYTES {
            return self.store_beyond_memory(bus, address, width, value, now);
        }
        if self.fast.code.may_hold(address) {
            self.forget_code(address, width.bytes());
        }
        let written = bus.write(address, width, value, now);
        self.end_store(written, transfer)
    }

    #[inline(always)]
    fn end_store(&mut self, written: Result<u32, Fault>, transfer: u64) -> Exec<()> {
        match written {
            Ok(wait_cycles) => {
                self.pipeline.buffer_store(transfer, wait_cycles);
                Ok(())
            }
            Err(fault) => self.write_fault(fault),
        }
    }

    #[inline(never)]
    fn load_beyond_memory<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        now: u64,
    ) -> Exec<u32> {
        let now = now - self.pipeline.hurry_to_port(address, self.model.kind);
        if self.data.watches() {
            self.check_watchpoints(address, width, Access::Read);
        } else if let Some((loaded, steady)) = bus.read_fast_register(address, width, now) {
            self.note_attention(bus);
            let waits = self.pipeline.timing().waits();
            self.fast.busy_wait.read(waits, || Some(steady));
            return self.end_load(Ok(loaded));
        }
        self.load_beyond_polls(bus, address, width, now)
    }

    #[inline(never)]
    fn load_beyond_polls<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        now: u64,
    ) -> Exec<u32> {
        if is_private(address) {
            return self.load_private(bus, address, width, now);
        }
        let value = self.read_bus(bus, address, width, now);
        let waits = self.pipeline.timing().waits();
        self.fast.busy_wait.read(waits, || bus.steadiness(address));
        value
    }

    #[inline(never)]
    fn load_private<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        now: u64,
    ) -> Exec<u32> {
        self.fast.busy_wait.disturb();
        self.check_privilege(address)?;
        match self.read_private(address, width, now) {
            Err(Trap::Stop(stop)) => self.past_gap(bus, stop, width, Access::Read, now),
            read => read,
        }
    }

    /// What the bus goes past reads 0, and its writes are lost.
    #[cold]
    fn past_gap<B: Bus>(
        &mut self,
        bus: &mut B,
        stop: Box<Stop>,
        width: Width,
        access: Access,
        now: u64,
    ) -> Exec<u32> {
        if let Stop::Unmodelled { what, address, .. } = &*stop {
            let lack = lack(*address, width, access);
            if bus.goes_past(lack, what, *address, access == Access::Write, now) {
                self.note_attention(bus);
                return Ok(0);
            }
        }
        Err(Trap::Stop(stop))
    }

    #[inline(never)]
    fn store_beyond_memory<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Exec<()> {
        let now = now - self.pipeline.hurry_to_port(address, self.model.kind);
        if self.data.watches() {
            self.check_watchpoints(address, width, Access::Write);
        }
        match bus.write_fast_register(address, width, value, now) {
            Some(wait_cycles) => {
                self.note_attention(bus);
                self.pipeline
                    .buffer_store(now - self.pipeline.access_cycle(0), wait_cycles);
                Ok(())
            }
            None => self.store_beyond_registers(bus, address, width, value, now),
        }
    }

    #[inline(never)]
    fn store_beyond_registers<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Exec<()> {
        if is_private(address) {
            self.check_privilege(address)?;
            return match self.write_private(address, width, value, now) {
                Err(Trap::Stop(stop)) => self
                    .past_gap(bus, stop, width, Access::Write, now)
                    .map(|_| ()),
                written => written,
            };
        }
        if let Some((word, bit)) = bit_band(address).filter(|_| self.model.facts().bit_band) {
            let old = self.read_bus(bus, word, Width::Word, now)?;
            return self.write_bus(bus, word, Width::Word, with_bit(old, bit, value), now);
        }
        self.write_bus(bus, address, width, value, now)
    }

    /// Call after each change of the MPU's or the debugger's state.
    pub(super) fn update_guard(&mut self) {
        let PrivateUnits {
            debug, scb, mpu, ..
        } = &self.private;
        self.data.guard_by(debug.watches_data(scb), mpu.enabled());
    }

    fn read_bus<B: Bus>(&mut self, bus: &mut B, address: u32, width: Width, now: u64) -> Exec<u32> {
        let loaded = if self.model.facts().bit_band {
            read_either_alias(bus, address, width, now)
        } else {
            bus.read(address, width, now)
        };
        self.note_attention(bus);
        self.end_load(loaded)
    }

    fn write_bus<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Exec<()> {
        if address < NORMAL_MEMORY_END {
            self.forget_code(address, width.bytes());
        }
        let result = bus.write(address, width, value, now);
        self.note_attention(bus);
        self.pipeline.configure(bus.flash_access_control());
        self.end_store(result, now - self.pipeline.access_cycle(0))
    }

    #[inline(always)]
    fn note_attention<B: Bus>(&mut self, bus: &B) {
        if bus.attention() {
            self.attention = true;
            self.leave_fast_loop();
        }
    }

    #[cold]
    fn write_fault(&mut self, fault: Fault) -> Exec<()> {
        match fault {
            Fault::Bus { .. } if self.data.buffers(&self.private.scb) => {
                self.raise_later(CoreFault {
                    exception: BUS_FAULT,
                    cfsr: cfsr::IMPRECISERR,
                    address: None,
                })
            }
            fault => Err(Trap::of_data(fault, self.registers.pc)),
        }
    }
}
