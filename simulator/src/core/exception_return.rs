//! Returning from an exception (B1.5.8), with tail-chaining.

use super::exception_entry::{BASIC_FRAME_BYTES, EXTENDED_FRAME_BYTES, REALIGNED};
use super::registers::CONTROL_FPCA;
use super::scb::{CCR_STKALIGN, FPCCR_LSPACT, SCR_SLEEPONEXIT};
use super::timing::{EXCEPTION_RETURN_CYCLES, FLOAT_FRAME_CYCLES, TAIL_CHAIN_CYCLES};
use super::trap::{cfsr, Exec, Fault, USAGE_FAULT};
use super::{Core, Sleep, Stop};
use crate::bus::{Bus, Width};

/// FPSCR bits that exist.
pub(super) const FPSCR_WRITABLE: u32 = 0xF7C0_009F;

impl Core {
    /// Completes the return that the last instruction asked for, if it did.
    pub(super) fn finish_return<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        match self.returning.take() {
            Some(exc_return) => self.return_from_exception(bus, exc_return),
            None => Ok(()),
        }
    }

    fn return_from_exception<B: Bus>(&mut self, bus: &mut B, exc_return: u32) -> Result<(), Stop> {
        let legal = self.is_legal_return(exc_return);
        self.exceptions.deactivate(self.ipsr);
        self.exclusive = false;
        if !legal {
            return self.refuse_return(exc_return);
        }
        if self.exceptions.preempting().is_some() {
            self.cycles += TAIL_CHAIN_CYCLES;
            self.entering = Some(exc_return);
            return Ok(());
        }
        self.cycles += EXCEPTION_RETURN_CYCLES;
        let process_stack = exc_return & 0xF == 0xD;
        // A handler's own number is not known before its frame is read; any other than 0 selects the main stack.
        let mode = if exc_return & 0xF == 1 { self.ipsr } else { 0 };
        self.set_mode(mode, process_stack);
        let popped = self.unstack(bus, exc_return);
        self.derived_fault(popped, cfsr::UNSTKERR)?;
        self.check_returned_mode(exc_return)?;
        self.event = true;
        if self.ipsr == 0 && self.scb.scr & SCR_SLEEPONEXIT != 0 {
            self.sleep = Sleep::UntilInterrupt;
        }
        Ok(())
    }

    /// The integrity checks before unstacking.
    fn is_legal_return(&self, exc_return: u32) -> bool {
        let others_active = self.exceptions.active_count() > 1;
        let to_handler = exc_return & 0xF == 1;
        let known = matches!(exc_return | 0x10, 0xFFFF_FFF1 | 0xFFFF_FFF9 | 0xFFFF_FFFD);
        let nesting = to_handler == others_active || !to_handler && self.scb.ccr & 1 != 0;
        known && nesting && self.exceptions.is_active(self.ipsr)
    }

    /// INVPC: the UsageFault is taken on the same frame, by tail-chaining.
    fn refuse_return(&mut self, exc_return: u32) -> Result<(), Stop> {
        self.cycles += TAIL_CHAIN_CYCLES;
        self.entering = Some(exc_return | 0xF000_0000);
        self.raise(Fault {
            exception: USAGE_FAULT,
            cfsr: cfsr::INVPC,
            address: None,
        })
    }

    /// `PopStack`.
    fn unstack<B: Bus>(&mut self, bus: &mut B, exc_return: u32) -> Exec<()> {
        let frame = self.registers[13];
        let extended = exc_return & 0x10 == 0;
        let mut words = [0; 8];
        for (n, word) in words.iter_mut().enumerate() {
            *word = self.load(bus, frame.wrapping_add(4 * n as u32), Width::Word, n as u64)?;
        }
        if extended {
            self.unstack_float_state(bus, frame.wrapping_add(BASIC_FRAME_BYTES))?;
        }
        let align = extended || self.scb.ccr & CCR_STKALIGN != 0;
        let size = if extended {
            EXTENDED_FRAME_BYTES
        } else {
            BASIC_FRAME_BYTES
        };
        let realigned = if align && words[7] & REALIGNED != 0 {
            4
        } else {
            0
        };
        self.registers[13] = frame.wrapping_add(size) | realigned;
        self.registers[..4].copy_from_slice(&words[..4]);
        self.registers[12] = words[4];
        self.registers[14] = words[5];
        self.pc = words[6] & !1;
        self.control = self.control & !CONTROL_FPCA | if extended { CONTROL_FPCA } else { 0 };
        self.set_xpsr(words[7]);
        Ok(())
    }

    /// State that was never saved is still in the registers: then only the reservation ends.
    fn unstack_float_state<B: Bus>(&mut self, bus: &mut B, address: u32) -> Exec<()> {
        if self.lazy_state_pending() {
            self.scb.fpccr &= !FPCCR_LSPACT;
            return Ok(());
        }
        for n in 0..16 {
            self.float.s[n as usize] = self.load(
                bus,
                address.wrapping_add(4 * n),
                Width::Word,
                8 + u64::from(n),
            )?;
        }
        let fpscr = self.load(bus, address.wrapping_add(64), Width::Word, 24)?;
        self.float.fpscr = fpscr & FPSCR_WRITABLE;
        self.cycles += FLOAT_FRAME_CYCLES;
        Ok(())
    }

    /// The frame's IPSR must agree with the mode returned to.
    fn check_returned_mode(&mut self, exc_return: u32) -> Result<(), Stop> {
        if (exc_return & 0xF == 1) == (self.ipsr != 0) {
            return Ok(());
        }
        self.raise(Fault {
            exception: USAGE_FAULT,
            cfsr: cfsr::INVPC,
            address: None,
        })
    }
}
