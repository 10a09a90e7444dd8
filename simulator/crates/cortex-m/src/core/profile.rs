//! What each instruction costs beyond its first cycle, for DWT's counters (C1.8). While they are
//! off, nothing here runs.

use super::Core;
use crate::bus::Bus;
use crate::decode::{Float, Kind, Op};
use crate::dwt::Event;
use crate::stop::Stop;

impl Core {
    /// Executes one instruction and accounts for its cycles.
    pub(super) fn profiled_instruction<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let (began, before) = (self.pipeline.cycles(), self.pipeline.instructions());
        let remembered = self.fast.code.get(self.registers.pc);
        // None if it cannot be fetched.
        let op = match remembered.kind {
            Kind::Undecoded => self.fetch(bus).ok(),
            _ => Some(remembered),
        };
        let previous_pc = self.pipeline.previous_pc();
        let previous = self.fast.code.get(previous_pc);
        let grouped = op.is_some_and(|op| {
            let pc = self.registers.pc;
            previous_pc.wrapping_add(4) == pc && straddles(&op, pc) && is_wide_transfer(&previous)
        });
        let result = self.instruction(bus);
        let result = self.take_any(result);
        let retired = self.pipeline.instructions() - before;
        let more = self.pipeline.cycles() as i64 - began as i64 - retired as i64;
        let events = &mut self.private.events;
        let Ok(more) = u64::try_from(more) else {
            // It began beside the instruction before it, and took no cycle of its own.
            events.count(Event::Fold, more.unsigned_abs());
            return result;
        };
        // First the wait for the instruction, then its own cycles. Of the wait, a cycle that a group of
        // unaligned 32-bit instructions loses is the load-store unit's if it is lost behind a load or
        // store (compendium.i-0.nl, "Alignment rules").
        let decoded = op.map_or(0, |op| self.pipeline.decoded(&op));
        let waited = decoded.saturating_sub(began).min(more);
        let lost = u64::from(grouped).min(waited);
        events.count(Event::LoadStore, lost);
        events.count(Event::Cpi, waited - lost);
        let own = if op.is_some_and(|op| transfers(&op)) {
            Event::LoadStore
        } else {
            Event::Cpi
        };
        events.count(own, more - waited);
        result
    }
}

/// Whether the instruction at `pc` has 32 bits across two words.
fn straddles(op: &Op, pc: u32) -> bool {
    op.size == 4 && pc & 2 != 0
}

fn is_wide_transfer(op: &Op) -> bool {
    op.size == 4 && transfers(op)
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
