//! Data accesses: alignment, bit bands, guards, and the way to the bus.

use super::access::Access;
use super::decode::Op;
use super::exceptions::BUS_FAULT;
use super::memory_map::{
    bit_band, is_flash, is_private, is_sram_alias, NORMAL_MEMORY_END, SRAM_BYTES, SRAM_START,
};
use super::mpu::Intent;
use super::private_gaps::lack;
use super::scb::{ACTLR_DISDEFWBUF, FPCCR_USER};
use super::stop::Stop;
use super::timing::{unaligned_cycles, Timing};
use super::trap::{cfsr, Exec, Fault as CoreFault, Trap};
use super::Core;
use crate::bus::{Bus, Fault, Loaded, Steadiness, Width};
use serde::{Deserialize, Serialize};

/// The port for I/O has this much room.
const IO_PORT_BYTES: u32 = 0x1000_0000;

/// What checks the program's loads and stores before they are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Guard {
    /// Nothing: every fast path may be taken.
    #[default]
    None,
    /// The MPU.
    Mpu,
    /// Data watchpoints, and the MPU too if it is on.
    Watchpoints,
}

/// Reads as the core's bus matrix does: a bit-band alias gives one bit of its word (TRM 3.7).
pub(super) fn read_either_alias<B: Bus>(
    bus: &mut B,
    address: u32,
    width: Width,
    now: u64,
) -> Result<Loaded, Fault> {
    let Some((word, bit)) = bit_band(address) else {
        return bus.read(address, width, now);
    };
    let loaded = bus.read(word, Width::Word, now)?;
    Ok(Loaded {
        value: loaded.value >> bit & 1,
        ..loaded
    })
}

/// `old` with bit number `bit` replaced by bit 0 of `value`: a write to a bit-band alias.
pub(super) fn with_bit(old: u32, bit: u32, value: u32) -> u32 {
    old & !(1 << bit) | (value & 1) << bit
}

/// For whom memory is accessed; it decides about the privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Purpose {
    Instruction,
    /// LDRT, STRT and the like.
    Unprivileged,
    /// Writing or reading an exception frame, with the privilege of the code it belongs to.
    Stacking,
    /// Writing the floating-point part of a frame later, with the privilege recorded in FPCCR.
    LazyStacking,
}

impl Core {
    /// The cycle in which transfer number `transfer` of the current instruction is on the bus.
    #[inline(always)]
    fn access_cycle(&self, transfer: u64) -> u64 {
        self.time.cycles + 1 + transfer
    }

    /// Lets the current instruction begin a cycle earlier, beside the one before it, if it has been
    /// decoded by then.
    #[inline(always)]
    pub(super) fn overlap(&mut self, op: &Op) {
        if self.time.cycles > self.decoded(op) {
            self.time.cycles -= 1;
            if self.time.model.is_nucleo() {
                self.time.fetch.advance(op);
            }
        }
    }

    /// The first cycle in which the current instruction could execute if the core were free.
    pub(super) fn decoded(&self, op: &Op) -> u64 {
        if self.time.model.is_nucleo() {
            self.time.fetch.decoded(op)
        } else {
            0
        }
    }

    /// Waits until the data bus takes an address: the write buffer may still hold a store.
    #[inline(always)]
    fn wait_for_data_bus(&mut self, transfer: u64) {
        let address_cycle = self.time.cycles + transfer;
        if address_cycle < self.time.data_free {
            self.time.cycles += self.time.data_free - address_cycle;
        }
    }

    /// A load waits for the bus's wait cycles.
    #[inline(always)]
    fn wait_for_load(&mut self, wait_cycles: u32) {
        if self.time.model.waits() {
            self.time.cycles += u64::from(wait_cycles);
        }
    }

    /// A store does not wait; the next access does (TRM 3.3.3: the write buffer).
    #[inline(always)]
    pub(super) fn buffer_store(&mut self, transfer: u64, wait_cycles: u32) {
        if self.time.model.is_nucleo() {
            self.time.data_free = self.time.cycles + transfer + 1 + u64::from(wait_cycles);
            self.time.pairs.stored(self.time.instructions);
        } else if self.time.model.waits() {
            // A core with one bus has no write buffer.
            self.time.cycles += u64::from(wait_cycles);
        }
    }

    /// Data in the Code region comes from flash, over the D-Code bus.
    #[inline(always)]
    fn wait_for_flash(&mut self, address: u32, transfer: u64) {
        if is_flash(address) && self.time.model.waits() {
            if !self.time.model.is_nucleo() {
                return self.wait_for_only_bus(address, transfer);
            }
            let at = self.time.cycles + transfer;
            let arrival = self.time.fetch.data(address, at, self.registers.next_pc);
            self.time.cycles += arrival - (at + 1);
        }
    }

    /// The same on a core whose fetches share the bus.
    #[cold]
    #[inline(never)]
    fn wait_for_only_bus(&mut self, address: u32, transfer: u64) {
        let at = self.time.cycles + transfer;
        self.time.cycles += self.time.fetch.data_on_one_bus(address, at) - (at + 1);
    }

    /// Runs `access` for `purpose`.
    pub(super) fn on_behalf_of<T>(
        &mut self,
        purpose: Purpose,
        access: impl FnOnce(&mut Core) -> T,
    ) -> T {
        let before = std::mem::replace(&mut self.purpose, purpose);
        let result = access(self);
        self.purpose = before;
        result
    }

    pub(super) fn access_privileged(&self) -> bool {
        match self.purpose {
            Purpose::Unprivileged => false,
            Purpose::LazyStacking => self.private.scb.fpccr & FPCCR_USER == 0,
            _ => self.privileged(),
        }
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
        if address & (width.bytes() - 1) != 0 {
            self.check_unaligned(address, width)?;
        }
        let watched =
            self.fast.guard != Guard::None && self.check_guard(address, width, Intent::Read)?;
        self.wait_for_data_bus(transfer);
        if watched || address >= NORMAL_MEMORY_END || is_sram_alias(address) {
            // Watched data may be in flash. What lies beyond memory is not.
            self.wait_for_flash(address, transfer);
            let now = self.access_cycle(transfer);
            return self.load_beyond_memory(bus, address, width, now);
        }
        self.wait_for_flash(address, transfer);
        match bus.read(address, width, self.access_cycle(transfer)) {
            Ok(loaded) => {
                self.wait_for_load(loaded.wait_cycles);
                Ok(loaded.value)
            }
            Err(fault) => Err(self.data_fault(fault)),
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
        if address & (width.bytes() - 1) != 0 {
            self.check_unaligned(address, width)?;
        }
        let watched =
            self.fast.guard != Guard::None && self.check_guard(address, width, Intent::Write)?;
        self.wait_for_data_bus(transfer);
        let now = self.access_cycle(transfer);
        if watched || address.wrapping_sub(SRAM_START) >= SRAM_BYTES {
            return self.store_beyond_memory(bus, address, width, value, now);
        }
        if self.fast.code.may_hold(address) {
            self.forget_code(address, width.bytes());
        }
        match bus.write(address, width, value, now) {
            Ok(wait_cycles) => {
                self.buffer_store(transfer, wait_cycles);
                Ok(())
            }
            Err(fault) => self.write_fault(fault),
        }
    }

    /// Faults unless `address` is aligned to `width`: LDM, LDRD and the like must be (A3.2.1).
    pub(super) fn require_aligned(&self, address: u32, width: Width) -> Exec<()> {
        if address & (width.bytes() - 1) != 0 {
            return Err(Trap::usage(cfsr::UNALIGNED));
        }
        Ok(())
    }

    #[cold]
    fn check_unaligned(&mut self, address: u32, width: Width) -> Exec<()> {
        if self.private.scb.traps_unaligned() || address >= NORMAL_MEMORY_END {
            return Err(Trap::usage(cfsr::UNALIGNED));
        }
        self.time.cycles += unaligned_cycles(address, width.bytes());
        Ok(())
    }

    /// Whether a core with one bus has a port for I/O at `address`. There a load or a store is done in its
    /// first cycle, and takes no other (DDI 0484C, table 3-1).
    fn takes_a_cycle_less(&self, address: u32) -> bool {
        let port = self.model.facts().io_port;
        self.time.model == Timing::OneBus
            && port.is_some_and(|start| address.wrapping_sub(start) < IO_PORT_BYTES)
    }

    #[inline(never)]
    fn load_beyond_memory<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        mut now: u64,
    ) -> Exec<u32> {
        if self.takes_a_cycle_less(address) {
            self.time.cycles -= 1;
            now -= 1;
        }
        if self.fast.guard == Guard::Watchpoints {
            self.check_watchpoints(address, width, Access::Read);
        } else if let Some((loaded, steady)) = bus.read_fast_register(address, width, now) {
            self.note_attention(bus);
            self.wait_for_load(loaded.wait_cycles);
            self.note_read(|| Some(steady));
            return Ok(loaded.value);
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
        self.note_read(|| bus.steadiness(address));
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

    /// Tells the busy wait that a register was read, and how long it reads the same.
    #[inline(always)]
    fn note_read(&mut self, steadiness: impl FnOnce() -> Option<Steadiness>) {
        let waits = self.time.model.waits();
        self.fast.busy_wait.read(|| {
            let steady = steadiness()?;
            let period_cycles = if waits { steady.period_cycles } else { 1 };
            Some(Steadiness {
                period_cycles,
                ..steady
            })
        });
    }

    #[inline(never)]
    fn store_beyond_memory<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        value: u32,
        mut now: u64,
    ) -> Exec<()> {
        if self.takes_a_cycle_less(address) {
            self.time.cycles -= 1;
            now -= 1;
        }
        if self.fast.guard == Guard::Watchpoints {
            self.check_watchpoints(address, width, Access::Write);
        }
        match bus.write_fast_register(address, width, value, now) {
            Some(wait_cycles) => {
                self.note_attention(bus);
                self.buffer_store(now - self.access_cycle(0), wait_cycles);
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
        if let Some((word, bit)) = self.bit_behind(address) {
            let old = self.read_bus(bus, word, Width::Word, now)?;
            return self.write_bus(bus, word, Width::Word, with_bit(old, bit, value), now);
        }
        self.write_bus(bus, address, width, value, now)
    }

    /// Call after each change of the MPU's or the debugger's state.
    pub(super) fn update_guard(&mut self) {
        self.fast.guard = if self.has_data_watchpoints() {
            Guard::Watchpoints
        } else if self.private.mpu.enabled() {
            Guard::Mpu
        } else {
            Guard::None
        };
    }

    /// Faults if the MPU forbids the access; true if watchpoints must see it.
    #[cold]
    fn check_guard(&self, address: u32, width: Width, intent: Intent) -> Exec<bool> {
        if self.private.mpu.enabled() {
            self.check_protection(address, width.bytes(), intent)?;
        }
        Ok(self.fast.guard == Guard::Watchpoints)
    }

    /// The word and the bit behind an address in a bit-band alias, if the core has them.
    fn bit_behind(&self, address: u32) -> Option<(u32, u32)> {
        bit_band(address).filter(|_| self.model.facts().bit_band)
    }

    fn read_bus<B: Bus>(&mut self, bus: &mut B, address: u32, width: Width, now: u64) -> Exec<u32> {
        let result = if bit_band(address).is_none() || self.model.facts().bit_band {
            read_either_alias(bus, address, width, now)
        } else {
            bus.read(address, width, now)
        };
        self.note_attention(bus);
        match result {
            Ok(loaded) => {
                self.wait_for_load(loaded.wait_cycles);
                Ok(loaded.value)
            }
            Err(fault) => Err(self.data_fault(fault)),
        }
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
        self.time.fetch.configure(bus.flash_access_control());
        match result {
            Ok(wait_cycles) => {
                self.buffer_store(now - self.access_cycle(0), wait_cycles);
                Ok(())
            }
            Err(fault) => self.write_fault(fault),
        }
    }

    #[inline(always)]
    fn note_attention<B: Bus>(&mut self, bus: &B) {
        if bus.attention() {
            self.attention = true;
            self.leave_fast_loop();
        }
    }

    /// The write buffer reports an error when the instruction is over (TRM 3.3.3), unless
    /// ACTLR.DISDEFWBUF turns the buffer off.
    #[cold]
    fn write_fault(&mut self, fault: Fault) -> Exec<()> {
        let buffered = matches!(self.purpose, Purpose::Instruction | Purpose::Unprivileged)
            && self.private.scb.actlr & ACTLR_DISDEFWBUF == 0;
        match fault {
            Fault::Bus { .. } if buffered => self.raise_later(CoreFault {
                exception: BUS_FAULT,
                cfsr: cfsr::IMPRECISERR,
                address: None,
            }),
            fault => Err(self.data_fault(fault)),
        }
    }

    /// A fault that is reported at its instruction, with its address.
    #[cold]
    pub(super) fn data_fault(&self, fault: Fault) -> Trap {
        match fault {
            Fault::Bus { address } => Trap::bus(cfsr::PRECISERR, Some(address)),
            Fault::Unmodelled { what, address } => {
                Trap::unmodelled(what, address, self.registers.pc)
            }
        }
    }
}
