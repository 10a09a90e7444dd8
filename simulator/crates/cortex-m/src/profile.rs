//! What each instruction costs beyond its first cycle, for DWT's counters (C1.8). While they are
//! off, nothing here runs.

use super::decode::{Float, Kind, Op};
use super::dwt::Event;
use super::{Core, Stop};
use crate::bus::Bus;

impl Core {
    /// Executes one instruction and accounts for its cycles.
    pub(super) fn profiled_instruction<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let (began, before) = (self.pipeline.cycles(), self.pipeline.instructions());
        let op = self.next_op(bus);
        let grouped = op
            .as_ref()
            .is_some_and(|op| self.is_behind_unaligned_transfer(op));
        let result = self.instruction_or_fault(bus);
        let retired = self.pipeline.instructions() - before;
        let more = self.pipeline.cycles() as i64 - began as i64 - retired as i64;
        match u64::try_from(more) {
            Ok(more) => self.account(more, began, op.as_ref(), grouped),
            // It began beside the instruction before it, and took no cycle of its own.
            Err(_) => self.private.events.count(Event::Fold, more.unsigned_abs()),
        }
        result
    }

    /// Accounts for `more` cycles than one: first the wait for the instruction, then its own
    /// cycles. Of the wait, a cycle that a group of unaligned 32-bit instructions loses is the
    /// load-store unit's if it is lost behind a load or store (compendium.i-0.nl, "Alignment
    /// rules").
    fn account(&mut self, more: u64, began: u64, op: Option<&Op>, behind_transfer: bool) {
        let decoded = op.map_or(0, |op| self.pipeline.decoded(op));
        let waited = decoded.saturating_sub(began).min(more);
        let lost = u64::from(behind_transfer).min(waited);
        self.private.events.count(Event::LoadStore, lost);
        self.private.events.count(Event::Cpi, waited - lost);
        let own = if op.is_some_and(transfers) {
            Event::LoadStore
        } else {
            Event::Cpi
        };
        self.private.events.count(own, more - waited);
    }

    /// Whether `op`, at the PC, has 32 bits across two words, and a load or store that has too is
    /// right before it.
    fn is_behind_unaligned_transfer(&self, op: &Op) -> bool {
        let straddles = |op: &Op, pc: u32| op.size == 4 && pc & 2 != 0;
        let previous_pc = self.pipeline.previous_pc();
        let before = self.fast.code.get(previous_pc);
        previous_pc.wrapping_add(4) == self.registers.pc
            && straddles(op, self.registers.pc)
            && before.size == 4
            && transfers(&before)
    }

    /// The instruction at the PC. `None` if it cannot be fetched.
    fn next_op<B: Bus>(&mut self, bus: &mut B) -> Option<Op> {
        let remembered = self.fast.code.get(self.registers.pc);
        match remembered.kind {
            Kind::Undecoded => self.fetch(bus).ok(),
            _ => Some(remembered),
        }
    }
}

/// Whether the instruction is a load or a store.
fn transfers(op: &Op) -> bool {
    matches!(
        op.kind,
        Kind::Memory(_)
            | Kind::Multiple(_)
            | Kind::Float(Float::Load | Float::Store | Float::LoadMultiple | Float::StoreMultiple)
    )
}
