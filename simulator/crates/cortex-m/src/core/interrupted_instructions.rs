//! Interrupts in the middle of an instruction. LDM, STM and the like end between two transfers, and
//! EPSR.ICI continues them (B1.5.10). Divisions are abandoned and restarted (TRM 3.9.1). So is the
//! late saving of floating-point registers (TRM 7.2.7).
//!
//! Nothing can become pending before `horizon`. From then on the chip is asked before each
//! transfer.

use super::dispatch::unpredictable_here;
use super::Core;
use crate::bus::Bus;
use crate::decode::{Float, Kind, Multiple, Op};
use crate::scb::ACTLR_DISMCYCINT;
use crate::trap::Exec;

impl Core {
    /// Whether an exception must be taken before transfer number `transfer`. If so, time has
    /// advanced to that transfer's address.
    #[inline(always)]
    pub(super) fn interrupted_at<B: Bus>(&mut self, bus: &mut B, transfer: u64) -> bool {
        let now = self.pipeline.cycles() + transfer;
        now >= self.fast.horizon && transfer > 0 && self.interrupts(bus, now)
    }

    /// Whether an exception must be taken before the next `cycles` cycles are over. If so, time has
    /// advanced to the exception.
    #[inline(always)]
    pub(super) fn interrupted_before<B: Bus>(&mut self, bus: &mut B, cycles: u64) -> bool {
        let now = self.pipeline.cycles();
        let end = now + cycles;
        end > self.fast.horizon && (now + 1..end).any(|now| self.interrupts(bus, now))
    }

    #[cold]
    #[inline(never)]
    fn interrupts<B: Bus>(&mut self, bus: &mut B, now: u64) -> bool {
        if self.private.scb.actlr & ACTLR_DISMCYCINT != 0 {
            return false;
        }
        self.sync_systick(now);
        if let Some(lines) = bus.interrupt_lines(now) {
            self.set_irq_lines(lines);
        }
        let taken = self.nvic.preempting().is_some();
        if taken {
            self.pipeline.wait_until(now);
        }
        taken
    }

    /// Continues a multiple load or store from EPSR.ICI. Returns its cycles. A fault restarts it
    /// (TRM 3.9.1), hence the bits are cleared.
    pub(super) fn continue_interrupted<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<u8> {
        let from = std::mem::take(&mut self.registers.itstate) >> 4;
        let done = transfers_before(op, from);
        let rest = match done {
            1.. => Op {
                cycles: op.cycles - done,
                ..*op
            },
            0 => {
                let group = "with this value in EPSR.ICI";
                return Err(unpredictable_here(bus, op.size, self.registers.pc, group));
            }
        };
        match op.kind {
            Kind::Float(float) => self.continue_float(bus, &rest, float, done)?,
            Kind::Multiple(multiple) => self.continue_multiple(bus, &rest, multiple, done)?,
            _ => unreachable!("only multiples have transfers to go on from"),
        }
        Ok(rest.cycles)
    }
}

/// The number of transfers of `op` before `register`. 0 if it is none of them or the first one
/// (UNPREDICTABLE, B1.5.10).
fn transfers_before(op: &Op, register: u8) -> u8 {
    match op.kind {
        Kind::Multiple(_) if op.imm >> register & 1 != 0 => {
            (op.imm & ((1 << register) - 1)).count_ones() as u8
        }
        Kind::Float(Float::LoadMultiple | Float::StoreMultiple) => (2 * register)
            .checked_sub(op.d)
            .filter(|&done| done < op.amount)
            .unwrap_or(0),
        _ => 0,
    }
}

/// Whether the base register moves before the transfers that an interrupt cuts off. Nothing is
/// documented. Chosen: the base stands at the lower end of what is transferred. On a stack, the
/// frame then overwrites neither what was pushed nor what is still to be popped.
pub(super) fn moves_base_first(multiple: Multiple) -> bool {
    matches!(
        multiple,
        Multiple::LoadDecrementBefore | Multiple::StoreDecrementBefore
    )
}
