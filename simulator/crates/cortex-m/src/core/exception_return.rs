//! Returning from an exception (B1.5.8), or going straight to the next one (tail-chaining,
//! B1.5.12).

use super::exception_entry::{BASIC_FRAME_BYTES, EXTENDED_FRAME_BYTES, REALIGNED};
use super::Core;
use crate::bus::{Bus, Width};
use crate::data_path::Purpose;
use crate::model::Facts;
use crate::nvic::{Nvic, FIRST_IRQ, USAGE_FAULT};
use crate::registers::{CONTROL_FPCA, FPSCR_WRITABLE};
use crate::scb::{Scb, CCR_NONBASETHRDENA, CCR_STKALIGN, FPCCR_LSPACT, SCR_SLEEPONEXIT};
use crate::state::{Return, Sleep};
use crate::stop::Stop;
use crate::timing::FLOAT_FRAME_CYCLES;
use crate::trap::{cfsr, Exec, Fault};
use crate::watch::Watch;

/// One cycle for each word of a frame.
const UNSTACKING_CYCLES: u64 = BASIC_FRAME_BYTES as u64 / 4;

impl Core {
    /// Begins the return that the last instruction asked for, if it did.
    pub(super) fn begin_return<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        match self.handling.returning.take() {
            Some(exc_return) => self.return_from_exception(bus, exc_return),
            None => Ok(()),
        }
    }

    fn return_from_exception<B: Bus>(&mut self, bus: &mut B, exc_return: u32) -> Result<(), Stop> {
        let scb = &self.private.scb;
        let facts = self.model.facts();
        let legal = is_legal(exc_return, self.registers.ipsr, &self.nvic, scb, facts);
        self.watching(|watch, now| watch.begin_return(now, exc_return));
        self.look_at_last_store(bus);
        self.nvic.deactivate(self.registers.ipsr);
        self.observers.raised.note(&self.nvic, self.registers.pc);
        self.registers.exclusive = false;
        self.leave_fast_loop();
        if !legal {
            return self.refuse_return(bus, exc_return);
        }
        // The floating-point state is read only if it had been written.
        let float = if exc_return & 0x10 == 0 && !self.private.scb.lazy_state_pending() {
            FLOAT_FRAME_CYCLES
        } else {
            0
        };
        self.handling.leaving = Some(Return {
            exc_return,
            unstacked_cycle: self.pipeline.cycles() + UNSTACKING_CYCLES + float,
        });
        Ok(())
    }

    /// An interrupt whose line is high as its handler returns is pending again (B3.4.1). The model
    /// lowers a line as soon as the store begins, and the chip when it arrives behind the bridge.
    fn look_at_last_store<B: Bus>(&mut self, bus: &mut B) {
        let Some((irq, arrives)) = self.handling.lowered.take() else {
            return;
        };
        let its_own = u16::from(self.registers.ipsr) == irq + u16::from(FIRST_IRQ);
        let now = self.pipeline.cycles();
        if its_own && now < arrives {
            bus.returns_before_its_store(irq, now);
        }
    }

    /// Continues the return under way, to its end or to cycle `until`. An exception that becomes
    /// pending during unstacking is taken on the same frame instead (tail-chaining, B1.5.12).
    pub(super) fn leave_exception<B: Bus>(&mut self, bus: &mut B, until: u64) -> Result<(), Stop> {
        let Some(leaving) = self.handling.leaving else {
            return Ok(());
        };
        let unstacking = self.pipeline.cycles() < leaving.unstacked_cycle;
        if unstacking && self.nvic.preempting().is_some() {
            self.handling.leaving = None;
            return self.tail_chain(bus, leaving.exc_return);
        }
        if !self.waited_until(leaving.unstacked_cycle, until) {
            return Ok(());
        }
        self.handling.leaving = None;
        self.complete_return(bus, leaving.exc_return)
    }

    fn complete_return<B: Bus>(&mut self, bus: &mut B, exc_return: u32) -> Result<(), Stop> {
        let to_handler = exc_return & 0xF == 1;
        // The handler's number is known only when its frame is read. Any number but 0 selects the
        // main stack.
        let mode = if to_handler { self.registers.ipsr } else { 0 };
        self.registers.set_mode(mode, exc_return & 0xF == 0xD);
        let frame = self.registers.general[13];
        let began = self.pipeline.cycles() - UNSTACKING_CYCLES;
        let popped = self.on_behalf_of(Purpose::Stacking, |core| core.unstack(bus, exc_return));
        // From here on the return cannot be abandoned.
        let more = u64::from(self.model.facts().return_cycles) - UNSTACKING_CYCLES;
        self.pipeline.resume(self.registers.pc, began, more);
        if popped.is_err() {
            self.derived_fault(popped, cfsr::UNSTKERR, cfsr::MUNSTKERR)?;
            return self.tail_chain(bus, exc_return);
        }
        if to_handler != (self.registers.ipsr != 0) {
            // The frame's IPSR does not agree with EXC_RETURN's mode. The frame goes back on the stack.
            self.registers.set_stack(exc_return & 0xF == 0xD, frame);
            return self.refuse_return(bus, exc_return);
        }
        self.handling.event = true;
        self.watching(Watch::left);
        self.leave_fast_loop();
        let sleeps = self.private.scb.scr & SCR_SLEEPONEXIT != 0 && self.nvic.active_count() == 0;
        if self.registers.ipsr == 0 && sleeps {
            self.handling.sleep = Sleep::UntilInterrupt;
            self.observers.planned.notice();
        }
        Ok(())
    }

    /// INVPC: the UsageFault is taken on the same frame, by tail-chaining.
    #[cold]
    fn refuse_return<B: Bus>(&mut self, bus: &mut B, exc_return: u32) -> Result<(), Stop> {
        self.raise(Fault {
            exception: USAGE_FAULT,
            cfsr: cfsr::INVPC,
            address: None,
        })?;
        self.tail_chain(bus, exc_return | 0xF000_0000)
    }

    /// `PopStack`.
    fn unstack<B: Bus>(&mut self, bus: &mut B, exc_return: u32) -> Exec<()> {
        let frame = self.registers.general[13];
        let extended = exc_return & 0x10 == 0;
        let words = self.load_basic_frame(bus, frame)?;
        if extended {
            self.unstack_float_state(bus, frame.wrapping_add(BASIC_FRAME_BYTES))?;
        }
        let align = extended || self.private.scb.ccr & CCR_STKALIGN != 0;
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
        self.registers.general[13] = frame.wrapping_add(size) | realigned;
        self.registers.general[..4].copy_from_slice(&words[..4]);
        self.registers.general[12] = words[4];
        self.registers.general[14] = words[5];
        self.registers.pc = words[6] & !1;
        self.registers.control =
            self.registers.control & !CONTROL_FPCA | if extended { CONTROL_FPCA } else { 0 };
        self.registers.set_xpsr(words[7], self.model.facts());
        Ok(())
    }

    fn load_basic_frame<B: Bus>(&mut self, bus: &mut B, frame: u32) -> Exec<[u32; 8]> {
        if let Some(run) = self.data.load_run(bus, frame, 8, &mut self.pipeline) {
            let mut words = [0; 8];
            words
                .iter_mut()
                .zip(run)
                .for_each(|(word, read)| *word = read);
            return Ok(words);
        }
        self.load_frame_singly(bus, frame)
    }

    #[inline(never)]
    fn load_frame_singly<B: Bus>(&mut self, bus: &mut B, frame: u32) -> Exec<[u32; 8]> {
        let mut words = [0; 8];
        for (n, word) in words.iter_mut().enumerate() {
            *word = self.load(bus, frame.wrapping_add(4 * n as u32), Width::Word, n as u64)?;
        }
        Ok(words)
    }

    /// State that was never saved is still in the registers, so only the reservation ends.
    #[inline(never)]
    fn unstack_float_state<B: Bus>(&mut self, bus: &mut B, address: u32) -> Exec<()> {
        if self.private.scb.lazy_state_pending() {
            self.private.scb.fpccr &= !FPCCR_LSPACT;
            return Ok(());
        }
        for n in 0..16 {
            self.registers.float.s[n as usize] = self.load(
                bus,
                address.wrapping_add(4 * n),
                Width::Word,
                8 + u64::from(n),
            )?;
        }
        let fpscr = self.load(bus, address.wrapping_add(64), Width::Word, 24)?;
        self.registers.float.fpscr = fpscr & FPSCR_WRITABLE;
        Ok(())
    }
}

/// The checks of `ExceptionReturn` before unstacking, in the handler of exception `ipsr`.
fn is_legal(exc_return: u32, ipsr: u8, nvic: &Nvic, scb: &Scb, facts: &Facts) -> bool {
    let others_active = nvic.active_count() > 1;
    let to_handler = exc_return & 0xF == 1;
    let float = if facts.float { 0x10 } else { 0 };
    let known = matches!(exc_return | float, 0xFFFF_FFF1 | 0xFFFF_FFF9 | 0xFFFF_FFFD);
    let nesting = to_handler || !others_active || scb.ccr & CCR_NONBASETHRDENA != 0;
    known && nesting && nvic.is_active(ipsr)
}
