//! Single, double and exclusive loads and stores.

use crate::bus::{Bus, Width};
use crate::data_access::Purpose;
use crate::decode::{Access, Index, Memory, Op};
use crate::timing::{overlaps_indexed, Resolved};
use crate::trap::Exec;
use crate::Core;

/// Indexed by the access. A table, so that the host predicts no branch.
const WIDTHS: [Width; 5] = [
    Width::Word,
    Width::Half,
    Width::Byte,
    Width::Half,
    Width::Byte,
];

#[inline(always)]
fn width(access: Access) -> Width {
    WIDTHS[access as usize]
}

fn extend(access: Access, value: u32) -> u32 {
    match access {
        Access::SignedHalf => value as i16 as u32,
        Access::SignedByte => value as i8 as u32,
        _ => value,
    }
}

impl Core {
    #[inline(always)]
    pub(super) fn memory<B: Bus>(&mut self, bus: &mut B, op: &Op, memory: Memory) -> Exec<()> {
        match memory {
            Memory::Load(access) => {
                let (address, updated) = self.indexed(op);
                self.load_single(bus, op, access, address)?;
                self.update_base(op, updated, op.d);
                Ok(())
            }
            Memory::Store(access) => {
                let (address, updated) = self.indexed(op);
                if self.time.model.is_nucleo() {
                    self.overlap_with_load(op, address);
                }
                self.store(bus, address, width(access), self.get(op.d), 0)?;
                self.update_base(op, updated, 16);
                Ok(())
            }
            Memory::LoadUnprivileged(access) => {
                let (address, _) = self.indexed(op);
                self.on_behalf_of(Purpose::Unprivileged, |core| {
                    core.load_single(bus, op, access, address)
                })
            }
            Memory::StoreUnprivileged(access) => {
                let (address, _) = self.indexed(op);
                self.on_behalf_of(Purpose::Unprivileged, |core| {
                    core.store(bus, address, width(access), core.get(op.d), 0)
                })
            }
            Memory::LoadRegister(access) => {
                let address = self.get(op.n).wrapping_add(self.get(op.m) << op.amount);
                self.load_single(bus, op, access, address)
            }
            Memory::StoreRegister(access) => {
                let address = self.get(op.n).wrapping_add(self.get(op.m) << op.amount);
                self.overlap_with_load(op, address);
                self.store(bus, address, width(access), self.get(op.d), 0)?;
                self.time.pairs.stored_in_two(self.time.instructions);
                Ok(())
            }
            Memory::LoadLiteral(access) => self.load_single(bus, op, access, op.imm),
            Memory::LoadDouble => self.load_double(bus, op),
            Memory::StoreDouble => self.store_double(bus, op),
            Memory::LoadExclusive(access) => self.load_exclusive(bus, op, access),
            Memory::StoreExclusive(access) => self.store_exclusive(bus, op, access),
        }
    }

    /// The address accessed, and the base register's new value.
    #[inline(always)]
    fn indexed(&mut self, op: &Op) -> (u32, u32) {
        if op.index != Index::Offset && !overlaps_indexed(self.model.kind) {
            self.time.pairs.end_chain();
        }
        let base = self.get(op.n);
        let moved = base.wrapping_add(op.imm);
        (if op.index == Index::Post { base } else { moved }, moved)
    }

    /// Writes the base back, unless the load has just written that register.
    #[inline(always)]
    fn update_base(&mut self, op: &Op, updated: u32, loaded: u8) {
        if op.index != Index::Offset && op.n != loaded {
            self.set(op.n, updated);
        }
    }

    /// A load or store right after a load may overlap with it. Then the access happens a cycle
    /// earlier.
    #[inline(always)]
    pub(super) fn overlap_with_load(&mut self, op: &Op, address: u32) {
        let registers = op.address_registers;
        if self
            .time
            .pairs
            .overlaps(self.time.instructions - 1, address, registers)
        {
            self.overlap(op);
        }
    }

    #[inline(always)]
    pub(super) fn wait_behind_store(&mut self) {
        if self.time.pairs.follows_store(self.time.instructions - 1) {
            self.time.cycles += 1;
        }
    }

    #[inline(always)]
    fn load_single<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        access: Access,
        address: u32,
    ) -> Exec<()> {
        self.overlap_with_load(op, address);
        self.wait_behind_store();
        let value = extend(access, self.load(bus, address, width(access), 0)?);
        if op.d == 15 {
            self.update_base_before_jump(op);
            return self.jump_exchange(value, Resolved::End, op.cycles);
        }
        self.set(op.d, value);
        self.time
            .pairs
            .loaded(self.time.instructions, op.d, address);
        Ok(())
    }

    /// Writes the base back before a load to the PC, whose branch may fault.
    fn update_base_before_jump(&mut self, op: &Op) {
        if op.index != Index::Offset {
            let (_, updated) = self.indexed(op);
            self.set(op.n, updated);
        }
    }

    /// The address and the new base. The PC as base (LDRD literal) is aligned to a word.
    fn double_base(&mut self, op: &Op) -> (u32, u32) {
        let (address, updated) = self.indexed(op);
        if op.n == 15 {
            (address & !3, updated)
        } else {
            (address, updated)
        }
    }

    fn load_double<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<()> {
        let (address, updated) = self.double_base(op);
        self.require_aligned(address, Width::Word)?;
        self.wait_behind_store();
        let first = self.load(bus, address, Width::Word, 0)?;
        let second = self.load(bus, address.wrapping_add(4), Width::Word, 1)?;
        self.set(op.d, first);
        self.set(op.m, second);
        self.update_base(op, updated, 16);
        Ok(())
    }

    fn store_double<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<()> {
        let (address, updated) = self.double_base(op);
        self.require_aligned(address, Width::Word)?;
        self.store(bus, address, Width::Word, self.get(op.d), 0)?;
        self.store(bus, address.wrapping_add(4), Width::Word, self.get(op.m), 1)?;
        self.update_base(op, updated, 16);
        Ok(())
    }

    fn load_exclusive<B: Bus>(&mut self, bus: &mut B, op: &Op, access: Access) -> Exec<()> {
        let address = self.get(op.n).wrapping_add(op.imm);
        self.require_aligned(address, width(access))?;
        self.fast.busy_wait.disturb();
        self.load_single(bus, op, access, address)?;
        self.registers.exclusive = true;
        Ok(())
    }

    /// The local monitor remembers no address, as on the Cortex-M4 (TRM 3.6.1).
    fn store_exclusive<B: Bus>(&mut self, bus: &mut B, op: &Op, access: Access) -> Exec<()> {
        let address = self.get(op.n).wrapping_add(op.imm);
        self.require_aligned(address, width(access))?;
        self.fast.busy_wait.disturb();
        let held = std::mem::take(&mut self.registers.exclusive);
        if held {
            self.store(bus, address, width(access), self.get(op.d), 0)?;
        }
        self.set(op.a, !held as u32);
        Ok(())
    }
}
