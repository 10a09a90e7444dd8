//! Single, double and exclusive loads and stores.

use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::data_path::{require_aligned, Purpose};
use crate::decode::{Access, Index, Memory, Op};
use crate::registers::Registers;
use crate::timing::Resolved;
use crate::trap::Exec;

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

impl Registers {
    /// The address accessed, and the base register's new value.
    #[inline(always)]
    fn indexed(&self, op: &Op) -> (u32, u32) {
        let base = self.get(op.n);
        let moved = base.wrapping_add(op.imm);
        (if op.index == Index::Post { base } else { moved }, moved)
    }

    /// The same of LDRD and STRD. The PC as base (LDRD literal) is aligned to a word.
    fn double_base(&self, op: &Op) -> (u32, u32) {
        let (address, updated) = self.indexed(op);
        if op.n == 15 {
            (address & !3, updated)
        } else {
            (address, updated)
        }
    }

    /// Writes the base back, unless the load has just written that register.
    #[inline(always)]
    fn update_base(&mut self, op: &Op, updated: u32, loaded: u8) {
        if op.index != Index::Offset && op.n != loaded {
            self.set(op.n, updated);
        }
    }
}

impl Core {
    #[inline(always)]
    pub(super) fn memory<B: Bus>(&mut self, bus: &mut B, op: &Op, memory: Memory) -> Exec<()> {
        self.pipeline.note_index(op, self.model.kind);
        match memory {
            Memory::Load(access) => {
                let (address, updated) = self.registers.indexed(op);
                self.load_single(bus, op, access, address)?;
                self.registers.update_base(op, updated, op.d);
                Ok(())
            }
            Memory::Store(access) => {
                let (address, updated) = self.registers.indexed(op);
                self.pipeline.overlap_store_with_load(op, address);
                self.store(bus, address, width(access), self.registers.get(op.d), 0)?;
                self.registers.update_base(op, updated, 16);
                Ok(())
            }
            Memory::LoadUnprivileged(access) => {
                let (address, _) = self.registers.indexed(op);
                self.on_behalf_of(Purpose::Unprivileged, |core| {
                    core.load_single(bus, op, access, address)
                })
            }
            Memory::StoreUnprivileged(access) => {
                let (address, _) = self.registers.indexed(op);
                self.on_behalf_of(Purpose::Unprivileged, |core| {
                    core.store(bus, address, width(access), core.registers.get(op.d), 0)
                })
            }
            Memory::LoadRegister(access) => {
                let address = self
                    .registers
                    .get(op.n)
                    .wrapping_add(self.registers.get(op.m) << op.amount);
                self.load_single(bus, op, access, address)
            }
            Memory::StoreRegister(access) => {
                let address = self
                    .registers
                    .get(op.n)
                    .wrapping_add(self.registers.get(op.m) << op.amount);
                self.pipeline.overlap_with_load(op, address);
                self.store(bus, address, width(access), self.registers.get(op.d), 0)?;
                self.pipeline.stored_in_two();
                Ok(())
            }
            Memory::LoadLiteral(access) => self.load_single(bus, op, access, op.imm),
            Memory::LoadDouble => self.load_double(bus, op),
            Memory::StoreDouble => self.store_double(bus, op),
            Memory::LoadExclusive(access) => self.load_exclusive(bus, op, access),
            Memory::StoreExclusive(access) => self.store_exclusive(bus, op, access),
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
        self.pipeline.overlap_with_load(op, address);
        self.pipeline.wait_behind_store();
        let value = extend(access, self.load(bus, address, width(access), 0)?);
        if op.d == 15 {
            // Its branch may fault.
            let (_, updated) = self.registers.indexed(op);
            self.registers.update_base(op, updated, 16);
            return self.jump_exchange(value, Resolved::End, op.cycles);
        }
        self.registers.set(op.d, value);
        self.pipeline.loaded(op.d, address);
        Ok(())
    }

    fn load_double<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<()> {
        let (address, updated) = self.registers.double_base(op);
        require_aligned(address, Width::Word)?;
        self.pipeline.wait_behind_store();
        let first = self.load(bus, address, Width::Word, 0)?;
        let second = self.load(bus, address.wrapping_add(4), Width::Word, 1)?;
        self.registers.set(op.d, first);
        self.registers.set(op.m, second);
        self.registers.update_base(op, updated, 16);
        Ok(())
    }

    fn store_double<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<()> {
        let (address, updated) = self.registers.double_base(op);
        require_aligned(address, Width::Word)?;
        self.store(bus, address, Width::Word, self.registers.get(op.d), 0)?;
        self.store(
            bus,
            address.wrapping_add(4),
            Width::Word,
            self.registers.get(op.m),
            1,
        )?;
        self.registers.update_base(op, updated, 16);
        Ok(())
    }

    fn load_exclusive<B: Bus>(&mut self, bus: &mut B, op: &Op, access: Access) -> Exec<()> {
        let address = self.registers.get(op.n).wrapping_add(op.imm);
        require_aligned(address, width(access))?;
        self.fast.busy_wait.disturb();
        self.load_single(bus, op, access, address)?;
        self.registers.exclusive = true;
        Ok(())
    }

    /// The local monitor remembers no address, as on the Cortex-M4 (TRM 3.6.1).
    fn store_exclusive<B: Bus>(&mut self, bus: &mut B, op: &Op, access: Access) -> Exec<()> {
        let address = self.registers.get(op.n).wrapping_add(op.imm);
        require_aligned(address, width(access))?;
        self.fast.busy_wait.disturb();
        let held = std::mem::take(&mut self.registers.exclusive);
        if held {
            self.store(bus, address, width(access), self.registers.get(op.d), 0)?;
        }
        self.registers.set(op.a, !held as u32);
        Ok(())
    }
}
