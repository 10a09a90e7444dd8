//! Which neighbouring loads and stores overlap.
//!
//! The rules are those of the Cortex-M4 TRM (ARM DDI 0439D, 3.3.3 "Load/store timings"). Where it
//! is silent they are measured on an STM32F407 (jnk0le, "random", `pipeline cycle
//! test/doc/cortex_m3m4.md`), marked "measured".

use serde::{Deserialize, Serialize};

/// The last load and store. Instructions are known by number, so any other instruction in between
/// breaks a pair.
#[derive(Clone, Serialize, Deserialize)]
pub struct LoadStorePairs {
    load: u64,
    loaded: u8,
    block: u8,
    store: u64,
    two_cycles: u64,
}

/// No instruction has this number.
const NONE: u64 = u64::MAX;

/// Measured: loads overlap only within one block of memory. Blocks are Code, SRAM, peripherals, and
/// the rest.
fn block_of(address: u32) -> u8 {
    (address >> 29) as u8
}

impl LoadStorePairs {
    pub fn new() -> LoadStorePairs {
        LoadStorePairs {
            load: NONE,
            loaded: 0,
            block: 0,
            store: NONE,
            two_cycles: NONE,
        }
    }

    /// Instruction `number` has loaded `register` from `address`.
    #[inline(always)]
    pub fn loaded(&mut self, number: u64, register: u8, address: u32) {
        self.load = number;
        self.loaded = register;
        self.block = block_of(address);
    }

    /// Instruction `number` has stored.
    #[inline(always)]
    pub fn stored(&mut self, number: u64) {
        self.store = number;
    }

    /// Instruction `number` was a store with a register offset, which takes two cycles.
    #[inline(always)]
    pub fn stored_in_two(&mut self, number: u64) {
        self.two_cycles = number;
    }

    /// TRM: a load or store right after a load costs a cycle less, unless its address needs what is
    /// loaded.
    #[inline(always)]
    pub fn overlaps(&self, previous: u64, address: u32, address_registers: u16) -> bool {
        self.load == previous
            && address_registers >> self.loaded & 1 == 0
            && block_of(address) == self.block
    }

    /// TRM: nothing is pipelined after a store. Measured: a load right after one costs a cycle
    /// more.
    #[inline(always)]
    pub fn follows_store(&self, previous: u64) -> bool {
        self.store == previous
    }

    /// Measured: a NOP after a load, or after a store with a register offset, costs nothing.
    #[inline(always)]
    pub fn absorbs_nop(&self, previous: u64) -> bool {
        self.load == previous || self.two_cycles == previous
    }

    /// All but the numbers of instructions.
    pub fn shape(&self) -> (u8, u8) {
        (self.loaded, self.block)
    }

    /// The numbers of the remembered instructions.
    pub fn numbers(&mut self) -> [&mut u64; 3] {
        [&mut self.load, &mut self.store, &mut self.two_cycles]
    }

    /// Nothing overlaps with the last load.
    pub fn end_chain(&mut self) {
        self.load = NONE;
    }

    pub fn forget(&mut self) {
        *self = LoadStorePairs::new();
    }
}
