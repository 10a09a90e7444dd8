//! LDM, STM, PUSH and POP.

use crate::bus::{Bus, Width};
use crate::core::decode::{Index, Multiple, Op};
use crate::core::timing::Resolved;
use crate::core::trap::Exec;
use crate::core::Core;

impl Core {
    pub(super) fn multiple<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        multiple: Multiple,
    ) -> Exec<()> {
        let base = self.get(op.n);
        self.require_aligned(base, Width::Word)?;
        let bytes = 4 * op.imm.count_ones();
        let below = base.wrapping_sub(bytes);
        let above = base.wrapping_add(bytes);
        match multiple {
            Multiple::LoadIncrementAfter => self.load_list(bus, op, base, above),
            Multiple::LoadDecrementBefore => self.load_list(bus, op, below, below),
            Multiple::StoreIncrementAfter => self.store_list(bus, op, base, above),
            Multiple::StoreDecrementBefore => self.store_list(bus, op, below, below),
        }
    }

    fn load_list<B: Bus>(&mut self, bus: &mut B, op: &Op, address: u32, updated: u32) -> Exec<()> {
        self.wait_behind_store();
        let mut values = [0; 16];
        for (n, register) in listed(op.imm).enumerate() {
            let place = address.wrapping_add(4 * n as u32);
            values[register as usize] = self.load(bus, place, Width::Word, n as u64)?;
        }
        if op.index == Index::Pre {
            self.set(op.n, updated);
        }
        for register in listed(op.imm & 0x7FFF) {
            self.set(register, values[register as usize]);
        }
        if op.imm & 0x8000 != 0 {
            return self.jump_exchange(values[15], Resolved::End, op.cycles);
        }
        Ok(())
    }

    fn store_list<B: Bus>(&mut self, bus: &mut B, op: &Op, address: u32, updated: u32) -> Exec<()> {
        for (n, register) in listed(op.imm).enumerate() {
            let place = address.wrapping_add(4 * n as u32);
            self.store(bus, place, Width::Word, self.get(register), n as u64)?;
        }
        if op.index == Index::Pre {
            self.set(op.n, updated);
        }
        Ok(())
    }
}

/// The registers of a list, lowest first.
fn listed(mut list: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let register = list.trailing_zeros() as u8;
        list &= list.wrapping_sub(1);
        (register < 32).then_some(register)
    })
}
