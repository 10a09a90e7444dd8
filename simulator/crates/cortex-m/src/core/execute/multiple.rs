//! LDM, STM, PUSH and POP. An interrupt can end them between two transfers.

use crate::bus::{Bus, Width};
use crate::core::interrupted_instructions::moves_base_first;
use crate::core::Core;
use crate::data_path::require_aligned;
use crate::decode::{Index, Multiple, Op};
use crate::registers::Registers;
use crate::timing::Resolved;
use crate::trap::{Exec, Trap};

/// What a multiple load or store transfers, from `address` on.
#[derive(Clone, Copy)]
struct Transfers {
    list: u32,
    words: u32,
    address: u32,
    /// The base register at the end.
    updated: u32,
    base_first: bool,
}

impl Registers {
    /// Moves the base register, if the instruction does and `due`.
    #[inline(always)]
    fn move_base(&mut self, op: &Op, transfers: &Transfers, due: bool) {
        if op.index == Index::Pre && due {
            self.set(op.n, transfers.updated);
        }
    }
}

impl Core {
    pub(super) fn multiple<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        multiple: Multiple,
    ) -> Exec<()> {
        let base = self.registers.get(op.n);
        require_aligned(base, Width::Word)?;
        let transfers = all_transfers(op, multiple, base);
        self.transfer_list(bus, op, multiple, &transfers)
    }

    /// Continues after `done` transfers. A fault restores the base (TRM 3.9.1).
    pub(crate) fn continue_multiple<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        multiple: Multiple,
        done: u8,
    ) -> Exec<()> {
        let moved = op.index == Index::Pre && moves_base_first(multiple);
        let bytes = if moved { 4 * u32::from(op.amount) } else { 0 };
        let base = self.registers.get(op.n).wrapping_add(bytes);
        let mut rest = all_transfers(op, multiple, base);
        rest.address = rest.address.wrapping_add(4 * u32::from(done));
        rest.list = listed(op.imm)
            .skip(done.into())
            .fold(0, |list, register| list | 1 << register);
        rest.words -= u32::from(done);
        let result = self.transfer_list(bus, op, multiple, &rest);
        if moved && matches!(result, Err(Trap::Fault(_) | Trap::Stop(_))) {
            self.registers.set(op.n, base);
        }
        result
    }

    #[inline(always)]
    fn transfer_list<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        multiple: Multiple,
        transfers: &Transfers,
    ) -> Exec<()> {
        match multiple {
            Multiple::LoadIncrementAfter | Multiple::LoadDecrementBefore => {
                self.load_list(bus, op, transfers)
            }
            Multiple::StoreIncrementAfter | Multiple::StoreDecrementBefore => {
                self.store_list(bus, op, transfers)
            }
        }
    }

    #[inline(always)]
    fn load_list<B: Bus>(&mut self, bus: &mut B, op: &Op, transfers: &Transfers) -> Exec<()> {
        self.pipeline.wait_behind_store();
        if self
            .pipeline
            .runs_through(transfers.words, self.fast.horizon)
        {
            let pipeline = &mut self.pipeline;
            let run = self
                .data
                .load_run(bus, transfers.address, transfers.words, pipeline);
            if let Some(words) = run {
                return self.end_list(op, transfers, words);
            }
        }
        self.load_singly(bus, op, *transfers)
    }

    #[inline(never)]
    fn load_singly<B: Bus>(&mut self, bus: &mut B, op: &Op, transfers: Transfers) -> Exec<()> {
        let mut values = [0; 16];
        for (n, register) in listed(transfers.list).enumerate() {
            if self.interrupted_at(bus, n as u64) {
                return self.leave_load(op, &transfers, register, &values);
            }
            let place = transfers.address.wrapping_add(4 * n as u32);
            values[register as usize] = self.load(bus, place, Width::Word, n as u64)?;
        }
        let words = listed(transfers.list).map(|register| values[register as usize]);
        self.end_list(op, &transfers, words)
    }

    /// Writes loaded words to the registers, the lowest register first.
    #[inline(always)]
    fn end_list(
        &mut self,
        op: &Op,
        transfers: &Transfers,
        words: impl Iterator<Item = u32>,
    ) -> Exec<()> {
        self.registers.move_base(op, transfers, true);
        let mut list = transfers.list;
        for word in words {
            let register = take_lowest(&mut list);
            if register == 15 {
                return self.jump_exchange(word, Resolved::End, op.cycles);
            }
            self.registers.set(register, word);
        }
        Ok(())
    }

    /// Ends a load before register `next`. If the base is already loaded, the load continues from
    /// before the base (TRM 3.9.1). If the base is the first register, the load is restarted.
    #[cold]
    fn leave_load(
        &mut self,
        op: &Op,
        transfers: &Transfers,
        next: u8,
        values: &[u32; 16],
    ) -> Exec<()> {
        let base_loaded =
            op.index == Index::Offset && op.imm & ((1 << next) - 1) & (1 << op.n) != 0;
        let from = if base_loaded { op.n } else { next };
        let restarted = base_loaded && op.imm.trailing_zeros() == u32::from(op.n);
        if !restarted && self.registers.save_continuation(from, self.model.facts()) {
            for register in listed(transfers.list & ((1 << from) - 1)) {
                self.registers.set(register, values[register as usize]);
            }
            self.registers
                .move_base(op, transfers, transfers.base_first);
        }
        Err(Trap::Interrupted)
    }

    #[inline(always)]
    fn store_list<B: Bus>(&mut self, bus: &mut B, op: &Op, transfers: &Transfers) -> Exec<()> {
        if self.store_undivided(bus, transfers) {
            self.registers.move_base(op, transfers, true);
            return Ok(());
        }
        self.store_singly(bus, op, *transfers)
    }

    #[inline(never)]
    fn store_singly<B: Bus>(&mut self, bus: &mut B, op: &Op, transfers: Transfers) -> Exec<()> {
        for (n, register) in listed(transfers.list).enumerate() {
            if self.interrupted_at(bus, n as u64) {
                return self.leave_store(op, &transfers, register);
            }
            let place = transfers.address.wrapping_add(4 * n as u32);
            self.store(
                bus,
                place,
                Width::Word,
                self.registers.get(register),
                n as u64,
            )?;
        }
        self.registers.move_base(op, &transfers, true);
        Ok(())
    }

    /// Stores the whole list in one go, if no exception can come between. False, with nothing done,
    /// if it may.
    #[inline(always)]
    fn store_undivided<B: Bus>(&mut self, bus: &mut B, transfers: &Transfers) -> bool {
        if !self
            .pipeline
            .runs_through(transfers.words, self.fast.horizon)
        {
            return false;
        }
        let (pipeline, fast) = (&mut self.pipeline, &mut self.fast);
        let run = self
            .data
            .store_run(bus, transfers.address, transfers.words, pipeline, fast);
        let Some(run) = run else {
            return false;
        };
        let mut list = transfers.list;
        for place in run {
            let register = take_lowest(&mut list);
            place.copy_from_slice(&self.registers.get(register).to_le_bytes());
        }
        true
    }

    #[cold]
    fn leave_store(&mut self, op: &Op, transfers: &Transfers, next: u8) -> Exec<()> {
        if self.registers.save_continuation(next, self.model.facts()) {
            self.registers
                .move_base(op, transfers, transfers.base_first);
        }
        Err(Trap::Interrupted)
    }
}

#[inline(always)]
fn all_transfers(op: &Op, multiple: Multiple, base: u32) -> Transfers {
    let words = u32::from(op.amount);
    let bytes = 4 * words;
    let base_first = moves_base_first(multiple);
    let lowest = if base_first {
        base.wrapping_sub(bytes)
    } else {
        base
    };
    Transfers {
        list: op.imm,
        words,
        address: lowest,
        updated: if base_first {
            lowest
        } else {
            base.wrapping_add(bytes)
        },
        base_first,
    }
}

/// The registers of a list, lowest first.
fn listed(mut list: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || (list != 0).then(|| take_lowest(&mut list)))
}

/// Takes the lowest register out of a list. The list must not be empty.
#[inline(always)]
fn take_lowest(list: &mut u32) -> u8 {
    let register = list.trailing_zeros() as u8;
    *list &= list.wrapping_sub(1);
    register
}
