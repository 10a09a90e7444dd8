//! Interrupts in the middle of an instruction. LDM, STM and their kin end between two transfers and are continued from
//! EPSR.ICI (B1.5.10); divisions are abandoned and restarted (TRM 3.9.1), and so is the
//! saving of floats that an earlier entry put off (TRM 7.2.7).
//!
//! Before `horizon` nothing can become pending; from there on the chip is asked, transfer by transfer.

use super::decode::{Float, Kind, Multiple, Op};
use super::scb::ACTLR_DISMCYCINT;
use super::trap::{Exec, Trap};
use super::Core;
use crate::bus::Bus;

impl Core {
    /// An exception is to be taken before transfer number `transfer`; time has then come to that transfer's address.
    #[inline(always)]
    pub(super) fn interrupted_at<B: Bus>(&mut self, bus: &mut B, transfer: u64) -> bool {
        let now = self.cycles + transfer;
        now >= self.horizon && transfer > 0 && self.interrupts(bus, now)
    }

    /// An exception is to be taken before cycle `end`, in which the instruction would be over; time has then come to the
    /// exception.
    #[inline(always)]
    pub(super) fn interrupted_before<B: Bus>(&mut self, bus: &mut B, end: u64) -> bool {
        end > self.horizon && (self.cycles + 1..end).any(|now| self.interrupts(bus, now))
    }

    /// VDIV and VSQRT, which take `cycles`, keep nobody waiting: the unit goes on beside the stacking (ARM, "What is the
    /// behavior when an exception occurs while executing a floating operation"; erratum 776924).
    pub(super) fn finish_beside_entry<B: Bus>(&mut self, bus: &mut B, cycles: u8) {
        let cycles = u64::from(cycles);
        if self.interrupted_before(bus, self.cycles + cycles) {
            self.cycles = self.cycles.saturating_sub(cycles);
        }
    }

    #[cold]
    #[inline(never)]
    fn interrupts<B: Bus>(&mut self, bus: &mut B, now: u64) -> bool {
        if self.scb.actlr & ACTLR_DISMCYCINT != 0 {
            return false;
        }
        self.sync_systick(now);
        if let Some(lines) = bus.interrupt_lines(now) {
            self.set_irq_lines(lines);
        }
        let taken = self.exceptions.preempting().is_some();
        if taken {
            self.cycles = now;
        }
        taken
    }

    /// Leaves a multiple before `register` (of the manual's EPSR.ICI: R0–R15, or a D register). Inside an IT block, whose
    /// state is in the same bits, the whole instruction is restarted: false then (B1.4.2, TRM 3.9.1).
    pub(super) fn save_continuation(&mut self, register: u8) -> bool {
        let continued = self.itstate == 0;
        if continued {
            self.itstate = register << 4;
        }
        continued
    }

    /// The multiple that was left goes on from EPSR.ICI. Returns its cycles. A fault restarts it (TRM 3.9.1), hence the
    /// bits are cleared.
    pub(super) fn continue_interrupted<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<u8> {
        let from = std::mem::take(&mut self.itstate) >> 4;
        let done = transfers_before(op, from);
        let rest = match done {
            1.. => Op {
                cycles: op.cycles - done,
                ..*op
            },
            0 => return Err(self.wrong_continuation(bus, op)),
        };
        match op.kind {
            Kind::Float(float) => self.continue_float(bus, &rest, float, done)?,
            Kind::Multiple(multiple) => self.continue_multiple(bus, &rest, multiple, done)?,
            _ => unreachable!("only multiples have transfers to go on from"),
        }
        Ok(rest.cycles)
    }

    #[cold]
    fn wrong_continuation<B: Bus>(&self, bus: &mut B, op: &Op) -> Trap {
        self.unpredictable_here(bus, op.size, "with this value in EPSR.ICI")
    }
}

/// How many transfers of `op` come before `register`; 0 if it is none of them or the first (UNPREDICTABLE, B1.5.10).
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

/// Where a multiple's base register stands while it is interrupted. Nothing is documented; chosen: at the lower end of what
/// is transferred, so that of a stack neither what was pushed nor what is still to be popped is written over by the frame.
pub(super) fn moves_base_first(multiple: Multiple) -> bool {
    matches!(
        multiple,
        Multiple::LoadDecrementBefore | Multiple::StoreDecrementBefore
    )
}
