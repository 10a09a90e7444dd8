//! Data accesses: alignment, bit bands, guards, and the way to the bus.

use super::access::Access;
use super::memory_map::{
    bit_band, is_private, is_sram_alias, NORMAL_MEMORY_END, SRAM_BYTES, SRAM_START,
};
use super::mpu::Intent;
use super::nvic::BUS_FAULT;
use super::private_gaps::lack;
use super::registers::Registers;
use super::scb::{Scb, ACTLR_DISDEFWBUF, FPCCR_USER};
use super::state::{Fast, PrivateUnits};
use super::stop::Stop;
use super::timing::Pipeline;
use super::trap::{cfsr, Exec, Fault as CoreFault, Trap};
use super::Core;
use crate::bus::{Bus, Fault, Loaded, Steadiness, Width};
use serde::{Deserialize, Serialize};

/// What checks the program's loads and stores before they are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Guard {
    /// Nothing: every fast path may be taken.
    #[default]
    None,
    /// The MPU.
    Mpu,
    /// Data watchpoints, and the MPU too if it is on.
    Watchpoints,
}

/// Reads as the core's bus matrix does: a bit-band alias gives one bit of its word (TRM 3.7).
pub fn read_either_alias<B: Bus>(
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
pub fn with_bit(old: u32, bit: u32, value: u32) -> u32 {
    old & !(1 << bit) | (value & 1) << bit
}

/// For whom memory is accessed; it decides about the privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    Instruction,
    /// LDRT, STRT and the like.
    Unprivileged,
    /// Writing or reading an exception frame, with the privilege of the code it belongs to.
    Stacking,
    /// Writing the floating-point part of a frame later, with the privilege recorded in FPCCR.
    LazyStacking,
}

/// The way of loads and stores: who makes them, and what checks them.
#[derive(Clone, Serialize, Deserialize)]
pub struct DataPath {
    /// For whom memory is accessed just now.
    purpose: Purpose,
    /// Follows from `mpu` and `debug`, see [`DataPath::guard_by`].
    #[serde(skip)]
    guard: Guard,
}

impl DataPath {
    pub fn new() -> DataPath {
        DataPath {
            purpose: Purpose::Instruction,
            guard: Guard::None,
        }
    }

    /// Sets what checks accesses.
    pub fn guard_by(&mut self, watchpoints: bool, mpu: bool) {
        self.guard = match (watchpoints, mpu) {
            (true, _) => Guard::Watchpoints,
            (false, true) => Guard::Mpu,
            (false, false) => Guard::None,
        };
    }

    #[inline(always)]
    fn unguarded(&self) -> bool {
        self.guard == Guard::None
    }

    fn privileged(&self, registers: &Registers, scb: &Scb) -> bool {
        match self.purpose {
            Purpose::Unprivileged => false,
            Purpose::LazyStacking => scb.fpccr & FPCCR_USER == 0,
            _ => registers.privileged(),
        }
    }

    /// The write buffer reports an error when the instruction is over (TRM 3.3.3), unless
    /// ACTLR.DISDEFWBUF turns the buffer off.
    fn buffers(&self, scb: &Scb) -> bool {
        matches!(self.purpose, Purpose::Instruction | Purpose::Unprivileged)
            && scb.actlr & ACTLR_DISDEFWBUF == 0
    }

    /// The bytes at `address`. `None`, with nothing done, if loading them may do anything else.
    #[inline(always)]
    pub fn load_plain<const N: usize, B: Bus>(
        &self,
        bus: &mut B,
        address: u32,
        pipeline: &mut Pipeline,
    ) -> Option<[u8; N]> {
        if !self.unguarded() {
            return None;
        }
        let bytes = *bus.plain_bytes(address)?;
        pipeline.wait_for_store();
        Some(bytes)
    }

    /// Stores `bytes`. False, with nothing done, if storing them may do anything else.
    #[inline(always)]
    pub fn store_plain<const N: usize, B: Bus>(
        &self,
        bus: &mut B,
        address: u32,
        bytes: [u8; N],
        pipeline: &mut Pipeline,
        fast: &mut Fast,
    ) -> bool {
        if !self.unguarded() || fast.code.may_hold(address) {
            return false;
        }
        let Some(place) = bus.plain_bytes(address) else {
            return false;
        };
        *place = bytes;
        fast.busy_wait.disturb();
        pipeline.wait_for_store();
        pipeline.buffer_store(0, 0);
        true
    }

    /// The words from `address` on. `None`, with nothing done, if they must be loaded one by one.
    #[inline(always)]
    pub fn load_run<'a, B: Bus>(
        &self,
        bus: &'a mut B,
        address: u32,
        words: u32,
        pipeline: &mut Pipeline,
    ) -> Option<impl Iterator<Item = u32> + use<'a, B>> {
        if address & 3 != 0 || !self.unguarded() {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        pipeline.wait_for_store();
        Some(memory.chunks_exact(4).map(|bytes| {
            let bytes = bytes.try_into().expect("chunks have their length");
            u32::from_le_bytes(bytes)
        }))
    }

    /// The memory of at least one word from `address` on, for the caller to write. `None`, with
    /// nothing done, if the words must be stored one by one.
    #[inline(always)]
    pub fn store_run<'a, B: Bus>(
        &self,
        bus: &'a mut B,
        address: u32,
        words: u32,
        pipeline: &mut Pipeline,
        fast: &mut Fast,
    ) -> Option<impl Iterator<Item = &'a mut [u8]> + use<'a, B>> {
        let last = address.wrapping_add(4 * words).wrapping_sub(4);
        let code = fast.code.may_hold_any(address, last);
        if address & 3 != 0 || code || !self.unguarded() {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        fast.busy_wait.disturb();
        pipeline.wait_for_store();
        pipeline.buffer_run(words);
        Some(memory.chunks_exact_mut(4))
    }
}

/// Faults unless `address` is aligned to `width`: LDM, LDRD and the like must be (A3.2.1).
pub fn require_aligned(address: u32, width: Width) -> Exec<()> {
    if address & (width.bytes() - 1) != 0 {
        return Err(Trap::usage(cfsr::UNALIGNED));
    }
    Ok(())
}

impl Core {
    /// Runs `access` for `purpose`.
    pub(super) fn on_behalf_of<T>(
        &mut self,
        purpose: Purpose,
        access: impl FnOnce(&mut Core) -> T,
    ) -> T {
        let before = std::mem::replace(&mut self.data.purpose, purpose);
        let result = access(self);
        self.data.purpose = before;
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
        Ok(self.data.guard == Guard::Watchpoints)
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
        let now = now - self.pipeline.hurry_to_port(address, self.model.facts());
        if self.data.guard == Guard::Watchpoints {
            self.check_watchpoints(address, width, Access::Read);
        } else if let Some((loaded, steady)) = bus.read_fast_register(address, width, now) {
            self.note_attention(bus);
            self.note_read(|| Some(steady));
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
        let waits = self.pipeline.timing().waits();
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
        now: u64,
    ) -> Exec<()> {
        let now = now - self.pipeline.hurry_to_port(address, self.model.facts());
        if self.data.guard == Guard::Watchpoints {
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
